//! Blocks of which something is missing: their symbols and rows until the rest can be computed (§9.5, §9.12).
//!
//! Octets are kept by reference: those of the packet, or one copy that the stream's store shares. A block that is whole is let go;
//! so without loss no more is kept than of the block that is being received.

use super::seams::Seams;
use crate::{BlockLayout, Decoder, Descriptor, LayoutError, MARKS, RowPlace, Symbol, SymbolMark};
use bytes::{Bytes, BytesMut};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use xtp_wire::{DESCRIPTOR_LEN, Parity};

/// Most blocks of which something is kept; of more the lowest are.
const MOST_BLOCKS: usize = 16_384;
/// Octets of a tag.
const TAG: usize = 8;

/// A part of the stream that was computed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DecodedSegment {
    pub(super) position: u64,
    pub(super) tag: Option<u64>,
    pub(super) octets: Bytes,
    pub(super) eom: bool,
}

/// What is here of a symbol.
#[derive(Debug, Default)]
struct PartialSymbol {
    /// By offset, without overlap.
    pieces: SmallVec<[(u16, Bytes); 1]>,
    marks: SmallVec<[SymbolMark; 2]>,
    octets: usize,
}

#[derive(Debug, Default)]
struct Block {
    symbols: Vec<PartialSymbol>,
    octets: u64,
    /// One past the last octet that is here.
    highest: u64,
    rows: Vec<(u8, Bytes)>,
    /// Symbols and end, as the rows say.
    said: Option<(u8, u64)>,
    /// Rows say no more: what is missing has more marks than a descriptor holds, and comes as DATA.
    solved: bool,
}

/// The blocks of one stream.
#[derive(Debug)]
pub(super) struct Blocks {
    layout: BlockLayout,
    end: Option<u64>,
    open: BTreeMap<u32, Block>,
    seams: Seams,
}

impl Blocks {
    pub(super) fn new(layout: BlockLayout) -> Self {
        Self {
            layout,
            end: None,
            open: BTreeMap::new(),
            seams: Seams::default(),
        }
    }

    pub(super) fn layout(&self) -> &BlockLayout {
        &self.layout
    }

    /// The stream ends there. Rows that say otherwise are let go.
    pub(super) fn set_end(&mut self, end: u64) {
        self.end = Some(end);
        let layout = self.layout;
        for (number, block) in &mut self.open {
            let real = (layout.symbols_until(*number, end), layout.end_of(*number, end));
            if block.said.is_some_and(|said| said != real) {
                block.forget_rows();
            }
        }
    }

    /// How far block `number` goes, as far as known.
    fn end_of(&self, number: u32) -> u64 {
        let said = self.open.get(&number).and_then(|block| block.said);
        let end = self.end.or(said.map(|said| said.1)).unwrap_or(u64::MAX);
        self.layout.end_of(number, end)
    }

    /// Symbols of block `number`, as far as known.
    pub(super) fn symbols(&self, number: u32) -> u8 {
        self.layout.symbols_until(number, self.end_of(number))
    }

    /// Takes octets of the stream, a tag before them among them.
    pub(super) fn data(&mut self, position: u64, mut octets: Bytes, tag: bool, eom: bool) {
        let mut at = position;
        while !octets.is_empty() {
            let Some(place) = self.layout.place(at) else {
                return;
            };
            let room = usize::from(self.layout.symbol_len() - place.offset);
            let piece = octets.split_to(room.min(octets.len()));
            at += piece.len() as u64;
            let (tag, eom) = (
                tag && at - piece.len() as u64 == position,
                eom && octets.is_empty(),
            );
            let block = self.open.entry(place.block).or_default();
            block.add(place.symbol, place.offset, piece, tag, eom);
            block.highest = block.highest.max(at);
            if block.said.is_some_and(|(_, end)| at > end) {
                block.forget_rows();
            }
            let held = block.octets;
            if held >= self.end_of(place.block) - self.layout.start(place.block) {
                self.open.remove(&place.block);
            }
        }
        self.bound();
    }

    /// Takes a row; says of which block, if it is of use.
    ///
    /// # Errors
    ///
    /// What it contradicts: the code, an earlier row, the end of the stream, or octets that are here.
    pub(super) fn row(
        &mut self,
        seq: u64,
        parity: &Parity<'_>,
        keep: impl FnOnce(&[u8]) -> Bytes,
    ) -> Result<RowPlace, LayoutError> {
        let place = self.layout.row(seq, parity)?;
        let ends = self.end.map(|end| self.layout.end_of(place.block, end));
        if ends.is_some_and(|end| end != place.end) {
            return Err(LayoutError::End);
        }
        let block = self.open.entry(place.block).or_default();
        let said = (place.symbols, place.end);
        if block.said.is_some_and(|earlier| earlier != said) || block.highest > place.end {
            return Err(LayoutError::End);
        }
        block.said = Some(said);
        let known = block.rows.iter().any(|(row, _)| *row == place.row);
        if !known && !block.solved && block.rows.len() < usize::from(place.symbols) {
            block.rows.push((place.row, keep(parity.symbol)));
        }
        self.bound();
        Ok(place)
    }

