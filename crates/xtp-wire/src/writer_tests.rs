//! What is written part by part is what the checksum, the length and the option bits of the whole say it is.

use super::*;
use crate::{Control, DataSegment, Format, Key, Packet, Path, PathKind, XDATA_LEN, seal};
use std::vec;
use std::vec::Vec;

const CONTROL: Control = Control {
    rseq: 5,
    alloc: 500,
    echo: 8,
};

fn header(format: Format, options: Options) -> Header {
    Header {
        key: Key::returned(77),
        options,
        format,
        // What is filled in is filled in whatever stands there.
        dlen: 9_999,
        check: 0xabcd,
        sort: 3,
        sync: u32::MAX,
        seq: 1_000,
    }
}

/// An XDATA packet whose data lie in `pieces`, all octets side by side.
fn xdata(options: Options, tag: Option<u64>, pieces: &[&[u8]], protection: Protection) -> Vec<u8> {
    let mut out = [0xee; 200];
    let mut packet = PacketWriter::begin(header(Format::Xdata, options), &mut out).unwrap();
    packet.segment(|rest| CONTROL.encode_xdata(12, rest)).unwrap();
    if let Some(tag) = tag {
        packet.tag(tag).unwrap();
    }
    let written = packet.finish(protection, pieces.iter().copied()).unwrap();
    let tag_len = if tag.is_some() { 8 } else { 0 };
    assert_eq!(written, HEADER_LEN + XDATA_LEN + tag_len);
    [&out[..written], &pieces.concat()].concat()
}

#[test]
fn a_packet_in_parts_is_the_whole_packet() {
    for protection in [Protection::Header, Protection::Packet] {
        for stated in [Options::EOM, Options::EOM | Options::NOCHECK] {
            for tag in [None, Some(0x0102_0304_0506_0708)] {
                for pieces in [&[&b""[..]][..], &[b"hello"], &[b"h", b"", b"el", b"lo!"]] {
                    let octets = xdata(stated, tag, pieces, protection);
                    let mut options = Options::EOM;
                    options.set(Options::NOCHECK, protection == Protection::Header);
                    let whole = Packet {
                        header: header(Format::Data, options),
                        body: Body::Xdata {
                            control: CONTROL,
                            delay_us: 12,
                            data: DataSegment {
                                tag,
                                data: &pieces.concat(),
                            },
                        },
                        padding: 0,
                    };
                    let mut expected = [0; 200];
                    let len = whole.encode(&mut expected).unwrap();
                    assert_eq!(octets, expected[..len], "{protection:?} {tag:?} {pieces:?}");
                    seal(&mut expected[..len], []);
                    assert_eq!(octets, expected[..len], "the check of the whole");
                    options.set(Options::BTAG, tag.is_some());
                    assert_eq!(Packet::parse(&octets).unwrap().header.options, options);
                }
            }
        }
    }
}

#[test]
fn a_packet_like_another_has_its_body_and_a_header_of_its_own() {
    let tagged = xdata(Options::EOM, Some(9), &[b"hello"], Protection::Packet);
    let (parsed, body) = Header::split(&tagged).unwrap();
    let mut again = [&PacketWriter::BLANK[..], body].concat();
    let other = Header { sync: 10, ..parsed };
    let length = PacketWriter::over(other, &mut again)
        .unwrap()
        .finish(Protection::Packet, [])
        .unwrap();
    assert_eq!(length, again.len());
    let packet = Packet::parse(&again).unwrap();
    assert_eq!((packet.header.sync, packet.header.dlen), (10, parsed.dlen));
    assert_eq!(packet.body, Packet::parse(&tagged).unwrap().body);
}

#[test]
fn a_body_says_what_the_packet_is() {
    let path = Path {
        kind: PathKind::Response,
        size: 60,
        nonce: 4,
    };
    let mut out = [0xee; 100];
    let mut packet = PacketWriter::begin(header(Format::Cntl, Options::empty()), &mut out).unwrap();
    packet.body(&Body::Path(path)).unwrap();
    packet.padding(12).unwrap();
    let length = packet.finish(Protection::Packet, []).unwrap();
    assert_eq!(length, crate::size::packet(28));
    let parsed = Packet::parse(&out[..length]).unwrap();
    assert_eq!((parsed.header.format, parsed.header.dlen), (Format::Path, 28));
    assert_eq!((parsed.body, &out[48..60]), (Body::Path(path), &[0; 12][..]));
}

#[test]
fn what_stands_already_is_not_written_again() {
    let mut out = [0xee; HEADER_LEN + 12];
    let mut packet = PacketWriter::begin(header(Format::Path, Options::empty()), &mut out).unwrap();
    packet.standing(12).unwrap();
    assert_eq!(packet.standing(1).err(), Some(EncodeError::BufferTooSmall));
    assert_eq!(packet.finish(Protection::Packet, []), Ok(HEADER_LEN + 12));
    assert_eq!(out[HEADER_LEN..], [0xee; 12]);
}

#[test]
fn what_finds_no_room_is_an_error() {
    let header = header(Format::Cntl, Options::empty());
    let mut short = [0; HEADER_LEN - 1];
    let no_room = Some(EncodeError::BufferTooSmall);
    assert_eq!(PacketWriter::begin(header, &mut short).err(), no_room);
    assert_eq!(PacketWriter::over(header, &mut short).err(), no_room);
    let mut out = [0; HEADER_LEN + 19];
    let mut packet = PacketWriter::begin(header, &mut out).unwrap();
    assert_eq!(packet.segment(|rest| CONTROL.encode(rest)).err(), no_room);
    assert_eq!(packet.octets(&[0; 20]).err(), no_room);
    assert_eq!(packet.padding(20).err(), no_room);
    assert_eq!(packet.finish(Protection::Packet, []), Ok(HEADER_LEN));
}

#[test]
fn headers_of_a_run_are_those_of_its_packets() {
    let payload = b"hello, world: these are the payloads of nine packets.";
    let (len, count) = (5, 9);
    let piece = |index: usize| [&payload[index * len..][..2], &payload[index * len + 2..][..3]];
    for protection in [Protection::Header, Protection::Packet] {
        let first = Header {
            dlen: len as u32,
            ..header(Format::Data, Options::FASTNAK)
        };
        let mut heads = vec![0xee; heads_len(count)];
        write_run(first, protection, &mut heads, piece);
        for (index, head) in heads.chunks(HEADER_LEN).enumerate() {
            let mut expected = [0; HEADER_LEN];
            let header = Header {
                sync: first.sync.wrapping_add(index as u32),
                seq: first.seq + (index * len) as u64,
                ..first
            };
            let packet = PacketWriter::begin(header, &mut expected).unwrap();
            packet.finish(protection, piece(index)).unwrap();
            assert_eq!(head, expected, "number {index}, {protection:?}");
            let datagram = [head, &piece(index).concat()].concat();
            assert!(Packet::parse(&datagram).is_ok());
        }
    }
}

#[test]
fn protection_is_told_by_the_bit_and_by_what_is_covered() {
    for covers in [false, true] {
        let protection = Protection::covering(covers);
        let octets = xdata(Options::empty(), None, &[b"x"], protection);
        let header = Header::parse(&octets).unwrap();
        assert_eq!(Protection::of(header.options), protection);
        let mut broken = octets.clone();
        *broken.last_mut().unwrap() ^= 1;
        assert_eq!(Packet::parse(&broken).is_err(), covers);
    }
}
