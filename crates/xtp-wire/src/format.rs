//! Packet formats, the low five bits of octet 11 (§1.3).

use crate::WireError;

/// What a packet is. The crate's front page has the table of what each carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Format {
    /// Data of a stream.
    Data = 0,
    /// Status: the common control segment.
    Cntl = 1,
    /// Opens an association and may carry data.
    First = 2,
    /// Status with spans.
    Ecntl = 3,
    /// Status with a key and a traffic specifier.
    Tcntl = 5,
    /// Obsolete; never parsed.
    Join = 6,
    /// Joins a group: status, key, address, traffic specifier.
    Jcntl = 7,
    /// Says what went wrong.
    Diag = 8,
    /// Probes a path.
    Path = 16,
    /// Extended status.
    Xcntl = 17,
    /// A token to repeat FIRST with.
    Cookie = 18,
    /// Data that begins with status.
    Xdata = 19,
    /// A coded symbol.
    Parity = 20,
    /// Symbols missing per block.
    Gnack = 21,
    /// Encrypted; a header of its own shape, never parsed here.
    Sealed = 30,
}

impl Format {
    /// The format with this number, `None` if nobody assigned it.
    #[inline]
    #[must_use]
    pub const fn from_wire(value: u8) -> Option<Self> {
        Some(match value {
            0 => Self::Data,
            1 => Self::Cntl,
            2 => Self::First,
            3 => Self::Ecntl,
            5 => Self::Tcntl,
            6 => Self::Join,
            7 => Self::Jcntl,
            8 => Self::Diag,
            16 => Self::Path,
            17 => Self::Xcntl,
            18 => Self::Cookie,
            19 => Self::Xdata,
            20 => Self::Parity,
            21 => Self::Gnack,
            30 => Self::Sealed,
            _ => return None,
        })
    }

    /// The number on the wire, below 32.
    #[inline]
    #[must_use]
    pub const fn to_wire(self) -> u8 {
        self as u8
    }

    /// FIRST, DATA, XDATA: packets that carry octets of a stream.
    #[inline]
    #[must_use]
    pub const fn carries_data(self) -> bool {
        matches!(self, Self::First | Self::Data | Self::Xdata)
    }

    /// CNTL, ECNTL, TCNTL, JCNTL, XCNTL, XDATA, GNACK: packets that carry the common control segment.
    #[inline]
    #[must_use]
    pub const fn carries_control(self) -> bool {
        matches!(
            self,
            Self::Cntl | Self::Ecntl | Self::Tcntl | Self::Jcntl | Self::Xcntl | Self::Xdata | Self::Gnack
        )
    }

    /// As [`from_wire`](Self::from_wire), but only for formats whose packets have the common header and a body.
    #[inline]
    pub(crate) const fn parsable(value: u8) -> Result<Self, WireError> {
        match Self::from_wire(value) {
            None => Err(WireError::UnknownFormat(value)),
            Some(Self::Join) => Err(WireError::ObsoleteFormat),
            Some(Self::Sealed) => Err(WireError::Sealed),
            Some(format) => Ok(format),
        }
    }
}

#[cfg(test)]
#[path = "format_tests.rs"]
mod tests;
