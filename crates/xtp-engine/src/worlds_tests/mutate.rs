//! One field of one packet, changed: any field of the header, of the control, address, traffic, path and DIAG segments, any
//! TLV, the octets and the length of the data, and what the carrier tells of a datagram. Lengths stay consistent and the
//! checksum is mended, so that what comes is well-formed and says something else than was sent.

use super::dice::Dice;
use super::world::Flying;
use crate::Ecn;
use std::net::{IpAddr, Ipv4Addr};
use xtp_wire::{CONTROL_LEN, Format, HEADER_LEN, Header, Options, XDATA_LEN, seal};

/// A field of a packet: where it lies, and how many octets it has.
#[derive(Clone, Copy)]
struct Field {
    at: usize,
    len: usize,
}

/// Octets of an address segment for IPv4, and of an extended specifier before its TLVs.
const ADDRESS: usize = 16;
const SPECIFIER: usize = 48;
/// Where options and format, the length and the sync of a header lie.
const OPTIONS: usize = 8;
const FORMAT: usize = 11;
const LENGTH: usize = 12;
const SYNC: usize = 20;

/// Changes something about the datagram.
pub(super) fn mutate(datagram: &mut Flying, number: u64) {
    let mut dice = Dice::new(number);
    match dice.below(100) {
        0..8 => change_carrier(datagram, &mut dice),
        8..11 => {
            let bit = dice.below(datagram.octets.len() as u64 * 8) as usize;
            datagram.octets[bit / 8] ^= 1 << (bit % 8);
        }
        11..13 => {
            let len = dice.below(datagram.octets.len() as u64 + 1) as usize;
            datagram.octets.truncate(len);
        }
        13..19 if datagram.octets.len() >= HEADER_LEN => age(&mut datagram.octets, &mut dice),
        _ => change_packet(&mut datagram.octets, &mut dice),
    }
}

/// An older sync, or a newer one.
fn age(octets: &mut [u8], dice: &mut Dice) {
    let field = Field { at: SYNC, len: 4 };
    let (sync, steps) = (read(octets, field) as u32, dice.below(4) as u32);
    let changed = match dice.one_in(4) {
        true => sync.wrapping_add(steps),
        false => sync.wrapping_sub(steps),
    };
    octets[SYNC..SYNC + 4].copy_from_slice(&changed.to_be_bytes());
    mend(octets);
}

/// Some octets become others, and the checksum is mended.
pub(super) fn patch(datagram: &mut Flying, at: usize, octets: &[u8]) {
    datagram.octets[at..at + octets.len()].copy_from_slice(octets);
    mend(&mut datagram.octets);
}

/// Where it came from and to which address, and its ECN mark.
fn change_carrier(datagram: &mut Flying, dice: &mut Dice) {
    match dice.below(6) {
        0 => datagram.src.set_port(datagram.src.port() ^ 1),
        1 => datagram
            .src
            .set_ip(super::world::address(dice.below(4) as usize).ip()),
        2 => datagram.src.set_ip(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7))),
        3 => {
            datagram.dst = match datagram.dst {
                Some(_) => None,
                None => Some(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 77))),
            }
        }
        4 => datagram.dst = Some(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 78))),
        _ => datagram.ecn = *dice.pick(&[Ecn::Ce, Ecn::Ect0, Ecn::Ect1, Ecn::NotEct]),
    }
}

