//! The coded symbols of V18, V19 and V31 from their source, so that the layout is known to carry what it should:
//! parity over GF(2^8) with polynomial 0x11D, row j and column i weighted by 1 / ((255 - j) xor i).

mod common;

use xtp_wire::*;

const BLOCK: &[u8; 58] = b"0123456789abcdefghijKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuv";
const SYMBOL_LEN: usize = 16;

fn multiply(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b != 0 {
        if b & 1 == 1 {
            product ^= a;
        }
        a = (a << 1) ^ if a & 0x80 != 0 { 0x1d } else { 0 };
        b >>= 1;
    }
    product
}

fn inverse(a: u8) -> u8 {
    (1..=255)
        .find(|b| multiply(a, *b) == 1)
        .expect("all but zero have one")
}

/// Octets filled up, then the descriptor: how many marks there are, flags, where messages end and tags begin.
fn symbol(octets: &[u8], marks: &[u16], flags: u8) -> Vec<u8> {
    let mut symbol = octets.to_vec();
    symbol.resize(SYMBOL_LEN, 0);
    symbol.extend([u8::try_from(marks.len()).unwrap(), flags]);
    symbol.extend(marks.iter().flat_map(|mark| mark.to_be_bytes()));
    symbol.resize(SYMBOL_LEN + DESCRIPTOR_LEN, 0);
    symbol
}

/// A message ends at octet 5 of the second symbol, the stream at octet 10 of the last.
fn two_messages() -> [Vec<u8>; 4] {
    [
        symbol(&BLOCK[..16], &[], 0),
        symbol(&BLOCK[16..32], &[5], 0),
        symbol(&BLOCK[32..48], &[], 0),
        symbol(&BLOCK[48..], &[10], 2),
    ]
}

/// A message ends at octet 5 of the first symbol, and a tag begins at its octet 8.
fn a_tag() -> [Vec<u8>; 4] {
    [
        symbol(&BLOCK[..16], &[5, 0x8008], 0),
        symbol(&BLOCK[16..32], &[], 0),
        symbol(&BLOCK[32..48], &[], 0),
        symbol(&BLOCK[48..], &[10], 2),
    ]
}

#[test]
fn the_vectors_hold_the_rows_of_the_code() {
    let expected = [
        ("V18", 0, two_messages()),
        ("V19", 1, two_messages()),
        ("V31", 0, a_tag()),
    ];
    let vectors = common::vectors();
    let found = vectors.iter().filter(|(_, octets)| octets[11] & 31 == 20);
    assert_eq!(found.count(), expected.len());
    for (name, row, symbols) in expected {
        let (_, octets) = vectors.iter().find(|(found, _)| *found == name).unwrap();
        let Body::Parity(parity) = Packet::parse(octets).unwrap().body else {
            panic!("{name} is a PARITY");
        };
        assert_eq!(parity.row, u16::from(row), "{name}");
        let mut sum = vec![0; SYMBOL_LEN + DESCRIPTOR_LEN];
        for (column, symbol) in (0..).zip(&symbols) {
            let weight = inverse((255 - row) ^ column);
            sum.iter_mut()
                .zip(symbol)
                .for_each(|(sum, octet)| *sum ^= multiply(weight, *octet));
        }
        assert_eq!(parity.symbol, sum, "{name}");
    }
}
