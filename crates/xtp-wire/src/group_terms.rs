//! What the parties of a group tell each other in the specifiers of FIRST and JCNTL (§9.1, §9.3).

use crate::{
    EncodeError, ExtendedTrafficBuilder, FecAgreement, GroupBuckets, GroupPoint, Tlv, Tlvs, WireError,
};

/// The TLVs of a group, each of them at most once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GroupTerms<'a> {
    /// Members of the group (TLV 5).
    pub size: Option<u32>,
    /// Status packets a second the transmitter takes (TLV 14).
    pub feedback_rate: Option<u32>,
    /// Greatest round trip of those that hold the window, microseconds (TLV 15).
    pub grtt_us: Option<u32>,
    /// How blocks are coded (TLV 12).
    pub fec: Option<FecAgreement>,
    /// Where a member stands (TLV 13).
    pub point: Option<GroupPoint>,
    /// Octets of a receiver's socket buffer (TLV 9).
    pub socket_buffer: Option<u32>,
    /// By which name a receiver wants to be known (TLV 18).
    pub name: Option<&'a str>,
    /// How questions are answered in mode B (TLV 19).
    pub buckets: Option<GroupBuckets>,
}

impl<'a> GroupTerms<'a> {
    /// Those among `tlvs`; others are passed over.
    ///
    /// # Errors
    ///
    /// [`WireError::BadGroup`] when one is said twice: which of them holds would be a guess.
    pub fn read(tlvs: Tlvs<'a>) -> Result<Self, WireError> {
        let mut terms = Self::default();
        for tlv in tlvs {
            match tlv {
                Tlv::GroupSize(size) => once(&mut terms.size, size),
                Tlv::FbRate(rate) => once(&mut terms.feedback_rate, rate),
                Tlv::GrttUs(round_trip) => once(&mut terms.grtt_us, round_trip),
                Tlv::Fec(fec) => once(&mut terms.fec, fec),
                Tlv::Catchup(point) => once(&mut terms.point, point),
                Tlv::SockBuf(octets) => once(&mut terms.socket_buffer, octets),
                Tlv::Name(name) => once(&mut terms.name, name),
                Tlv::Buckets(buckets) => once(&mut terms.buckets, buckets),
                _ => Ok(()),
            }?;
        }
        Ok(terms)
    }

    /// Adds what is there to a specifier.
    ///
    /// # Errors
    ///
    /// [`EncodeError::TooManyTlvs`]. A name that is none shows when the specifier is encoded.
    pub fn add_to(&self, specifier: &mut ExtendedTrafficBuilder<'a>) -> Result<(), EncodeError> {
        let tlvs = [
            self.size.map(Tlv::GroupSize),
            self.feedback_rate.map(Tlv::FbRate),
            self.grtt_us.map(Tlv::GrttUs),
            self.fec.map(Tlv::Fec),
            self.point.map(Tlv::Catchup),
            self.socket_buffer.map(Tlv::SockBuf),
            self.name.map(Tlv::Name),
            self.buckets.map(Tlv::Buckets),
        ];
        for tlv in tlvs.iter().flatten() {
            specifier.tlv(tlv)?;
        }
        Ok(())
    }
}

fn once<T>(place: &mut Option<T>, value: T) -> Result<(), WireError> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(WireError::BadGroup),
    }
}

#[cfg(test)]
#[path = "group_terms_tests.rs"]
mod tests;
