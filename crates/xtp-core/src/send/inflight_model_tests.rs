//! The segment map against a map of single octets, under random histories.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{DetectedLoss, Duration, Inflight, LossCriteria, Time, at};
use xtp_wire::serial_max;

#[derive(Copy, Clone, Debug)]
struct Octet {
    sync: u32,
    time: Time,
    lost: bool,
}

/// What is known of a segment: first octet, length, and the rest.
type Segment = (u64, u32, Octet);

#[derive(Debug, Default)]
struct Model(BTreeMap<u64, Octet>);

fn not_newer(sync: u32, than: u32) -> bool {
    than.wrapping_sub(sync) < 1 << 31
}

impl Model {
    /// Neighbouring octets of one packet.
    fn segments(&self) -> Vec<Segment> {
        let mut segments: Vec<Segment> = Vec::new();
        for (&seq, &octet) in &self.0 {
            match segments.last_mut() {
                Some(last) if last.0 + u64::from(last.1) == seq && last.2.sync == octet.sync => last.1 += 1,
                _ => segments.push((seq, 1, octet)),
            }
        }
        segments
    }

    fn record(&mut self, seq: u64, len: u32, sync: u32, time: Time) {
        for octet in seq..seq + u64::from(len) {
            self.0.insert(
                octet,
                Octet {
                    sync,
                    time,
                    lost: false,
                },
            );
        }
    }

    fn acknowledge(&mut self, left: u64, right: u64) -> u64 {
        let before = self.0.len();
        self.0.retain(|&seq, _| seq < left || seq >= right);
        (before - self.0.len()) as u64
    }

    fn acknowledge_range(&mut self, left: u64, right: u64) -> u64 {
        let strictly_inside = |&(seq, len, _): &Segment| seq < left && right < seq + u64::from(len);
        if left >= right || self.segments().iter().any(strictly_inside) {
            return 0;
        }
        self.acknowledge(left, right)
    }

    /// Whether what ends at `seq` is lost, too, perhaps already sent again.
    fn goes_on(&self, seq: u64, sync: u32) -> bool {
        let before = seq.checked_sub(1).and_then(|octet| self.0.get(&octet));
        before.is_some_and(|before| before.lost || !not_newer(before.sync, sync))
    }

    fn judge(&mut self, judge: LossCriteria) -> DetectedLoss {
        let mut verdict = DetectedLoss::default();
        for (seq, len, octet) in self.segments() {
            if octet.lost || !not_newer(octet.sync, judge.echo) || seq + u64::from(len) > judge.below {
                continue;
            }
            let behind = judge.echo.wrapping_sub(octet.sync);
            if behind >= judge.threshold || judge.now.since(octet.time) >= judge.late {
                verdict.lost_octets += u64::from(len);
                verdict.gaps += u32::from(!self.goes_on(seq, octet.sync));
                verdict.lost_packets += 1;
                let newest = verdict
                    .newest_lost_sync
                    .map_or(octet.sync, |sync| serial_max(sync, octet.sync));
                verdict.newest_lost_sync = Some(newest);
                verdict.newest_lost_time = verdict.newest_lost_time.max(Some(octet.time));
                self.0
                    .range_mut(seq..seq + u64::from(len))
                    .for_each(|(_, octet)| octet.lost = true);
            } else {
                let due = octet.time + judge.late;
                verdict.check_at = Some(verdict.check_at.map_or(due, |earlier| earlier.min(due)));
            }
        }
        verdict
    }

    fn in_flight(&self, young_since: Option<Time>, covered: Option<u32>) -> u64 {
        let counts = |octet: &&Octet| {
            !octet.lost
                && (young_since.is_none_or(|since| octet.time >= since)
                    || covered.is_some_and(|sync| not_newer(octet.sync, sync)))
        };
        self.0.values().filter(counts).count() as u64
    }

    fn uncovered(&self, covered: Option<u32>, young_since: Option<Time>) -> (u32, u32) {
        let segments = self.segments();
        let open = segments
            .iter()
            .filter(|segment| covered.is_none_or(|sync| !not_newer(segment.2.sync, sync)));
        let young = open
            .clone()
            .filter(|segment| young_since.is_none_or(|since| segment.2.time >= since));
        (open.count() as u32, young.count() as u32)
    }
}

