//! The stream of a transmitter that wants to know nobody: what is lost stays lost (§9.16).

use super::Receiver;
use crate::groups::PartyEnv;
use xtp_core::recv::Payload;
use xtp_core::transmit::Datagram;
use xtp_wire::{DataSegment, Header, Options};

/// A position that is farther ahead is none.
const FARTHEST: u64 = 1 << 32;

impl Receiver {
    pub(super) fn follow(
        &mut self,
        datagram: &Datagram<'_>,
        header: &Header,
        segment: &DataSegment<'_>,
        env: &mut PartyEnv<'_>,
    ) {
        let end = header.seq.saturating_add(segment.sequence_len() as u64);
        let has_room = self.stream.stored_octets() + segment.sequence_len() as u64 <= self.options.capacity;
        if has_room && self.is_near(header.seq) && self.close.end.is_none_or(|last| end <= last) {
            let payload = Payload::of(datagram.backing, segment.data);
            let eom = header.options.contains(Options::EOM);
            self.stream
                .insert_unreliable(header.seq, segment.tag, payload, eom);
            self.advanced(env);
        }
        if header.options.contains(Options::WCLOSE) && self.is_near(end) {
            self.learn_end(end, env);
        }
    }

    fn is_near(&self, position: u64) -> bool {
        position <= self.stream.next().saturating_add(FARTHEST)
    }

    /// A control packet says how far the transmitter is. Whatever it sent may still be on its way.
    pub(super) fn follow_position(&mut self, header: &Header, env: &mut PartyEnv<'_>) {
        let past = self.heard.progress.past();
        if past > self.stream.next() && self.is_near(past) {
            self.stream.skip_to(past);
            self.advanced(env);
        }
        if header.options.contains(Options::WCLOSE) && self.is_near(header.seq) {
            self.learn_end(header.seq, env);
        }
    }

    /// It ended there.
    pub(super) fn follow_end(&mut self, end: u64, env: &mut PartyEnv<'_>) {
        if self.is_near(end) && self.close.end.is_none_or(|last| last == end) {
            self.stream.skip_to(end);
            self.learn_end(end, env);
            self.advanced(env);
            self.close_normally(env);
        }
    }
}
