//! Waiting for whichever of many associations, listeners and groups has something.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use xtp_engine::Expectation;

use crate::cast::Cast;
use crate::core::PollSource;
use crate::endpoint::Endpoint;
use crate::error::{Error, Result};
use crate::group_listener::GroupListener;
use crate::listener::Listener;
use crate::shared::Handle;
use crate::stream::Stream;
use crate::subscription::Subscription;

/// Associations, listeners, and transmitters and receivers of groups of one endpoint that a thread waits for together.
///
/// Waiting costs what is ready, not what was added: a set may hold a hundred thousand idle associations. Made by
/// [`Endpoint::poll_set`]. Each of them is in one set at most; it leaves when it is dropped.
///
/// ```
/// use xtp::{Config, Endpoint, paradigm};
///
/// # fn main() -> xtp::Result<()> {
/// let server = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap()))?;
/// let listener = server.listen_streams(100)?;
/// let address = server.local_addr();
/// let serving = std::thread::spawn(move || -> xtp::Result<()> {
///     const LISTENER: u64 = u64::MAX;
///     let set = server.poll_set();
///     set.add_listener(&listener, LISTENER)?;
///     let (mut streams, mut ready, mut open) = (Vec::new(), Vec::new(), 2);
///     while open > 0 {
///         ready.clear();
///         set.wait(&mut ready, None)?;
///         for key in &ready {
///             if *key == LISTENER {
///                 let stream = listener.try_accept()?.into_stream();
///                 set.add(&stream, streams.len() as u64)?;
///                 streams.push(stream);
///                 continue;
///             }
///             match streams[*key as usize].try_recv_message() {
///                 Ok(Some(message)) => streams[*key as usize].send_message(message)?,
///                 Ok(None) => {
///                     set.remove(&streams[*key as usize]);
///                     open -= 1;
///                 }
///                 Err(error) if error.is_would_block() => {}
///                 Err(error) => return Err(error),
///             }
///         }
///     }
///     Ok(())
/// });
/// let client = Endpoint::client()?;
/// let (one, other) = (client.open(address, paradigm::stream(100))?, client.open(address, paradigm::stream(100))?);
/// one.send_message("one")?;
/// other.send_message("other")?;
/// assert_eq!(other.recv_message()?.as_deref(), Some(&b"other"[..]));
/// assert_eq!(one.recv_message()?.as_deref(), Some(&b"one"[..]));
/// one.close()?;
/// other.close()?;
/// serving.join().unwrap()
/// # }
/// ```
pub struct PollSet {
    shared: Arc<Handle>,
    set: u64,
}

impl Endpoint {
    /// A set to wait for many of this endpoint's associations and listeners at once.
    pub fn poll_set(&self) -> PollSet {
        PollSet {
            shared: Arc::clone(&self.shared),
            set: self.shared.look(|core| core.watch.make()),
        }
    }
}

impl PollSet {
    /// Adds a stream under a `key` of the caller's choice, or gives it another one.
    ///
    /// # Errors
    /// [`Error::Command`] if the stream is another endpoint's.
    pub fn add(&self, stream: &Stream, key: u64) -> Result<()> {
        self.put(stream.shared(), PollSource::Stream(stream.id()), key)
    }

    /// Adds a listener under a `key` of the caller's choice, or gives it another one.
    ///
    /// # Errors
    /// [`Error::Command`] if the listener is another endpoint's.
    pub fn add_listener(&self, listener: &Listener, key: u64) -> Result<()> {
        self.put(listener.shared(), PollSource::Listener(listener.id()), key)
    }

    /// Adds a transmitter of a group under a `key` of the caller's choice, or gives it another one.
    ///
    /// # Errors
    /// [`Error::Command`] if it is another endpoint's.
    pub fn add_cast(&self, cast: &Cast, key: u64) -> Result<()> {
        self.put(cast.handle().shared(), cast.handle().source(), key)
    }

    /// Adds a receiver of a group under a `key` of the caller's choice, or gives it another one.
    ///
    /// # Errors
    /// [`Error::Command`] if it is another endpoint's.
    pub fn add_subscription(&self, subscription: &Subscription, key: u64) -> Result<()> {
        let handle = subscription.handle();
        self.put(handle.shared(), handle.source(), key)
    }

