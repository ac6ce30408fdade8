//! The code against sums and products octet by octet; every pattern of small blocks, any of large ones.

use proptest::prelude::*;

use super::super::symbol::{Descriptor, SymbolMark};
use super::*;

/// Octets that differ everywhere; the last symbol is shorter.
fn block(count: usize, symbol_len: usize, short: usize) -> Vec<Vec<u8>> {
    let octet = |at: usize| (at * at / 7 + at) as u8;
    let mut symbols: Vec<Vec<u8>> = (0..count)
        .map(|symbol| {
            (0..symbol_len)
                .map(|at| octet(symbol * symbol_len + at))
                .collect()
        })
        .collect();
    symbols[count - 1].truncate(symbol_len - short);
    symbols
}

fn marks(column: usize, octets: &[u8]) -> Descriptor {
    let end = u16::try_from(octets.len() - column % octets.len()).unwrap();
    Descriptor::new(&[SymbolMark::End(end)], column == 3).unwrap()
}

fn symbols(block: &[Vec<u8>]) -> Vec<Symbol<'_>> {
    let symbol = |(column, octets): (usize, &'_ Vec<u8>)| marks(column, octets);
    let descriptors: Vec<Descriptor> = block.iter().enumerate().map(symbol).collect();
    let both = block.iter().zip(descriptors);
    both.map(|(octets, descriptor)| Symbol { octets, descriptor })
        .collect()
}

/// Octets filled up, then the descriptor.
fn coded(symbol: &Symbol<'_>, symbol_len: usize) -> Vec<u8> {
    let mut coded = symbol.octets.to_vec();
    coded.resize(symbol_len, 0);
    coded.extend(symbol.descriptor.encode());
    coded
}

