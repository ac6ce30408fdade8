//! An association somebody else opened, before this program has decided what it is.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::core::{Accepted, ops};
use crate::error::{Error, Result};
use crate::shared::Handle;
use crate::stream::Stream;

/// An accepted association. What it is follows from what the program does with it: take a message, answer a
/// request, or keep it as a [`Stream`].
#[derive(Debug)]
pub struct Incoming {
    stream: Stream,
    accepted: Accepted,
}

impl Incoming {
    pub(crate) fn new(shared: Arc<Handle>, accepted: Accepted) -> Self {
        Self {
            stream: Stream::new(shared, accepted.id),
            accepted,
        }
    }

    /// Where its first packet came from.
    pub fn peer(&self) -> SocketAddr {
        self.accepted.peer
    }

    /// What kind of service it says it is (see [`service`](crate::service)), which is no number of one: a hint.
    pub fn service(&self) -> u8 {
        self.accepted.service
    }

    /// The service number it was opened to; 0 if it named none.
    pub fn service_number(&self) -> u16 {
        self.accepted.port
    }

    /// As [`Stream::is_proved`].
    pub fn is_proved(&self) -> bool {
        self.stream.is_proved()
    }

    /// Whether a whole message, or all that will come, can be [received](Self::receive) without waiting.
    pub fn is_complete(&self) -> bool {
        let shared = self.stream.shared();
        shared.look(|core| {
            core.engine
                .settled()
                .context(self.accepted.id)
                .map_or(true, |context| context.holds_message())
        })
    }

    /// The association as a stream, to read and write as it comes.
    pub fn into_stream(self) -> Stream {
        self.stream
    }

    /// The association as a stream, by reference.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Waits for the whole message or request: everything up to the end of the message or of the stream.
    ///
    /// # Errors
    /// [`Error::MessageTooLong`](crate::Error::MessageTooLong) beyond
    /// [`Config::message_limit`](crate::Config::message_limit), [`Error::Closed`](crate::Error::Closed),
    /// [`Error::Interrupted`](crate::Error::Interrupted).
    pub fn receive(&self) -> Result<Bytes> {
        self.receive_within(None)
    }

    /// As [`receive`](Self::receive), waiting at most `timeout`.
    ///
    /// # Errors
    /// [`Error::Timeout`](crate::Error::Timeout), else as [`receive`](Self::receive).
    pub fn receive_timeout(&self, timeout: Duration) -> Result<Bytes> {
        self.receive_within(Some(timeout))
    }

    fn receive_within(&self, timeout: Option<Duration>) -> Result<Bytes> {
        let shared = self.stream.shared();
        let limit = shared.config.message_limit;
        shared.wait("receiving a message", timeout, |core, now| {
            ops::whole(core, now, self.accepted.id, limit)
        })
    }

    /// Answers a request and ends the association. Returns when the response has left; its confirmation is awaited
    /// in the background, by later calls on the endpoint.
    ///
    /// # Errors
    /// [`Error::CallerGone`](crate::Error::CallerGone) if who asked is known to have given up. One whose farewell is still under
    /// way is not; [`respond_confirmed`](Self::respond_confirmed) tells of it.
    pub fn respond(self, response: impl Into<Bytes>) -> Result<()> {
        self.queue_response(response.into(), false)
    }

    /// As [`respond`](Self::respond), and waits until the caller has confirmed the response.
    ///
    /// # Errors
    /// As [`Stream::close_timeout`].
    pub fn respond_confirmed(self, response: impl Into<Bytes>, timeout: Duration) -> Result<()> {
        self.queue_response(response.into(), false)?;
        self.stream.close_timeout(timeout).map_err(Error::of_answer)
    }

    /// Answers a request without asking for confirmation if the response fits one packet: two packets for the whole
    /// transaction. A lost response is repeated from memory when the request is. A longer response is confirmed as
    /// with [`respond`](Self::respond).
    ///
    /// # Errors
    /// As [`respond`](Self::respond).
    pub fn respond_unconfirmed(self, response: impl Into<Bytes>) -> Result<()> {
        self.queue_response(response.into(), true)
    }

    /// Refuses the association: the peer's call fails at once with
    /// [`CloseReason::Rejected`](crate::CloseReason::Rejected), which carries `code` and `text`.
    ///
    /// Both are the program's own; 0 and `""` say nothing. Codes below 256 are better left to the protocol, which has names for
    /// some of them (§1.9). Of `text` at most [`LONGEST_REASON`](crate::LONGEST_REASON) octets are told, and less to somebody
    /// whose address is not proved and who sent little. Who sent a datagram learns nothing: nobody answers those.
    pub fn reject(self, code: u32, text: &str) {
        self.stream
            .end_now(|core, now, id| core.engine.command().reject(now, id, code, text));
    }

    fn queue_response(&self, mut response: Bytes, unconfirmed: bool) -> Result<()> {
        let id = self.accepted.id;
        if self.stream.shared().respond_brief(id, &mut response, unconfirmed) {
            return Ok(());
        }
        // Response and close are queued together, so that they leave in one packet.
        let responded = self.stream.shared().wait("responding", None, |core, now| {
            ops::respond(core, now, id, &mut response, unconfirmed)
        });
        responded.map_err(Error::of_answer)
    }
}
