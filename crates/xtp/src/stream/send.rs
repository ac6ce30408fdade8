//! Sending: owned memory without a copy, messages, tags, and the variants that do not wait.

use bytes::Bytes;

use super::Stream;
use crate::core::ops;
use crate::error::{Error, Result};
use crate::frames::{FrameBytes, Owner};

impl Stream {
    /// Sends all of `data` without copying it; waits for room, not for confirmation. What it accepts leaves within
    /// this call as far as credit, rate and window allow; but short pieces that come quickly one after the other are copied and
    /// gathered for a moment ([`set_nodelay`](super::StreamTuning::set_nodelay)).
    ///
    /// # Errors
    /// [`Error::Closed`] if the association is over, [`Error::Command`] if the writer was closed or the peer
    /// refused more, [`Error::Timeout`] after the write timeout: then a prefix was accepted.
    pub fn send(&self, data: impl Into<Bytes>) -> Result<()> {
        self.send_all(data.into(), false)
    }

    /// Sends several pieces as one run of octets, without copying them.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn send_vectored(&self, pieces: &[Bytes]) -> Result<()> {
        // All pieces that find room are queued before anything leaves, so that small ones share packets.
        let mut queue = pieces.iter().cloned();
        let mut piece = Bytes::new();
        self.wait("sending", self.write_timeout.get(), |core, now, id| {
            loop {
                if piece.is_empty() {
                    match queue.next() {
                        Some(next) => piece = next,
                        None => return std::task::Poll::Ready(Ok(())),
                    }
                }
                match ops::send(core, now, id, &mut piece, false) {
                    std::task::Poll::Ready(Ok(())) => {}
                    other => return other,
                }
            }
        })
    }

    /// Sends one message: `data` with its last octet marked as the end.
    ///
    /// # Errors
    /// As [`send`](Self::send); [`Error::Command`] for an empty message, which has no octet to mark.
    pub fn send_message(&self, data: impl Into<Bytes>) -> Result<()> {
        let mut data = data.into();
        refuse_empty(data.len())?;
        if self.shared.send_brief(self.id, None, &mut data) {
            return Ok(());
        }
        self.send_all(data, true)
    }

    /// This association, as the owner of memory.
    pub(crate) fn as_owner(&self) -> Owner {
        Owner::new(&self.shared, self.id)
    }

    pub(super) fn send_framed(&self, data: &FrameBytes, eom: bool) -> Result<()> {
        let mut data = data.to_framed(self.as_owner());
        self.wait("sending", self.write_timeout.get(), |core, now, id| {
            ops::send_frames(core, now, id, &mut data, eom)
        })
    }

    pub(super) fn send_all(&self, mut data: Bytes, eom: bool) -> Result<()> {
        self.wait("sending", self.write_timeout.get(), |core, now, id| {
            ops::send(core, now, id, &mut data, eom)
        })
    }

    /// Sends as much of `data` as there is room for and removes it from `data`; returns how much.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] if there is no room at all; else as [`send`](Self::send).
    pub fn try_send(&self, data: &mut Bytes) -> Result<usize> {
        self.offer(data, false)
    }

    /// As [`try_send`](Self::try_send), with the last octet marked as the end of a message. The mark goes with the
    /// last octet: call again with what is left in `data`.
    ///
    /// # Errors
    /// As [`try_send`](Self::try_send); [`Error::Command`] for an empty message.
    pub fn try_send_message(&self, data: &mut Bytes) -> Result<usize> {
        refuse_empty(data.len())?;
        self.offer(data, true)
    }

    fn offer(&self, data: &mut Bytes, eom: bool) -> Result<usize> {
        let wanted = data.len();
        let accepted = self
            .shared
            .command(|core, now| ops::offer(core, now, self.id, data, eom))?;
        if accepted == 0 && wanted > 0 {
            return Err(Error::WouldBlock);
        }
        Ok(accepted)
    }

    /// Binds an out-of-band tag to the next octet sent: the reader finds it as a
    /// [`Chunk::Tag`](super::Chunk::Tag) before that octet.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn send_tag(&self, tag: u64) -> Result<()> {
        self.wait("sending a tag", self.write_timeout.get(), |core, now, id| {
            ops::send_tag(core, now, id, tag)
        })
    }

    /// Sends one message behind a tag: an out-of-band value that says what, or whom, it is for. The reader gets both from
    /// [`recv_tagged`](Self::recv_tagged); to [`recv_message`](Self::recv_message) it is a message like any other. The tag is
    /// bound to the message's first octet and takes eight octets of the stream.
    ///
    /// ```
    /// use xtp::{Config, Endpoint, paradigm};
    ///
    /// let server = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap()))?;
    /// let listener = server.listen_streams(100)?;
    /// let serving = std::thread::spawn(move || -> xtp::Result<()> {
    ///     let stream = listener.accept()?.into_stream();
    ///     while let Some(message) = stream.recv_tagged()? {
    ///         // Echoed under the number it came with.
    ///         stream.send_tagged(message.tag.unwrap_or(0), message.data)?;
    ///     }
    ///     stream.close()
    /// });
    ///
    /// let client = Endpoint::client()?;
    /// let stream = client.open(server.local_addr(), paradigm::stream(100))?;
    /// stream.send_tagged(7, "seven")?;
    /// let answer = stream.recv_tagged()?.expect("the echo");
    /// assert_eq!((answer.tag, &answer.data[..]), (Some(7), &b"seven"[..]));
    /// stream.close()?;
    /// serving.join().unwrap()?;
    /// # Ok::<(), xtp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`send_message`](Self::send_message). A call that times out may have sent the tag, or a part of the message.
    pub fn send_tagged(&self, tag: u64, data: impl Into<Bytes>) -> Result<()> {
        let mut data = data.into();
        refuse_empty(data.len())?;
        if self.shared.send_brief(self.id, Some(tag), &mut data) {
            return Ok(());
        }
        let mut tag = Some(tag);
        self.wait("sending", self.write_timeout.get(), |core, now, id| {
            ops::send_tagged(core, now, id, &mut tag, &mut data)
        })
    }
}

/// A message without octets cannot be marked on the wire.
pub(crate) fn refuse_empty(octets: usize) -> Result<()> {
    match octets {
        0 => {
            let why = "an empty message has no last octet to mark; send at least one octet";
            Err(Error::Command(xtp_engine::Error::InvalidOption(why)))
        }
        _ => Ok(()),
    }
}
