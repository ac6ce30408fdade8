//! DIAG: what went wrong, in two numbers and a text (§1.9).

use core::fmt;

use zerocopy::big_endian::U32;

use crate::cursor::{EncodeCursor, take};
use crate::{EncodeError, WireError};

/// Octets of a DIAG payload before its text.
pub const DIAG_LEN: usize = 8;

/// A number of a DIAG segment that has no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UnknownDiag(
    /// The number as received.
    pub u32,
);

impl fmt::Display for UnknownDiag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown diagnostic number {}", self.0)
    }
}

impl core::error::Error for UnknownDiag {}

/// Declares an enumeration whose numbers, names and texts stand side by side.
macro_rules! diagnostic {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $number:literal $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[repr(u32)]
        pub enum $name {
            $(#[doc = $text] $variant = $number,)+
        }

        impl $name {
            /// All that have a name, by number.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The number on the wire.
            #[must_use]
            pub const fn to_wire(self) -> u32 {
                self as u32
            }
        }

        impl From<$name> for u32 {
            fn from(value: $name) -> Self {
                value.to_wire()
            }
        }

        impl TryFrom<u32> for $name {
            type Error = UnknownDiag;

            fn try_from(number: u32) -> Result<Self, UnknownDiag> {
                match number {
                    $($number => Ok(Self::$variant),)+
                    _ => Err(UnknownDiag(number)),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$variant => $text,)+
                })
            }
        }
    };
}

diagnostic! {
    /// What a DIAG means for the association.
    DiagCode {
        ContextRefused = 1 "context refused",
        ContextAbandoned = 2 "context abandoned",
        InvalidContext = 3 "invalid context",
        RequestRefused = 4 "request refused",
        JoinRefused = 5 "join refused",
        ProtocolError = 6 "protocol error",
        MaximumPacketSize = 7 "maximum packet size",
    }
}

diagnostic! {
    /// Why.
    DiagValue {
        Unspecified = 0 "unspecified",
        NoListener = 1 "no listener",
        OptionsRefused = 2 "options refused",
        AddressFormat = 3 "address format not supported",
        MalformedAddress = 4 "malformed address",
        TrafficFormat = 5 "traffic format not supported",
        TrafficRefused = 6 "traffic specification refused",
        MalformedTraffic = 7 "malformed traffic",
        NoProvider = 8 "no provider for service",
        NoResource = 9 "no resource",
        HostGoingDown = 10 "host going down",
        InvalidRetransmission = 11 "invalid retransmission request",
        ImproperState = 12 "context in improper state",
        JoinDenied = 13 "join denied",
        Silent = 14 "nothing was heard of it for too long",
        TooSlow = 15 "slower than was waited for",
    }
}

/// The val of a DIAG with its meaning in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiagReason(
    /// The val as received.
    pub u32,
);

impl fmt::Display for DiagReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match DiagValue::try_from(self.0) {
            Ok(value) => write!(f, "{value}"),
            Err(_) => write!(f, "reason {}", self.0),
        }
    }
}

/// The payload of a DIAG packet. Numbers without a name are kept: a DIAG means trouble whatever it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Diag<'a> {
    /// A [`DiagCode`], or a number without a name.
    pub code: u32,
    /// A [`DiagValue`], or a number without a name.
    pub val: u32,
    /// For a person to read; empty if it was no UTF-8.
    pub text: &'a str,
}

impl<'a> Diag<'a> {
    /// From the named numbers.
    #[must_use]
    pub const fn new(code: DiagCode, val: DiagValue, text: &'a str) -> Self {
        Self {
            code: code.to_wire(),
            val: val.to_wire(),
            text,
        }
    }

    /// Reads the whole payload.
    pub(crate) fn parse(octets: &'a [u8]) -> Result<Self, WireError> {
        let ([code, val], text): ([U32; 2], _) = take(octets).ok_or(WireError::BadLength)?;
        Ok(Self {
            code: code.get(),
            val: val.get(),
            text: str::from_utf8(text).unwrap_or_default(),
        })
    }

    /// Octets of the payload.
    #[must_use]
    pub const fn encoded_len(&self) -> usize {
        DIAG_LEN + self.text.len()
    }

    /// Writes the payload; returns how many octets it took.
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`].
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, EncodeError> {
        let mut writer = EncodeCursor::new(out);
        writer.put(&[U32::new(self.code), U32::new(self.val)])?;
        writer.put(self.text.as_bytes())?;
        Ok(writer.len())
    }
}

#[cfg(test)]
#[path = "diag_tests.rs"]
mod tests;
