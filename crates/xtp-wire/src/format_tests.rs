//! Numbers of the formats.

use super::*;
use std::vec::Vec;

#[test]
fn numbers_and_formats_correspond() {
    let assigned: Vec<u8> = (0..=255)
        .filter(|value| Format::from_wire(*value).is_some())
        .collect();
    assert_eq!(assigned, [0, 1, 2, 3, 5, 6, 7, 8, 16, 17, 18, 19, 20, 21, 30]);
    for value in assigned {
        assert_eq!(Format::from_wire(value).map(Format::to_wire), Some(value));
    }
}

#[test]
fn only_parsable_formats_are_parsed() {
    assert_eq!(Format::parsable(0), Ok(Format::Data));
    assert_eq!(Format::parsable(6), Err(WireError::ObsoleteFormat));
    assert_eq!(Format::parsable(30), Err(WireError::Sealed));
    assert_eq!(Format::parsable(31), Err(WireError::UnknownFormat(31)));
}

#[test]
fn xdata_is_both_data_and_control() {
    let all = || (0..32).filter_map(Format::from_wire);
    let data: Vec<Format> = all().filter(|format| format.carries_data()).collect();
    assert_eq!(data, [Format::Data, Format::First, Format::Xdata]);
    let control: Vec<u8> = all()
        .filter(|format| format.carries_control())
        .map(Format::to_wire)
        .collect();
    assert_eq!(control, [1, 3, 5, 7, 17, 19, 21]);
}
