//! The table of status codes, and the errors behind it.

use std::collections::HashSet;
use std::ffi::CStr;

use super::*;

/// Names of the variants of an enum, read off its definition.
fn variants(source: &str, name: &str) -> Vec<String> {
    let begin = format!("pub enum {name} {{\n");
    let body = source.split(&begin).nth(1).expect("the enum");
    let body = body.split("\n}\n").next().expect("its end");
    body.lines()
        .filter_map(|line| line.strip_prefix("    "))
        .filter(|line| line.starts_with(|first: char| first.is_ascii_uppercase()))
        .map(|line| line.split(|c: char| !c.is_alphanumeric()).next().expect("a name"))
        .map(str::to_owned)
        .collect()
}

/// The arms of the tables, for a look at which variants they name.
const ARMS: &str = include_str!("status.rs");

/// Every variant has an arm of its own: what the compiler checks for enums that cannot grow.
fn has_arms(source: &str, name: &str, known_as: &str, at_least: usize) {
    let variants = variants(source, name);
    assert!(variants.len() >= at_least, "{variants:?}");
    let (_, tables) = ARMS.split_once("pub(crate) fn status_of").expect("the tables");
    for variant in variants {
        let arm = tables.lines().filter(|line| {
            let line = line.trim_start();
            line.strip_prefix(known_as)
                .and_then(|line| line.strip_prefix("::"))
                .is_some_and(|line| line.split(|c: char| !c.is_alphanumeric()).next() == Some(&variant))
        });
        assert_eq!(arm.count(), 1, "{known_as}::{variant} has a status of its own");
    }
}

#[test]
fn every_error_has_one_status() {
    has_arms(include_str!("../../xtp/src/error.rs"), "Error", "Error", 20);
    let engine = include_str!("../../xtp-engine/src/error.rs");
    has_arms(engine, "CloseReason", "CloseReason", 12);
    has_arms(engine, "Error", "CommandError", 10);
    let mesh = include_str!("../../xtp-mesh/src/message.rs");
    has_arms(mesh, "LossReason", "LossReason", 4);
}

#[test]
fn no_two_rows_share_a_number_or_a_name() {
    let numbers: HashSet<c_int> = TABLE.iter().map(|row| row.status).collect();
    let names: HashSet<&str> = TABLE.iter().map(|row| row.name).collect();
    assert_eq!((numbers.len(), names.len()), (TABLE.len(), TABLE.len()));
    assert!(TABLE.iter().all(|row| row.status <= 0 && !row.text.is_empty()));
}

#[test]
fn numbers_that_programs_know_stay() {
    // Never changed: programs have these numbers in them.
    let known = [
        (XTP_OK, 0),
        (XTP_EINVAL, -1),
        (XTP_EINTERNAL, -2),
        (XTP_EFORK, -3),
        (XTP_EOPTION, -5),
        (XTP_EROOM, -6),
        (XTP_ECARRIER, -12),
        (XTP_ETIMEDOUT, -19),
        (XTP_EWOULDBLOCK, -20),
        (XTP_EINTERRUPTED, -21),
        (XTP_EREJECTED, -43),
        (XTP_EUNREACHABLE, -46),
        (XTP_ENOBODYLISTENS, -47),
        (XTP_EREFUSED, -48),
        (XTP_EOUTOFRANGE, -68),
    ];
    assert!(known.iter().all(|(name, number)| name == number));
}

#[test]
fn words_of_a_status() {
    for row in TABLE {
        // SAFETY: the texts are constants that end with a zero octet.
        let text = unsafe { CStr::from_ptr(xtp_strerror(row.status)) };
        assert_eq!(text, row.text);
    }
    for unknown in [1, -9, c_int::MIN, c_int::MAX] {
        // SAFETY: as above.
        let text = unsafe { CStr::from_ptr(xtp_strerror(unknown)) };
        assert_eq!(text, c"no status of xtp");
    }
}

#[test]
fn a_rejection_keeps_its_number() {
    let reason = CloseReason::Rejected {
        code: 300,
        text: "full".into(),
    };
    let failure = Failure::from(Error::Closed(reason));
    assert_eq!((failure.status, failure.rejection), (XTP_EREJECTED, 300));
    assert!(failure.text.contains("full"));
    assert_eq!(Failure::from(Error::WouldBlock).status, XTP_EWOULDBLOCK);
}