    /// Adds a listener of a group under a `key` of the caller's choice, or gives it another one.
    ///
    /// # Errors
    /// [`Error::Command`] if it is another endpoint's.
    pub fn add_group_listener(&self, listener: &GroupListener, key: u64) -> Result<()> {
        self.put(listener.handle().shared(), listener.handle().source(), key)
    }

    fn put(&self, owner: &Arc<Handle>, source: PollSource, key: u64) -> Result<()> {
        if !Arc::ptr_eq(owner, &self.shared) {
            return Err(Error::Command(xtp_engine::Error::NoContext));
        }
        self.shared.command(|core, _| {
            core.watch.add(self.set, source, key);
            // A thread that waits for this set looks again.
            core.news += 1;
        });
        Ok(())
    }

    /// Takes a stream out of the set; does nothing if it is in none.
    pub fn remove(&self, stream: &Stream) {
        self.drop_out(PollSource::Stream(stream.id()));
    }

    /// Takes a listener out of the set; does nothing if it is in none.
    pub fn remove_listener(&self, listener: &Listener) {
        self.drop_out(PollSource::Listener(listener.id()));
    }

    /// Takes a transmitter of a group out of the set; does nothing if it is in none.
    pub fn remove_cast(&self, cast: &Cast) {
        self.drop_out(cast.handle().source());
    }

    /// Takes a receiver of a group out of the set; does nothing if it is in none.
    pub fn remove_subscription(&self, subscription: &Subscription) {
        self.drop_out(subscription.handle().source());
    }

    /// Takes a listener of a group out of the set; does nothing if it is in none.
    pub fn remove_group_listener(&self, listener: &GroupListener) {
        self.drop_out(listener.handle().source());
    }

    fn drop_out(&self, source: PollSource) {
        self.shared.look(|core| core.watch.remove(source));
    }

    /// Waits until at least one is ready and appends the keys of those that are, of the most urgent association first
    /// ([`StreamTuning::set_sort`](crate::tuning::StreamTuning::set_sort)). Ready is
    ///
    /// * a stream with something to read, or at its end: told with every call until it was read or left the set;
    /// * a stream that was refused octets and has room now, that reached a mark, or whose peer was heard for the
    ///   first time: told once;
    /// * a listener with an association to accept: told with every call until it was accepted;
    /// * a listener of a group with a transmitter to accept: told with every call until it was accepted;
    /// * a receiver of a group with something to read, or whose group is over: told with every call until it was read or left the
    ///   set;
    /// * a transmitter to a group that was refused octets and has room now: told once; whose group is over: told with every call
    ///   until it left the set;
    /// * either of them with an [event](Cast::event) that it was not told of: told once for all there are.
    ///
    /// Part of a message counts as something to read, so [`Stream::try_recv_message`] may still find no whole one;
    /// what it found is put aside and no longer counts.
    ///
    /// # Errors
    /// [`Error::Timeout`] if nothing is ready within `timeout`, [`Error::Interrupted`], [`Error::Carrier`].
    pub fn wait(&self, ready: &mut Vec<u64>, timeout: Option<Duration>) -> Result<()> {
        let expects = || Expectation::OneByOne;
        self.shared
            .wait_expecting("waiting for any of a set", timeout, expects, |core, now| {
                core.ready(now, self.set, ready)
            })
    }

    /// As [`wait`](Self::wait) without waiting; looks at the socket if nothing is ready without.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] if nothing is ready, [`Error::Carrier`].
    pub fn try_wait(&self, ready: &mut Vec<u64>) -> Result<()> {
        self.shared.attempt(|core, now| core.ready(now, self.set, ready))
    }
}

impl fmt::Debug for PollSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PollSet")
            .field("set", &self.set)
            .finish_non_exhaustive()
    }
}

impl Drop for PollSet {
    fn drop(&mut self) {
        self.shared.look(|core| core.watch.unmake(self.set));
    }
}
