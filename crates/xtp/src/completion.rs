//! Many messages and transactions at once, from one thread.

use std::fmt::{self, Debug};
use std::net::ToSocketAddrs;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use xtp_engine::OpenOptions;

use crate::core::Completion;
use crate::endpoint::Endpoint;
use crate::error::Result;
use crate::reach::nearest;
use crate::shared::Handle;

/// Sends many messages or requests without waiting for each: submit some, take what has ended, submit more. One
/// thread keeps any number of associations in flight, and what is submitted together leaves together.
///
/// ```
/// use xtp::{Config, Endpoint, paradigm};
///
/// let server = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap()))?;
/// let listener = server.listen(100)?;
/// let serving = std::thread::spawn(move || -> xtp::Result<()> {
///     for _ in 0..1_000 {
///         listener.recv_message()?;
///     }
///     Ok(())
/// });
/// let driver = server.spawn_driver()?;
///
/// let client = Endpoint::client()?;
/// let queue = client.completion_queue();
/// let (mut submitted, mut done) = (0, Vec::new());
/// while submitted < 1_000 || queue.pending() > 0 {
///     while submitted < 1_000 && queue.pending() < 64 {
///         queue.submit(server.local_addr(), &paradigm::one_shot(100), "hello", submitted)?;
///         submitted += 1;
///     }
///     queue.wait(&mut done, None)?;
///     for completion in done.drain(..) {
///         completion.result?;
///     }
/// }
/// serving.join().unwrap()?;
/// # drop(driver);
/// # Ok::<(), xtp::Error>(())
/// ```
///
/// Receives that are posted by tag can be told of by the same queue: [`add_receive`](Self::add_receive).
///
/// Dropping the queue lets what is under way end in the background, as dropped streams do.
pub struct CompletionQueue {
    shared: Arc<Handle>,
    number: u32,
}

impl Endpoint {
    /// A queue for submissions whose ends are taken together; an endpoint may have several.
    pub fn completion_queue(&self) -> CompletionQueue {
        let limit = self.shared.config.message_limit;
        let number = self.shared.look(|core| core.open_requests(limit));
        CompletionQueue {
            shared: Arc::clone(&self.shared),
            number,
        }
    }
}

impl CompletionQueue {
    pub(crate) fn shared(&self) -> &Arc<Handle> {
        &self.shared
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Opens an association with `options`, for one message and, with [`paradigm::transaction`](crate::paradigm), its
    /// answer. `token` comes back with the [`Completion`]. Nothing leaves before the next call on the endpoint that
    /// waits or polls, so that submissions made together share system calls.
    ///
    /// # Errors
    /// [`Error::Resolve`](crate::Error::Resolve), [`Error::Address`](crate::Error::Address), of names as
    /// [`Endpoint::open`](crate::Endpoint::open), [`Error::Command`](crate::Error::Command) for options out of range and at the limit of
    /// associations,
    /// [`Error::MessageTooLong`](crate::Error::MessageTooLong) beyond `tuning.send_capacity`,
    /// [`Error::Carrier`](crate::Error::Carrier). Everything else is told by the completion.
    pub fn submit(
        &self,
        peer: impl ToSocketAddrs + Debug,
        options: &OpenOptions,
        data: impl Into<Bytes>,
        token: u64,
    ) -> Result<()> {
        let peer = nearest(&self.shared, &peer)?;
        let (options, data) = (options.clone(), data.into());
        self.shared
            .prepare(|core, now| core.submit(now, self.number, peer, options, data, token))
    }

    /// Submissions and receives whose end is not known yet. Ends that were not taken are not among them.
    pub fn pending(&self) -> usize {
        let number = self.number;
        self.shared
            .look(|core| core.requests(number).map_or(0, |requests| requests.open))
    }

    /// Waits until something has ended, at most `timeout`, and appends all that has to `done`; returns how many. At
    /// once with 0 when nothing is under way.
    ///
    /// # Errors
    /// [`Error::Timeout`](crate::Error::Timeout), [`Error::Interrupted`](crate::Error::Interrupted),
    /// [`Error::Carrier`](crate::Error::Carrier).
    pub fn wait(&self, done: &mut Vec<Completion>, timeout: Option<Duration>) -> Result<usize> {
        let number = self.number;
        self.shared.wait("completions", timeout, |core, _| {
            let broken = core.check_carrier();
            let Some(requests) = core.requests(number) else {
                return Poll::Ready(Ok(0));
            };
            let count = requests.done.len();
            done.extend(requests.done.drain(..));
            match (count, requests.open) {
                (0, 0) => Poll::Ready(Ok(0)),
                (0, _) => broken.map_or_else(|error| Poll::Ready(Err(error)), |()| Poll::Pending),
                _ => Poll::Ready(Ok(count)),
            }
        })
    }

    /// As [`wait`](Self::wait), without waiting: sends what was submitted, takes what arrived, and returns how many
    /// ends that brought.
    ///
    /// # Errors
    /// [`Error::Carrier`](crate::Error::Carrier).
    pub fn poll(&self, done: &mut Vec<Completion>) -> Result<usize> {
        self.shared.progress(Duration::ZERO)?;
        let number = self.number;
        Ok(self.shared.look(|core| {
            let Some(requests) = core.requests(number) else {
                return 0;
            };
            let count = requests.done.len();
            done.extend(requests.done.drain(..));
            count
        }))
    }
}

impl fmt::Debug for CompletionQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompletionQueue")
            .field("pending", &self.pending())
            .finish_non_exhaustive()
    }
}

impl Drop for CompletionQueue {
    fn drop(&mut self) {
        self.shared
            .command(|core, now| core.close_requests(now, self.number));
    }
}
