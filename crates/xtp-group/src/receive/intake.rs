//! What comes of the stream: octets, parity, and where it ends (§9.12).

use super::blocks::DecodedSegment;
use super::{POSITIONS, Receiver, Stage, says_end};
use crate::GroupEvent;
use crate::groups::PartyEnv;
use bytes::{BufMut, Bytes, BytesMut};
use xtp_core::recv::Payload;
use xtp_core::time::Time;
use xtp_core::transmit::{Datagram, Ecn};
use xtp_wire::{DataSegment, First, Header, Options, Parity, TAG_LEN, ToGroup};

impl Receiver {
    /// A packet of the transmitter came to the group.
    pub(super) fn hear(&mut self, datagram: &Datagram<'_>, said: &ToGroup<'_>, env: &PartyEnv<'_>) {
        let is_announcement = matches!(said, ToGroup::Announcement(_));
        self.watch.heard_group(is_announcement, env.now);
        self.needs.heard();
        self.heard.octets += datagram.data.len() as u64;
        match datagram.ecn {
            Ecn::NotEct => {}
            Ecn::Ect0 => self.heard.ect0 = self.heard.ect0.wrapping_add(1),
            Ecn::Ect1 => self.heard.ect1 = self.heard.ect1.wrapping_add(1),
            Ecn::Ce => self.heard.ce = self.heard.ce.wrapping_add(1),
        }
    }

    /// Notes the number of a packet, and how far the transmitter was when it sent it.
    fn note(&mut self, sync: u32, position: u64, now: Time) {
        let before = self.heard.progress.newest();
        self.heard.progress.packet(sync, position);
        if self.heard.progress.newest() != before {
            self.heard.newest_at = now;
        }
    }

    /// A control packet: it has a number like all, but what it says of the position waits for those it overtook, too.
    pub(super) fn heard_control(&mut self, header: &Header, now: Time) {
        self.note(header.sync, header.seq.min(POSITIONS), now);
    }

    /// A poll: nothing that was sent before it is awaited any more.
    pub(super) fn heard_poll(&mut self, header: &Header, now: Time) {
        self.note(header.sync, 0, now);
        self.heard.progress.poll(header.sync, header.seq.min(POSITIONS));
    }

    /// CNTL: the transmitter lives.
    pub(super) fn positioned(&mut self, header: &Header, env: &mut PartyEnv<'_>) {
        self.heard_control(header, env.now);
        if says_end(header) {
            self.learn_end(header.seq, env);
        }
        if self.stage == Stage::Following {
            self.follow_position(header, env);
        }
        self.judge(env);
    }

    pub(super) fn data(
        &mut self,
        datagram: &Datagram<'_>,
        header: &Header,
        segment: &DataSegment<'_>,
        env: &mut PartyEnv<'_>,
    ) {
        self.heard.packets += 1;
        let Some(end) = end_of(header, segment) else {
            return;
        };
        self.note(header.sync, end, env.now);
        if self.stage == Stage::Following {
            return self.follow(datagram, header, segment, env);
        }
        if header.options.contains(Options::WCLOSE) {
            self.learn_end(end, env);
        }
        if !self.throws_away(header.seq) {
            self.take(datagram, header, segment, end, env);
        }
        self.judge_if_farther(env);
    }

    /// A datagram that is one packet: the whole of a stream.
    pub(super) fn datagram(
        &mut self,
        datagram: &Datagram<'_>,
        header: &Header,
        first: &First<'_>,
        env: &mut PartyEnv<'_>,
    ) {
        if self.stage != Stage::Confirming {
            return;
        }
        let Some(end) = end_of(header, &first.data) else {
            return;
        };
        self.note(header.sync, end, env.now);
        if self.close.end.is_none() {
            self.heard.packets += 1;
            self.stream = super::new_stream(header.seq, &self.options);
            self.blocks = None;
            self.close.waits_for_user = header.options.contains(Options::DREQ);
            self.take(datagram, header, &first.data, end, env);
            if self.stream.next() != end {
                // It does not fit: nobody can be told that it came.
                return self.start_over();
            }
            self.hand_out(env);
            self.learn_end(end, env);
            if header.options.contains(Options::END) {
                return self.close_normally(env);
            }
        }
        self.confirm_datagram(env);
    }

    /// Stores the octets of a packet, if there is room for all of them.
    fn take(
        &mut self,
        datagram: &Datagram<'_>,
        header: &Header,
        segment: &DataSegment<'_>,
        end: u64,
        env: &mut PartyEnv<'_>,
    ) {
        if end > self.alloc() || self.close.end.is_some_and(|last| end > last) {
            return;
        }
        let eom = header.options.contains(Options::EOM);
        let payload = Payload::of(datagram.backing, segment.data);
        if self.blocks.is_none() {
            self.stream.insert(header.seq, segment.tag, payload, eom);
        } else {
            let octets = match payload {
                Payload::Shared(bytes) => bytes,
                _ => Bytes::copy_from_slice(segment.data),
            };
            self.store(header.seq, segment.tag, octets, eom);
            self.solve(header.seq, end);
        }
        self.advanced(env);
    }

