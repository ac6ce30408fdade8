//! Making TLVs and extended traffic specifiers (§1.7.1, padding §7.3).

use crate::cursor::EncodeCursor;
use crate::tlv::TLV_HEADER_LEN;
use crate::traffic::EXTENDED_TRAFFIC_LEN;
use crate::{EncodeError, ExtendedTraffic, Tlv, Tlvs};

/// Writes TLVs into a caller's buffer, to be put into [`ExtendedTraffic::tlvs`].
pub struct TlvWriter<'b>(EncodeCursor<'b>);

impl<'b> TlvWriter<'b> {
    /// Begins at the front of `out`.
    #[must_use]
    pub const fn new(out: &'b mut [u8]) -> Self {
        Self(EncodeCursor::new(out))
    }

    /// Adds one.
    ///
    /// # Errors
    ///
    /// Those of [`Tlv::encode`].
    pub fn tlv(&mut self, tlv: &Tlv<'_>) -> Result<&mut Self, EncodeError> {
        self.0.segment(|rest| tlv.encode(rest))?;
        Ok(self)
    }

    /// Pads to a multiple of eight octets.
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`].
    pub fn finish(mut self) -> Result<Tlvs<'b>, EncodeError> {
        pad_to_eight(&mut self.0)?;
        let written: &'b [u8] = self.0.into_written();
        Tlvs::new(written).ok_or(EncodeError::Invalid)
    }
}

/// The extended specifier itself ends on eight wherever its TLVs do.
fn pad_to_eight(writer: &mut EncodeCursor<'_>) -> Result<(), EncodeError> {
    while !writer.len().is_multiple_of(8) {
        writer.segment(|rest| Tlv::Pad(0).encode(rest))?;
    }
    Ok(())
}

/// Collects TLVs and a wished length, and writes the whole specifier at once.
///
/// ```
/// use xtp_wire::{ExtendedTraffic, ExtendedTrafficBuilder, Tlv};
/// let mut specifier = ExtendedTrafficBuilder::new(ExtendedTraffic { maxdata: 1440, ..Default::default() });
/// specifier.tlv(&Tlv::EcntlMax(32))?.pad_to(200);
/// let mut out = [0; 256];
/// assert_eq!(specifier.encode(&mut out)?, 200);
/// # Ok::<(), xtp_wire::EncodeError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ExtendedTrafficBuilder<'a> {
    fixed: ExtendedTraffic<'a>,
    tlvs: [Tlv<'a>; MAX_TLVS],
    count: usize,
    wished_len: usize,
}

/// Most TLVs a builder takes: more than any packet has.
pub const MAX_TLVS: usize = 16;

impl<'a> ExtendedTrafficBuilder<'a> {
    /// Begins with the fields (and TLVs, if any) of `fixed`.
    #[must_use]
    pub const fn new(fixed: ExtendedTraffic<'a>) -> Self {
        Self {
            fixed,
            tlvs: [Tlv::Pad(0); MAX_TLVS],
            count: 0,
            wished_len: 0,
        }
    }

    /// Adds one behind those there are.
    ///
    /// # Errors
    ///
    /// [`EncodeError::TooManyTlvs`] after [`MAX_TLVS`].
    pub fn tlv(&mut self, tlv: &Tlv<'a>) -> Result<&mut Self, EncodeError> {
        *self.tlvs.get_mut(self.count).ok_or(EncodeError::TooManyTlvs)? = *tlv;
        self.count += 1;
        Ok(self)
    }

    /// Asks for a specifier of `total_len` octets: one TLV of type 0 makes up what is missing, if that is at
    /// least its own four octets. The result is a multiple of eight and never shorter than its contents.
    pub fn pad_to(&mut self, total_len: usize) -> &mut Self {
        self.wished_len = total_len;
        self
    }

    /// Octets of the specifier.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        let unpadded = self.unpadded_len();
        let padded = self.pad_value_len().map_or(unpadded, |value| {
            unpadded
                .saturating_add(TLV_HEADER_LEN)
                .saturating_add(value.saturating_add(3) & !3)
        });
        padded.saturating_add(7) & !7
    }

    /// Writes the specifier; returns how many octets it took.
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`]; [`EncodeError::TooLong`] above 65 535 octets; those of
    /// [`Tlv::encode`].
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, EncodeError> {
        let mut writer = EncodeCursor::new(out);
        self.fixed.put_fixed(self.encoded_len(), &mut writer)?;
        writer.put(self.fixed.tlvs.octets())?;
        for tlv in &self.tlvs[..self.count] {
            writer.segment(|rest| tlv.encode(rest))?;
        }
        if let Some(value) = self.pad_value_len() {
            let pad = Tlv::Pad(u16::try_from(value).map_err(|_| EncodeError::TooLong)?);
            writer.segment(|rest| pad.encode(rest))?;
        }
        pad_to_eight(&mut writer)?;
        Ok(writer.len())
    }

    fn unpadded_len(&self) -> usize {
        let added: usize = self.tlvs[..self.count].iter().map(Tlv::encoded_len).sum();
        EXTENDED_TRAFFIC_LEN + self.fixed.tlvs.octets().len() + added
    }

    /// Value octets of the padding TLV, if one fits between contents and wished length.
    fn pad_value_len(&self) -> Option<usize> {
        self.wished_len
            .checked_sub(self.unpadded_len())?
            .checked_sub(TLV_HEADER_LEN)
    }
}

#[cfg(test)]
#[path = "tlv_writer_tests.rs"]
mod tests;
