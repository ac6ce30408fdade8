//! XCNTL, extended status (§1.5.1) and the poll of a group (§9.4).

use bitflags::bitflags;
use zerocopy::big_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::control::RawControl;
use crate::cursor::{EncodeCursor, take};
use crate::poll::POLL_LEN;
use crate::{Control, EncodeError, GroupPoll, Spans, WireError};

/// Octets before the spans of an XCNTL packet.
pub const XCNTL_LEN: usize = 48;

bitflags! {
    /// Flags of XCNTL.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct XcntlFlags: u16 {
        /// The reader stores nothing beyond a gap: go back.
        const GO_BACK_N = 1;
        /// Answer to a DREQ, or sent unasked: `delay_us` is [`DELAY_NONE`](crate::DELAY_NONE).
        const DREQ_OR_UNSOLICITED = 2;
        /// `poll` is there.
        const POLL = 4;
        /// `rxrate` holds the receiver's window in octets.
        const WINDOW = 8;
        /// `delivered` is there.
        const DELIVERED = 16;
        /// More was received between `rseq` and the first span: nothing is said about what lies there.
        const EARLIER_SPANS = 32;
        /// More was received beyond the last span: nothing is said about what lies there.
        const LATER_SPANS = 64;
    }
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct RawXcntl {
    control: RawControl,
    nspan: U16,
    flags: U16,
    delay_us: U32,
    ect0: U32,
    ect1: U32,
    ce: U32,
    rxrate: U64,
}

/// Extended status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Xcntl<'a> {
    /// The common control segment.
    pub control: Control,
    /// Flags. POLL and DELIVERED always agree with `poll` and `delivered` after parsing; encoding takes them
    /// from there, whatever is set here.
    pub flags: XcntlFlags,
    /// Microseconds between the arrival of the packet `echo` names and this answer, or
    /// [`DELAY_NONE`](crate::DELAY_NONE).
    pub delay_us: u32,
    /// Packets received with ECT(0).
    pub ect0: u32,
    /// Packets received with ECT(1).
    pub ect1: u32,
    /// Packets received with congestion experienced.
    pub ce: u32,
    /// Octets a second measured (0 unknown), or the window with [`XcntlFlags::WINDOW`].
    pub rxrate: u64,
    /// Ranges received beyond `rseq`.
    pub spans: Spans<'a>,
    /// One past the last octet the user has taken.
    pub delivered: Option<u64>,
    /// Whom of a group is asked, and what the transmitter knows of the group.
    pub poll: Option<GroupPoll>,
}

impl<'a> Xcntl<'a> {
    /// Reads the whole payload.
    pub(crate) fn parse(octets: &'a [u8]) -> Result<Self, WireError> {
        let (raw, rest): (RawXcntl, _) = take(octets).ok_or(WireError::BadLength)?;
        let control = Control::from(raw.control);
        let flags = XcntlFlags::from_bits_truncate(raw.flags.get());
        let (spans, mut rest) = Spans::take(control.rseq, raw.nspan.get().into(), rest)?;
        let mut delivered = None;
        if flags.contains(XcntlFlags::DELIVERED) {
            let (value, tail): (U64, _) = take(rest).ok_or(WireError::BadLength)?;
            (delivered, rest) = (Some(value.get()), tail);
        }
        let mut poll = None;
        if flags.contains(XcntlFlags::POLL) {
            let (value, tail) = GroupPoll::take(rest)?;
            (poll, rest) = (Some(value), tail);
        }
        if !rest.is_empty() {
            return Err(WireError::BadLength);
        }
        Ok(Self {
            control,
            flags,
            delay_us: raw.delay_us.get(),
            ect0: raw.ect0.get(),
            ect1: raw.ect1.get(),
            ce: raw.ce.get(),
            rxrate: raw.rxrate.get(),
            spans,
            delivered,
            poll,
        })
    }

    /// Octets of the payload.
    #[must_use]
    pub const fn encoded_len(&self) -> usize {
        let delivered = if self.delivered.is_some() { 8 } else { 0 };
        let poll = if self.poll.is_some() { POLL_LEN } else { 0 };
        XCNTL_LEN + self.spans.encoded_len() + delivered + poll
    }

    /// Writes the payload; returns how many octets it took.
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`]; [`EncodeError::TooLong`] for more than 65 535 spans;
    /// [`EncodeError::Invalid`] when the first span does not lie beyond `rseq`, or a poll asks nobody.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, EncodeError> {
        self.spans.check_beyond(self.control.rseq)?;
        let mut flags = self.flags;
        flags.set(XcntlFlags::DELIVERED, self.delivered.is_some());
        flags.set(XcntlFlags::POLL, self.poll.is_some());
        let mut writer = EncodeCursor::new(out);
        writer.put(&RawXcntl {
            control: self.control.into(),
            nspan: u16::try_from(self.spans.len())
                .map_err(|_| EncodeError::TooLong)?
                .into(),
            flags: flags.bits().into(),
            delay_us: self.delay_us.into(),
            ect0: self.ect0.into(),
            ect1: self.ect1.into(),
            ce: self.ce.into(),
            rxrate: self.rxrate.into(),
        })?;
        writer.segment(|rest| self.spans.encode(rest))?;
        if let Some(delivered) = self.delivered {
            writer.put(&U64::new(delivered))?;
        }
        if let Some(poll) = &self.poll {
            writer.segment(|rest| poll.encode(rest))?;
        }
        Ok(writer.len())
    }
}
