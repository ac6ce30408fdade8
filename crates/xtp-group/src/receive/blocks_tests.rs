//! Whatever is lost and in whatever order the rest comes: with as many rows as symbols are missing the stream is the one that
//! was sent, message ends and tags among it.

use super::*;
use crate::encode_row;
use xtp_core::recv::{Item, Payload, Reassembly};
use xtp_wire::FecAgreement;

const LEN: u64 = 24;
const SYMBOLS: u64 = 3;
const BLOCK: u64 = LEN * SYMBOLS;

fn layout() -> BlockLayout {
    let agreement = FecAgreement {
        scheme: 1,
        k: SYMBOLS as u16,
        pmax: 8,
        symbol_len: LEN as u16,
        origin: 0,
    };
    BlockLayout::new(&agreement, 1_440, 1 << 20).expect("a code")
}

/// Numbers that look random, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// A stream: its octets, where messages end, where tags begin.
struct Sent {
    octets: Vec<u8>,
    ends: Vec<u64>,
    tags: Vec<u64>,
}

impl Sent {
    fn draw(dice: &mut Dice) -> Self {
        let (mut octets, mut ends, mut tags) = (Vec::new(), Vec::new(), Vec::new());
        let length = 40 + dice.below(5 * BLOCK);
        let often = 2 + dice.below(30);
        while (octets.len() as u64) < length {
            if dice.below(often) == 0 {
                tags.push(octets.len() as u64);
                octets.extend((0..8).map(|_| dice.below(256) as u8));
            }
            octets.extend((0..1 + dice.below(20)).map(|_| dice.below(256) as u8));
            if dice.below(often) == 0 {
                ends.push(octets.len() as u64);
            }
        }
        Self { octets, ends, tags }
    }

    fn end(&self) -> u64 {
        self.octets.len() as u64
    }

    fn slice(&self, from: u64, until: u64) -> Bytes {
        Bytes::copy_from_slice(&self.octets[from as usize..until as usize])
    }

    fn tag(&self, at: u64) -> Option<u64> {
        let octets = self.octets.get(at as usize..)?.first_chunk()?;
        self.tags.contains(&at).then(|| u64::from_be_bytes(*octets))
    }

    /// DATA packets: to the end of a symbol or message, or to the next tag; a tag is never split.
    fn packets(&self) -> Vec<(u64, u64)> {
        let mut packets = Vec::new();
        let mut at = 0;
        while at < self.end() {
            let border = (at / LEN + 1) * LEN;
            let stops = self.ends.iter().chain(&self.tags).copied();
            let stop = stops.filter(|stop| *stop > at).min().unwrap_or(self.end());
            let least = if self.tag(at).is_some() { at + 8 } else { at + 1 };
            let until = border.min(stop).min(self.end()).max(least);
            packets.push((at, until));
            at = until;
        }
        packets
    }

    fn row(&self, block: u64, row: u8) -> Vec<u8> {
        let end = ((block + 1) * BLOCK).min(self.end());
        let layout = layout();
        let count = layout.symbols_until(block as u32, end);
        let symbols: Vec<(Bytes, Descriptor)> = (0..count)
            .map(|symbol| {
                let from = block * BLOCK + u64::from(symbol) * LEN;
                let until = (from + LEN).min(end);
                let mut marks: Vec<(u64, SymbolMark)> = Vec::new();
                for stop in &self.ends {
                    if *stop > from && *stop <= until {
                        marks.push((2 * (stop - from), SymbolMark::End((stop - from) as u16)));
                    }
                }
                for tag in &self.tags {
                    if *tag >= from && *tag < until {
                        marks.push((2 * (tag - from) + 1, SymbolMark::Tag((tag - from) as u16)));
                    }
                }
                marks.sort_by_key(|mark| mark.0);
                let marks: Vec<SymbolMark> = marks.into_iter().map(|mark| mark.1).collect();
                let last = layout.is_last(block as u32, symbol, end);
                let descriptor = Descriptor::new(&marks, last).expect("in order");
                (self.slice(from, until), descriptor)
            })
            .collect();
        let symbols: Vec<Symbol<'_>> = symbols
            .iter()
            .map(|(octets, descriptor)| Symbol {
                octets,
                descriptor: descriptor.clone(),
            })
            .collect();
        let mut out = vec![0; LEN as usize + 8];
        encode_row(row, LEN as usize, &symbols, &mut out);
        out
    }
}

/// The store and the blocks, as the receiver holds them.
struct Here {
    stream: Reassembly,
    blocks: Blocks,
}

impl Here {
    fn new() -> Self {
        Self {
            stream: Reassembly::new(0),
            blocks: Blocks::new(layout()),
        }
    }

