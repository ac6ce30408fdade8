//! The TLVs of an extended traffic specifier (§1.7.1): type u16, length u16, value, padded to four.

use core::iter::FusedIterator;

use zerocopy::big_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::cursor::{EncodeCursor, take};
use crate::parity::{DESCRIPTOR_LEN, PARITY_LEN};
use crate::token::TOKEN_LEN;
use crate::{EncodeError, Parity, Token, WireError};

/// Octets before a TLV's value.
pub(crate) const TLV_HEADER_LEN: usize = 4;
/// Most octets of a member's name.
pub const MAX_NAME_LEN: usize = 64;

/// Type numbers.
mod kind {
    pub(super) const PAD: u16 = 0;
    pub(super) const TOKEN: u16 = 1;
    pub(super) const CTRL_PORT: u16 = 2;
    pub(super) const DATA_PORTS: u16 = 3;
    pub(super) const GROUP_KEY: u16 = 4;
    pub(super) const GROUP_SIZE: u16 = 5;
    pub(super) const NONCE: u16 = 6;
    pub(super) const PSK_ID: u16 = 7;
    pub(super) const APP_BUF: u16 = 8;
    pub(super) const SOCK_BUF: u16 = 9;
    pub(super) const ECNTL_MAX: u16 = 10;
    pub(super) const CLIENT: u16 = 11;
    pub(super) const FEC: u16 = 12;
    pub(super) const CATCHUP: u16 = 13;
    pub(super) const FB_RATE: u16 = 14;
    pub(super) const GRTT_US: u16 = 15;
    pub(super) const INSTANCE: u16 = 16;
    pub(super) const NAME: u16 = 18;
    pub(super) const BUCKETS: u16 = 19;
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct RawFec {
    scheme: u8,
    reserved: u8,
    k: U16,
    pmax: U16,
    symbol_len: U16,
    origin: U64,
}

/// TLV 11: which transaction of which client, so that none is executed twice (§6.9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientId {
    /// The client's number.
    pub client: u64,
    /// Number of this association.
    pub n: u64,
    /// All below are finished.
    pub low: u64,
}

/// TLV 12: how a group's blocks are coded (§9.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FecAgreement {
    /// 1 GF(2^8) Cauchy, 2 GF(2^16).
    pub scheme: u8,
    /// Source symbols of a block.
    pub k: u16,
    /// Most parity rows of a block.
    pub pmax: u16,
    /// Octets of a symbol.
    pub symbol_len: u16,
    /// Sequence number of block 0.
    pub origin: u64,
}

/// TLV 13: where a member stands in its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GroupPoint {
    /// Key of the group.
    pub group: u64,
    /// In JCNTL the lowest octet the transmitter can supply. In the FIRST of a catch-up the key by which the
    /// transmitter knows the member.
    pub at: u64,
    /// In JCNTL the first octet for which the group repairs what this member lacks, or [`Self::NEVER`]. 0 in FIRST.
    pub live: u64,
}

/// TLV 19: how receivers of a group in mode B answer its questions (§9.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct GroupBuckets {
    /// Answers are spread over so many microseconds.
    pub spread_us: u32,
    /// [`DAMPING`](Self::DAMPING), [`GO_BACK_N`](Self::GO_BACK_N); others are not looked at.
    pub flags: u32,
}

impl GroupBuckets {
    /// Who hears an answer that says as much as its own keeps it.
    pub const DAMPING: u32 = 1;
    /// What is missing is sent again with all that follows it: receivers keep nothing beyond a hole.
    pub const GO_BACK_N: u32 = 2;
}

impl FecAgreement {
    /// Whether a code of these numbers can be: a known scheme, blocks and rows that it can count, symbols of an even
    /// number of octets below 2^15 (an offset has 15 bits) that fit a packet of `maxdata` octets with what precedes and follows them.
    ///
    /// # Errors
    ///
    /// [`WireError::BadGroup`].
    pub fn check(&self, maxdata: u32) -> Result<(), WireError> {
        let numbers = u32::from(self.k) + u32::from(self.pmax);
        let counted = match self.scheme {
            Parity::SCHEME_BYTES => numbers <= 256,
            Parity::SCHEME_WORDS => true,
            _ => false,
        };
        let packet = u32::from(self.symbol_len) + (PARITY_LEN + DESCRIPTOR_LEN) as u32;
        let symbols = self.symbol_len > 0
            && self.symbol_len.is_multiple_of(2)
            && self.symbol_len < 1 << 15
            && packet <= maxdata;
        if counted && symbols && self.k > 0 && self.pmax > 0 {
            Ok(())
        } else {
            Err(WireError::BadGroup)
        }
    }
}

