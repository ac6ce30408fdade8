//! What leaves for the group besides announcements: polls, word of repairs, repairs, new octets (§9.10).

use super::Transmitter;
use super::poll::Situation;
use super::stream::Portion;
use crate::groups::PartyEnv;
use crate::{Feedback, Stretch};
use xtp_core::time::Time;
use xtp_core::transmit::TransmitBatch;
use xtp_wire::{DataSegment, GroupPoll, Options, Parity, ToGroup};

/// Packets of the stream that leave in one flush at most (§9.11).
const TRAIN: usize = 16;

impl Transmitter {
    /// How far new octets may go: window and credit of those who hold it.
    fn limit(&self) -> u64 {
        if self.repairs_nothing() {
            return u64::MAX;
        }
        let window = self.acknowledged.saturating_add(self.window());
        let limit = window.min(self.credit());
        // A packet that is cut by the window opens it by as little when it is acknowledged: while others are under way, it waits for more.
        let nxt = self.stream.nxt;
        match nxt > self.acknowledged && self.stream.next_end().is_some_and(|end| end > window) {
            true => limit.min(nxt),
            false => limit,
        }
    }

    /// Whether new octets may leave at all: without a holder nothing does [D-72].
    fn is_flowing(&self) -> bool {
        let somebody = self.repairs_nothing() || self.members.anybody_holds();
        !self.is_gathering() && !self.is_ending() && somebody && self.message.is_none()
    }

    /// Whether there is something to be sent, whatever the rate.
    fn has_something(&self) -> bool {
        let repairs = self.repair.is_due() && !self.is_ending();
        repairs || (self.is_flowing() && self.stream.has_more(self.limit()))
    }

    /// Whether the group has something to send that window and credit let go: if not, those who fetch may have all of the rate.
    pub(super) fn is_able_to_send(&self) -> bool {
        self.has_something()
    }

    /// Whether a packet of the stream could leave at once.
    pub(super) fn may_send_now(&self) -> bool {
        self.rate.until().is_none() && !self.rate.is_blocked() && self.has_something()
    }

    /// When the rate lets the next packet of the stream go: that time is over if only the length of a train kept it back.
    pub(super) fn stream_at(&self) -> Option<Time> {
        let waits = !self.rate.is_blocked() && self.has_something();
        waits.then(|| self.rate.until().unwrap_or(Time::ZERO))
    }

    /// Repairs and new octets, as far as rate, window and credit allow, and no more than a train.
    pub(super) fn send_stream(&mut self, env: &mut PartyEnv<'_>, out: &mut TransmitBatch) {
        self.say_rows(env, out);
        let now = env.now;
        self.rate.refill(now);
        self.rate.took_beside(core::mem::take(&mut self.line.beside));
        let mut sent = 0;
        while sent < TRAIN && self.has_something() && self.rate.may_send() {
            self.line.mark_stream(self.rate.mark());
            let octets = self.send_repair(now, out).or_else(|| self.send_new(now, out));
            let Some(octets) = octets else { break };
            self.rate
                .took(octets, (self.line.sync, self.line.log.octets()), now);
            sent += 1;
        }
        self.note_blocked();
        match self.has_something() {
            true => self.rate.more_to_send(),
            false => self.rate.nothing_to_send(),
        }
        self.rate.wait(now);
    }

    /// A window or credit that has just closed is asked about at once, and so is one that has let something leave since: it opened and closed
    /// again.
    pub(super) fn note_blocked(&mut self) {
        let least = self.stream.least_limit().filter(|_| self.is_flowing());
        let blocked = least.is_some_and(|least| least > self.limit());
        if blocked && (!self.blocked || self.polls.is_far(self.stream.nxt, 1)) {
            self.polls.press();
        }
        self.blocked = blocked;
    }