    fn data(&mut self, sent: &Sent, (from, until): (u64, u64)) {
        let tag = sent.tag(from);
        let data = sent.slice(from + if tag.is_some() { 8 } else { 0 }, until);
        let eom = sent.ends.contains(&until);
        let inserted = self.stream.insert(from, tag, Payload::Shared(data), eom);
        if inserted.new_octets > 0 {
            self.blocks
                .data(from, sent.slice(from, until), tag.is_some(), eom);
        }
        for block in from / BLOCK..=(until - 1) / BLOCK {
            self.solve(block as u32);
        }
    }

    fn row(&mut self, sent: &Sent, block: u64, row: u8) {
        let symbol = sent.row(block, row);
        let end = ((block + 1) * BLOCK).min(sent.end());
        let parity = Parity {
            k: (end - block * BLOCK).div_ceil(LEN) as u16,
            row: row.into(),
            symbol_len: LEN as u16,
            scheme: 1,
            flags: 0,
            end,
            symbol: &symbol,
        };
        if !self.stream.holds(block * BLOCK, end) {
            self.blocks
                .row(block * BLOCK, &parity, Bytes::copy_from_slice)
                .expect("it contradicts nothing");
            self.solve(block as u32);
        }
    }

    fn solve(&mut self, block: u32) {
        let known = |stream: &Reassembly, at: u64| at == 0 || stream.holds(at - 1, at);
        let mut segments = self.blocks.solve(block, |at| known(&self.stream, at));
        segments.append(&mut self.blocks.waited(|at| known(&self.stream, at)));
        while !segments.is_empty() {
            for part in segments {
                self.stream
                    .insert(part.position, part.tag, Payload::Shared(part.octets), part.eom);
            }
            segments = self.blocks.waited(|at| known(&self.stream, at));
        }
        self.blocks.release(self.stream.next());
    }

    /// What a user reads: octets, ends and tags.
    fn read(&mut self) -> (Vec<u8>, Vec<u64>, Vec<u64>) {
        let (mut octets, mut ends, mut tags) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(item) = self.stream.read(1 << 20) {
            match item {
                Item::Data { bytes, eom, .. } => {
                    octets.extend_from_slice(&bytes);
                    if eom {
                        ends.push(octets.len() as u64);
                    }
                }
                Item::Tag { seq, tag } => {
                    assert_eq!(seq, octets.len() as u64);
                    tags.push(seq);
                    octets.extend_from_slice(&tag.to_be_bytes());
                }
                Item::Gap { .. } => panic!("a gap"),
            }
        }
        (octets, ends, tags)
    }
}

/// A packet of data (first octet and the one after its last) or a row (block, row).
type Came = Result<(u64, u64), (u64, u8)>;

/// Draws a stream and a loss; all rows that are needed come, in any order among the packets that were not lost.
fn play(seed: u64) {
    let mut dice = Dice(seed);
    let sent = Sent::draw(&mut dice);
    let loss = dice.below(100);
    let packets = sent.packets();
    let (lost, came): (Vec<_>, Vec<_>) = packets.into_iter().partition(|_| dice.below(100) < loss);
    let mut events: Vec<(u64, Came)> = came
        .into_iter()
        .map(|packet| (dice.below(1_000), Ok(packet)))
        .collect();
    for block in 0..sent.end().div_ceil(BLOCK) {
        for row in 0..SYMBOLS as u8 {
            events.push((dice.below(1_000), Err((block, row))));
        }
    }
    events.sort_by_key(|event| event.0);
    let mut here = Here::new();
    for (_, event) in events {
        match event {
            Ok(packet) => here.data(&sent, packet),
            Err((block, row)) => here.row(&sent, block, row),
        }
    }
    // Of symbols with more marks than a descriptor holds the DATA comes again.
    for packet in lost {
        let overfull = (packet.0 / LEN..=(packet.1 - 1) / LEN).any(|symbol| {
            let (from, until) = (symbol * LEN, (symbol + 1) * LEN);
            let ends = sent
                .ends
                .iter()
                .filter(|end| **end > from && **end <= until)
                .count();
            let tags = sent
                .tags
                .iter()
                .filter(|tag| **tag >= from && **tag < until)
                .count();
            ends + tags > 3
        });
        if overfull {
            here.data(&sent, packet);
        }
    }
    here.blocks.set_end(sent.end());
    here.blocks.release(here.stream.next());
    let read = here.read();
    assert_eq!(read.0, sent.octets, "seed {seed}");
    assert_eq!(read.1, sent.ends, "message ends, seed {seed}");
    assert_eq!(read.2, sent.tags, "tags, seed {seed}");
    assert_eq!(
        (here.blocks.len(), here.blocks.rows()),
        (0, 0),
        "seed {seed}: nothing is kept"
    );
}

#[test]
fn every_loss_is_made_good() {
    for seed in 0..3_000 {
        play(seed);
    }
}

fn parity(symbol: &[u8], k: u16, row: u16, end: u64) -> Parity<'_> {
    Parity {
        k,
        row,
        symbol_len: (symbol.len() - 8) as u16,
        scheme: 1,
        flags: 0,
        end,
        symbol,
    }
}

