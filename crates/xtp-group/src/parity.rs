//! Parity over GF(2^8): rows from symbols, and missing symbols from rows (§9.5, scheme 1).
//!
//! A row is a sum of products of a weight and a symbol. It is computed by the bits of the weights: with `S(b)` the plain
//! sum of all symbols whose weight has bit b, it is `((S(7) 2 + S(6)) 2 + ...) 2 + S(0)`. So per octet of a symbol there is
//! one exclusive or for each set bit of its weight, in a register and four on average, and seven doublings per row
//! whatever the number of symbols. There is no table to look up, and fixed-size chunks let the compiler use vectors
//! (`docs/decisions/group-repair.md`).

use super::field::{doubled, inverse, product, weight};
use super::symbol::{DESCRIPTOR_LEN, Symbol};

/// Most symbols and rows together.
const MOST: usize = 256;
/// Octets that are summed up in registers at once.
const CHUNK: usize = 128;

/// What counts by how much: sources sorted by the bits of their weights.
struct Weights {
    /// For each bit the numbers of the sources that have it.
    with_bit: [Vec<u8>; 8],
}

impl Weights {
    /// Of source `i` the weight `weights[i]`; at most 256.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the caller has at most 256 sources"
    )]
    fn new(weights: impl Iterator<Item = u8> + Clone) -> Self {
        let with_bit = core::array::from_fn(|bit| {
            let sources = weights.clone().enumerate();
            let set = sources.filter(|(_, weight)| weight >> bit & 1 == 1);
            set.map(|(source, _)| source as u8).collect()
        });
        Self { with_bit }
    }

    /// Adds the weighted sum of the sources to `out`. A source that is shorter counts as if zeros followed it.
    fn add(&self, sources: &[&[u8]], out: &mut [u8]) {
        let mut at = 0;
        let (chunks, rest) = out.as_chunks_mut::<CHUNK>();
        for chunk in chunks {
            self.add_chunk(sources, at, chunk);
            at += CHUNK;
        }
        let (chunks, rest) = rest.as_chunks_mut::<16>();
        for chunk in chunks {
            self.add_chunk(sources, at, chunk);
            at += 16;
        }
        for octet in rest.as_chunks_mut::<1>().0 {
            self.add_chunk(sources, at, octet);
            at += 1;
        }
    }

    /// Adds octets `at` and following of the sum to `out`.
    #[inline]
    fn add_chunk<const N: usize>(&self, sources: &[&[u8]], at: usize, out: &mut [u8; N]) {
        let mut sum = [0; N];
        for (bit, set) in self.with_bit.iter().enumerate().rev() {
            for source in set {
                let source = sources[usize::from(*source)];
                let whole = source.get(at..).and_then(|rest| rest.first_chunk::<N>());
                sum = match whole {
                    Some(piece) => added(sum, piece),
                    None => added(sum, &filled_up(source, at)),
                };
            }
            if bit > 0 {
                sum = sum.map(doubled);
            }
        }
        *out = added(*out, &sum);
    }
}

/// By value, so that the sum stays in registers.
#[inline]
fn added<const N: usize>(sum: [u8; N], octets: &[u8; N]) -> [u8; N] {
    core::array::from_fn(|at| sum[at] ^ octets[at])
}

/// Octets `at` and following of a source that ends before a whole chunk, then zeros.
#[cold]
fn filled_up<const N: usize>(source: &[u8], at: usize) -> [u8; N] {
    let mut piece = [0; N];
    let rest = source.get(at..).unwrap_or_default();
    piece
        .iter_mut()
        .zip(rest)
        .for_each(|(octet, there)| *octet = *there);
    piece
}

