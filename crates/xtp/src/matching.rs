//! Receives posted for messages by their tags, whichever order these come in.

use std::fmt;
use std::net::ToSocketAddrs;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use xtp_engine::{Envelope, ListenOptions, Match, OpenOptions, PostedId, Source, Tags};

use crate::completion::CompletionQueue;
use crate::endpoint::Endpoint;
use crate::error::{Error, Result};
use crate::listener::Listener;
use crate::matched::Matched;
use crate::shared::Handle;
use crate::stream::Stream;

/// A receive that was posted for one message.
///
/// Messages of an association are matched instead of read in their order if that is said when it begins, by each end for itself: by
/// [`Endpoint::open_matched`] and [`Endpoint::listen_matched`]. Then
/// receives are posted, before or after the message comes, at one association ([`Stream::post_receive`]), all that a listener accepted
/// ([`Listener::post_receive`]), or all of the endpoint ([`Endpoint::post_receive`]), and get the first message whose tag fits, whatever
/// waits before it: what MPI and libfabric call tag matching. Calls that read the stream fail with [`Error::Command`].
///
/// * A receive is for every message ([`Tags::Any`]), for those without a tag ([`Tags::Without`]), for one tag ([`Tags::exact`]), or for tags
///   that are equal in some bits ([`Tags::Like`], whose mask 0 is any tag): as where some bits name a group of processes and others a step.
/// * A message goes to the receive posted first of those that it fits, of whatever source; a receive gets the message that began
///   first of those that fit it. So messages of one association with equal tags come in the order in which they were sent.
/// * What nobody has received stays here, uncopied, and counts against the association's window
///   ([`Tuning::recv_capacity`](crate::Tuning::recv_capacity)): a peer whose messages nobody wants is stopped, not those who send others.
///   A message longer than the window comes when a receive is posted for it.
/// * A message longer than its receive's limit ends the receive with [`Error::MessageTooLong`] and is dropped, as in MPI:
///   [`peek`](Stream::peek) tells how long a message is before.
///
/// ```
/// use xtp::{Config, Endpoint, ListenOptions, Tags, paradigm};
///
/// # fn main() -> xtp::Result<()> {
/// let server = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap()))?;
/// let listener = server.listen_matched(ListenOptions::streams(1_000))?;
/// let address = server.local_addr();
/// let sending = std::thread::spawn(move || -> xtp::Result<()> {
///     let client = Endpoint::client()?;
///     let stream = client.open(address, paradigm::stream(1_000))?;
///     stream.send_tagged(1, "first")?;
///     stream.send_tagged(2, "second")?;
///     stream.close()
/// });
/// let stream = listener.accept()?.into_stream();
/// let second = stream.post_receive(Tags::exact(2), 100)?;
/// let first = stream.post_receive(Tags::Any, 100)?;
/// assert_eq!(second.wait(None)?.unwrap().into_bytes(), "second");
/// assert_eq!(first.wait(None)?.unwrap().into_bytes(), "first");
/// // The stream ends: no more messages come.
/// assert!(stream.post_receive(Tags::Any, 100)?.wait(None)?.is_none());
/// # drop(stream);
/// # sending.join().unwrap()
/// # }
/// ```
pub struct PostedReceive {
    shared: Arc<Handle>,
    id: PostedId,
    /// Nobody but this says what becomes of it.
    held: bool,
}

impl PostedReceive {
    fn post(shared: &Arc<Handle>, source: Source, tags: Tags, limit: usize) -> Result<Self> {
        let wanted = Match {
            source,
            tags,
            length: limit,
        };
        let id = shared.attempt(|core, now| Poll::Ready(core.post_receive(now, wanted)))?;
        Ok(Self {
            shared: Arc::clone(shared),
            id,
            held: true,
        })
    }

    #[cfg(all(feature = "tokio", unix))]
    pub(crate) fn shared(&self) -> &Arc<Handle> {
        &self.shared
    }

    #[cfg(all(feature = "tokio", unix))]
    pub(crate) fn id(&self) -> PostedId {
        self.id
    }

    /// Waits for the message, at most `timeout` (`None`: as long as it takes), and takes it; a call that times out loses nothing. `None` if
    /// the receive was posted at one association and no more messages come there.
    ///
    /// # Errors
    /// [`Error::MessageTooLong`] if the message is longer than the receive's limit, [`Error::Incomplete`] if the stream ended inside it,
    /// [`Error::Closed`] if its association failed, [`Error::Timeout`], [`Error::Interrupted`], [`Error::Command`] if it was taken before.
    pub fn wait(&self, timeout: Option<Duration>) -> Result<Option<Matched>> {
        self.shared
            .wait("a message", timeout, |core, _| core.take_received(self.id))
    }

    /// Takes the message if it is there; makes progress.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] if it is not; else as [`wait`](Self::wait).
    pub fn try_take(&self) -> Result<Option<Matched>> {
        self.shared.attempt(|core, _| core.take_received(self.id))
    }

    /// Takes the receive back: no message will come for it. False if it has its message already, or the beginning of it: then that is to be
    /// waited for. Dropping a receive takes it back, too, and drops its message if it has one.
    pub fn cancel(&self) -> bool {
        self.shared.look(|core| core.cancel_receive(self.id))
    }
}

impl fmt::Debug for PostedReceive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostedReceive").field(&self.id).finish()
    }
}

impl Drop for PostedReceive {
    fn drop(&mut self) {
        if self.held {
            self.shared.look(|core| core.drop_receive(self.id));
        }
    }
}

