//! How much of a file all receivers have.

use std::io::{Read, Write};

use super::*;

/// Where a file goes on for receivers with beginnings of these lengths, `wrong` ones of another file.
fn goes_on(parts: &[(u64, bool)]) -> u64 {
    let content: Vec<u8> = (0..1_000_000_u32).map(|at| (at % 251) as u8).collect();
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(&content).expect("written");
    std::io::Seek::rewind(&mut file).expect("possible");
    let known = parts.iter().map(|(octets, wrong)| {
        let mut part = content[..usize::try_from(*octets).expect("small")].to_vec();
        part[0] ^= u8::from(*wrong);
        (*octets, *blake3::hash(&part).as_bytes())
    });
    let mut known: Vec<_> = known.collect();
    known.sort_unstable();
    let (mut hasher, at) = common_beginning(&mut file, &known, "file", || Ok(())).expect("readable");
    // The rest that is read from there, and the hash so far, are those of the file.
    let mut rest = Vec::new();
    file.read_to_end(&mut rest).expect("readable");
    assert_eq!(rest.len() as u64, content.len() as u64 - at);
    hasher.update(&rest);
    assert_eq!(hasher.finalize(), blake3::hash(&content));
    at
}

#[test]
fn the_shortest_part_counts() {
    assert_eq!(goes_on(&[(700_000, false)]), 700_000);
    assert_eq!(goes_on(&[(1_000_000, false), (300_000, false), (1, false)]), 1);
    assert_eq!(goes_on(&[(300_000, false), (300_000, false)]), 300_000);
    assert_eq!(goes_on(&[(1_000_000, false)]), 1_000_000);
    assert_eq!(goes_on(&[]), 0);
}

#[test]
fn a_part_of_another_file_counts_as_none() {
    assert_eq!(goes_on(&[(700_000, true)]), 0);
    assert_eq!(goes_on(&[(300_000, false), (700_000, true)]), 0);
    assert_eq!(goes_on(&[(300_000, true), (700_000, false)]), 0);
    assert_eq!(goes_on(&[(300_000, false), (300_000, true)]), 0);
}

/// A file that has become shorter than what a receiver has of it.
#[test]
fn a_file_that_ends_before_is_told() {
    let mut file = tempfile::tempfile().expect("a temporary file");
    let parts = [(5, [0; 32])];
    let outcome = common_beginning(&mut file, &parts, "file", || Ok(()));
    assert!(matches!(outcome, Err(Fault::Here(problem)) if problem.code == Code::Changed));
}

#[test]
fn an_address_is_the_same_in_both_forms() {
    let address = |text: &str| text.parse::<SocketAddr>().expect("an address");
    assert!(is_same(address("[::ffff:10.0.0.1]:5"), address("10.0.0.1:5")));
    assert!(!is_same(address("10.0.0.1:6"), address("10.0.0.1:5")));
}