    /// Whether a symbol of block `number` is known to have more marks than a descriptor holds.
    pub(super) fn is_overfull(&self, number: u32) -> bool {
        let Some(block) = self.open.get(&number) else {
            return false;
        };
        block.solved || block.symbols.iter().any(|symbol| symbol.marks.len() > MARKS)
    }

    /// How many symbols and rows of block `number` are missing, of which something is here; 0: it can be computed.
    pub(super) fn need(&self, number: u32) -> Option<u16> {
        let block = self.open.get(&number)?;
        let whole = self.whole(number, block).count();
        let missing = usize::from(self.symbols(number)).saturating_sub(whole + block.rows.len());
        u16::try_from(missing).ok()
    }

    /// Which symbols of a block are all here.
    fn whole<'a>(&'a self, number: u32, block: &'a Block) -> impl Iterator<Item = u8> + 'a {
        let end = self.end_of(number);
        let symbols = (0..self.layout.symbols_until(number, end)).zip(&block.symbols);
        symbols.filter_map(move |(symbol, partial)| {
            let len = self.layout.symbol_octets(number, symbol, end);
            (partial.octets >= len).then_some(symbol)
        })
    }

    /// Computes what is missing of block `number`, if there are rows enough. `is_known` says whether the octet in front of a
    /// position is here.
    pub(super) fn solve(&mut self, number: u32, is_known: impl Fn(u64) -> bool) -> Vec<DecodedSegment> {
        let rows = self.open.get(&number).is_some_and(|block| !block.rows.is_empty());
        if !rows || self.need(number) != Some(0) {
            return Vec::new();
        }
        let computed = self.compute(number);
        let (layout, end) = (self.layout, self.end_of(number));
        let Some(block) = self.open.get_mut(&number) else {
            return Vec::new();
        };
        block.rows.clear();
        let Some(computed) = computed else {
            // Nobody encodes such marks: the rows were none of this block.
            block.said = None;
            return Vec::new();
        };
        let mut segments = Vec::new();
        let mut open = false;
        let mut computed_to = None;
        for (symbol, octets, descriptor) in computed {
            if descriptor.is_overfull() {
                open = true;
                continue;
            }
            let start = layout.start(number) + u64::from(symbol) * u64::from(layout.symbol_len());
            let octets = octets.slice(..layout.symbol_octets(number, symbol, end));
            let stop = start + octets.len() as u64;
            let (parts, half) = cut(start, &octets, descriptor.marks());
            let known = computed_to == Some(start) || is_known(start);
            self.seams.take((start, stop), parts, half, known, &mut segments);
            computed_to = Some(stop);
            block.fill(symbol, octets, descriptor.marks());
        }
        block.solved = true;
        // Half a tag at its end is not in order before the next block is: of this one nothing is missing all the same.
        if !open && self.seams.is_empty() && !self.seams.has_half(end) {
            self.open.remove(&number);
        }
        segments
    }

    /// What was computed before, and waited for octets in front of it.
    pub(super) fn waited(&mut self, is_known: impl Fn(u64) -> bool) -> Vec<DecodedSegment> {
        let mut segments = Vec::new();
        if !self.seams.is_empty() {
            self.seams.look(is_known, &mut segments);
        }
        segments
    }

    /// The missing symbols; `None` if they can not be.
    fn compute(&self, number: u32) -> Option<Vec<(u8, Bytes, Descriptor)>> {
        let block = self.open.get(&number)?;
        let end = self.end_of(number);
        let count = self.layout.symbols_until(number, end);
        let symbol_len = usize::from(self.layout.symbol_len());
        let mut decoder = Decoder::new(count, symbol_len);
        for symbol in self.whole(number, block) {
            let partial = &block.symbols[usize::from(symbol)];
            let last = self.layout.is_last(number, symbol, end);
            let descriptor = Descriptor::new(&partial.marks, last)?;
            let whole = partial.joined();
            decoder.symbol(
                symbol,
                &Symbol {
                    octets: &whole,
                    descriptor,
                },
            );
        }
        for (row, coded) in &block.rows {
            decoder.row(*row, coded);
        }
        let missing = decoder.finish()?;
        let computed = missing.into_iter().map(|symbol| {
            let (octets, descriptor) = decoder.coded(symbol)?.split_at(symbol_len);
            let descriptor: [u8; DESCRIPTOR_LEN] = descriptor.try_into().ok()?;
            let descriptor = Descriptor::read(descriptor, symbol_len)?;
            Some((symbol, Bytes::copy_from_slice(octets), descriptor))
        });
        computed.collect()
    }

    /// Everything below `position` is here.
    pub(super) fn release(&mut self, position: u64) {
        self.seams.release(position);
        while let Some(first) = self.open.first_key_value().map(|(number, _)| *number)
            && self.end_of(first) <= position
        {
            self.open.remove(&first);
        }
    }

