//! A whole datagram: header, body, padding.

use zerocopy::big_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use crate::control::{RawControl, TCNTL_LEN, XDATA_LEN};
use crate::cursor::{EncodeCursor, take};
use crate::spans::ECNTL_LEN;
use crate::token::Token;
use crate::{
    Address, CONTROL_LEN, Control, DataSegment, Diag, EncodeError, First, Format, Gnack, HEADER_LEN, Header,
    Options, PacketWriter, Parity, Path, Protection, Spans, Traffic, WireError, Xcntl, checksum,
};

#[derive(FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct RawTcntl {
    control: RawControl,
    _reserved: U32,
    xkey: U64,
}

/// A packet whose parts borrow from the datagram.
///
/// About 200 octets large, for the sake of FIRST: match on it in place and hand it on by reference, for moving
/// it takes as long as parsing a DATA packet does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The common header.
    pub header: Header,
    /// What `dlen` counts.
    pub body: Body<'a>,
    /// Octets of the datagram after that.
    pub padding: usize,
}

/// What a packet carries, by format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body<'a> {
    /// Format 2.
    First(First<'a>),
    /// Format 0.
    Data(DataSegment<'a>),
    /// Format 19.
    Xdata {
        /// Status of the opposite stream.
        control: Control,
        /// As in [`Xcntl::delay_us`].
        delay_us: u32,
        /// The data.
        data: DataSegment<'a>,
    },
    /// Format 1.
    Cntl(Control),
    /// Format 3.
    Ecntl {
        /// Status.
        control: Control,
        /// Ranges received beyond `rseq`.
        spans: Spans<'a>,
    },
    /// Format 5.
    Tcntl {
        /// Status.
        control: Control,
        /// By which key the sender wants to be addressed; bit 63 clear.
        xkey: u64,
        /// The sender's terms.
        traffic: Traffic<'a>,
    },
    /// Format 7.
    Jcntl {
        /// Status.
        control: Control,
        /// By which key the sender wants to be addressed; bit 63 clear.
        xkey: u64,
        /// The group.
        address: Address,
        /// The sender's terms.
        traffic: Traffic<'a>,
    },
    /// Format 17.
    Xcntl(Xcntl<'a>),
    /// Format 8.
    Diag(Diag<'a>),
    /// Format 16; padding inside `dlen` follows.
    Path(Path),
    /// Format 18.
    Cookie(Token),
    /// Format 20.
    Parity(Parity<'a>),
    /// Format 21.
    Gnack(Gnack<'a>),
}

impl<'a> Packet<'a> {
    /// Takes a datagram apart, after looking at version, format, length and checksum.
    ///
    /// Reserved option bits, flags, capabilities and words are ignored, as are option bits that mean nothing
    /// on the format ([`Options::meaningful_on`]). With NOCHECK the payload of a data packet is not read.
    ///
    /// # Errors
    ///
    /// Every [`WireError`] but [`BadAddressFormat`](WireError::BadAddressFormat) and
    /// [`BadTrafficFormat`](WireError::BadTrafficFormat): unknown formats of segments inside a well-formed
    /// packet are values ([`First::check_formats`]).
    #[inline]
    pub fn parse(datagram: &'a [u8]) -> Result<Self, WireError> {
        let header = Header::parse(datagram)?;
        let (payload, tail) = opened(datagram, header.dlen, header.options)?;
        let padding = tail.len();
        if header.format == Format::Data {
            // By far the most frequent; a return of its own saves it the copy of the largest body there is.
            let data = DataSegment::parse(header.options, payload)?;
            return Ok(Self {
                header,
                body: Body::Data(data),
                padding,
            });
        }
        Self::parse_other(header, payload, padding)
    }

    /// Apart, so that the registers of the frequent case are not saved for the others.
    #[inline(never)]
    fn parse_other(header: Header, payload: &'a [u8], padding: usize) -> Result<Self, WireError> {
        Ok(Self {
            header,
            body: Body::parse(header.format, header.options, payload)?,
            padding,
        })
    }

    /// Octets of the datagram, or more than any buffer has if `header.dlen` of a PATH packet says so.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        HEADER_LEN
            .saturating_add(self.payload_len())
            .saturating_add(self.padding)
    }

    /// Writes header, body and padding one after the other; returns how many octets they took.
    ///
    /// Format, `dlen`, BTAG and the checksum come from the body, whatever the header says; only PATH takes
    /// `dlen` as the wished length of its payload with padding. So the packet is right by construction and
    /// parses to itself.
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`], [`EncodeError::TooLong`] above 2^32 octets, and those of the body.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, EncodeError> {
        let length = self.encoded_len();
        let out = out.get_mut(..length).ok_or(EncodeError::BufferTooSmall)?;
        let mut writer = PacketWriter::begin(self.header, out)?;
        writer.body(&self.body)?;
        writer.padding(self.payload_len() - self.body.encoded_len())?;
        let written = writer.finish(Protection::of(self.header.options), [])?;
        out[written..].fill(0);
        Ok(length)
    }

    fn payload_len(&self) -> usize {
        match self.body {
            Body::Path(path) => usize::try_from(self.header.dlen)
                .unwrap_or(usize::MAX)
                .max(path.encoded_len()),
            body => body.encoded_len(),
        }
    }
}

impl<'a> Body<'a> {
    #[inline]
    fn parse(format: Format, options: Options, payload: &'a [u8]) -> Result<Self, WireError> {
        Ok(match format {
            Format::Data => Self::Data(DataSegment::parse(options, payload)?),
            Format::First => Self::First(First::parse(options, payload)?),
            Format::Xdata => {
                let ((control, delay_us), rest) = control_and_word(payload)?;
                Self::Xdata {
                    control,
                    delay_us,
                    data: DataSegment::parse(options, rest)?,
                }
            }
            Format::Cntl => {
                let (raw, rest): (RawControl, _) = take(payload).ok_or(WireError::BadLength)?;
                all_read(rest)?;
                Self::Cntl(raw.into())
            }
            Format::Ecntl => {
                let ((control, count), rest) = control_and_word(payload)?;
                let count = usize::try_from(count).map_err(|_| WireError::BadLength)?;
                let (spans, rest) = Spans::take(control.rseq, count, rest)?;
                all_read(rest)?;
                Self::Ecntl { control, spans }
            }
            Format::Tcntl => {
                let (control, xkey, rest) = control_and_key(payload)?;
                let (traffic, rest) = Traffic::take(rest)?;
                all_read(rest)?;
                Self::Tcntl {
                    control,
                    xkey,
                    traffic,
                }
            }
            Format::Jcntl => {
                let (control, xkey, rest) = control_and_key(payload)?;
                let (address, rest) = Address::take(rest)?;
                let (traffic, rest) = Traffic::take(rest)?;
                all_read(rest)?;
                Self::Jcntl {
                    control,
                    xkey,
                    address,
                    traffic,
                }
            }
            Format::Xcntl => Self::Xcntl(Xcntl::parse(payload)?),
            Format::Diag => Self::Diag(Diag::parse(payload)?),
            Format::Path => Self::Path(Path::parse(payload)?),
            Format::Cookie => Self::Cookie(Token::parse(payload).ok_or(WireError::BadLength)?),
            Format::Parity => Self::Parity(Parity::parse(payload)?),
            Format::Gnack => Self::Gnack(Gnack::parse(payload)?),
            Format::Join => return Err(WireError::ObsoleteFormat),
            Format::Sealed => return Err(WireError::Sealed),
        })
    }

    /// The format that carries this.
    #[must_use]
    pub const fn format(&self) -> Format {
        match self {
            Self::First(_) => Format::First,
            Self::Data(_) => Format::Data,
            Self::Xdata { .. } => Format::Xdata,
            Self::Cntl(_) => Format::Cntl,
            Self::Ecntl { .. } => Format::Ecntl,
            Self::Tcntl { .. } => Format::Tcntl,
            Self::Jcntl { .. } => Format::Jcntl,
            Self::Xcntl(_) => Format::Xcntl,
            Self::Diag(_) => Format::Diag,
            Self::Path(_) => Format::Path,
            Self::Cookie(_) => Format::Cookie,
            Self::Parity(_) => Format::Parity,
            Self::Gnack(_) => Format::Gnack,
        }
    }

    /// The data segment of FIRST, DATA and XDATA.
    #[inline]
    #[must_use]
    pub const fn data(&self) -> Option<&DataSegment<'a>> {
        match self {
            Self::First(First { data, .. }) | Self::Data(data) | Self::Xdata { data, .. } => Some(data),
            _ => None,
        }
    }

    /// The common control segment of all packets that have it.
    #[inline]
    #[must_use]
    pub const fn control(&self) -> Option<&Control> {
        match self {
            Self::Cntl(control)
            | Self::Xdata { control, .. }
            | Self::Ecntl { control, .. }
            | Self::Tcntl { control, .. }
            | Self::Jcntl { control, .. }
            | Self::Xcntl(Xcntl { control, .. })
            | Self::Gnack(Gnack { control, .. }) => Some(control),
            _ => None,
        }
    }

    /// Octets of the payload (of PATH without padding).
    #[must_use]
    pub const fn encoded_len(&self) -> usize {
        match self {
            Self::First(first) => first.encoded_len(),
            Self::Data(data) => data.encoded_len(),
            Self::Xdata { data, .. } => XDATA_LEN + data.encoded_len(),
            Self::Cntl(_) => CONTROL_LEN,
            Self::Ecntl { spans, .. } => ECNTL_LEN + spans.encoded_len(),
            Self::Tcntl { traffic, .. } => TCNTL_LEN + traffic.encoded_len(),
            Self::Jcntl { address, traffic, .. } => TCNTL_LEN + address.encoded_len() + traffic.encoded_len(),
            Self::Xcntl(xcntl) => xcntl.encoded_len(),
            Self::Diag(diag) => diag.encoded_len(),
            Self::Path(path) => path.encoded_len(),
            Self::Cookie(token) => token.encoded_len(),
            Self::Parity(parity) => parity.encoded_len(),
            Self::Gnack(gnack) => gnack.encoded_len(),
        }
    }

    /// Writes the payload (of PATH without padding); returns how many octets it took.
    ///
    /// # Errors
    ///
    /// Those of the segments.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, EncodeError> {
        let mut writer = EncodeCursor::new(out);
        match self {
            Self::First(first) => return first.encode(out),
            Self::Data(data) => return data.encode(out),
            Self::Cntl(control) => return control.encode(out),
            Self::Ecntl { control, spans } => return spans.encode_ecntl(*control, out),
            Self::Xcntl(xcntl) => return xcntl.encode(out),
            Self::Diag(diag) => return diag.encode(out),
            Self::Path(path) => return path.encode(out),
            Self::Cookie(token) => return token.encode(out),
            Self::Parity(parity) => return parity.encode(out),
            Self::Gnack(gnack) => return gnack.encode(out),
            Self::Xdata {
                control,
                delay_us,
                data,
            } => {
                writer.segment(|rest| control.encode_xdata(*delay_us, rest))?;
                writer.segment(|rest| data.encode(rest))?;
            }
            Self::Tcntl {
                control,
                xkey,
                traffic,
            } => {
                writer.segment(|rest| control.encode_tcntl(*xkey, rest))?;
                writer.segment(|rest| traffic.encode(rest))?;
            }
            Self::Jcntl {
                control,
                xkey,
                address,
                traffic,
            } => {
                writer.segment(|rest| control.encode_tcntl(*xkey, rest))?;
                writer.segment(|rest| address.encode(rest))?;
                writer.segment(|rest| traffic.encode(rest))?;
            }
        }
        Ok(writer.len())
    }
}

/// Payload and padding of a packet whose header says this, if they are there and its check field is right: whoever reads
/// a packet begins here.
#[inline]
pub(crate) fn opened(datagram: &[u8], dlen: u32, options: Options) -> Result<(&[u8], &[u8]), WireError> {
    let (head, rest) = datagram
        .split_first_chunk::<HEADER_LEN>()
        .ok_or(WireError::Truncated)?;
    let dlen = usize::try_from(dlen).map_err(|_| WireError::Truncated)?;
    let (payload, tail) = rest.split_at_checked(dlen).ok_or(WireError::Truncated)?;
    let covered = if Protection::of(options) == Protection::Packet {
        payload
    } else {
        &[]
    };
    match checksum::verifies(head, covered) {
        true => Ok((payload, tail)),
        false => Err(WireError::BadChecksum),
    }
}

/// A packet with octets left over is not what its format says.
const fn all_read(rest: &[u8]) -> Result<(), WireError> {
    if rest.is_empty() {
        Ok(())
    } else {
        Err(WireError::BadLength)
    }
}

/// The beginning of ECNTL (count of spans) and XDATA (delay).
#[inline]
fn control_and_word(payload: &[u8]) -> Result<((Control, u32), &[u8]), WireError> {
    let (raw, rest): (RawControl, _) = take(payload).ok_or(WireError::BadLength)?;
    let (word, rest): (U32, _) = take(rest).ok_or(WireError::BadLength)?;
    Ok(((raw.into(), word.get()), rest))
}

/// The beginning of TCNTL and JCNTL.
fn control_and_key(payload: &[u8]) -> Result<(Control, u64, &[u8]), WireError> {
    let (raw, rest): (RawTcntl, _) = take(payload).ok_or(WireError::BadLength)?;
    let xkey = raw.xkey.get();
    if xkey >> 63 != 0 {
        return Err(WireError::BadKey);
    }
    Ok((raw.control.into(), xkey, rest))
}
