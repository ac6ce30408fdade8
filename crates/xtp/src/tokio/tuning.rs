//! What changes how an association does its work, on a runtime.

use xtp_engine::{Confirm, ErrorControl, Rate};

use super::{Mark, Stream};
use crate::chunk::Chunk;
use crate::core::ops;
use crate::error::Result;
use crate::frames::FrameBytes;
use crate::stream::refuse_empty;

/// Parameters of a running association, and calls for those who measured. See [`crate::tuning::StreamTuning`], whose calls that
/// never wait are all at [`as_sync`](Stream::as_sync)`().tuning()`.
#[derive(Clone, Copy, Debug)]
pub struct StreamTuning<'a> {
    pub(super) stream: &'a Stream,
}

impl Stream {
    /// Parameters of this association, and calls for those who measured.
    pub fn tuning(&self) -> StreamTuning<'_> {
        StreamTuning { stream: self }
    }
}

impl StreamTuning<'_> {
    /// Switches this reader between selective retransmission and go-back-N.
    ///
    /// # Errors
    /// As [`crate::tuning::StreamTuning::set_error_control`].
    pub fn set_error_control(self, kind: ErrorControl) -> Result<()> {
        self.stream.as_sync().tuning().set_error_control(kind)
    }

    /// Limits what the peer may send from now on.
    ///
    /// # Errors
    /// As [`crate::tuning::StreamTuning::set_in_rate`].
    pub fn set_in_rate(self, rate: Rate) -> Result<()> {
        self.stream.as_sync().tuning().set_in_rate(rate)
    }

    /// Limits what this end sends from now on.
    ///
    /// # Errors
    /// As [`crate::tuning::StreamTuning::set_out_rate`].
    pub fn set_out_rate(self, rate: Rate) -> Result<()> {
        self.stream.as_sync().tuning().set_out_rate(rate)
    }

    /// Priority of what this end sends.
    ///
    /// # Errors
    /// As [`crate::tuning::StreamTuning::set_sort`].
    pub fn set_sort(self, sort: Option<u16>) -> Result<()> {
        self.stream.as_sync().tuning().set_sort(sort)
    }

    /// As [`crate::tuning::StreamTuning::set_nodelay`].
    ///
    /// # Errors
    /// As [`crate::tuning::StreamTuning::set_nodelay`].
    pub fn set_nodelay(self, nodelay: bool) -> Result<()> {
        self.stream.as_sync().tuning().set_nodelay(nodelay)
    }

    /// As [`crate::tuning::StreamTuning::recv_trains`]. Cancel-safe.
    ///
    /// # Errors
    /// As there.
    pub async fn recv_trains(self, chunks: &mut Vec<Chunk>, max: usize) -> Result<usize> {
        let id = self.stream.as_sync().id();
        self.stream
            .ask(move |core, now| ops::trains(core, now, id, max, chunks))
            .await
    }

    /// A mark at a stream offset, without asking the peer for anything.
    ///
    /// # Errors
    /// As [`crate::tuning::StreamTuning::mark_at`].
    pub fn mark_at(self, offset: u64, what: Confirm) -> Result<Mark> {
        self.stream
            .as_sync()
            .tuning()
            .mark_at(offset, what)
            .map(Mark::new)
    }

    /// Sends memory with room for headers. Cancelling it sends a prefix.
    ///
    /// # Errors
    /// As [`crate::tuning::StreamTuning::send_frames`].
    pub async fn send_frames(self, data: &FrameBytes) -> Result<()> {
        let (id, mut data) = (
            self.stream.as_sync().id(),
            data.to_framed(self.stream.as_sync().as_owner()),
        );
        self.stream
            .ask(move |core, now| ops::send_frames(core, now, id, &mut data, false))
            .await
    }

    /// As one message. Cancelling it sends a prefix, whose message does not end.
    ///
    /// # Errors
    /// As [`crate::tuning::StreamTuning::send_frames_message`].
    pub async fn send_frames_message(self, data: &FrameBytes) -> Result<()> {
        refuse_empty(data.len())?;
        let (id, mut data) = (
            self.stream.as_sync().id(),
            data.to_framed(self.stream.as_sync().as_owner()),
        );
        self.stream
            .ask(move |core, now| ops::send_frames(core, now, id, &mut data, true))
            .await
    }
}