#[derive(Clone, Debug)]
enum Op {
    /// A train of new data: segments, octets of each, octets of the last.
    Train(u32, u32, u32),
    /// A packet without data uses a sync.
    Control,
    Wait(u64),
    /// Up to so many lost segments again; each cut after so many octets.
    Resend(u32, u32),
    TailProbe,
    Below(u64),
    Range(u64, u64),
    /// Echo so far behind the newest sync, threshold, octets below, lateness.
    Judge(u32, u32, Option<u64>, u64),
    AllLost(u64),
    /// So many octets from there on.
    MarkLost(u64, u32),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        5 => (1u32..6, 1u32..7, 1u32..7).prop_map(|(count, size, last)| Op::Train(count, size, last.min(size))),
        1 => Just(Op::Control),
        3 => (0u64..8).prop_map(Op::Wait),
        3 => (1u32..6, 1u32..9).prop_map(|(count, cut)| Op::Resend(count, cut)),
        1 => Just(Op::TailProbe),
        2 => (0u64..30).prop_map(Op::Below),
        3 => (0u64..60, 1u64..20).prop_map(|(left, len)| Op::Range(left, len)),
        4 => (0u32..30, prop_oneof![Just(3u32), Just(0)], prop::option::of(0u64..60), 1u64..20)
            .prop_map(|(back, threshold, below, late)| Op::Judge(back, threshold, below, late)),
        1 => (0u64..60).prop_map(Op::AllLost),
        1 => (0u64..60, 0u32..12).prop_map(|(from, len)| Op::MarkLost(from, len)),
    ]
}

struct Pair {
    map: Inflight,
    model: Model,
    sync: u32,
    first_sync: u32,
    next: u64,
    now: u64,
}

impl Pair {
    fn send(&mut self, seq: u64, len: u32) {
        self.sync = self.sync.wrapping_add(1);
        self.map.record(seq, len, self.sync, at(self.now));
        self.model.record(seq, len, self.sync, at(self.now));
    }

    fn base(&self) -> u64 {
        self.model.0.keys().next().copied().unwrap_or(self.next)
    }

    /// The length of the segment that begins exactly here.
    fn next_len(&self, seq: u64) -> u32 {
        self.model
            .segments()
            .iter()
            .find(|segment| segment.0 == seq)
            .map_or(0, |segment| segment.1)
    }

