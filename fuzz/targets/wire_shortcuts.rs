//! The ways around the general parser say what it says: runs of joined packets, XDATA alone, and headers.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xtp_wire::{
    Body, HEADER_LEN, Header, Options, Packet, PacketWriter, Protection, Run, XDATA_HEAD_LEN, XdataHead,
    parse_head, seal,
};

/// Packets of a run at most.
const LONGEST: u8 = 8;
/// Options whose packets do not belong into a run.
const ALONE: Options = Options::EOM;

fuzz_target!(|octets: &[u8]| {
    let Some(([count, damaged, place, change], packet)) = octets.split_first_chunk() else {
        return;
    };
    let mut packet = packet.to_vec();
    xdata(&packet);
    head(&packet);
    if packet.len() < HEADER_LEN {
        return;
    }
    // The fuzzer finds neither lengths nor checksums by itself.
    let present = (packet.len() - HEADER_LEN) as u32;
    packet[12..16].copy_from_slice(&present.to_be_bytes());
    seal(&mut packet, []);
    xdata(&packet);
    head(&packet);
    let mut joined = row(&packet, count % LONGEST + 1);
    run(&joined, packet.len());
    let at = (usize::from(*damaged) * packet.len() + usize::from(*place)) % joined.len();
    joined[at] ^= change;
    run(&joined, packet.len());
});

/// The packet and what would continue its stream.
fn row(packet: &[u8], count: u8) -> Vec<u8> {
    let mut joined = Vec::new();
    let Ok(first) = Header::parse(packet) else {
        return packet.to_vec();
    };
    for index in 0..u32::from(count) {
        let at = joined.len();
        joined.extend_from_slice(packet);
        let header = Header {
            sync: first.sync.wrapping_add(index),
            seq: first.seq.wrapping_add(u64::from(index) * u64::from(first.dlen)),
            ..first
        };
        if let Some(head) = joined[at..].first_chunk_mut() {
            header.encode(head);
        }
        seal(&mut joined[at..], []);
    }
    joined
}

/// Whatever [`Packet::parse`] takes without padding has the header [`parse_head`] reads, with the payload behind it; what
/// that refuses, the other refuses or pads.
fn head(octets: &[u8]) {
    let packet = Packet::parse(octets);
    match (parse_head(octets), packet) {
        (Some((header, payload)), packet) => {
            assert_eq!(payload, &octets[HEADER_LEN..]);
            assert!(
                packet.is_ok_and(|packet| packet.header == header && packet.padding == 0)
                    || packet_is_malformed(octets)
            );
        }
        (None, Ok(packet)) => assert_ne!(packet.padding, 0),
        (None, Err(_)) => {}
    }
}

/// Whether it is only the segments that the general parser does not take.
fn packet_is_malformed(octets: &[u8]) -> bool {
    Header::parse(octets).is_ok()
        && !matches!(
            Packet::parse(octets),
            Err(xtp_wire::WireError::BadChecksum) | Ok(_)
        )
}

/// What [`Packet::parse`] makes of XDATA, [`XdataHead::parse`] makes of it too, or nothing; what is written of it again is
/// the same.
fn xdata(octets: &[u8]) {
    let Some((head, segment)) = XdataHead::parse(octets) else {
        return;
    };
    let packet = Packet::parse(octets).expect("what the short way takes the long one does");
    assert_eq!(packet.header, head.header());
    assert_eq!(packet.padding, 0);
    let Body::Xdata {
        control,
        delay_us,
        data,
    } = packet.body
    else {
        panic!("{head:?} is no XDATA: {packet:?}");
    };
    assert_eq!((control, delay_us), (head.control(), head.delay_us()));
    assert_eq!(data, segment);
    assert_eq!(data.sequence_len(), octets.len() - XDATA_HEAD_LEN);
    let mut again = octets.to_vec();
    let mut writer = PacketWriter::begin(packet.header, &mut again).expect("as long as a head");
    let written = writer
        .segment(|rest| control.encode_xdata(delay_us, rest))
        .and_then(|()| data.tag.map_or(Ok(()), |tag| writer.tag(tag)))
        .and_then(|()| writer.finish(Protection::of(packet.header.options), [data.data]));
    assert_eq!(written, Ok(octets.len() - data.data.len()));
    let (head, _) = XdataHead::parse(&again).expect("a right check field");
    let check = head.header().check;
    assert_eq!(
        head.header(),
        Header {
            check,
            ..packet.header
        }
    );
    assert_eq!((control, delay_us), (head.control(), head.delay_us()));
}

/// Each packet of a run is one for the general parser, with the place the run gives it; the next one is not.
fn run(octets: &[u8], stride: usize) {
    let Some(run) = Run::parse(octets, stride, ALONE) else {
        return;
    };
    let continues = |index: usize| {
        let datagram = octets.get(index * stride..(index + 1) * stride)?;
        let packet = Packet::parse(datagram).ok()?;
        let Body::Data(data) = packet.body else {
            return None;
        };
        let expected = Header {
            check: packet.header.check,
            sync: run.header.sync.wrapping_add(index as u32),
            seq: run.header.seq.wrapping_add((index * run.data_len()) as u64),
            ..run.header
        };
        (packet.header == expected && data.tag.is_none()).then_some(data.data)
    };
    for index in 0..run.count() {
        let payload = continues(index).expect("a packet of the run");
        assert_eq!(run.payload(index), Some(payload));
    }
    assert_eq!(run.payload(run.count()), None);
    assert_eq!(continues(run.count()), None, "the run ends too soon");
}
