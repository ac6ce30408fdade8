//! The address segment of FIRST and JCNTL (§1.6).

use zerocopy::big_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::cursor::{EncodeCursor, take};
use crate::{EncodeError, WireError};

const NULL: u8 = 0;
const IPV4: u8 = 1;
const IPV6: u8 = 6;

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct AddressPrefix {
    length: U16,
    domain: u8,
    format: u8,
}

/// Hosts of `N` octets and two ports.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Hosts<const N: usize> {
    dst: [u8; N],
    src: [u8; N],
    dst_port: U16,
    src_port: U16,
}

/// Whom a FIRST is for. Ports are XTP service numbers, not those of UDP; hosts are information only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Address {
    /// Format 0: no port, meant for a listener that takes anything. 8 octets.
    Null {
        /// Port name space, 0 for XTP's own.
        domain: u8,
    },
    /// Format 1, 16 octets.
    Ipv4 {
        /// Port name space, 0 for XTP's own.
        domain: u8,
        /// Destination host.
        dst: [u8; 4],
        /// Source host.
        src: [u8; 4],
        /// Service asked for.
        dst_port: u16,
        /// Service number of the asker.
        src_port: u16,
    },
    /// Format 6, 40 octets.
    Ipv6 {
        /// Port name space, 0 for XTP's own.
        domain: u8,
        /// Destination host.
        dst: [u8; 16],
        /// Source host.
        src: [u8; 16],
        /// Service asked for.
        dst_port: u16,
        /// Service number of the asker.
        src_port: u16,
    },
    /// A well-formed segment of a format without a known layout; can be refused, not encoded.
    Other {
        /// Port name space.
        domain: u8,
        /// The format's number.
        format: u8,
    },
}

impl Address {
    /// The segment off the front, and what follows it.
    pub(crate) fn take(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        Self::split(octets).ok_or(WireError::BadAddress)
    }

    fn split(octets: &[u8]) -> Option<(Self, &[u8])> {
        let (prefix, _): (AddressPrefix, _) = take(octets)?;
        let length = usize::from(prefix.length.get());
        if length < 8 || !length.is_multiple_of(8) {
            return None;
        }
        let (segment, rest) = octets.split_at_checked(length)?;
        let (contents, domain) = (&segment[size_of::<AddressPrefix>()..], prefix.domain);
        let address = match prefix.format {
            NULL if length == 8 => Self::Null { domain },
            IPV4 => {
                let hosts = Hosts::<4>::ref_from_bytes(contents).ok()?;
                let (dst_port, src_port) = (hosts.dst_port.get(), hosts.src_port.get());
                Self::Ipv4 {
                    domain,
                    dst: hosts.dst,
                    src: hosts.src,
                    dst_port,
                    src_port,
                }
            }
            IPV6 => {
                let hosts = Hosts::<16>::ref_from_bytes(contents).ok()?;
                let (dst_port, src_port) = (hosts.dst_port.get(), hosts.src_port.get());
                Self::Ipv6 {
                    domain,
                    dst: hosts.dst,
                    src: hosts.src,
                    dst_port,
                    src_port,
                }
            }
            NULL => return None,
            format => Self::Other { domain, format },
        };
        Some((address, rest))
    }

    /// The service number asked for; `None` where the format has no port.
    #[must_use]
    pub const fn port(&self) -> Option<u16> {
        match *self {
            Self::Ipv4 { dst_port, .. } | Self::Ipv6 { dst_port, .. } => Some(dst_port),
            Self::Null { .. } | Self::Other { .. } => None,
        }
    }

    /// The port name space: 0 XTP's own, 6 and 17 borrowed from TCP and UDP.
    #[must_use]
    pub const fn domain(&self) -> u8 {
        match *self {
            Self::Null { domain }
            | Self::Ipv4 { domain, .. }
            | Self::Ipv6 { domain, .. }
            | Self::Other { domain, .. } => domain,
        }
    }

    /// The number of the format.
    #[must_use]
    pub const fn format(&self) -> u8 {
        match *self {
            Self::Null { .. } => NULL,
            Self::Ipv4 { .. } => IPV4,
            Self::Ipv6 { .. } => IPV6,
            Self::Other { format, .. } => format,
        }
    }

    /// Octets of the segment: 8, 16 or 40; 0 for [`Other`](Self::Other), which cannot be encoded.
    #[must_use]
    pub const fn encoded_len(&self) -> usize {
        match self {
            Self::Null { .. } => 8,
            Self::Ipv4 { .. } => 16,
            Self::Ipv6 { .. } => 40,
            Self::Other { .. } => 0,
        }
    }

    /// Writes the segment; returns how many octets it took.
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`]; [`EncodeError::UnsupportedFormat`] for [`Other`](Self::Other).
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, EncodeError> {
        let length = match self {
            Self::Null { .. } => 8,
            Self::Ipv4 { .. } => 16,
            Self::Ipv6 { .. } => 40,
            Self::Other { .. } => return Err(EncodeError::UnsupportedFormat),
        };
        let mut writer = EncodeCursor::new(out);
        writer.put(&AddressPrefix {
            length: U16::new(length),
            domain: self.domain(),
            format: self.format(),
        })?;
        match *self {
            Self::Ipv4 {
                dst,
                src,
                dst_port,
                src_port,
                ..
            } => {
                writer.put(&Hosts {
                    dst,
                    src,
                    dst_port: dst_port.into(),
                    src_port: src_port.into(),
                })?;
            }
            Self::Ipv6 {
                dst,
                src,
                dst_port,
                src_port,
                ..
            } => {
                writer.put(&Hosts {
                    dst,
                    src,
                    dst_port: dst_port.into(),
                    src_port: src_port.into(),
                })?;
            }
            Self::Null { .. } | Self::Other { .. } => writer.zeros(4)?,
        }
        Ok(writer.len())
    }
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