    fn resend(&mut self, count: u32, cut: u32) {
        for _ in 0..count {
            let expected = self.model.segments().into_iter().find(|segment| segment.2.lost);
            let found = self.map.next_lost();
            assert_eq!(found, expected.map(|segment| (segment.0, segment.1)));
            let Some((seq, len)) = found else {
                return;
            };
            self.send(seq, len.min(cut));
        }
    }

    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Train(count, size, last) => {
                for number in 1..=count {
                    let len = if number == count { last } else { size };
                    self.send(self.next, len);
                    self.next += u64::from(len);
                }
            }
            Op::Control => self.sync = self.sync.wrapping_add(1),
            Op::Wait(nanos) => self.now += nanos,
            Op::Resend(count, cut) => self.resend(count, cut),
            Op::TailProbe => {
                if let Some((seq, len)) = self.map.last() {
                    self.send(seq, len);
                }
            }
            Op::Below(octets) => {
                let rseq = self.next.min(self.base() + octets);
                assert_eq!(self.map.acknowledge_below(rseq), self.model.acknowledge(0, rseq));
            }
            Op::Range(left, len) => {
                let left = self.base() + left;
                let (found, expected) = (
                    self.map.acknowledge_range(left, left + len),
                    self.model.acknowledge_range(left, left + len),
                );
                assert_eq!(found, expected, "{left}+{len}");
            }
            Op::Judge(back, threshold, below, late) => {
                let judge = LossCriteria {
                    echo: self.sync.wrapping_sub(back),
                    threshold,
                    above: 0,
                    below: below.map_or(u64::MAX, |below| self.base() + below),
                    now: at(self.now),
                    late: Duration::from_nanos(late),
                };
                assert_eq!(self.map.judge(judge), self.model.judge(judge), "{judge:?}");
            }
            Op::MarkLost(from, len) => {
                // Whole segments, as the engine does.
                let from = self.base() + from;
                let chosen = self
                    .model
                    .segments()
                    .into_iter()
                    .find(|segment| segment.0 >= from);
                let Some((seq, first, _)) = chosen else { return };
                let len = first
                    + if len > 6 {
                        0
                    } else {
                        self.next_len(seq + u64::from(first))
                    };
                self.map.mark_lost(seq, len);
                let octets = self.model.0.range_mut(seq..seq + u64::from(len));
                octets.for_each(|(_, octet)| octet.lost = true);
            }
            Op::AllLost(from) => {
                let from = self.base() + from;
                self.map.mark_all_lost_from(from);
                for (seq, len, _) in self
                    .model
                    .segments()
                    .into_iter()
                    .filter(|segment| segment.0 >= from)
                {
                    let octets = self.model.0.range_mut(seq..seq + u64::from(len));
                    octets.for_each(|(_, octet)| octet.lost = true);
                }
            }
        }
    }

    fn compare(&self) {
        let segments = self.model.segments();
        let lost = segments
            .iter()
            .find(|segment| segment.2.lost)
            .map(|segment| (segment.0, segment.1));
        assert_eq!(self.map.octets(), self.model.0.len() as u64);
        assert_eq!(self.map.is_empty(), self.model.0.is_empty());
        let lost_octets = self.model.0.values().filter(|octet| octet.lost).count() as u64;
        assert_eq!(self.map.lost_octets(), lost_octets);
        assert_eq!(self.map.has_lost(), lost.is_some());
        assert_eq!(self.map.next_lost(), lost);
        for position in self.base().saturating_sub(2)..self.base() + 40 {
            let found = segments
                .iter()
                .find(|segment| segment.2.lost && segment.0 + u64::from(segment.1) > position);
            let rest = found.map(|segment| {
                let from = position.max(segment.0);
                (from, (segment.0 + u64::from(segment.1) - from) as u32)
            });
            assert_eq!(self.map.lost_from(position), rest, "from {position}");
        }
        assert_eq!(
            self.map.last(),
            segments.last().map(|segment| (segment.0, segment.1))
        );
        assert!(self.map.runs.len() <= segments.len());
        for back in [0, 1, 2, 5, 17] {
            for since in [
                None,
                Some(at(self.now)),
                Some(at(self.now.saturating_sub(4))),
                Some(at(0)),
            ] {
                for covered in [None, Some(self.sync.wrapping_sub(back))] {
                    let asked = (since, covered);
                    assert_eq!(
                        self.map.in_flight(since, covered),
                        self.model.in_flight(since, covered),
                        "{asked:?}"
                    );
                    assert_eq!(
                        self.map.uncovered(covered, since),
                        self.model.uncovered(covered, since),
                        "{asked:?}"
                    );
                }
            }
        }
        let mut sync = self.first_sync;
        while sync != self.sync.wrapping_add(2) {
            let expected = segments
                .iter()
                .find(|segment| segment.2.sync == sync)
                .map(|segment| segment.2.time);
            assert_eq!(self.map.time_of(sync), expected, "sync {sync}");
            sync = sync.wrapping_add(1);
        }
    }
}

proptest! {
    #[test]
    fn behaves_as_a_map_of_single_octets(
        sync in prop_oneof![Just(0u32), Just(u32::MAX - 20), any::<u32>()],
        next in prop_oneof![Just(0u64), 0..1u64 << 62],
        ops in prop::collection::vec(op(), 1..60),
    ) {
        let mut pair = Pair {
            map: Inflight::new(),
            model: Model::default(),
            sync,
            first_sync: sync,
            next,
            now: 1000,
        };
        for op in &ops {
            pair.apply(op);
            pair.compare();
        }
    }
}
