//! How fast parity is made and used: octets of symbols a second, for codes of usual sizes.
//!
//! `cargo run --release -p xtp-group --example parity`. Each figure is the best of many runs, so that others on the machine
//! disturb it little. `-- once` makes 64 rows of one block and nothing else, for counting instructions.

use std::hint::black_box;
use std::time::{Duration, Instant};

use xtp_group::{DESCRIPTOR_LEN, Decoder, Descriptor, Symbol, encode_row};

const SYMBOL_LEN: usize = 1416;
const RUNS: usize = 200;

fn main() {
    let once = std::env::args().any(|word| word == "once");
    let octets: Vec<u8> = (0..64 * SYMBOL_LEN).map(|at| (at * 31 % 251) as u8).collect();
    if once {
        let symbols = symbols(&octets, 64);
        let mut out = [0; SYMBOL_LEN + DESCRIPTOR_LEN];
        (0..64).for_each(|row| encode_row(row, SYMBOL_LEN, black_box(&symbols), black_box(&mut out)));
        return;
    }
    println!("symbols  rows  encode MB/s  decode MB/s   (octets of symbols times rows; L {SYMBOL_LEN})");
    for count in [16, 32, 64] {
        let symbols = symbols(&octets, count);
        for rows in [1, 4, 16] {
            let (encode, decode) = figures(&symbols, rows);
            println!("{count:7}  {rows:4}  {encode:11.0}  {decode:11.0}");
        }
    }
}

fn symbols(octets: &[u8], count: usize) -> Vec<Symbol<'_>> {
    let symbol = |octets| Symbol {
        octets,
        descriptor: Descriptor::default(),
    };
    octets.chunks(SYMBOL_LEN).take(count).map(symbol).collect()
}

/// Millions of octets a second, each octet counted once for each row.
fn figures(symbols: &[Symbol<'_>], rows: u8) -> (f64, f64) {
    let mut made = vec![vec![0; SYMBOL_LEN + DESCRIPTOR_LEN]; rows.into()];
    let encode = best(|| {
        for (row, out) in (0..).zip(&mut made) {
            encode_row(row, SYMBOL_LEN, black_box(symbols), black_box(out));
        }
    });
    let count = symbols.len() as u8;
    let mut decoder = Decoder::new(count, SYMBOL_LEN);
    for (column, symbol) in (0..).zip(symbols).skip(rows.into()) {
        decoder.symbol(column, symbol);
    }
    for (row, octets) in (0..).zip(&made) {
        decoder.row(row, octets);
    }
    let held = (0..RUNS).map(|_| decoder.clone()).collect::<Vec<_>>();
    let mut held = held.into_iter();
    let decode = best(|| {
        let mut decoder = held.next().expect("one a run");
        black_box(decoder.finish());
    });
    let octets = (symbols.len() * SYMBOL_LEN * usize::from(rows)) as f64;
    let rate = |took: Duration| octets / took.as_secs_f64() / 1e6;
    (rate(encode), rate(decode))
}

fn best(mut run: impl FnMut()) -> Duration {
    let once = |_| {
        let began = Instant::now();
        run();
        began.elapsed()
    };
    (0..RUNS).map(once).min().unwrap_or_default()
}
