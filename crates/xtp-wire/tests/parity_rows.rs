//! The coded symbols of V18 and V19 from their source, so that the layout is known to carry what it should:
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

/// Octets filled up, then the descriptor: how many messages end, flags, where they end.
fn symbol(octets: &[u8], end: Option<u16>, flags: u8) -> Vec<u8> {
    let mut symbol = octets.to_vec();
    symbol.resize(SYMBOL_LEN, 0);
    symbol.extend([u8::from(end.is_some()), flags]);
    symbol.extend(end.unwrap_or(0).to_be_bytes());
    symbol.resize(SYMBOL_LEN + DESCRIPTOR_LEN, 0);
    symbol
}

#[test]
fn the_vectors_hold_the_rows_of_the_code() {
    let symbols = [
        symbol(&BLOCK[..16], None, 0),
        symbol(&BLOCK[16..32], Some(5), 0),
        symbol(&BLOCK[32..48], None, 0),
        symbol(&BLOCK[48..], Some(10), 2),
    ];
    let mut rows = 0;
    for (name, octets) in common::vectors() {
        let Body::Parity(parity) = Packet::parse(&octets).unwrap().body else {
            continue;
        };
        assert_eq!(u16::from(rows), parity.row, "{name}");
        let mut expected = vec![0; SYMBOL_LEN + DESCRIPTOR_LEN];
        for (column, symbol) in (0..).zip(&symbols) {
            let weight = inverse((255 - rows) ^ column);
            expected
                .iter_mut()
                .zip(symbol)
                .for_each(|(sum, octet)| *sum ^= multiply(weight, *octet));
        }
        assert_eq!(parity.symbol, expected, "{name}");
        rows += 1;
    }
    assert_eq!(rows, 2);
}
