//! The traffic specifier of FIRST, TCNTL and JCNTL (§1.7, §1.7.1).

use bitflags::bitflags;
use zerocopy::big_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::cursor::{EncodeCursor, take};
use crate::{EncodeError, Tlvs, WireError};

const NONE: u8 = 0x00;
const BASIC: u8 = 0x01;
const EXTENDED: u8 = 0x80;

/// Octets of a specifier of format 0x00.
pub const NO_TRAFFIC_LEN: usize = 8;
/// Octets of a specifier of format 0x01.
pub const BASIC_TRAFFIC_LEN: usize = 24;
/// Octets of a specifier of format 0x80 before its TLVs.
pub const EXTENDED_TRAFFIC_LEN: usize = 48;

bitflags! {
    /// Capabilities an extended specifier offers. Unknown bits are dropped when parsed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct Caps: u32 {
        /// Extended status.
        const XCNTL = 1;
        /// Path probes.
        const PATH = 2;
        /// Tokens.
        const COOKIE = 4;
        /// Sealed packets (reserved until built).
        const AEAD = 8;
        /// A socket of its own for control (reserved until built).
        const SPLIT = 16;
        /// Several data ports (reserved until built).
        const STRIPE = 32;
        /// Bucket multicast.
        const MB = 64;
        /// Padding after `dlen`.
        const PAD = 128;
        /// Data that begins with status.
        const XDATA = 256;
        /// Parity repair.
        const FEC = 512;
        /// Catch-up of laggards.
        const CATCHUP = 1024;
    }
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct TrafficPrefix {
    length: U16,
    service: u8,
    format: u8,
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct RawBasic {
    maxdata: U32,
    inrate: U32,
    inburst: U32,
    outrate: U32,
    outburst: U32,
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct RawExtended {
    maxdata: U32,
    inrate: U64,
    outrate: U64,
    inburst: U32,
    outburst: U32,
    credit: U64,
    caps: U32,
    time: U32,
}

/// Format 0x01: rates in octets a second, bursts in octets, seen from the sender of the specifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BasicTraffic {
    /// One of [`service`](crate::service).
    pub service: u8,
    /// Largest data segment in octets, 0 unknown.
    pub maxdata: u32,
    /// What the peer must not exceed; 0 no limit.
    pub inrate: u32,
    /// Octets a burst towards the sender; 0 with a rate means stop.
    pub inburst: u32,
    /// What the sender would like to use; 0 no limit.
    pub outrate: u32,
    /// Octets a burst of the sender.
    pub outburst: u32,
}

/// Format 0x80: as [`BasicTraffic`], with wide rates, an initial grant, capabilities and TLVs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExtendedTraffic<'a> {
    /// One of [`service`](crate::service).
    pub service: u8,
    /// Largest data segment in octets, 0 unknown.
    pub maxdata: u32,
    /// What the peer must not exceed, octets a second; 0 no limit.
    pub inrate: u64,
    /// What the sender would like to use, octets a second; 0 no limit.
    pub outrate: u64,
    /// Octets a burst towards the sender.
    pub inburst: u32,
    /// Octets a burst of the sender.
    pub outburst: u32,
    /// Absolute sequence number granted to the peer's writer.
    pub credit: u64,
    /// What the sender offers.
    pub caps: Caps,
    /// UTC milliseconds (low 32 bits) when the association was created; 0 absent.
    pub time: u32,
    /// Further values.
    pub tlvs: Tlvs<'a>,
}

