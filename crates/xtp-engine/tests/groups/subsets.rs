//! Every subset of the first ten packets lost: of those to everybody, of each copy apart, of what is answered.

use crate::world::{ARRIVES, Copy, Fate, World, group, is_done};
use std::time::Duration;
use xtp_engine::group::{CastOptions, Fec, GroupClose, JoinOptions, Slow, Target};
use xtp_wire::Format;

/// Receivers are hosts 1 to 3.
const RECEIVERS: usize = 3;
/// Octets of a packet.
const DATAGRAM: usize = 576;
/// A message of six packets, the last one short.
const MESSAGE: usize = 5 * (DATAGRAM - 32 - 24) + 100;
/// So many packets are lost or not.
const FIRST: u32 = 10;

/// Which copies are lost, told by the bits of a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    /// Packets to the group: nobody gets one that is lost.
    Shared,
    /// The copies for the first receiver alone.
    One,
    /// The first receiver loses what the second gets, the third loses them the other way round.
    Apart,
    /// As [`Which::Apart`], counted from the first data on.
    DataApart,
    /// The first copies of all, whoever sent them and for whom.
    Copies,
    /// What the receivers send.
    Answers,
}

/// Decides by a mask, and counts what it is about.
struct Loss {
    which: Which,
    mask: u32,
    /// Packets of the group so far that count: their numbers at the sender.
    counted: Vec<usize>,
    answers: u32,
    data: bool,
}

impl Loss {
    fn new(which: Which, mask: u32) -> Self {
        Self {
            which,
            mask,
            counted: Vec::new(),
            answers: 0,
            data: false,
        }
    }

    fn judge(&mut self, copy: &Copy) -> Fate {
        let index = match self.which {
            Which::Copies => Some(copy.copy as u32),
            Which::Answers if copy.from != 0 => {
                self.answers += 1;
                Some(self.answers - 1)
            }
            Which::Answers => None,
            _ if !copy.multicast => None,
            which => {
                self.data |= copy.format == Format::Data;
                let counts = self.data || which != Which::DataApart;
                if counts && self.counted.last() != Some(&copy.packet) {
                    self.counted.push(copy.packet);
                }
                let place = self.counted.iter().position(|&packet| packet == copy.packet);
                place.map(|place| place as u32)
            }
        };
        let Some(index) = index.filter(|&index| index < FIRST) else {
            return ARRIVES;
        };
        let mask = match (self.which, copy.to) {
            (Which::One, 1) | (Which::Shared | Which::Copies | Which::Answers, _) => self.mask,
            (Which::One, _) => 0,
            (_, 1) => self.mask,
            (_, 2) => !self.mask,
            _ => self.mask.reverse_bits() >> (32 - FIRST),
        };
        match mask >> index & 1 {
            1 => Fate::Lost,
            _ => ARRIVES,
        }
    }
}

fn options(slow: Slow, fec: Option<Fec>) -> CastOptions {
    let mut options = CastOptions::default();
    options.expect = Some(RECEIVERS as u32);
    options.datagram = DATAGRAM;
    options.slow = slow;
    options.fec = fec;
    options.patience = Duration::from_secs(10);
    options.window = 32 * DATAGRAM as u64;
    options
}

fn parity() -> Option<Fec> {
    Some(Fec {
        symbols: 4,
        rows: 8,
        proactive: 0,
    })
}

fn message() -> Vec<u8> {
    (0..MESSAGE)
        .map(|place| (place * 7 + place / 256) as u8)
        .collect()
}

/// Runs one world; everybody ends, nobody says what is not so, and whoever the policy waits for is whole.
fn play(which: Which, mask: u32, slow: Slow, fec: Option<Fec>) {
    let what = format!("{which:?} mask {mask:#012b} {slow:?} parity {}", fec.is_some());
    let mut loss = Loss::new(which, mask);
    let mut world = World::new(RECEIVERS + 1, move |copy| loss.judge(copy));
    let cast = world.cast(0, Target::Group(group(1)), options(slow, fec));
    let mut join = JoinOptions::default();
    join.group = Some(group(1));
    let receivers: Vec<_> = (1..=RECEIVERS)
        .map(|host| (host, world.join(host, join.clone())))
        .collect();
    let message = message();
    world.write(0, cast, &message, true);
    let now = world.now;
    world.engine(0).group_finish(now, cast).unwrap();
    assert!(world.run(), "{what}: not everybody ended");
    let reports = world.members(0, cast);
    for (host, id) in receivers {
        let party = world.party(host, id);
        let report = reports
            .iter()
            .rev()
            .find(|report| report.address == crate::world::address(host));
        let whole = party.octets == message && party.ends == [message.len()];
        let says = report.is_some_and(is_done);
        let closed = party.closed();
        assert!(whole || !says, "{what}: receiver {host} is said to be done");
        assert!(
            whole || closed != Some(&GroupClose::Normal),
            "{what}: receiver {host} says that all is well"
        );
        assert!(
            message.starts_with(&party.octets),
            "{what}: receiver {host} read something else"
        );
        if slow == Slow::Wait {
            assert!(
                whole && party.ended,
                "{what}: receiver {host}: {closed:?}, {report:?}"
            );
            assert!(
                says,
                "{what}: receiver {host} is whole, and the report says {report:?}"
            );
        }
    }
    let closed = world.party(0, cast).closed();
    assert_eq!(closed, Some(&GroupClose::Normal), "{what}");
}

fn all(which: Which, slow: Slow, fec: Option<Fec>) {
    for mask in 0..1 << FIRST {
        play(which, mask, slow, fec);
    }
}

#[test]
fn what_everybody_lacks_is_sent_again() {
    all(Which::Shared, Slow::Wait, None);
    all(Which::Shared, Slow::Wait, parity());
}

#[test]
fn what_one_lacks_is_sent_again() {
    all(Which::One, Slow::Wait, None);
    all(Which::One, Slow::Wait, parity());
}

#[test]
fn each_lacks_something_else() {
    all(Which::Apart, Slow::Wait, None);
    all(Which::Apart, Slow::Wait, parity());
}

#[test]
fn each_lacks_other_data() {
    all(Which::DataApart, Slow::Wait, None);
    all(Which::DataApart, Slow::Wait, parity());
}

#[test]
fn every_subset_of_the_first_copies_is_lost() {
    all(Which::Copies, Slow::Wait, None);
    all(Which::Copies, Slow::Wait, parity());
}

#[test]
fn every_subset_of_the_first_answers_is_lost() {
    all(Which::Answers, Slow::Wait, None);
    all(Which::Answers, Slow::Wait, parity());
}

#[test]
fn who_drops_slow_ones_says_so() {
    all(Which::DataApart, Slow::Drop, None);
    all(Which::DataApart, Slow::Drop, parity());
    all(Which::One, Slow::Drop, None);
    all(Which::One, Slow::Drop, parity());
}