    /// Word of rows that were added to those that wait.
    fn say_rows(&mut self, env: &mut PartyEnv<'_>, out: &mut TransmitBatch) {
        while self.repair.has_news() {
            let mut blocks = core::mem::take(&mut self.blocks);
            self.repair.news(&self.stream, &mut blocks);
            if !blocks.is_empty() {
                let at = (self.stream.nxt, Options::empty());
                self.line.control(ToGroup::Rows(&blocks), at, env.now, out);
            }
            self.blocks = blocks;
        }
    }

    /// One packet of repair.
    fn send_repair(&mut self, now: Time, out: &mut TransmitBatch) -> Option<u64> {
        if self.is_ending() || !self.repair.is_due() {
            return None;
        }
        let sync = self.line.next_sync();
        let octets = match self.repair.next_stretch(sync) {
            Some(stretch) => self.send_again(stretch, now, out),
            None => self.send_row(sync, now, out),
        };
        self.line.stats.repair_packets += u64::from(octets.is_some());
        octets
    }

    fn send_again(&mut self, stretch: Stretch, now: Time, out: &mut TransmitBatch) -> Option<u64> {
        // What is kept may begin within a packet, or within a tag.
        let from = stretch.from.max(self.stream.first_whole());
        let portion = self.stream.portion(from, stretch.to)?;
        self.repair.rest(Stretch {
            from: portion.end(),
            to: stretch.to,
        });
        Some(self.say_data(&portion, now, out))
    }

    fn send_row(&mut self, sync: u32, now: Time, out: &mut TransmitBatch) -> Option<u64> {
        let layout = self.stream.layout?;
        let row = self.repair.next_row(sync, &self.stream)?;
        let (count, end) = self.stream.extent(row.block);
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let parity = Parity {
            k: count.into(),
            row: row.row.into(),
            symbol_len: layout.symbol_len(),
            scheme: Parity::SCHEME_BYTES,
            flags: flag(row.proactive, Parity::PROACTIVE) | flag(row.last, Parity::LAST),
            end,
            symbol: self.repair.row(),
        };
        let at = (layout.start(row.block), Options::empty());
        Some(self.line.say(ToGroup::Parity(parity), at, &[], now, out))
    }

    /// One packet of new octets.
    fn send_new(&mut self, now: Time, out: &mut TransmitBatch) -> Option<u64> {
        if !self.is_flowing() {
            return None;
        }
        let portion = self.stream.portion(self.stream.nxt, self.limit())?;
        let octets = self.say_data(&portion, now, out);
        self.line.stats.data_packets += 1;
        let (from, to) = (portion.seq, portion.end());
        self.stream.nxt = to;
        if portion.eom {
            self.note_message_end();
        }
        match self.repairs_nothing() {
            true => {
                self.acknowledged = to;
                self.stream.release(to);
            }
            false => {
                self.repair.union.sent(Stretch { from, to }, self.line.sync);
                self.finish_block(from, to, now);
            }
        }
        if self.stream.is_sent() {
            self.line.ending = Options::WCLOSE;
            self.polls.press();
        }
        Some(octets)
    }

    /// New octets may have filled a block: its rows that nobody asked for follow, and its packets are not sent again. As many as
    /// every one of the latest blocks needed would be asked for anyway; but not while a full queue may be why they are needed.
    /// Rows restore no symbol with more marks than a descriptor holds: a block that has one is repaired by its packets.
    fn finish_block(&mut self, from: u64, to: u64, now: Time) {
        let (Some(layout), Some(fec)) = (self.stream.layout, self.options.fec) else {
            return;
        };
        let (Some(place), Some(next)) = (layout.place(from), layout.place(to)) else {
            return;
        };
        if self.stream.is_finished(place.block) && (place.block != next.block || self.stream.is_sent()) {
            let foreseen = match self.rate.loses_by_chance() {
                true => self.repair.foreseen(self.feedback().quiet(), now),
                false => 0,
            };
            let (symbols, end) = self.stream.extent(place.block);
            let block = Stretch {
                from: layout.start(place.block),
                to: end,
            };
            // More marks than a descriptor holds take more packets than symbols.
            let packets = self.repair.union.within(block);
            if packets > symbols.into() && self.stream.is_overfull(place.block) {
                return;
            }
            let part = (u32::from(foreseen) * u32::from(symbols)).div_ceil(u32::from(fec.symbols));
            let rows = fec.proactive.max(part as u8);
            self.repair.schedule(place.block, rows, now);
            self.repair.union.forget(block);
        }
    }

