//! The control segment all status packets begin with (§1.5).

use zerocopy::big_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::EncodeError;
use crate::cursor::{EncodeCursor, take};

/// Octets of the common control segment, all of a CNTL packet's payload.
pub const CONTROL_LEN: usize = 20;
/// Octets before the data of an XDATA packet: the control segment and the delay.
pub const XDATA_LEN: usize = CONTROL_LEN + 4;
/// Octets before the traffic specifier of TCNTL and the address of JCNTL.
pub const TCNTL_LEN: usize = 32;

/// `delay_us` of status that nothing asked for, or that waited for the user: no round trip to be measured.
pub const DELAY_NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct RawControl {
    rseq: U64,
    alloc: U64,
    echo: U32,
}

impl From<Control> for RawControl {
    #[inline]
    fn from(control: Control) -> Self {
        Self {
            rseq: control.rseq.into(),
            alloc: control.alloc.into(),
            echo: control.echo.into(),
        }
    }
}

/// What a reader says to the writer. Whether the numbers are plausible is the engine's to judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Control {
    /// One past the last octet received without a gap.
    pub rseq: u64,
    /// One past the last octet there is room for.
    pub alloc: u64,
    /// Greatest sync accepted from the peer; for the answer to a DREQ the sync of that packet.
    pub echo: u32,
}

impl From<RawControl> for Control {
    #[inline]
    fn from(raw: RawControl) -> Self {
        Self {
            rseq: raw.rseq.get(),
            alloc: raw.alloc.get(),
            echo: raw.echo.get(),
        }
    }
}

impl Control {
    /// The segment off the front of a payload, and what follows it.
    #[inline]
    #[must_use]
    pub fn take(payload: &[u8]) -> Option<(Self, &[u8])> {
        let (raw, rest): (RawControl, _) = take(payload)?;
        Some((raw.into(), rest))
    }

    /// The delay of XDATA, which follows the segment, and what follows that.
    #[inline]
    #[must_use]
    pub fn take_delay(rest: &[u8]) -> Option<(u32, &[u8])> {
        let (delay, rest): (U32, _) = take(rest)?;
        Some((delay.get(), rest))
    }

    /// Puts another echo into a payload that begins with the segment; into a shorter one nothing.
    #[inline]
    pub fn put_echo(payload: &mut [u8], echo: u32) {
        if let Some(place) = payload.get_mut(CONTROL_LEN - 4..CONTROL_LEN) {
            place.copy_from_slice(&echo.to_be_bytes());
        }
    }

    /// Puts another delay into the payload of an XDATA packet; into a shorter one nothing.
    #[inline]
    pub fn put_delay(payload: &mut [u8], delay_us: u32) {
        if let Some(place) = payload.get_mut(CONTROL_LEN..XDATA_LEN) {
            place.copy_from_slice(&delay_us.to_be_bytes());
        }
    }

    /// Always [`CONTROL_LEN`].
    #[must_use]
    pub const fn encoded_len(&self) -> usize {
        CONTROL_LEN
    }

    /// Writes the segment; returns how many octets it took.
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`].
    #[inline]
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, EncodeError> {
        let mut writer = EncodeCursor::new(out);
        writer.put(&RawControl::from(*self))?;
        Ok(writer.len())
    }

    /// The segment and the delay an XDATA packet has before its data ([`XDATA_LEN`] octets).
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`].
    #[inline]
    pub fn encode_xdata(&self, delay_us: u32, out: &mut [u8]) -> Result<usize, EncodeError> {
        let mut writer = EncodeCursor::new(out);
        writer.put(&RawControl::from(*self))?;
        writer.put(&U32::new(delay_us))?;
        Ok(writer.len())
    }

    /// The segment, the reserved word and the key TCNTL and JCNTL begin with ([`TCNTL_LEN`] octets).
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`]; [`EncodeError::Invalid`] when bit 63 of `xkey` is set.
    pub fn encode_tcntl(&self, xkey: u64, out: &mut [u8]) -> Result<usize, EncodeError> {
        if xkey >> 63 != 0 {
            return Err(EncodeError::Invalid);
        }
        let mut writer = EncodeCursor::new(out);
        writer.put(&RawControl::from(*self))?;
        writer.put(&U32::ZERO)?;
        writer.put(&U64::new(xkey))?;
        Ok(writer.len())
    }
}
