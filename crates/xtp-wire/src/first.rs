//! The payload of FIRST: for whom, on what terms, and the first data (§1.3).

use crate::cursor::EncodeCursor;
use crate::{Address, DataSegment, EncodeError, Options, Traffic, WireError};

/// The payload of a FIRST packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct First<'a> {
    /// Whom it is for.
    pub address: Address,
    /// On what terms.
    pub traffic: Traffic<'a>,
    /// The first data; may be empty.
    pub data: DataSegment<'a>,
}

impl<'a> First<'a> {
    /// Reads the whole payload.
    pub(crate) fn parse(options: Options, octets: &'a [u8]) -> Result<Self, WireError> {
        let (address, rest) = Address::take(octets)?;
        let (traffic, rest) = Traffic::take(rest)?;
        Ok(Self {
            address,
            traffic,
            data: DataSegment::parse(options, rest)?,
        })
    }

    /// Whether both segments are of a format with a known layout. Parsing takes others too: their lengths are
    /// known, and the sender deserves to be told by DIAG.
    ///
    /// # Errors
    ///
    /// [`WireError::BadAddressFormat`], else [`WireError::BadTrafficFormat`].
    pub const fn check_formats(&self) -> Result<(), WireError> {
        match (self.address, self.traffic) {
            (Address::Other { .. }, _) => Err(WireError::BadAddressFormat),
            (_, Traffic::Unknown { .. }) => Err(WireError::BadTrafficFormat),
            _ => Ok(()),
        }
    }

    /// Octets of the payload.
    #[must_use]
    pub const fn encoded_len(&self) -> usize {
        self.address.encoded_len() + self.traffic.encoded_len() + self.data.encoded_len()
    }

    /// Writes the payload; returns how many octets it took.
    ///
    /// # Errors
    ///
    /// Those of [`Address::encode`], [`Traffic::encode`] and [`DataSegment::encode`].
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, EncodeError> {
        let mut writer = EncodeCursor::new(out);
        writer.segment(|rest| self.address.encode(rest))?;
        writer.segment(|rest| self.traffic.encode(rest))?;
        writer.segment(|rest| self.data.encode(rest))?;
        Ok(writer.len())
    }
}