    fn say_data(&mut self, portion: &Portion, now: Time, out: &mut TransmitBatch) -> u64 {
        let mut options = Options::empty();
        options.set(Options::EOM, portion.eom);
        options.set(Options::WCLOSE, self.stream.final_seq() == Some(portion.end()));
        let data = ToGroup::Data(DataSegment {
            tag: portion.tag,
            data: &[],
        });
        self.line
            .say(data, (portion.seq, options), &portion.payload, now, out)
    }

    /// Whether members can be asked.
    fn has_somebody_to_ask(&self) -> bool {
        self.members.alive() > 0 && !self.is_ending() && self.message.is_none()
    }

    /// When the next poll is due, if nothing happens.
    pub(super) fn poll_at(&self) -> Option<Time> {
        if !self.has_somebody_to_ask() {
            return None;
        }
        let feedback = self.feedback();
        let situation = self.situation();
        let flows = matches!(situation, Situation::Filling | Situation::Flowing);
        let far = flows && self.polls.is_far(self.stream.nxt, self.window() / 4);
        let slices = match (self.question_at(), far) {
            (Some(question), _) => question,
            (None, true) => self.polls.earliest(&feedback),
            (None, false) => self.polls.due(situation, &feedback),
        };
        let alone = self.rate.poll_at().filter(|_| self.is_flowing());
        Some(alone.map_or(slices, |alone| alone.min(slices)))
    }

    /// Polls that are due: of a slice, and of the pacemaker alone.
    pub(super) fn say_polls(&mut self, env: &mut PartyEnv<'_>, out: &mut TransmitBatch) {
        if self.poll_at().is_none_or(|at| at > env.now) {
            return;
        }
        let feedback = self.feedback();
        let pacemaker = self
            .rate
            .poll_at()
            .filter(|at| *at <= env.now && self.is_flowing());
        if pacemaker.is_some()
            && let Some(member) = self.rate.pacemaker()
        {
            self.ask_alone(self.members.get(member).key, &feedback, env, out);
            if let Some(other) = self.rate.polled(&self.members, env.now) {
                self.ask_alone(self.members.get(other).key, &feedback, env, out);
            }
        }
        if self.poll_at().is_none_or(|at| at > env.now) {
            return;
        }
        if self.question_at().is_some() {
            return self.say_question(env, out);
        }
        let missing: Vec<u64> = match self.stream.is_sent() {
            true => self.holders().take(8).collect(),
            false => Vec::new(),
        };
        let position = self.stream.nxt;
        if self.polls.asks_each(missing.len(), self.members.present()) {
            self.polls.asked_each(position, env.now);
            for key in missing {
                self.ask_alone(key, &feedback, env, out);
            }
        } else {
            let next = (self.line.next_sync(), position);
            let poll = self.polls.next_slice(&feedback, next, env.now);
            self.say_poll(poll, env, out);
        }
    }

    /// The poll of whoever has this key.
    fn ask_alone(&mut self, key: u64, feedback: &Feedback, env: &mut PartyEnv<'_>, out: &mut TransmitBatch) {
        let poll = self.polls.alone(key, feedback, self.line.next_sync(), env.now);
        self.say_poll(poll, env, out);
    }

    /// Keys of those who hold the window.
    fn holders(&self) -> impl Iterator<Item = u64> {
        let holders = self.members.iter().filter(|(_, member)| member.is_holder());
        holders.map(|(_, member)| member.key)
    }

    fn say_poll(&mut self, poll: GroupPoll, env: &mut PartyEnv<'_>, out: &mut TransmitBatch) {
        let mut options = Options::empty();
        options.set(Options::DREQ, self.asks_for_delivery());
        let at = (self.stream.nxt, options);
        self.line.control(ToGroup::Poll(poll), at, env.now, out);
    }
}
