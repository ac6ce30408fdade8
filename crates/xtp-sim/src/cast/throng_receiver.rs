//! One of very many receivers: what it has of each block, and when it says what.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use xtp_engine::Time;
use xtp_engine::group::{Feedback, Progress, QuietBlocks};
use xtp_wire::{
    Address, Control, DELAY_NONE, EXTENDED_TRAFFIC_LEN, ExtendedTraffic, ExtendedTrafficBuilder, Gnack,
    GnackBlock, GnackFlags, GroupHeader, GroupTerms, Header, Options, Packet, Parity, Span, Spans, Tlvs,
    ToGroup, ToTransmitter, Traffic, Xcntl, XcntlFlags,
};

use super::throng::nothing_told;

/// Most blocks a GNACK names.
const MOST: usize = 64;
/// Most ranges of a status.
const SPANS: usize = 32;

/// Octets of the specifier of a join, as the engine pads it.
const JOIN_SPECIFIER: usize = 440;

/// What is here of a block: which symbols, and how many rows.
#[derive(Clone, Copy, Debug, Default)]
struct Have {
    symbols: u128,
    rows: u8,
}

impl Have {
    /// Symbols of `all` that are not needed any more.
    fn count(self, all: u8) -> u8 {
        (self.symbols.count_ones() as u8)
            .saturating_add(self.rows)
            .min(all)
    }
}

/// Something a receiver does later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// It joins, or joins again.
    Join,
    /// It answers an answer to its join.
    Third,
    /// It answers a poll.
    Answer,
    /// It tells a need.
    Need,
    /// It looks whether it needs something after all.
    Look,
}

/// What it said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Said {
    /// It joined.
    Join,
    /// The third step.
    Third,
    /// The answer to a poll.
    Answer,
    /// A need, unasked.
    Need,
    /// For the first time that everything is there.
    Complete,
}

/// What leaves: what it is, of which blocks, and its octets.
pub(super) type Leaving = Vec<(Said, Vec<u32>, Bytes)>;

/// One receiver.
pub(super) struct LightReceiver {
    key: u64,
    /// The transmitter's key for the group, and for this one.
    group: u64,
    own: u64,
    joins: Option<Duration>,
    /// What it answers to.
    answered: u32,
    symbols: u8,
    symbol: u64,
    have: Vec<Have>,
    first: usize,
    feedback: Feedback,
    progress: Progress,
    quiet: QuietBlocks,
    most: u16,
    /// Blocks of which it is going to tell a need.
    about: Vec<u32>,
    looks: bool,
    asked: Option<Time>,
    confirmed: bool,
    over: bool,
    sync: u32,
}

impl LightReceiver {
    pub(super) fn new(key: u64, blocks: u32, symbols: u8, symbol: u64) -> Self {
        Self {
            key: key.max(1),
            group: 0,
            own: 0,
            joins: None,
            answered: 0,
            symbols,
            symbol,
            have: vec![Have::default(); blocks as usize],
            first: 0,
            feedback: nothing_told(),
            progress: Progress::default(),
            quiet: QuietBlocks::default(),
            most: 1,
            about: Vec::new(),
            looks: false,
            asked: None,
            confirmed: false,
            over: false,
            sync: 0,
        }
    }

    fn block(&self) -> u64 {
        self.symbol * u64::from(self.symbols)
    }

    /// A packet of the group; what it leads to, and when.
    pub(super) fn hear(
        &mut self,
        now: Time,
        header: &Header,
        said: &ToGroup<'_>,
        random: u64,
    ) -> VecDeque<(Duration, Act)> {
        let mut wanted = VecDeque::new();
        if self.over {
            return wanted;
        }
        let sync = header.sync;
        match said {
            ToGroup::Announcement(first) => {
                self.progress.packet(sync, 0);
                self.group = header.key.value();
                self.learn(&first.traffic);
                if self.joins.is_none() {
                    self.joins = Some(Duration::from_millis(250));
                    wanted.push_back((self.feedback.once(random), Act::Join));
                }
            }
            ToGroup::Data(data) => {
                let end = header.seq + data.data.len() as u64;
                self.progress.packet(sync, end);
                let symbol = header.seq % self.block() / self.symbol;
                self.take((header.seq / self.block()) as usize, |have| {
                    have.symbols |= 1 << symbol
                });
            }
            ToGroup::Parity(parity) => {
                let block = (header.seq / self.block()) as usize;
                self.progress.packet(sync, 0);
                self.take(block, |have| have.rows = have.rows.saturating_add(1));
                let last = parity.flags & Parity::LAST != 0;
                self.quiet.row(block as u32, last, now, self.feedback.quiet());
            }
            ToGroup::Rows(blocks) => {
                self.progress.packet(sync, 0);
                for block in *blocks {
                    let (block, need, _) = block.get();
                    self.most = self.most.max(need);
                    self.quiet.announced(block, need, now, self.feedback.quiet());
                }
                self.most = blocks.iter().map(|block| block.get().1).max().unwrap_or(1);
            }
            ToGroup::Poll(poll) => {
                self.progress.poll(sync, header.seq);
                self.feedback = Feedback::of(poll);
                if self.own != 0 && poll.asks(self.key) && self.asked.is_none() {
                    self.asked = Some(now);
                    wanted.push_back((self.feedback.slot(poll.modulus, random), Act::Answer));
                }
            }
            ToGroup::End => self.over = self.first == self.have.len(),
            ToGroup::Question | ToGroup::Position => self.progress.packet(sync, header.seq),
            ToGroup::Datagram(_) => {}
        }
        if let Some(after) = self.look(now, random) {
            wanted.push_back(after);
        }
        wanted
    }

