//! A packet that is almost the expected one: what a rule of the receiver tells from it by one number, at the edge of that
//! rule. From elsewhere, overtaken, a duplicate, beyond what was granted, acknowledging or granting a little less or too
//! much, asking for something. Where fields are changed at random ([`mutate`](super::mutate)), such packets are rare.

use super::dice::Dice;
use super::mutate::mend;
use super::world::Flying;
use std::net::{IpAddr, Ipv4Addr};
use xtp_wire::{Body, HEADER_LEN, Header, Options, Packet};

/// Where fields of a header, and behind it of a control segment, lie.
const OPTIONS: usize = 8;
const LENGTH: usize = 12;
const SYNC: usize = 20;
const SEQ: usize = 24;
const RSEQ: usize = HEADER_LEN;
const ALLOC: usize = HEADER_LEN + 8;
const ECHO: usize = HEADER_LEN + 16;
/// The largest grant that is believed (§2.9).
const MAX_GRANT: u64 = 1 << 40;
/// What a datagram can have at most.
const LONGEST: usize = 65_000;

/// Changes the datagram; `granted`: up to where its receiver granted octets lately.
pub(super) fn nearly(datagram: &mut Flying, granted: Option<u64>, number: u64) {
    let mut dice = Dice::new(number);
    let Ok(packet) = Packet::parse(&datagram.octets) else {
        return;
    };
    let (header, control) = (packet.header, packet.body.control().copied());
    let data = match &packet.body {
        Body::First(first) => Some(first.data.data.len()),
        body => body.data().map(|data| data.data.len()),
    };
    match dice.below(16) {
        0 | 1 => elsewhere(datagram, &mut dice),
        2 | 3 => return overtake(datagram, 1 + dice.below(3) as u32),
        4 => {
            let steps = *dice.pick(&[1, u64::MAX, data.unwrap_or(2) as u64, 0_u64.wrapping_sub(2)]);
            let seq = header.seq.wrapping_add(steps);
            put(&mut datagram.octets, SEQ, &seq.to_be_bytes());
        }
        5..9 if data.is_some() => to_the_edge(datagram, &header, data, granted, &mut dice),
        9 | 10 => ask(datagram, &header, &mut dice),
        _ => {
            let Some(control) = control else {
                return elsewhere(datagram, &mut dice);
            };
            match dice.below(6) {
                0 => put(
                    &mut datagram.octets,
                    RSEQ,
                    &control.rseq.wrapping_sub(1).to_be_bytes(),
                ),
                1 => {
                    let echo = control.echo.wrapping_sub(*dice.pick(&[1, u32::MAX]));
                    put(&mut datagram.octets, ECHO, &echo.to_be_bytes());
                }
                _ => {
                    let more = dice.below(4_000);
                    let grant = *dice.pick(&[0, 1, more, more, u64::MAX, MAX_GRANT, MAX_GRANT + 1]);
                    let alloc = control.rseq.wrapping_add(grant);
                    put(&mut datagram.octets, ALLOC, &alloc.to_be_bytes());
                }
            }
        }
    }
    mend(&mut datagram.octets);
}

/// It is so much older.
pub(super) fn overtake(datagram: &mut Flying, by: u32) {
    if let Ok(header) = Header::parse(&datagram.octets) {
        let sync = header.sync.wrapping_sub(by);
        put(&mut datagram.octets, SYNC, &sync.to_be_bytes());
        mend(&mut datagram.octets);
    }
}

fn put(octets: &mut [u8], at: usize, number: &[u8]) {
    if let Some(field) = octets.get_mut(at..at + number.len()) {
        field.copy_from_slice(number);
    }
}

/// From another address, or to another of ours.
fn elsewhere(datagram: &mut Flying, dice: &mut Dice) {
    match dice.below(4) {
        0 => datagram.src.set_port(datagram.src.port() ^ 1),
        1 => datagram.src.set_ip(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7))),
        2 => datagram.dst = Some(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 77))),
        _ => {
            let other = super::world::address(dice.below(4) as usize);
            datagram.src.set_ip(other.ip());
        }
    }
}

/// Data up to what was granted, or a little beyond.
fn to_the_edge(
    datagram: &mut Flying,
    header: &Header,
    data: Option<usize>,
    granted: Option<u64>,
    dice: &mut Dice,
) {
    let beyond = *dice.pick(&[0, 1, 1, 2, 400]);
    let wished = granted.and_then(|granted| (granted + beyond).checked_sub(header.seq));
    let Some((wished, data)) = wished.and_then(|wished| usize::try_from(wished).ok()).zip(data) else {
        return;
    };
    let before = HEADER_LEN + header.dlen as usize - data;
    if wished == 0 || before + wished > LONGEST {
        return;
    }
    datagram.octets.resize(before + wished, 0x66);
    let length = (before + wished - HEADER_LEN) as u32;
    put(&mut datagram.octets, LENGTH, &length.to_be_bytes());
}

/// Asks, closes, ends, or says something else of the association.
fn ask(datagram: &mut Flying, header: &Header, dice: &mut Dice) {
    let bit = *dice.pick(&[
        Options::SREQ,
        Options::DREQ,
        Options::EDGE,
        Options::RCLOSE,
        Options::WCLOSE,
        Options::END,
        Options::EOM,
        Options::NOERR,
        Options::FASTNAK,
        Options::RES,
        Options::MULTI,
    ]);
    let changed = Header {
        options: header.options ^ bit,
        ..*header
    };
    let mut octets = [0; HEADER_LEN];
    changed.encode(&mut octets);
    put(&mut datagram.octets, OPTIONS, &octets[OPTIONS..OPTIONS + 4]);
}
