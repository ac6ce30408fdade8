//! Waiting for whichever of many associations, listeners and groups has something.

use std::fmt;
#[cfg(target_os = "linux")]
use std::os::fd::AsFd;
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::sync::OnceLock;
use std::task::Poll;
use std::time::Duration;

use xtp_engine::{Expectation, Time};
#[cfg(target_os = "linux")]
use xtp_io::Interest;

use crate::cast::Cast;
use crate::core::{Core, PollSource};
#[cfg(target_os = "linux")]
use crate::descriptor_set::DescriptorSet;
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
    /// Descriptors of the program, once there are any.
    #[cfg(target_os = "linux")]
    descriptors: OnceLock<DescriptorSet>,
}

impl Endpoint {
    /// A set to wait for many of this endpoint's associations and listeners at once.
    pub fn poll_set(&self) -> PollSet {
        PollSet {
            shared: Arc::clone(&self.shared),
            set: self.shared.look(|core| core.watch.make()),
            #[cfg(target_os = "linux")]
            descriptors: OnceLock::new(),
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

    /// Adds a descriptor of the program's own (a pipe, a socket, a timer, a child's) under a `key` of its choice, or gives it another
    /// one. Ready is what can be read or written, as `interest` says, and what is at its end or out of order: told with every call until
    /// that is over, behind the associations that are ready.
    ///
    /// One thread waits for all of them in one sleep, without polling. The descriptor stays the program's: closing it takes it out of
    /// the set. A set with descriptors sleeps at once unless the endpoint is to [spin](crate::Wait::Spin); on Linux only.
    ///
    /// ```
    /// use std::io::{Read, Write};
    /// use xtp::{Config, Endpoint, Interest, paradigm};
    ///
    /// let server = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap()))?;
    /// let listener = server.listen(100)?;
    /// let (mut commands, mut operator) = std::io::pipe()?;
    /// let set = server.poll_set();
    /// set.add_listener(&listener, 0)?;
    /// set.add_fd(&commands, Interest::READABLE, 1)?;
    ///
    /// let client = Endpoint::client()?;
    /// client.send_datagram(server.local_addr(), 100, "a datagram")?;
    /// operator.write_all(b"a command")?;
    /// let (mut ready, mut seen) = (Vec::new(), [false; 2]);
    /// while seen != [true; 2] {
    ///     ready.clear();
    ///     set.wait(&mut ready, None)?;
    ///     for key in &ready {
    ///         seen[*key as usize] = true;
    ///         match key {
    ///             0 => assert_eq!(listener.try_accept()?.receive()?, "a datagram"),
    ///             _ => drop(commands.read(&mut [0; 100])?),
    ///         }
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Descriptor`] for what the system cannot wait for: regular files, directories.
    #[cfg(target_os = "linux")]
    pub fn add_fd(&self, descriptor: impl AsFd, interest: Interest, key: u64) -> Result<()> {
        let failed = |error: rustix::io::Errno| Error::Descriptor { source: error.into() };
        let set = match self.descriptors.get() {
            Some(set) => set,
            None => {
                let made = DescriptorSet::new().map_err(failed)?;
                self.descriptors.get_or_init(|| made)
            }
        };
        set.add(descriptor.as_fd(), interest, key).map_err(failed)?;
        // A thread that waits for this set without descriptors looks again.
        self.shared.command(|core, _| core.news += 1);
        Ok(())
    }

    /// Takes a descriptor out of the set; does nothing if it is not in it.
    #[cfg(target_os = "linux")]
    pub fn remove_fd(&self, descriptor: impl AsFd) {
        if let Some(set) = self.descriptors.get() {
            set.remove(descriptor.as_fd());
        }
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
    /// * either of them with an [event](Cast::event) that it was not told of: told once for all there are;
    /// * a [descriptor](Self::add_fd) that can be read or written.
    ///
    /// Part of a message counts as something to read, so [`Stream::try_recv_message`] may still find no whole one;
    /// what it found is put aside and no longer counts.
    ///
    /// # Errors
    /// [`Error::Timeout`] if nothing is ready within `timeout`, [`Error::Interrupted`], [`Error::Carrier`].
    pub fn wait(&self, ready: &mut Vec<u64>, timeout: Option<Duration>) -> Result<()> {
        const WHAT: &str = "waiting for any of a set";
        let expects = || Expectation::OneByOne;
        #[cfg(not(target_os = "linux"))]
        return self.shared.wait_expecting(WHAT, timeout, expects, |core, now| {
            core.ready(now, self.set, ready)
        });
        #[cfg(target_os = "linux")]
        {
            let (mut begun, mut passed) = (None, Duration::ZERO);
            if self.descriptors.get().is_none() {
                let found = self.shared.wait_expecting(WHAT, timeout, expects, |core, now| {
                    passed = now.since(*begun.get_or_insert(now));
                    // Another thread added the first descriptor.
                    if self.descriptors.get().is_some() {
                        return Poll::Ready(Ok(false));
                    }
                    core.ready(now, self.set, ready).map_ok(|()| true)
                })?;
                if found {
                    return Ok(());
                }
            }
            let Some(descriptors) = self.descriptors.get() else {
                return Ok(());
            };
            let left = timeout.map(|timeout| timeout.saturating_sub(passed));
            self.shared
                .wait_beside(WHAT, left, descriptors.as_fd(), |core, now| {
                    self.question(core, now, ready)
                })
        }
    }

    /// What is ready, of associations and of descriptors.
    fn question(&self, core: &mut Core, now: Time, ready: &mut Vec<u64>) -> Poll<Result<()>> {
        let answer = core.ready(now, self.set, ready);
        #[cfg(target_os = "linux")]
        if !matches!(answer, Poll::Ready(Err(_)))
            && let Some(descriptors) = self.descriptors.get()
            && descriptors.ready(ready)
        {
            return Poll::Ready(Ok(()));
        }
        answer
    }

    /// As [`wait`](Self::wait) without waiting; looks at the socket if nothing is ready without.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] if nothing is ready, [`Error::Carrier`].
    pub fn try_wait(&self, ready: &mut Vec<u64>) -> Result<()> {
        self.shared.attempt(|core, now| self.question(core, now, ready))
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