/// The row by its definition.
fn naive_row(row: u8, symbol_len: usize, symbols: &[Symbol<'_>]) -> Vec<u8> {
    let mut sum = vec![0; symbol_len + DESCRIPTOR_LEN];
    for (column, symbol) in (0..).zip(symbols) {
        let weight = inverse((255 - row) ^ column);
        let coded = coded(symbol, symbol_len);
        sum.iter_mut()
            .zip(coded)
            .for_each(|(sum, octet)| *sum ^= product(weight, octet));
    }
    sum
}

fn rows(count: u8, symbol_len: usize, symbols: &[Symbol<'_>]) -> Vec<Vec<u8>> {
    let row = |row| {
        let mut out = vec![0xaa; symbol_len + DESCRIPTOR_LEN];
        encode_row(row, symbol_len, symbols, &mut out);
        out
    };
    (0..count).map(row).collect()
}

/// Gives a decoder of `symbols` those columns and rows whose bit is set, and compares what it makes of them.
fn recovers(symbols: &[Symbol<'_>], rows: &[Vec<u8>], symbol_len: usize, pattern: u32) {
    let count = symbols.len();
    let mut decoder = Decoder::new(count as u8, symbol_len);
    for (column, symbol) in (0..)
        .zip(symbols)
        .filter(|(column, _)| pattern >> column & 1 == 1)
    {
        assert!(decoder.symbol(column, symbol));
        assert!(!decoder.symbol(column, symbol), "twice");
    }
    for (row, octets) in (0..)
        .zip(rows)
        .filter(|(row, _)| pattern >> (count + usize::from(*row)) & 1 == 1)
    {
        assert_eq!(decoder.finish(), None, "not enough yet");
        assert!(decoder.row(row, octets));
        assert!(!decoder.row(row, octets), "twice");
    }
    assert_eq!(decoder.need(), 0);
    let missing: Vec<u8> = (0..count as u8)
        .filter(|column| pattern >> column & 1 == 0)
        .collect();
    assert_eq!(decoder.finish(), Some(missing));
    for (column, symbol) in (0..).zip(symbols) {
        assert_eq!(
            decoder.coded(column),
            Some(&coded(symbol, symbol_len)[..]),
            "{pattern:b} column {column}"
        );
    }
    assert_eq!(decoder.finish(), Some(vec![]), "nothing is missing any more");
}

#[test]
fn every_pattern_of_as_many_as_there_are_symbols() {
    let symbol_len = 10;
    let mut patterns = 0;
    for count in 1..=8_usize {
        let block = block(count, symbol_len, 3);
        let symbols = symbols(&block);
        for extra in 1..=8_usize {
            let rows = rows(extra as u8, symbol_len, &symbols);
            for pattern in
                (0..1_u32 << (count + extra)).filter(|pattern| pattern.count_ones() as usize == count)
            {
                recovers(&symbols, &rows, symbol_len, pattern);
                patterns += 1;
            }
        }
    }
    // The sum of C(k + p, k) for k and p from 1 to 8.
    assert_eq!(patterns, 48_602);
}

#[test]
fn rows_of_every_length_around_the_chunks() {
    for symbol_len in [
        2, 8, 14, 16, 18, 30, 126, 128, 130, 142, 144, 146, 254, 256, 258, 1416,
    ] {
        for short in [0, 1, symbol_len - 1, symbol_len / 2] {
            let block = block(5, symbol_len, short);
            let symbols = symbols(&block);
            for (row, octets) in (0..).zip(rows(3, symbol_len, &symbols)) {
                assert_eq!(
                    octets,
                    naive_row(row, symbol_len, &symbols),
                    "{symbol_len} less {short}, row {row}"
                );
            }
        }
    }
}

#[test]
fn the_last_row_of_the_largest_code() {
    let block = block(192, 4, 0);
    let symbols = symbols(&block);
    let mut out = [0; 12];
    encode_row(63, 4, &symbols, &mut out);
    assert_eq!(out[..], naive_row(63, 4, &symbols));
}

#[test]
fn what_is_no_row_is_not_taken() {
    let mut decoder = Decoder::new(192, 4);
    assert!(!decoder.row(64, &[1; 12]), "its number is a symbol's");
    assert!(!decoder.row(0, &[1; 11]) && !decoder.row(0, &[1; 13]));
    assert!(decoder.row(63, &[1; 12]));
    let long = Symbol {
        octets: &[1; 5],
        descriptor: Descriptor::default(),
    };
    assert!(!decoder.symbol(0, &long), "longer than its place");
    assert!(
        !decoder.symbol(
            192,
            &Symbol {
                octets: &[1; 4],
                ..long
            }
        ),
        "there are 192"
    );
    assert_eq!((decoder.need(), decoder.octets()), (191, 12));
}

#[test]
fn a_whole_block_takes_no_row() {
    let block = block(2, 4, 0);
    let mut decoder = Decoder::new(2, 4);
    for (column, symbol) in (0..).zip(symbols(&block)) {
        assert!(decoder.symbol(column, &symbol));
    }
    assert!(!decoder.row(0, &[1; 12]));
    assert_eq!(decoder.octets(), 24);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Blocks of any size, what is lost and which rows come by chance: the rows are right, the block comes out whole.
    #[test]
    fn blocks_of_any_size(
        count in 1_usize..=192,
        half_len in 1_usize..150,
        lost in prop::collection::vec(any::<prop::sample::Index>(), 0..64),
        first_row in 0_u8..32,
    ) {
        let symbol_len = 2 * half_len;
        let block = block(count, symbol_len, symbol_len / 3);
        let symbols = symbols(&block);
        let mut decoder = Decoder::new(count as u8, symbol_len);
        let lost: std::collections::BTreeSet<u8> = lost.into_iter().map(|at| at.index(count) as u8).collect();
        let lost: Vec<u8> = lost.into_iter().take(32).collect();
        let mut rows = first_row..;
        for need in (0..lost.len()).rev() {
            let row = rows.next().unwrap();
            let mut octets = vec![0; symbol_len + DESCRIPTOR_LEN];
            encode_row(row, symbol_len, &symbols, &mut octets);
            prop_assert_eq!(&octets, &naive_row(row, symbol_len, &symbols));
            prop_assert!(decoder.row(row, &octets));
            prop_assert_eq!(decoder.need(), count - lost.len() + need);
        }
        for (column, symbol) in (0..).zip(&symbols).filter(|(column, _)| !lost.contains(column)) {
            prop_assert!(decoder.symbol(column, symbol));
        }
        prop_assert_eq!(decoder.finish(), Some(lost));
        for (column, symbol) in (0..).zip(&symbols) {
            prop_assert_eq!(decoder.coded(column), Some(&coded(symbol, symbol_len)[..]));
        }
    }
}
