//! Announcements: that the group exists, on what terms, and how far its stream is (§9.10).

use super::Transmitter;
use crate::groups::PartyEnv;
use core::time::Duration;
use xtp_core::time::Time;
use xtp_core::transmit::TransmitBatch;
use xtp_wire::{DataSegment, First, Options, ToGroup, size};

/// While members are awaited the first announcements follow one another so closely, each pause as long as all before it: one that
/// is lost keeps everybody waiting who is here already. Then they leave at these intervals, the first of them for so long.
const FIRST: Duration = Duration::from_millis(20);
const SOON: Duration = Duration::from_millis(250);
const YOUNG: Duration = Duration::from_secs(10);
const LATER: Duration = Duration::from_secs(1);
/// They take one part in so many of the rate at most, where it is known: a copy for each of many is much.
const SHARE: u64 = 4;
/// But they are never further apart.
const RAREST: Duration = Duration::from_secs(2);

impl Transmitter {
    /// When the next announcement is due.
    pub(super) fn announcement_at(&self) -> Option<Time> {
        (!self.is_ending() && self.message.is_none()).then_some(self.announce)
    }

    /// Announces the group if it is time.
    pub(super) fn say_announcement(&mut self, env: &mut PartyEnv<'_>, out: &mut TransmitBatch) {
        if self.announcement_at().is_none_or(|at| at > env.now) {
            return;
        }
        let age = env.now.since(self.began);
        let pause = match () {
            () if age >= YOUNG => LATER,
            () if self.is_gathering() => age.clamp(FIRST, SOON),
            () => SOON,
        };
        self.announce = env.now + pause.max(self.announcement_takes());
        let address = self.line.address(self.options.service_number);
        // Padded to a full packet: who can not receive one never joins.
        let at_least = (size::payload(self.options.datagram) - address.encoded_len()) & !7;
        let mut room = core::mem::take(&mut self.room);
        if let Some(traffic) =
            self.terms
                .specifier(&self.feedback(), (None, self.bucket_terms()), at_least, &mut room)
        {
            let first = First {
                address,
                traffic,
                data: DataSegment::default(),
            };
            let asks = match (self.repairs_nothing(), self.asks_for_delivery()) {
                (true, _) => Options::empty(),
                (false, false) => Options::SREQ,
                (false, true) => Options::SREQ | Options::DREQ,
            };
            self.line.stats.control_packets += 1;
            let at = (self.stream.nxt, asks);
            self.line.say(ToGroup::Announcement(first), at, &[], env.now, out);
        }
        self.room = room;
    }

    /// How long announcements are apart that take no more than their share of the rate.
    fn announcement_takes(&self) -> Duration {
        let octets = self.options.datagram as u64 * self.line.copies();
        let micros = SHARE * 1_000_000 * octets;
        let rate = self.rate.octets_per_second();
        let takes = micros
            .checked_div(rate)
            .map_or(Duration::ZERO, Duration::from_micros);
        takes.min(RAREST)
    }

    /// Whether receivers confirm when their users have everything (§9.10).
    pub(super) fn asks_for_delivery(&self) -> bool {
        self.options.confirm == xtp_core::user::Confirm::Delivered
    }
}