/// Writes row `row` of the block that `symbols` are, `symbol_len` octets and the descriptor, into `out`.
///
/// # Panics
///
/// If `out` is not `symbol_len` + 8 octets long, a symbol is longer than `symbol_len`, or `symbols.len() + row` is above
/// 255: what `BlockLayout` refuses before.
pub fn encode_row(row: u8, symbol_len: usize, symbols: &[Symbol<'_>], out: &mut [u8]) {
    assert_eq!(
        out.len(),
        symbol_len + DESCRIPTOR_LEN,
        "the row is as long as its symbols"
    );
    assert!(symbols.len() + usize::from(row) < MOST, "the code has this row");
    assert!(symbols.iter().all(|symbol| symbol.octets.len() <= symbol_len));
    out.fill(0);
    let weights = Weights::new((0..=255).take(symbols.len()).map(|column| weight(row, column)));
    let (octets, descriptor) = out.split_at_mut(symbol_len);
    let sources: Vec<&[u8]> = symbols.iter().map(|symbol| symbol.octets).collect();
    weights.add(&sources, octets);
    let descriptors: Vec<[u8; DESCRIPTOR_LEN]> =
        symbols.iter().map(|symbol| symbol.descriptor.encode()).collect();
    let sources: Vec<&[u8]> = descriptors.iter().map(|descriptor| &descriptor[..]).collect();
    weights.add(&sources, descriptor);
}

/// A block of which symbols and rows come in any order; once it has as many as it has symbols, the missing ones follow.
///
/// Every coded symbol and row is `coded_len` octets long: those of a symbol, then the descriptor.
#[derive(Debug, Clone)]
pub struct Decoder {
    coded_len: usize,
    symbols: Vec<Option<Vec<u8>>>,
    rows: Vec<(u8, Vec<u8>)>,
    held: usize,
}

impl Decoder {
    /// Of a block of `count` symbols, at most 255, of `symbol_len` octets each; nothing is held yet.
    #[must_use]
    pub fn new(count: u8, symbol_len: usize) -> Self {
        Self {
            coded_len: symbol_len + DESCRIPTOR_LEN,
            symbols: vec![None; count.into()],
            rows: Vec::new(),
            held: 0,
        }
    }

    /// Takes symbol `column`; whether it is new and of use.
    pub fn symbol(&mut self, column: u8, symbol: &Symbol<'_>) -> bool {
        let symbol_len = self.coded_len - DESCRIPTOR_LEN;
        let fits = symbol.octets.len() <= symbol_len;
        let Some(place @ None) = self.symbols.get_mut(usize::from(column)).filter(|_| fits) else {
            return false;
        };
        let mut coded = symbol.octets.to_vec();
        coded.resize(symbol_len, 0);
        coded.extend(symbol.descriptor.encode());
        *place = Some(coded);
        self.held += 1;
        true
    }

    /// Takes a row; whether it is new and of use. A row of another length, or that a code of so many symbols does not
    /// have, is none.
    pub fn row(&mut self, row: u8, coded: &[u8]) -> bool {
        let possible = self.symbols.len() + usize::from(row) < MOST && coded.len() == self.coded_len;
        let known = self.rows.iter().any(|(held, _)| *held == row);
        if !possible || known || self.need() == 0 {
            return false;
        }
        self.rows.push((row, coded.to_vec()));
        true
    }

    /// How many more symbols or rows it takes.
    #[must_use]
    pub fn need(&self) -> usize {
        (self.symbols.len() - self.held).saturating_sub(self.rows.len())
    }

    /// Octets that are kept.
    #[must_use]
    pub fn octets(&self) -> usize {
        (self.held + self.rows.len()) * self.coded_len
    }

    /// A coded symbol that is held or was computed.
    #[must_use]
    pub fn coded(&self, column: u8) -> Option<&[u8]> {
        self.symbols.get(usize::from(column))?.as_deref()
    }

    /// Computes the missing symbols if there is enough; says which they are. The rows are let go.
    pub fn finish(&mut self) -> Option<Vec<u8>> {
        if self.need() > 0 {
            return None;
        }
        let missing: Vec<u8> = (0..=255)
            .zip(&self.symbols)
            .filter_map(|(column, symbol)| symbol.is_none().then_some(column))
            .collect();
        let mut rows = core::mem::take(&mut self.rows);
        rows.truncate(missing.len());
        self.leave_missing(&mut rows);
        let numbers: Vec<u8> = rows.iter().map(|(row, _)| *row).collect();
        let sources: Vec<&[u8]> = rows.iter().map(|(_, coded)| &coded[..]).collect();
        for (column, weights) in missing.iter().zip(inverted(&numbers, &missing)) {
            let mut coded = vec![0; self.coded_len];
            Weights::new(weights.into_iter()).add(&sources, &mut coded);
            self.symbols[usize::from(*column)] = Some(coded);
        }
        self.held = self.symbols.len();
        Some(missing)
    }

    /// Takes what is held out of the rows: what is left are sums of missing symbols.
    fn leave_missing(&self, rows: &mut [(u8, Vec<u8>)]) {
        let held: Vec<(u8, &[u8])> = (0..=255)
            .zip(&self.symbols)
            .filter_map(|(column, symbol)| Some((column, symbol.as_deref()?)))
            .collect();
        let sources: Vec<&[u8]> = held.iter().map(|(_, coded)| *coded).collect();
        for (row, coded) in rows {
            let weights = Weights::new(held.iter().map(|(column, _)| weight(*row, *column)));
            weights.add(&sources, coded);
        }
    }
}

/// The inverse of the matrix of weights of these rows and columns, row by row: it is a Cauchy matrix, 1 / (x xor y) with
/// x = 255 - row and y = column, whose inverse has products of differences as elements.
fn inverted(rows: &[u8], columns: &[u8]) -> Vec<Vec<u8>> {
    let points: Vec<u8> = rows.iter().map(|row| 255 - row).collect();
    let across = |point: u8, others: &[u8]| others.iter().fold(1, |all, other| product(all, point ^ other));
    let among = |at: usize, points: &[u8]| {
        let others = points.iter().enumerate().filter(|(other, _)| *other != at);
        others.fold(1, |all, (_, other)| product(all, points[at] ^ other))
    };
    let of_row: Vec<u8> = (0..points.len())
        .map(|at| product(across(points[at], columns), inverse(among(at, &points))))
        .collect();
    let of_column =
        (0..columns.len()).map(|at| product(across(columns[at], &points), inverse(among(at, columns))));
    let element = |column: u8, outer: u8| {
        let elements = points.iter().zip(&of_row);
        elements
            .map(|(point, inner)| product(product(outer, *inner), inverse(point ^ column)))
            .collect()
    };
    columns
        .iter()
        .zip(of_column)
        .map(|(column, outer)| element(*column, outer))
        .collect()
}

#[cfg(test)]
#[path = "parity_tests.rs"]
mod tests;