    /// Octets of the stream, and a tag before them, into the store, and into the blocks what of them is new.
    pub(super) fn store(&mut self, position: u64, tag: Option<u64>, octets: Bytes, eom: bool) {
        let inserted = self
            .stream
            .insert(position, tag, Payload::Shared(octets.clone()), eom);
        if let Some(blocks) = &mut self.blocks
            && inserted.new_octets > 0
            && inserted.dropped == 0
        {
            let coded = match tag {
                None => octets,
                Some(tag) => {
                    let mut coded = BytesMut::with_capacity(TAG_LEN + octets.len());
                    coded.put_u64(tag);
                    coded.extend_from_slice(&octets);
                    coded.freeze()
                }
            };
            blocks.data(position, coded, tag.is_some(), eom);
        }
    }

    /// Computes what can be computed of the blocks that `from..until` lies in.
    pub(super) fn solve(&mut self, from: u64, until: u64) {
        let Some(blocks) = &mut self.blocks else { return };
        let (Some(first), Some(last)) = (
            blocks.layout().place(from),
            blocks.layout().place(until.saturating_sub(1).max(from)),
        ) else {
            return;
        };
        let stream = &self.stream;
        let is_known = |position: u64| position == 0 || stream.holds(position - 1, position);
        let mut computed: Vec<DecodedSegment> = Vec::new();
        for block in first.block..=last.block {
            computed.append(&mut blocks.solve(block, is_known));
        }
        computed.append(&mut blocks.waited(is_known));
        self.insert_computed(computed);
        self.insert_waited();
    }

    /// What was computed and could not be handed out before the octets in front of it were here.
    pub(super) fn insert_waited(&mut self) {
        while let Some(blocks) = &mut self.blocks {
            let stream = &self.stream;
            let waited = blocks.waited(|position| position == 0 || stream.holds(position - 1, position));
            if waited.is_empty() {
                return;
            }
            self.insert_computed(waited);
        }
    }

    fn insert_computed(&mut self, computed: Vec<DecodedSegment>) {
        for segment in computed {
            let inserted = self.stream.insert(
                segment.position,
                segment.tag,
                Payload::Shared(segment.octets),
                segment.eom,
            );
            self.heard.decoded += inserted.new_octets;
        }
    }

    pub(super) fn parity(
        &mut self,
        datagram: &Datagram<'_>,
        header: &Header,
        parity: &Parity<'_>,
        env: &mut PartyEnv<'_>,
    ) {
        self.heard.packets += 1;
        let Some(blocks) = &mut self.blocks else {
            return self.note(header.sync, 0, env.now);
        };
        let Ok(place) = blocks.layout().row(header.seq, parity) else {
            return self.note(header.sync, 0, env.now);
        };
        let last = parity.flags & Parity::LAST != 0;
        self.note(header.sync, place.end, env.now);
        let is_here = self.stream.holds(header.seq, place.end);
        if !is_here && place.end <= self.alloc() && self.takes_rows() {
            let keep = |coded: &[u8]| match Payload::of(datagram.backing, coded) {
                Payload::Shared(bytes) => bytes,
                _ => Bytes::copy_from_slice(coded),
            };
            if let Some(blocks) = &mut self.blocks
                && blocks.row(header.seq, parity, keep).is_ok()
            {
                self.solve(header.seq, place.end);
                self.advanced(env);
            }
        }
        self.row_came(place.block, last, env);
    }

    /// Whether rows are of use in this stage.
    fn takes_rows(&self) -> bool {
        matches!(self.stage, Stage::Joining | Stage::Member)
    }

    /// More may be in order than before.
    pub(super) fn advanced(&mut self, env: &mut PartyEnv<'_>) {
        if let Some(blocks) = &mut self.blocks {
            blocks.release(self.stream.next());
        }
        let is_in = self.stage != Stage::Joining || self.joining.again;
        if is_in && self.stream.readable() > 0 {
            self.tell_readable(env);
        }
        self.look_for_end(env);
    }

    /// The stream ends there, says the transmitter. What contradicts what was heard before is no news.
    pub(super) fn learn_end(&mut self, end: u64, env: &mut PartyEnv<'_>) {
        if self.close.end.is_some() || end < self.stream.highest() || end > POSITIONS {
            return;
        }
        self.close.end = Some(end);
        if let Some(blocks) = &mut self.blocks {
            blocks.set_end(end);
        }
        self.look_for_end(env);
    }

    /// Whether everything is here now.
    pub(super) fn look_for_end(&mut self, env: &mut PartyEnv<'_>) {
        let is_in = self.stage != Stage::Joining || self.joining.again;
        if !is_in || self.close.complete || self.close.end != Some(self.stream.next()) {
            return;
        }
        self.close.complete = true;
        self.tell_readable(env);
        env.tell(GroupEvent::Complete);
        self.completed(env);
    }
}

/// One past the last octet of a packet; `None` beyond all positions.
fn end_of(header: &Header, segment: &DataSegment<'_>) -> Option<u64> {
    let end = header.seq.checked_add(segment.sequence_len() as u64)?;
    (end <= POSITIONS).then_some(end)
}