fn change_packet(octets: &mut Vec<u8>, dice: &mut Dice) {
    let Ok(header) = Header::parse(octets) else { return };
    let end = HEADER_LEN + header.dlen as usize;
    if end > octets.len() {
        return;
    }
    match dice.below(14) {
        0..2 => change_options(octets, dice),
        2 => octets[FORMAT] = (octets[FORMAT] & 0xe0) | *dice.pick(&[0, 1, 2, 3, 5, 8, 16, 17, 18, 19]),
        3..6 => change_number(octets, *dice.pick(&HEADER_FIELDS), dice),
        6 => change_length(octets, &header, end, dice),
        7 => octets.extend_from_slice(&[0; 24][..dice.below(24) as usize]),
        8 if header.format == Format::First => change_tlvs(octets, dice),
        _ => {
            let fields = fields_of(&header, octets);
            if fields.is_empty() {
                change_number(octets, *dice.pick(&HEADER_FIELDS), dice);
            } else {
                change_number(octets, *dice.pick(&fields), dice);
            }
        }
    }
    mend(octets);
}

/// The check field is right again.
pub(super) fn mend(octets: &mut [u8]) {
    let whole = Header::parse(octets).is_ok_and(|header| {
        header.options.contains(Options::NOCHECK) || octets.len() >= HEADER_LEN + header.dlen as usize
    });
    if whole {
        seal(octets, []);
    }
}

/// Key, priority, sync, sequence number.
const HEADER_FIELDS: [Field; 5] = [
    Field { at: 0, len: 8 },
    Field { at: 18, len: 2 },
    Field { at: SYNC, len: 4 },
    Field { at: SYNC, len: 4 },
    Field { at: 24, len: 8 },
];

/// One bit of the options, or two.
fn change_options(octets: &mut [u8], dice: &mut Dice) {
    for _ in 0..=dice.below(4) / 3 {
        let bit = dice.below(24) as usize;
        octets[OPTIONS + bit / 8] ^= 1 << (bit % 8);
    }
}

/// The fields behind the header.
fn fields_of(header: &Header, octets: &[u8]) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut add = |at: usize, lens: &[usize]| {
        let mut at = HEADER_LEN + at;
        for len in lens {
            fields.push(Field { at, len: *len });
            at += len;
        }
    };
    let control = [8, 8, 4];
    match header.format {
        Format::First => {
            // Domain and hosts and ports, service; then what the specifier says.
            add(2, &[1, 1, 4, 4, 2, 2]);
            add(ADDRESS + 2, &[1, 1, 4, 8, 8, 4, 4, 8, 4, 4]);
            add(ADDRESS + 4, &[4]);
            add(ADDRESS + SPECIFIER, &[2, 2]);
        }
        Format::Data => add(0, &[1]),
        Format::Cntl => add(0, &control),
        Format::Ecntl => add(0, &[8, 8, 4, 4, 8, 8]),
        Format::Xdata => {
            add(0, &control);
            add(CONTROL_LEN, &[4, 1]);
        }
        Format::Tcntl => {
            add(0, &control);
            add(CONTROL_LEN, &[4, 8]);
            add(34, &[1, 1, 4, 8, 8, 4, 4, 8, 4, 4]);
        }
        Format::Xcntl => {
            add(0, &control);
            add(CONTROL_LEN, &[2, 2, 4, 4, 4, 4, 8, 8, 8, 8]);
        }
        Format::Diag => add(0, &[4, 4, 1]),
        Format::Path => add(0, &[4, 4, 8]),
        _ => add(0, &[8, 8, 8]),
    }
    fields.retain(|field| field.at + field.len <= octets.len());
    fields
}

/// A number becomes another: near, far, zero, one of its neighbours, one that lies elsewhere in the packet.
fn change_number(octets: &mut [u8], field: Field, dice: &mut Dice) {
    let Field { at, len } = field;
    let number = read(octets, field);
    let bits = 8 * len as u64;
    let changed = match dice.below(12) {
        0 => number.wrapping_add(1),
        1 => number.wrapping_sub(1),
        2 => number.wrapping_add(2 + dice.below(1_500)),
        3 => number.wrapping_sub(2 + dice.below(1_500)),
        4 => 0,
        5 => u64::MAX,
        6 | 7 => number ^ 1 << dice.below(bits),
        8 => number.wrapping_add(1 << (bits - 1)),
        9 => dice.next(),
        10 => dice.below(64),
        _ => {
            let last = octets.len() - len;
            let other = dice.below(last as u64 / 4 + 1) as usize * 4;
            read(
                octets,
                Field {
                    at: other.min(last),
                    len,
                },
            )
        }
    };
    octets[at..at + len].copy_from_slice(&changed.to_be_bytes()[8 - len..]);
}