impl GroupPoint {
    /// No repair by the group: everything by catch-up.
    pub const NEVER: u64 = u64::MAX;
}

/// One value of an extended traffic specifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tlv<'a> {
    /// Type 0: so many octets of nothing after the TLV's own four.
    Pad(u16),
    /// Type 1.
    Token(Token),
    /// Type 2: the peer's port for control packets.
    CtrlPort(u16),
    /// Type 3: the peer's ports for data, two octets each; see [`Tlv::ports`].
    DataPorts(&'a [u8]),
    /// Type 4: key of the group.
    GroupKey(u64),
    /// Type 5: members of the group.
    GroupSize(u32),
    /// Type 6.
    Nonce([u8; 16]),
    /// Type 7: which pre-shared key.
    PskId(u32),
    /// Type 8: octets of the application's buffer.
    AppBuf(u32),
    /// Type 9: octets of the socket's buffer.
    SockBuf(u32),
    /// Type 10: most spans a packet.
    EcntlMax(u16),
    /// Type 11.
    Client(ClientId),
    /// Type 12.
    Fec(FecAgreement),
    /// Type 13: where in a group its holder stands (§9.3, §9.7).
    Catchup(GroupPoint),
    /// Type 14: status packets a second the transmitter can bear.
    FbRate(u32),
    /// Type 15: round trip of the group, microseconds.
    GrttUs(u32),
    /// Type 16: the instance of the responder that FIRST is meant for, named by its start (UTC milliseconds by its clock).
    Instance(u64),
    /// Type 18: by which name a receiver of a group wants to be known (§9.3): 1 to 64 octets of UTF-8.
    Name(&'a str),
    /// Type 19: how questions of a group in mode B are answered (§9.3).
    Buckets(GroupBuckets),
    /// Any other type; to be skipped.
    Unknown {
        /// The type.
        kind: u16,
        /// The value without its padding.
        value: &'a [u8],
    },
}

impl<'a> Tlv<'a> {
    /// `None` when a known type has a value of the wrong length, or a name is none.
    fn read(kind: u16, value: &'a [u8]) -> Option<Self> {
        Some(match kind {
            kind::PAD => Self::Pad(u16::try_from(value.len()).ok()?),
            kind::TOKEN => Self::Token(Token::parse(value)?),
            kind::CTRL_PORT => Self::CtrlPort(u16_value(value)?),
            kind::DATA_PORTS if value.len().is_multiple_of(2) => Self::DataPorts(value),
            kind::DATA_PORTS => return None,
            kind::GROUP_KEY => Self::GroupKey(U64::read_from_bytes(value).ok()?.get()),
            kind::GROUP_SIZE => Self::GroupSize(u32_value(value)?),
            kind::NONCE => Self::Nonce(value.try_into().ok()?),
            kind::PSK_ID => Self::PskId(u32_value(value)?),
            kind::APP_BUF => Self::AppBuf(u32_value(value)?),
            kind::SOCK_BUF => Self::SockBuf(u32_value(value)?),
            kind::ECNTL_MAX => Self::EcntlMax(u16_value(value)?),
            kind::CLIENT => {
                let [client, n, low] = three(value)?;
                Self::Client(ClientId { client, n, low })
            }
            kind::FEC => {
                let raw = RawFec::read_from_bytes(value).ok()?;
                let (k, pmax, symbol_len) = (raw.k.get(), raw.pmax.get(), raw.symbol_len.get());
                Self::Fec(FecAgreement {
                    scheme: raw.scheme,
                    k,
                    pmax,
                    symbol_len,
                    origin: raw.origin.get(),
                })
            }
            kind::CATCHUP => {
                let [group, at, live] = three(value)?;
                Self::Catchup(GroupPoint { group, at, live })
            }
            kind::FB_RATE => Self::FbRate(u32_value(value)?),
            kind::GRTT_US => Self::GrttUs(u32_value(value)?),
            kind::INSTANCE => Self::Instance(U64::read_from_bytes(value).ok()?.get()),
            kind::NAME => Self::Name(name(value)?),
            kind::BUCKETS => {
                let [spread_us, flags] = <[U32; 2]>::read_from_bytes(value).ok()?.map(U32::get);
                Self::Buckets(GroupBuckets { spread_us, flags })
            }
            kind => Self::Unknown { kind, value },
        })
    }

    /// The type's number.
    #[must_use]
    pub const fn kind(&self) -> u16 {
        match *self {
            Self::Pad(_) => kind::PAD,
            Self::Token(_) => kind::TOKEN,
            Self::CtrlPort(_) => kind::CTRL_PORT,
            Self::DataPorts(_) => kind::DATA_PORTS,
            Self::GroupKey(_) => kind::GROUP_KEY,
            Self::GroupSize(_) => kind::GROUP_SIZE,
            Self::Nonce(_) => kind::NONCE,
            Self::PskId(_) => kind::PSK_ID,
            Self::AppBuf(_) => kind::APP_BUF,
            Self::SockBuf(_) => kind::SOCK_BUF,
            Self::EcntlMax(_) => kind::ECNTL_MAX,
            Self::Client(_) => kind::CLIENT,
            Self::Fec(_) => kind::FEC,
            Self::Catchup(_) => kind::CATCHUP,
            Self::FbRate(_) => kind::FB_RATE,
            Self::GrttUs(_) => kind::GRTT_US,
            Self::Instance(_) => kind::INSTANCE,
            Self::Name(_) => kind::NAME,
            Self::Buckets(_) => kind::BUCKETS,
            Self::Unknown { kind, .. } => kind,
        }
    }

    /// The ports of [`DataPorts`](Self::DataPorts); nothing for any other type.
    pub fn ports(&self) -> impl ExactSizeIterator<Item = u16> + Clone + 'a {
        let octets: &'a [u8] = if let Self::DataPorts(octets) = *self {
            octets
        } else {
            &[]
        };
        octets
            .as_chunks::<2>()
            .0
            .iter()
            .map(|port| u16::from_be_bytes(*port))
    }

    /// Octets of the value, without padding.
    #[must_use]
    pub const fn value_len(&self) -> usize {
        match *self {
            Self::Pad(length) => length as usize,
            Self::Token(_) => TOKEN_LEN,
            Self::CtrlPort(_) | Self::EcntlMax(_) => 2,
            Self::DataPorts(value) | Self::Unknown { value, .. } => value.len(),
            Self::Name(name) => name.len(),
            Self::GroupSize(_)
            | Self::PskId(_)
            | Self::AppBuf(_)
            | Self::SockBuf(_)
            | Self::FbRate(_)
            | Self::GrttUs(_) => 4,
            Self::GroupKey(_) | Self::Instance(_) | Self::Buckets(_) => 8,
            Self::Nonce(_) | Self::Fec(_) => 16,
            Self::Client(_) | Self::Catchup(_) => 24,
        }
    }

    /// Octets of the TLV: type, length, value, padding up to a multiple of four.
    #[must_use]
    pub const fn encoded_len(&self) -> usize {
        TLV_HEADER_LEN + self.value_len().next_multiple_of(4)
    }

    /// Writes the TLV; returns how many octets it took.
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`]; [`EncodeError::TooLong`] for a value above 65 535 octets;
    /// [`EncodeError::Invalid`] for a list of ports of odd length, or an [`Unknown`](Self::Unknown) that holds
    /// the number of a known type with a value that type cannot have, or a [`Name`](Self::Name) that is empty or longer
    /// than [`MAX_NAME_LEN`].
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, EncodeError> {
        let length = U16::new(u16::try_from(self.value_len()).map_err(|_| EncodeError::TooLong)?);
        let mut writer = EncodeCursor::new(out);
        writer.put(&[U16::new(self.kind()), length])?;
        self.put_value(&mut writer)?;
        writer.zeros(self.encoded_len() - writer.len())?;
        Ok(writer.len())
    }

    fn put_value(&self, writer: &mut EncodeCursor<'_>) -> Result<(), EncodeError> {
        match *self {
            Self::Pad(length) => writer.zeros(length.into()),
            Self::Token(token) => writer.segment(|rest| token.encode(rest)),
            Self::CtrlPort(value) | Self::EcntlMax(value) => writer.put(&U16::new(value)),
            Self::DataPorts(value) | Self::Unknown { value, .. } => {
                Self::read(self.kind(), value).ok_or(EncodeError::Invalid)?;
                writer.put(value)
            }
            Self::GroupSize(value)
            | Self::PskId(value)
            | Self::AppBuf(value)
            | Self::SockBuf(value)
            | Self::FbRate(value)
            | Self::GrttUs(value) => writer.put(&U32::new(value)),
            Self::GroupKey(value) | Self::Instance(value) => writer.put(&U64::new(value)),
            Self::Name(text) => writer.put(name(text.as_bytes()).ok_or(EncodeError::Invalid)?.as_bytes()),
            Self::Buckets(buckets) => writer.put(&[buckets.spread_us, buckets.flags].map(U32::new)),
            Self::Nonce(value) => writer.put(&value),
            Self::Client(id) => writer.put(&[id.client, id.n, id.low].map(U64::new)),
            Self::Catchup(point) => writer.put(&[point.group, point.at, point.live].map(U64::new)),
            Self::Fec(fec) => writer.put(&RawFec {
                scheme: fec.scheme,
                reserved: 0,
                k: fec.k.into(),
                pmax: fec.pmax.into(),
                symbol_len: fec.symbol_len.into(),
                origin: fec.origin.into(),
            }),
        }
    }
}

/// What can be a name.
fn name(value: &[u8]) -> Option<&str> {
    let possible = (1..=MAX_NAME_LEN).contains(&value.len());
    str::from_utf8(value).ok().filter(|_| possible)
}

fn u16_value(value: &[u8]) -> Option<u16> {
    Some(U16::read_from_bytes(value).ok()?.get())
}

fn u32_value(value: &[u8]) -> Option<u32> {
    Some(U32::read_from_bytes(value).ok()?.get())
}

fn three(value: &[u8]) -> Option<[u64; 3]> {
    Some(<[U64; 3]>::read_from_bytes(value).ok()?.map(U64::get))
}

/// TLVs as they lie in a specifier, checked once; a multiple of eight octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tlvs<'a>(&'a [u8]);

impl<'a> Tlvs<'a> {
    /// None.
    pub const EMPTY: Self = Self(&[]);

    /// Checks every TLV; `None` when one is malformed or the octets are no multiple of eight.
    #[must_use]
    pub fn new(octets: &'a [u8]) -> Option<Self> {
        if !octets.len().is_multiple_of(8) {
            return None;
        }
        let mut left = octets;
        while !left.is_empty() {
            (_, left) = next(left)?;
        }
        Some(Self(octets))
    }

    /// One after the other, padding and unknown ones too.
    #[must_use]
    pub const fn iter(self) -> TlvIter<'a> {
        TlvIter(self.0)
    }

    /// The octets as they are.
    #[must_use]
    pub const fn octets(self) -> &'a [u8] {
        self.0
    }
}

impl<'a> IntoIterator for Tlvs<'a> {
    type Item = Tlv<'a>;
    type IntoIter = TlvIter<'a>;

    fn into_iter(self) -> TlvIter<'a> {
        self.iter()
    }
}

/// Iterator over [`Tlvs`].
#[derive(Debug, Clone)]
pub struct TlvIter<'a>(&'a [u8]);

impl<'a> Iterator for TlvIter<'a> {
    type Item = Tlv<'a>;

    fn next(&mut self) -> Option<Tlv<'a>> {
        let (tlv, rest) = next(self.0)?;
        self.0 = rest;
        Some(tlv)
    }
}

impl FusedIterator for TlvIter<'_> {}

/// The TLV at the front, and what follows its padding.
fn next(octets: &[u8]) -> Option<(Tlv<'_>, &[u8])> {
    let ([kind, length], rest): ([U16; 2], _) = take(octets)?;
    let length = usize::from(length.get());
    let (padded, rest) = rest.split_at_checked(length.next_multiple_of(4))?;
    Some((Tlv::read(kind.get(), &padded[..length])?, rest))
}

#[cfg(test)]
#[path = "tlv_tests.rs"]
mod tests;
