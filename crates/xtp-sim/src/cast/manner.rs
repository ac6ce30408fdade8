//! In which manner a group is served: by answers to the transmitter alone, by answers to the whole group (§9.17), or by one
//! datagram and no stream (§9.10).

use std::time::Duration;

use xtp_engine::group::{BucketOptions, Cycle, Mode, Require};

use super::plan::{CastPlan, Message, Target};
use crate::rng::Rng;

/// Octets of a datagram to a group that are none of its user: header, address and specifier, rounded up.
const AROUND: u64 = 160;

/// Octets of a packet of the stream that are none of its user.
const HEADER: u64 = 32;
/// Most buckets that wait for their turn.
const MOST_CLASSIC: u8 = 8;

impl CastPlan {
    /// Some groups collect answers in buckets, where that can be had, and some have one datagram. Drawn apart, so that what else a
    /// seed draws stays what it was.
    pub(super) fn draw_manner(&mut self, rng: &mut Rng) {
        match rng.range(0, 99) {
            0..=29 if self.target == Target::Group && self.options.require != Require::Nobody => {
                self.options.mode = Mode::Bucket(draw_buckets(rng));
                self.options.fec = None;
            }
            30..=41 => self.make_datagram(rng),
            _ => {}
        }
    }

    /// What the rounds of questions cost at most where losses are told in buckets: a packet moves each time.
    pub(super) fn rounds(&self) -> Duration {
        let Mode::Bucket(buckets) = self.options.mode else {
            return Duration::ZERO;
        };
        let members = self.members.len() as u32;
        let pace = Duration::from_secs(members.into()) / self.options.feedback_rate;
        // What is found in a classic bucket is as old as there are buckets, and one that waits for a message is asked for after 55 ms (§9.17).
        let (turns, least) = match (buckets.classic, buckets.cycle) {
            (true, Cycle::Message) => (buckets.buckets.into(), 55),
            (true, Cycle::Timer) => (buckets.buckets.into(), 10),
            (false, _) => (1, 10),
        };
        pace.max(Duration::from_millis(least)) * turns * self.packets()
    }

    /// How many packets the stream is cut into: a mark and the end of a message end one.
    fn packets(&self) -> u32 {
        let payload = self.options.datagram as u64 - HEADER;
        let of = |message: &Message| u64::from(message.octets) / payload + 2;
        self.messages.iter().map(of).sum::<u64>() as u32 + 1
    }

    /// How long it takes until a bucket is applied that opens now (§9.17): a question, the spread of its answers, and its turn.
    pub(super) fn bucket_turn(&self) -> Duration {
        let Mode::Bucket(buckets) = self.options.mode else {
            return Duration::ZERO;
        };
        let pace = Duration::from_secs(self.members.len() as u64 + 1) / self.options.feedback_rate;
        let turns = if buckets.classic {
            buckets.buckets.into()
        } else {
            1
        };
        (2 * pace + Duration::from_millis(60)) * turns
    }

    fn make_datagram(&mut self, rng: &mut Rng) {
        let most = self.options.datagram as u64 - AROUND;
        self.is_datagram = true;
        self.options.fec = None;
        self.messages = vec![Message {
            octets: rng.pick(&[1, 100, most / 2, most]) as u32,
            tag: None,
            eom: true,
            pause: Duration::ZERO,
        }];
    }
}

fn draw_buckets(rng: &mut Rng) -> BucketOptions {
    let any = rng.range(1, 64) as u8;
    let buckets = rng.pick(&[1, 2, 4, 4, 8, 64, any, any]);
    let classic = rng.percent(25);
    BucketOptions {
        // Where each waits for its turn a loss costs as many questions as there are buckets.
        buckets: if classic {
            buckets.min(MOST_CLASSIC)
        } else {
            buckets
        },
        cycle: rng.pick(&[Cycle::Timer, Cycle::Message]),
        classic,
        slotting: rng.percent(75),
        damping: rng.percent(75),
        go_back_n: rng.percent(25),
    }
}