impl ExtendedTraffic<'_> {
    /// Octets of the specifier.
    #[must_use]
    pub const fn encoded_len(&self) -> usize {
        EXTENDED_TRAFFIC_LEN + self.tlvs.octets().len()
    }

    /// Writes the specifier, the TLVs octet for octet as they are.
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`]; [`EncodeError::TooLong`] above 65 535 octets.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, EncodeError> {
        let mut writer = EncodeCursor::new(out);
        self.put_fixed(self.encoded_len(), &mut writer)?;
        writer.put(self.tlvs.octets())?;
        Ok(writer.len())
    }

    /// The 48 octets before the TLVs, for a specifier of `length` octets.
    pub(crate) fn put_fixed(&self, length: usize, writer: &mut EncodeCursor<'_>) -> Result<(), EncodeError> {
        let length = U16::new(u16::try_from(length).map_err(|_| EncodeError::TooLong)?);
        writer.put(&TrafficPrefix {
            length,
            service: self.service,
            format: EXTENDED,
        })?;
        writer.put(&RawExtended {
            maxdata: self.maxdata.into(),
            inrate: self.inrate.into(),
            outrate: self.outrate.into(),
            inburst: self.inburst.into(),
            outburst: self.outburst.into(),
            credit: self.credit.into(),
            caps: self.caps.bits().into(),
            time: self.time.into(),
        })
    }
}

/// What one side accepts and would like to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Traffic<'a> {
    /// Format 0x00: nothing but the service octet.
    None {
        /// One of [`service`](crate::service).
        service: u8,
    },
    /// Format 0x01.
    Basic(BasicTraffic),
    /// Format 0x80.
    Extended(ExtendedTraffic<'a>),
    /// A well-formed specifier of a format without a known layout; can be refused, not encoded.
    Unknown {
        /// One of [`service`](crate::service).
        service: u8,
        /// The format's number.
        tformat: u8,
    },
}

impl<'a> Traffic<'a> {
    /// The specifier off the front, and what follows it.
    pub(crate) fn take(octets: &'a [u8]) -> Result<(Self, &'a [u8]), WireError> {
        Self::split(octets).ok_or(WireError::BadTraffic)
    }

    fn split(octets: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (prefix, _): (TrafficPrefix, _) = take(octets)?;
        let (segment, rest) = octets.split_at_checked(prefix.length.get().into())?;
        let contents = segment.get(size_of::<TrafficPrefix>()..)?;
        let service = prefix.service;
        let traffic = match prefix.format {
            NONE if segment.len() == NO_TRAFFIC_LEN => Self::None { service },
            NONE => return None,
            BASIC => {
                let raw = RawBasic::ref_from_bytes(contents).ok()?;
                Self::Basic(BasicTraffic {
                    service,
                    maxdata: raw.maxdata.get(),
                    inrate: raw.inrate.get(),
                    inburst: raw.inburst.get(),
                    outrate: raw.outrate.get(),
                    outburst: raw.outburst.get(),
                })
            }
            EXTENDED => Self::Extended(extended(service, contents)?),
            tformat => Self::Unknown { service, tformat },
        };
        Some((traffic, rest))
    }

    /// The service octet, which every format has.
    #[must_use]
    pub const fn service(&self) -> u8 {
        match *self {
            Self::None { service } | Self::Unknown { service, .. } => service,
            Self::Basic(BasicTraffic { service, .. }) | Self::Extended(ExtendedTraffic { service, .. }) => {
                service
            }
        }
    }

    /// Octets of the specifier; 0 for [`Unknown`](Self::Unknown), which cannot be encoded.
    #[must_use]
    pub const fn encoded_len(&self) -> usize {
        match self {
            Self::None { .. } => NO_TRAFFIC_LEN,
            Self::Basic(_) => BASIC_TRAFFIC_LEN,
            Self::Extended(extended) => extended.encoded_len(),
            Self::Unknown { .. } => 0,
        }
    }

    /// Writes the specifier; returns how many octets it took.
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`]; [`EncodeError::UnsupportedFormat`] for [`Unknown`](Self::Unknown);
    /// [`EncodeError::TooLong`] above 65 535 octets.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, EncodeError> {
        let mut writer = EncodeCursor::new(out);
        match self {
            Self::None { service } => {
                writer.put(&TrafficPrefix {
                    length: U16::new(8),
                    service: *service,
                    format: NONE,
                })?;
                writer.zeros(4)?;
            }
            Self::Basic(basic) => {
                writer.put(&TrafficPrefix {
                    length: U16::new(24),
                    service: basic.service,
                    format: BASIC,
                })?;
                writer.put(&RawBasic {
                    maxdata: basic.maxdata.into(),
                    inrate: basic.inrate.into(),
                    inburst: basic.inburst.into(),
                    outrate: basic.outrate.into(),
                    outburst: basic.outburst.into(),
                })?;
            }
            Self::Extended(extended) => writer.segment(|rest| extended.encode(rest))?,
            Self::Unknown { .. } => return Err(EncodeError::UnsupportedFormat),
        }
        Ok(writer.len())
    }
}

/// Format 0x80 after its first four octets; the fixed part, then TLVs up to a multiple of eight.
fn extended(service: u8, contents: &[u8]) -> Option<ExtendedTraffic<'_>> {
    let (raw, tlvs): (RawExtended, _) = take(contents)?;
    Some(ExtendedTraffic {
        service,
        maxdata: raw.maxdata.get(),
        inrate: raw.inrate.get(),
        outrate: raw.outrate.get(),
        inburst: raw.inburst.get(),
        outburst: raw.outburst.get(),
        credit: raw.credit.get(),
        caps: Caps::from_bits_truncate(raw.caps.get()),
        time: raw.time.get(),
        tlvs: Tlvs::new(tlvs)?,
    })
}

#[cfg(test)]
#[path = "traffic_tests.rs"]
mod tests;
