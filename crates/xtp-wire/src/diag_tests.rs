//! Names and numbers of diagnostics.

use super::*;
use std::string::ToString;

#[test]
fn names_and_numbers_correspond() {
    for (number, code) in (1..).zip(DiagCode::ALL) {
        assert_eq!(
            (u32::from(*code), DiagCode::try_from(number)),
            (number, Ok(*code))
        );
    }
    for (number, value) in (0..).zip(DiagValue::ALL) {
        assert_eq!(
            (u32::from(*value), DiagValue::try_from(number)),
            (number, Ok(*value))
        );
    }
    assert_eq!((DiagCode::ALL.len(), DiagValue::ALL.len()), (7, 16));
}

#[test]
fn numbers_without_a_name() {
    assert_eq!(DiagCode::try_from(0), Err(UnknownDiag(0)));
    assert_eq!(DiagCode::try_from(8), Err(UnknownDiag(8)));
    assert_eq!(DiagValue::try_from(16), Err(UnknownDiag(16)));
    assert_eq!(UnknownDiag(16).to_string(), "unknown diagnostic number 16");
    assert_eq!(DiagValue::NoListener.to_string(), "no listener");
}

#[test]
fn text_that_is_no_text_is_empty() {
    let octets = [0, 0, 0, 9, 0, 0, 0, 99, 0xff];
    assert_eq!(
        Diag::parse(&octets),
        Ok(Diag {
            code: 9,
            val: 99,
            text: ""
        })
    );
    assert_eq!(
        Diag::parse(&octets[..8]),
        Ok(Diag {
            code: 9,
            val: 99,
            text: ""
        })
    );
    assert_eq!(Diag::parse(&octets[..7]), Err(WireError::BadLength));
}

#[test]
fn other_scripts_are_text() {
    let diag = Diag::new(DiagCode::ContextAbandoned, DiagValue::HostGoingDown, "até já");
    let mut out = [0; 16];
    assert_eq!(diag.encode(&mut out), Ok(16));
    assert_eq!(Diag::parse(&out), Ok(diag));
    assert_eq!(diag.encode(&mut out[..15]), Err(EncodeError::BufferTooSmall));
}
