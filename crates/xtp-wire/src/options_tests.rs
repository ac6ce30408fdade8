//! Values of the bits, and where they mean something.

use super::*;

#[test]
fn the_bits_are_fifteen_in_a_row() {
    let values: std::vec::Vec<u32> = Options::all().iter().map(|bit| bit.bits()).collect();
    let expected: std::vec::Vec<u32> = (8..=22).rev().map(|shift| 1 << shift).collect();
    assert_eq!(values, expected);
    assert_eq!(Options::NOCHECK.bits(), 1 << 22);
    assert_eq!(Options::BTAG.bits(), 1 << 8);
}

#[test]
fn reserved_bits_are_dropped() {
    assert_eq!(Options::from_bits_truncate(0x80_00ff), Options::empty());
    assert_eq!(Options::from_bits_truncate(u32::MAX), Options::all());
}

#[test]
fn checksum_and_priority_are_for_every_parsable_packet() {
    for value in 0..32 {
        if let Ok(format) = Format::parsable(value) {
            let bits = Options::meaningful_on(format);
            assert!(bits.contains(Options::NOCHECK | Options::SORT), "{format:?}");
        }
    }
}

#[test]
fn other_bits_follow_the_table() {
    let has = |format, bit| Options::meaningful_on(format).contains(bit);
    let formats: std::vec::Vec<Format> = (0..32).filter_map(|value| Format::parsable(value).ok()).collect();
    let with = |bit| {
        formats
            .iter()
            .copied()
            .filter(|format| has(*format, bit))
            .collect::<std::vec::Vec<_>>()
    };
    let data = [Format::Data, Format::First, Format::Xdata];
    assert_eq!(with(Options::EOM), data);
    assert_eq!(with(Options::BTAG), data);
    assert_eq!(
        with(Options::END),
        [Format::Data, Format::Cntl, Format::First, Format::Diag]
    );
    let control = [
        Format::Cntl,
        Format::Ecntl,
        Format::Tcntl,
        Format::Jcntl,
        Format::Xcntl,
    ];
    for format in control.into_iter().chain(data) {
        let asking = Options::SREQ | Options::DREQ | Options::EDGE | Options::RCLOSE | Options::WCLOSE;
        assert!(
            has(format, asking | (Options::WRITER_MODES - Options::MULTI)),
            "{format:?}"
        );
    }
    assert!(!has(Format::Xdata, Options::MULTI));
    assert!(has(Format::Gnack, Options::MULTI) && has(Format::Parity, Options::MULTI));
    assert!(!has(Format::Path, Options::SREQ) && !has(Format::Diag, Options::RCLOSE));
}
