//! Announcements: that the group exists, on what terms, and how far its stream is (§9.10).

use super::Transmitter;
use crate::groups::PartyEnv;
use core::time::Duration;
use xtp_core::time::Time;
use xtp_core::transmit::TransmitBatch;
use xtp_wire::{DataSegment, First, Options, size};

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
        let before = self.line.stats.octets_sent;
        let address = self.line.address(self.options.service_number);
        let full = (size::payload(self.options.datagram) - address.encoded_len()) & !7;
        let asks = match (self.repairs_nothing(), self.asks_for_delivery()) {
            (true, _) => Options::empty(),
            (false, false) => Options::SREQ,
            (false, true) => Options::SREQ | Options::DREQ,
        };
        let at = (self.stream.nxt, asks);
        self.line.stats.control_packets += 1;
        let mut room = core::mem::take(&mut self.room);
        let mut longest = 0;
        // Padded to a full packet: a receiver that full packets do not reach never joins. A host of a list that joined has shown it.
        for (joined, at_least) in [(false, full), (true, 0)] {
            let Some(traffic) =
                self.terms
                    .specifier(&self.feedback(), (None, self.bucket_terms()), at_least, &mut room)
            else {
                continue;
            };
            let first = First {
                address,
                traffic,
                data: DataSegment::default(),
            };
            let members = &self.members;
            let is_for = |host| members.is_heard_from(host) == joined;
            longest = longest.max(self.line.announce(first, at, is_for, out));
        }
        self.room = room;
        self.line.announced(longest, env.now);
        let octets = self.line.stats.octets_sent - before;
        self.announce = env.now + pause.max(self.announcement_takes(octets));
    }

    /// How long announcements are apart that take no more than their share of the rate; `octets`: of all copies.
    fn announcement_takes(&self, octets: u64) -> Duration {
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
