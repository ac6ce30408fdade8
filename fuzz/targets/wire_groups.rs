//! Packets of groups and the records of a catch-up: nothing panics, and what is understood is written and understood again.
//!
//! The first octet chooses the format, so that every input gets to the layouts of groups; the second the direction, the third the
//! options.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xtp_fuzz::{Choices, mend};
use xtp_wire::{
    Format, GroupHeader, HEADER_LEN, Header, Key, Options, Packet, RANGE_LEN, RangeReader, ToGroup, ToMember,
    ToTransmitter, Traffic, WireError,
};

const FORMATS: [Format; 8] = [
    Format::Gnack,
    Format::Xcntl,
    Format::Jcntl,
    Format::Parity,
    Format::First,
    Format::Cntl,
    Format::Ecntl,
    Format::Diag,
];

fuzz_target!(|input: &[u8]| {
    let mut choices = Choices::new(input);
    let which = choices.index(FORMATS.len() + 1);
    let Some(format) = FORMATS.get(which) else {
        return records(&mut choices);
    };
    let direction = choices.octet();
    let mut options = Options::from_bits_truncate(u32::from(choices.octet()) << 8);
    options.set(Options::MULTI, direction & 2 == 0);
    let payload = choices.octets(1 << 12);
    let key = if direction & 1 == 0 {
        Key::own(5)
    } else {
        Key::returned(5)
    };
    let mut head = [0; HEADER_LEN];
    let header = Header {
        key,
        options,
        format: *format,
        dlen: payload.len() as u32,
        check: 0,
        sort: 0,
        sync: 1,
        seq: 0,
    };
    header.encode(&mut head);
    let mut octets = [&head[..], payload].concat();
    mend(&mut octets);
    if let Ok(packet) = Packet::parse(&octets) {
        understood(&packet);
    }
});

/// Whatever a party understands, it would write so that another understands the same.
fn understood(packet: &Packet<'_>) {
    let header = GroupHeader {
        key: packet.header.key.value(),
        sync: packet.header.sync,
        seq: packet.header.seq,
        options: packet.header.options,
    };
    let mut out = vec![0; 1 << 13];
    let mut again = |made: Packet<'_>| {
        let length = made.encode(&mut out).ok()?;
        Some(out[..length].to_vec())
    };
    if let Ok(said) = ToGroup::of(packet)
        && let Some(octets) = again(said.packet(header))
    {
        assert_eq!(
            ToGroup::of(&Packet::parse(&octets).expect("it was made")),
            Ok(said)
        );
        assert!(ToTransmitter::of(packet).is_err() && ToMember::of(packet).is_err());
    }
    if let Ok(said) = ToTransmitter::of(packet)
        && let Some(octets) = again(said.packet(header))
    {
        assert_eq!(
            ToTransmitter::of(&Packet::parse(&octets).expect("it was made")),
            Ok(said)
        );
    }
    if let Ok(said) = ToMember::of(packet)
        && let Some(octets) = again(said.packet(header))
    {
        assert_eq!(
            ToMember::of(&Packet::parse(&octets).expect("it was made")),
            Ok(said)
        );
        if let ToMember::Answer { traffic, .. } = said {
            assert!(
                matches!(traffic, Traffic::Extended(_)),
                "only it says where the member stands"
            );
        }
    }
}

/// However a stream of records is cut, the same records and errors come out of it.
fn records(choices: &mut Choices<'_>) {
    let cut = choices.index(RANGE_LEN * 2) + 1;
    let stream = choices.octets(1 << 12);
    let whole = read(stream, stream.len().max(1));
    assert_eq!(whole.len(), stream.len() / RANGE_LEN);
    assert_eq!(read(stream, cut), whole);
}

fn read(stream: &[u8], piece: usize) -> Vec<Result<(u64, u64), WireError>> {
    let (mut reader, mut found) = (RangeReader::new(), Vec::new());
    for mut piece in stream.chunks(piece) {
        loop {
            match reader.next(&mut piece) {
                Ok(None) => break,
                Ok(Some(range)) => found.push(Ok((range.from(), range.to()))),
                Err(error) => found.push(Err(error)),
            }
        }
    }
    found
}