fn read(octets: &[u8], field: Field) -> u64 {
    let part = &octets[field.at..field.at + field.len];
    part.iter()
        .fold(0, |number, octet| number << 8 | u64::from(*octet))
}

/// Fewer octets of data, or more; the length says so.
fn change_length(octets: &mut Vec<u8>, header: &Header, end: usize, dice: &mut Dice) {
    let before_data = match header.format {
        Format::First => match octets.get(HEADER_LEN + ADDRESS..HEADER_LEN + ADDRESS + 2) {
            Some(length) => ADDRESS + usize::from(u16::from_be_bytes([length[0], length[1]])),
            None => return,
        },
        Format::Data => 0,
        Format::Xdata => XDATA_LEN,
        _ => return,
    };
    let data = end.saturating_sub(HEADER_LEN + before_data);
    octets.truncate(end);
    match dice.below(4) {
        0 => octets.truncate(end - data),
        1 if data > 0 => octets.truncate(end - 1),
        2 => octets.truncate(end - dice.below(data as u64 + 1) as usize),
        _ => octets.resize(end + 1 + dice.below(2_000) as usize, 0x55),
    }
    let length = (octets.len() - HEADER_LEN) as u32;
    octets[LENGTH..LENGTH + 4].copy_from_slice(&length.to_be_bytes());
}

/// One of the TLVs of a FIRST becomes another, goes, or comes twice.
fn change_tlvs(octets: &mut Vec<u8>, dice: &mut Dice) {
    let specifier = HEADER_LEN + ADDRESS;
    let Some(length) = octets.get(specifier..specifier + 2) else {
        return;
    };
    let end = specifier + usize::from(u16::from_be_bytes([length[0], length[1]]));
    let from = specifier + SPECIFIER;
    if end > octets.len() || from + 4 > end {
        return;
    }
    let mut places = Vec::new();
    let mut at = from;
    while at + 4 <= end {
        let len = 4 + usize::from(u16::from_be_bytes([octets[at + 2], octets[at + 3]])).next_multiple_of(4);
        places.push((at, len));
        at += len;
    }
    let (at, len) = *dice.pick(&places);
    if at + len > end {
        return;
    }
    let mut grown = 0_i64;
    match dice.below(6) {
        0 => octets[at + 1] = dice.below(18) as u8,
        1 => {
            // Its place is filled with padding of the same length.
            octets[at..at + 2].fill(0);
            octets[at + 4..at + len].fill(0);
        }
        2 if len % 8 == 0 => {
            octets.drain(at..at + len);
            grown = -(len as i64);
        }
        3 if len % 8 == 0 => {
            let again = octets[at..at + len].to_vec();
            octets.splice(at..at, again);
            grown = len as i64;
        }
        4 if len > 4 => {
            let word = at + 4 + dice.below((len as u64 - 4) / 4) as usize * 4;
            change_number(octets, Field { at: word, len: 4 }, dice);
        }
        _ if len >= 12 => {
            let word = at + 4 + dice.below((len as u64 - 4) / 8) as usize * 8;
            change_number(octets, Field { at: word, len: 8 }, dice);
        }
        _ => {}
    }
    let segment = (end - specifier) as i64 + grown;
    octets[specifier..specifier + 2].copy_from_slice(&(segment as u16).to_be_bytes());
    let length = i64::from(u32::from_be_bytes(octets[LENGTH..LENGTH + 4].try_into().unwrap())) + grown;
    octets[LENGTH..LENGTH + 4].copy_from_slice(&(length as u32).to_be_bytes());
}