    /// Octets of rows that are kept.
    #[cfg(test)]
    pub(super) fn rows(&self) -> usize {
        self.open.values().map(|block| block.rows.len()).sum()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    fn bound(&mut self) {
        if self.open.len() > MOST_BLOCKS {
            self.open.pop_last();
        }
    }
}

impl Block {
    fn add(&mut self, symbol: u8, offset: u16, octets: Bytes, tag: bool, eom: bool) {
        let symbol = usize::from(symbol);
        if self.symbols.len() <= symbol {
            self.symbols.resize_with(symbol + 1, PartialSymbol::default);
        }
        self.octets += self.symbols[symbol].add(offset, octets, tag, eom) as u64;
    }

    /// A symbol was computed.
    fn fill(&mut self, symbol: u8, octets: Bytes, marks: &[SymbolMark]) {
        self.add(symbol, 0, Bytes::new(), false, false);
        let partial = &mut self.symbols[usize::from(symbol)];
        self.octets += (octets.len() - partial.octets) as u64;
        *partial = PartialSymbol {
            octets: octets.len(),
            pieces: SmallVec::from_iter([(0, octets)]),
            marks: SmallVec::from_slice(marks),
        };
    }

    fn forget_rows(&mut self) {
        self.rows.clear();
        self.said = None;
        self.solved = false;
    }
}

impl PartialSymbol {
    /// Adds what of `octets` is new, and the marks of it; how many that are.
    fn add(&mut self, offset: u16, octets: Bytes, tag: bool, eom: bool) -> usize {
        let (start, end) = (usize::from(offset), usize::from(offset) + octets.len());
        let mut new: SmallVec<[(usize, usize); 1]> = SmallVec::new();
        let mut from = start;
        for (at, held) in &self.pieces {
            let (left, right) = (usize::from(*at), usize::from(*at) + held.len());
            if left >= end {
                break;
            }
            if left > from {
                new.push((from, left));
            }
            from = from.max(right);
        }
        if from < end {
            new.push((from, end));
        }
        let (Some(first), Some(last)) = (new.first().copied(), new.last().copied()) else {
            return 0;
        };
        let mut added = 0;
        for (left, right) in new {
            let index = self.pieces.partition_point(|(at, _)| usize::from(*at) < left);
            let piece = octets.slice(left - start..right - start);
            self.pieces.insert(index, (left as u16, piece));
            added += right - left;
        }
        self.octets += added;
        if tag && first.0 == start {
            self.mark(SymbolMark::Tag(offset));
        }
        if eom && last.1 == end {
            self.mark(SymbolMark::End(end as u16));
        }
        added
    }

    fn mark(&mut self, mark: SymbolMark) {
        self.marks.push(mark);
        self.marks.sort_unstable_by_key(|mark| match *mark {
            SymbolMark::End(offset) => (offset, 0),
            SymbolMark::Tag(offset) => (offset, 1),
        });
    }

    /// The octets of a whole symbol.
    fn joined(&self) -> Bytes {
        if let [(_, only)] = &self.pieces[..] {
            return only.clone();
        }
        let mut octets = BytesMut::with_capacity(self.octets);
        for (_, piece) in &self.pieces {
            octets.extend_from_slice(piece);
        }
        octets.freeze()
    }
}

/// The octets of a symbol as packets would bring them: cut where a message ends or a tag begins; and the octets of a tag that
/// goes on in the next symbol.
fn cut(start: u64, octets: &Bytes, marks: &[SymbolMark]) -> (Vec<DecodedSegment>, Option<Bytes>) {
    let mut out = Vec::new();
    let mut from = 0;
    let mut whole = octets.len();
    let mut tag = None;
    let mut put = |from: &mut usize, until: usize, tag: &mut Option<u64>, eom: bool| {
        let held = if tag.is_some() { TAG } else { 0 };
        if until > *from || tag.is_some() {
            out.push(DecodedSegment {
                position: start + (*from - held) as u64,
                tag: tag.take(),
                octets: octets.slice(*from..until),
                eom,
            });
        }
        *from = until;
    };
    for mark in marks {
        match *mark {
            SymbolMark::End(offset) if usize::from(offset) <= octets.len() && usize::from(offset) >= from => {
                put(&mut from, usize::from(offset), &mut tag, true);
            }
            SymbolMark::Tag(offset) if usize::from(offset) >= from => {
                let at = usize::from(offset);
                let Some(value) = octets.get(at..).and_then(|rest| rest.first_chunk()) else {
                    whole = at;
                    break;
                };
                put(&mut from, at, &mut tag, false);
                tag = Some(u64::from_be_bytes(*value));
                from = at + TAG;
            }
            _ => {}
        }
    }
    put(&mut from, whole, &mut tag, false);
    let half = octets.slice(whole..);
    (out, (!half.is_empty()).then_some(half))
}

#[cfg(test)]
#[path = "blocks_tests.rs"]
mod tests;