    fn learn(&mut self, traffic: &Traffic<'_>) {
        let Traffic::Extended(extended) = traffic else {
            return;
        };
        let Ok(terms) = GroupTerms::read(extended.tlvs) else {
            return;
        };
        self.feedback.size = terms.size.unwrap_or(self.feedback.size);
        self.feedback.rate = terms.feedback_rate.unwrap_or(self.feedback.rate);
        if let Some(micros) = terms.grtt_us {
            self.feedback.round_trip = Duration::from_micros(micros.into());
        }
    }

    /// A symbol or a row came.
    fn take(&mut self, block: usize, add: impl FnOnce(&mut Have)) {
        if let Some(have) = self.have.get_mut(block) {
            add(have);
        }
        while self.first < self.have.len() && self.lacks(self.first) == 0 {
            self.first += 1;
        }
    }

    /// Symbols that a block lacks.
    fn lacks(&self, block: usize) -> u16 {
        u16::from(self.symbols - self.have[block].count(self.symbols))
    }

    /// What is here without a gap, and what is here beyond of the block that it is in: of the one that is being sent only that is
    /// said, and what is not said is sent again.
    fn position(&self) -> (u64, Vec<Span>) {
        let start = self.first as u64 * self.block();
        let Some(have) = self.have.get(self.first) else {
            return (start, Vec::new());
        };
        let at = |symbol: u32| start + u64::from(symbol) * self.symbol;
        let here = have.symbols.trailing_ones();
        let mut spans = Vec::new();
        let mut from = here;
        while from < 128 && have.symbols >> from != 0 && spans.len() < SPANS {
            let left = from + (have.symbols >> from).trailing_zeros();
            from = left + (have.symbols >> left).trailing_ones();
            spans.push(Span::new(at(left), at(from)));
        }
        (at(here), spans)
    }

    /// Blocks of which it needs something and about which it may speak.
    fn needs(&self, now: Time, all: bool) -> Vec<GnackBlock> {
        let finished = (self.progress.past() / self.block()) as usize;
        let mut needs = Vec::new();
        for block in self.first..finished.min(self.have.len()) {
            let need = self.lacks(block);
            if need > 0 && (all || self.quiet.may_speak(block as u32, need, now)) {
                needs.push(GnackBlock::new(block as u32, need, self.symbols.into()));
            }
            if needs.len() == MOST {
                break;
            }
        }
        needs
    }

    /// When it tells a need, if it has one.
    fn look(&mut self, now: Time, random: u64) -> Option<(Duration, Act)> {
        if self.own == 0 || !self.about.is_empty() || self.over || self.first == self.have.len() {
            return None;
        }
        let finished = (self.progress.past() / self.block()) as usize;
        if finished <= self.first {
            return None;
        }
        self.quiet.release(self.first as u32, now);
        let needs = self.needs(now, false);
        if let Some(most) = needs.iter().map(|block| block.get().1).max() {
            self.about = needs.iter().map(|block| block.get().0).collect();
            return Some((self.feedback.need_delay(most, self.most, random), Act::Need));
        }
        if self.looks {
            return None;
        }
        let at = self.quiet.deadline()?;
        self.looks = true;
        Some((at.since(now), Act::Look))
    }

    /// It has been admitted.
    pub(super) fn joined(&mut self, own: u64, sync: u32) {
        (self.own, self.answered) = (own, sync);
    }