#[test]
fn rows_that_contradict_are_not_kept() {
    let symbol = [0; LEN as usize + 8];
    let keep = Bytes::copy_from_slice;
    let mut blocks = Blocks::new(layout());
    assert!(blocks.row(BLOCK, &parity(&symbol, 3, 0, 2 * BLOCK), keep).is_ok());
    let other = [0; LEN as usize + 10];
    let bad = [
        (
            BLOCK,
            parity(&symbol, 2, 1, BLOCK + 30),
            "fewer symbols than an earlier row said",
        ),
        (BLOCK, parity(&symbol, 3, 1, 2 * BLOCK - 1), "another end"),
        (
            BLOCK,
            parity(&symbol, 3, 8, 2 * BLOCK),
            "a row the code does not have",
        ),
        (BLOCK, parity(&other, 3, 1, 2 * BLOCK), "longer symbols"),
        (
            BLOCK + 1,
            parity(&symbol, 3, 1, 2 * BLOCK),
            "no block begins there",
        ),
        (
            BLOCK,
            parity(&symbol, 4, 1, 2 * BLOCK + 1),
            "more symbols than a block has",
        ),
    ];
    for (seq, row, what) in bad {
        assert!(blocks.row(seq, &row, keep).is_err(), "{what}");
    }
    assert_eq!(blocks.rows(), 1);
    assert!(
        blocks.row(BLOCK, &parity(&symbol, 3, 0, 2 * BLOCK), keep).is_ok(),
        "twice the same"
    );
    assert_eq!(blocks.rows(), 1, "counts once");
}

#[test]
fn rows_beyond_the_end_or_short_of_octets_that_are_here_are_not_kept() {
    let symbol = [0; LEN as usize + 8];
    let keep = Bytes::copy_from_slice;
    let mut blocks = Blocks::new(layout());
    blocks.data(BLOCK + 40, Bytes::from_static(&[1; 8]), false, false);
    assert!(
        blocks
            .row(BLOCK, &parity(&symbol, 2, 0, BLOCK + 47), keep)
            .is_err()
    );
    assert!(
        blocks
            .row(BLOCK, &parity(&symbol, 2, 0, BLOCK + 48), keep)
            .is_ok()
    );
    blocks.data(BLOCK + 60, Bytes::from_static(&[1; 8]), false, false);
    assert_eq!(blocks.rows(), 0, "octets beyond the end that a row said: it lied");
    blocks.set_end(2 * BLOCK - 1);
    assert!(
        blocks
            .row(BLOCK, &parity(&symbol, 3, 0, 2 * BLOCK), keep)
            .is_err(),
        "beyond the end"
    );
    assert!(
        blocks
            .row(BLOCK, &parity(&symbol, 3, 0, 2 * BLOCK - 1), keep)
            .is_ok()
    );
}

#[test]
fn no_more_blocks_are_kept_than_there_is_room_for() {
    let mut blocks = Blocks::new(layout());
    for block in 0..MOST_BLOCKS as u64 + 100 {
        blocks.data(block * BLOCK, Bytes::from_static(&[1]), false, false);
    }
    assert_eq!(blocks.len(), MOST_BLOCKS);
    assert_eq!(blocks.need(0), Some(3), "the lowest are kept");
}

/// The last octets of a block are half a tag: it is whole, and only the next one is asked for.
#[test]
fn a_block_that_ends_within_a_tag_is_not_asked_for_again() {
    for before in 1..8 {
        let at = BLOCK - before;
        let sent = Sent {
            octets: (0..2 * BLOCK).map(|octet| octet as u8).collect(),
            ends: Vec::new(),
            tags: vec![at],
        };
        let mut here = Here::new();
        for row in 0..SYMBOLS as u8 {
            here.row(&sent, 0, row);
        }
        assert_eq!(here.stream.next(), at);
        assert_eq!(here.blocks.need(0), Some(0), "{before} octets of the tag");
        for row in 0..SYMBOLS as u8 {
            here.row(&sent, 1, row);
        }
        assert_eq!(here.read(), (sent.octets, Vec::new(), vec![at]));
        assert_eq!(here.blocks.len(), 0, "nothing is kept");
    }
}

#[test]
fn rows_whose_marks_nobody_encodes_are_dropped() {
    let keep = Bytes::copy_from_slice;
    let mut blocks = Blocks::new(layout());
    blocks.data(0, Bytes::from(vec![0; 2 * LEN as usize]), false, false);
    // All of it zeros but the descriptor: nine marks.
    let mut symbol = [0; LEN as usize + 8];
    symbol[LEN as usize] = 9;
    assert!(blocks.row(0, &parity(&symbol, 3, 0, BLOCK), keep).is_ok());
    assert_eq!(blocks.solve(0, |_| true), []);
    assert_eq!(
        (blocks.rows(), blocks.need(0)),
        (0, Some(1)),
        "another row is asked for"
    );
}
