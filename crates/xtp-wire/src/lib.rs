//! XTP packets as octets: parsing that borrows, encoding that never allocates.
//!
//! One datagram is one packet of XTP 4: a header of 32 octets, a body, and perhaps padding. [`Packet::parse`]
//! checks version, format, length, checksum and every segment at once, so that what it returns can be used
//! without further checks of form; whether the *numbers* make sense is the engine's to judge.
//! [`Packet::encode`] is its inverse. `no_std`, no `unsafe`, no memory of its own.
//!
//! # Packet formats
//!
//! | value | [`Format`] | [`Body`] | payload, octets | what for |
//! | --- | --- | --- | --- | --- |
//! | 0 | DATA | [`DataSegment`] | \[tag 8\] data | octets of a stream |
//! | 1 | CNTL | [`Control`] | 20 | status: received, room, echo |
//! | 2 | FIRST | [`First`] | address 8/16/40, specifier 8/24/48+, \[tag 8\] data | opens, and carries data at once |
//! | 3 | ECNTL | [`Control`], [`Spans`] | 24 + 16 n | status with what lies beyond the gaps |
//! | 5 | TCNTL | [`Control`], key, [`Traffic`] | 32 + specifier | status, key exchange, terms |
//! | 7 | JCNTL | [`Control`], key, [`Address`], [`Traffic`] | 32 + address + specifier | joining a group |
//! | 8 | DIAG | [`Diag`] | 8 + text | what went wrong |
//! | 16 | PATH | [`Path`] | 16 + padding | probing an address or a size |
//! | 17 | XCNTL | [`Xcntl`] | 48 + 16 n \[+ 8\] \[+ 24\] | status with spans, ECN counts, rate; poll of a group |
//! | 18 | COOKIE | [`Token`] | 24 | "say that again with this token" |
//! | 19 | XDATA | [`Control`], delay, [`DataSegment`] | 24 + \[tag 8\] data | data and status in one |
//! | 20 | PARITY | [`Parity`] | 24 + L | a coded symbol for a group |
//! | 21 | GNACK | [`Gnack`] | 32 + 8 n | symbols missing, per block |
//!
//! JOIN (6, obsolete) and SEALED (30, encrypted, another header) are told apart as errors; all other values
//! are unknown. What a packet is between the parties of a group say [`ToGroup`], [`ToTransmitter`] and [`ToMember`].
//!
//! # Example
//!
//! A message of five octets, sent and understood:
//!
//! ```
//! use xtp_wire::{Address, Body, DataSegment, First, Format, Header, Key, Options, Packet, Traffic};
//! use xtp_wire::{service_numbers, service};
//!
//! let first = Packet {
//!     header: Header {
//!         key: Key::own(0x0123_4567_89ab_cdef),
//!         options: Options::SREQ | Options::WCLOSE | Options::EOM,
//!         format: Format::First,
//!         dlen: 0,  // format, dlen and check are filled in from the body
//!         check: 0,
//!         sort: 0,
//!         sync: 1,
//!         seq: 0,
//!     },
//!     body: Body::First(First {
//!         address: Address::Ipv4 {
//!             domain: 0,
//!             dst: [192, 0, 2, 2],
//!             src: [192, 0, 2, 1],
//!             dst_port: service_numbers::MESSAGE,
//!             src_port: 40_000,
//!         },
//!         traffic: Traffic::None { service: service::ACKNOWLEDGED },
//!         data: DataSegment { tag: None, data: b"hello" },
//!     }),
//!     padding: 0,
//! };
//! let mut datagram = [0; 1472];
//! let length = first.encode(&mut datagram)?;
//! assert_eq!(length, 32 + 16 + 8 + 5);
//!
//! let heard = Packet::parse(&datagram[..length])?;
//! let Body::First(first) = heard.body else { panic!("a FIRST was sent") };
//! assert_eq!(first.address.port(), Some(service_numbers::MESSAGE));
//! assert_eq!(first.data.data, b"hello");
//!
//! datagram[40] ^= 1;
//! assert!(Packet::parse(&datagram[..length]).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Data that stays where it is
//!
//! A packet is written by [`PacketWriter`], whole ([`Packet::encode`]) or part by part: segments go to one small buffer, and
//! the pieces of payload, wherever they lie, are shown to [`PacketWriter::finish`], which puts in length and check field. With
//! [`Protection::Header`] they are not read. The headers of many packets of plain data are [`write_run`]'s.
//!
//! Big-endian throughout, span edges included. Section numbers (§3.5) are those of `docs/protocol`.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod address;
mod catchup;
mod checksum;
mod control;
mod cursor;
mod data;
mod diag;
mod error;
mod exchange;
mod first;
mod format;
mod gnack;
mod group;
mod group_terms;
mod header;
mod key;
mod options;
mod packet;
mod parity;
mod path;
mod poll;
mod run;
mod serial;
pub mod service;
pub mod service_numbers;
pub mod size;
mod spans;
mod tlv;
mod tlv_writer;
mod token;
mod traffic;
mod writer;
mod xcntl;

pub use address::Address;
pub use catchup::{MissingRange, RANGE_LEN, RangeReader};
pub use checksum::{Checksum, seal};
pub use control::{CONTROL_LEN, Control, DELAY_NONE, TCNTL_LEN, XDATA_LEN};
pub use data::{DataSegment, TAG_LEN};
pub use diag::{DIAG_LEN, Diag, DiagCode, DiagReason, DiagValue, UnknownDiag};
pub use error::{EncodeError, WireError};
pub use exchange::{XDATA_HEAD_LEN, XdataHead, parse_head, parse_plain};
pub use first::First;
pub use format::Format;
pub use gnack::{GNACK_LEN, Gnack, GnackBlock, GnackFlags, MAX_GNACK_BLOCKS};
pub use group::{GroupHeader, ToGroup, ToMember, ToTransmitter};
pub use group_terms::GroupTerms;
pub use header::{HEADER_LEN, Header};
pub use key::Key;
pub use options::Options;
pub use packet::{Body, Packet};
pub use parity::{DESCRIPTOR_LEN, PARITY_LEN, Parity};
pub use path::{PATH_LEN, Path, PathKind};
pub use poll::{GroupPoll, POLL_LEN};
pub use run::Run;
pub use serial::{serial_gt, serial_max};
pub use spans::{ECNTL_LEN, SPAN_LEN, Span, Spans};
pub use tlv::{ClientId, FecAgreement, GroupBuckets, GroupPoint, MAX_NAME_LEN, Tlv, TlvIter, Tlvs};
pub use tlv_writer::{ExtendedTrafficBuilder, MAX_TLVS, TlvWriter};
pub use token::{TOKEN_LEN, Token};
pub use traffic::{
    BASIC_TRAFFIC_LEN, BasicTraffic, Caps, EXTENDED_TRAFFIC_LEN, ExtendedTraffic, NO_TRAFFIC_LEN, Traffic,
};
pub use writer::{PacketWriter, Protection, heads_len, write_run};
pub use xcntl::{XCNTL_LEN, Xcntl, XcntlFlags};

/// The UDP port an endpoint listens on unless told otherwise (36 is XTP's IP protocol number).
pub const UDP_PORT: u16 = 36_036;