    /// Does what it meant to do, and says when it does what next.
    pub(super) fn act(&mut self, now: Time, act: Act, random: u64) -> (Leaving, Option<(Duration, Act)>) {
        let mut leaving = Vec::new();
        let mut next = None;
        match act {
            Act::Join if self.own == 0 && !self.over => {
                leaving.push((Said::Join, Vec::new(), self.join()));
                let after = self.joins.unwrap_or_default();
                self.joins = Some((2 * after).min(Duration::from_secs(4)));
                next = Some((after, Act::Join));
            }
            Act::Third => {
                let control = self.control(self.answered);
                leaving.push((
                    Said::Third,
                    Vec::new(),
                    self.send(self.own, ToTransmitter::Status(control)),
                ));
            }
            Act::Answer if !self.over => {
                let since = self.asked.take().map_or(Duration::ZERO, |at| now.since(at));
                let delay = since.as_micros() as u32;
                let needs = self.needs(now, true);
                let complete = self.is_complete();
                let said = match complete && !core::mem::replace(&mut self.confirmed, complete) {
                    true => Said::Complete,
                    false => Said::Answer,
                };
                leaving.push((said, Vec::new(), self.status(&needs, delay, now)));
            }
            Act::Need if !self.over => {
                let about = core::mem::take(&mut self.about);
                let needs = self.needs(now, false);
                if needs.iter().any(|block| about.contains(&block.get().0)) {
                    let blocks = needs.iter().map(|block| block.get().0).collect();
                    leaving.push((Said::Need, blocks, self.status(&needs, DELAY_NONE, now)));
                }
                next = self.look(now, random);
            }
            Act::Look => {
                self.looks = false;
                next = self.look(now, random);
            }
            _ => {}
        }
        (leaving, next)
    }

    fn is_complete(&self) -> bool {
        self.first == self.have.len()
    }

    fn control(&self, echo: u32) -> Control {
        let (rseq, _) = self.position();
        Control {
            rseq,
            alloc: rseq + (1 << 30),
            echo,
        }
    }

    fn status(&mut self, needs: &[GnackBlock], delay_us: u32, now: Time) -> Bytes {
        for block in needs {
            self.quiet.reported(block.get().0, now, self.feedback.quiet());
        }
        let control = self.control(self.progress.newest().unwrap_or(0));
        if needs.is_empty() {
            let (rseq, ranges) = self.position();
            return self.send(
                self.own,
                ToTransmitter::Extended(Xcntl {
                    control,
                    flags: XcntlFlags::empty(),
                    delay_us,
                    spans: Spans::new(rseq, &ranges).unwrap_or(Spans::EMPTY),
                    ..Xcntl::default()
                }),
            );
        }
        let mut report = Gnack::answer(control, delay_us, 0, needs);
        if delay_us == DELAY_NONE {
            report.flags = GnackFlags::UNSOLICITED;
        }
        self.send(self.own, ToTransmitter::Need(report))
    }

    fn join(&mut self) -> Bytes {
        let address = Address::Ipv4 {
            domain: 0,
            dst: [239, 1, 2, 3],
            src: [0; 4],
            dst_port: 0,
            src_port: 0,
        };
        let fixed = ExtendedTraffic {
            service: 6,
            maxdata: 65_475,
            caps: xtp_wire::Caps::all(),
            tlvs: Tlvs::EMPTY,
            ..ExtendedTraffic::default()
        };
        // As long as the engine's: answers are limited by the octets that came.
        let mut specifier = ExtendedTrafficBuilder::new(fixed);
        let mut octets = [0; JOIN_SPECIFIER];
        specifier.pad_to(octets.len());
        let written = specifier.encode(&mut octets).unwrap_or(0);
        let tlvs = octets.get(EXTENDED_TRAFFIC_LEN..written).and_then(Tlvs::new);
        let traffic = Traffic::Extended(ExtendedTraffic {
            tlvs: tlvs.unwrap_or(Tlvs::EMPTY),
            ..fixed
        });
        let control = self.control(self.progress.newest().unwrap_or(0));
        let said = ToTransmitter::Join {
            control,
            xkey: self.key,
            address,
            traffic,
        };
        self.send(self.group, said)
    }

    fn send(&mut self, key: u64, said: ToTransmitter<'_>) -> Bytes {
        self.sync = self.sync.wrapping_add(1);
        let options = if self.is_complete() {
            Options::RCLOSE
        } else {
            Options::empty()
        };
        let packet: Packet<'_> = said.packet(GroupHeader {
            key,
            sync: self.sync,
            seq: 0,
            options,
        });
        let mut octets = vec![0; packet.encoded_len()];
        match packet.encode(&mut octets) {
            Ok(_) => octets.into(),
            Err(_) => Bytes::new(),
        }
    }
}