impl CompletionQueue {
    /// What becomes of `receive` is told by this queue from now on, as a [`Completion`](crate::Completion) with `token`: its message, in one
    /// place (copied if it came in more than one part), or why there is none. Dropping the queue takes the receive back.
    ///
    /// # Errors
    /// [`Error::Command`] if it was posted at another endpoint: it is taken back.
    pub fn add_receive(&self, mut receive: PostedReceive, token: u64) -> Result<()> {
        if !Arc::ptr_eq(self.shared(), &receive.shared) {
            let why = "the receive was posted at another endpoint than the queue's";
            return Err(Error::Command(xtp_engine::Error::InvalidOption(why)));
        }
        receive.held = false;
        self.shared()
            .look(|core| core.queue_receive(receive.id, self.number(), token));
        Ok(())
    }
}

/// Looks for a message until there is one.
fn peek(
    shared: &Arc<Handle>,
    source: Source,
    tags: Tags,
    timeout: Option<Duration>,
) -> Result<Option<Envelope>> {
    shared.wait("a message", timeout, |core, _| core.peek(source, tags))
}

/// Looks once.
fn try_peek(shared: &Arc<Handle>, source: Source, tags: Tags) -> Result<Option<Envelope>> {
    shared.attempt(|core, _| core.peek(source, tags))
}

impl Stream {
    /// Posts a receive for the next message of this association that `tags` names, of at most `limit` octets.
    ///
    /// # Errors
    /// [`Error::Command`] if its messages are not matched ([`Endpoint::open_matched`], [`Endpoint::listen_matched`]) and at the limit of receives
    /// ([`EngineConfig::max_posted`](crate::EngineConfig::max_posted)), [`Error::Carrier`].
    pub fn post_receive(&self, tags: Tags, limit: usize) -> Result<PostedReceive> {
        PostedReceive::post(self.shared(), Source::Association(self.id()), tags, limit)
    }

    /// Waits for a message that a receive posted now would get, at most `timeout` (`None`: as long as it takes), and leaves it where it is;
    /// `None` if no more messages come here.
    ///
    /// # Errors
    /// [`Error::Closed`] if the association failed, [`Error::Timeout`], [`Error::Interrupted`], [`Error::Command`] if its messages are not
    /// matched.
    pub fn peek(&self, tags: Tags, timeout: Option<Duration>) -> Result<Option<Envelope>> {
        peek(self.shared(), Source::Association(self.id()), tags, timeout)
    }

    /// As [`peek`](Self::peek), without waiting; makes progress.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] if there is none; else as [`peek`](Self::peek).
    pub fn try_peek(&self, tags: Tags) -> Result<Option<Envelope>> {
        try_peek(self.shared(), Source::Association(self.id()), tags)
    }
}

impl Listener {
    /// Posts a receive for the next message that `tags` names, of at most `limit` octets, of any association that was accepted here, taken
    /// by the program or not.
    ///
    /// # Errors
    /// As [`Stream::post_receive`].
    pub fn post_receive(&self, tags: Tags, limit: usize) -> Result<PostedReceive> {
        PostedReceive::post(self.shared(), Source::Listener(self.id()), tags, limit)
    }

    /// As [`Stream::peek`], of any association that was accepted here.
    ///
    /// # Errors
    /// As [`Stream::peek`].
    pub fn peek(&self, tags: Tags, timeout: Option<Duration>) -> Result<Option<Envelope>> {
        peek(self.shared(), Source::Listener(self.id()), tags, timeout)
    }

    /// As [`Stream::try_peek`], of any association that was accepted here.
    ///
    /// # Errors
    /// As [`Stream::try_peek`].
    pub fn try_peek(&self, tags: Tags) -> Result<Option<Envelope>> {
        try_peek(self.shared(), Source::Listener(self.id()), tags)
    }
}

impl Endpoint {
    /// As [`open`](Self::open); messages that come go to [posted receives](PostedReceive), in whatever order, and the stream is not read.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_matched(
        &self,
        peer: impl ToSocketAddrs + fmt::Debug,
        mut options: OpenOptions,
    ) -> Result<Stream> {
        options.tuning.matched = true;
        self.open(peer, options)
    }

    /// As [`listen_with`](Self::listen_with); messages of associations that are accepted go to [posted receives](PostedReceive), in whatever
    /// order, and their streams are not read.
    ///
    /// # Errors
    /// As [`listen_with`](Self::listen_with).
    pub fn listen_matched(&self, mut options: ListenOptions) -> Result<Listener> {
        options.tuning.matched = true;
        self.listen_with(options)
    }

    /// Posts a receive for the next message that `tags` names, of at most `limit` octets, of any association of this endpoint whose messages
    /// are matched.
    ///
    /// # Errors
    /// As [`Stream::post_receive`].
    pub fn post_receive(&self, tags: Tags, limit: usize) -> Result<PostedReceive> {
        PostedReceive::post(&self.shared, Source::Any, tags, limit)
    }

    /// As [`Stream::peek`], of any association of this endpoint.
    ///
    /// # Errors
    /// As [`Stream::peek`].
    pub fn peek(&self, tags: Tags, timeout: Option<Duration>) -> Result<Option<Envelope>> {
        peek(&self.shared, Source::Any, tags, timeout)
    }

    /// As [`Stream::try_peek`], of any association of this endpoint.
    ///
    /// # Errors
    /// As [`Stream::try_peek`].
    pub fn try_peek(&self, tags: Tags) -> Result<Option<Envelope>> {
        try_peek(&self.shared, Source::Any, tags)
    }
}
