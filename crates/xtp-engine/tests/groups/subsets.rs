//! Every subset of the first ten packets lost: of those to everybody, of each copy apart, of what is answered.

use crate::world::{ARRIVES, Copy, Fate, World, group, is_done};
use std::time::Duration;
use xtp_engine::group::{
    BucketOptions, Fec, GroupClose, MemberState, Mode, ReceiverOptions, Slow, Target, TransmitterOptions,
};
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
    /// The first copies of data: each receiver loses others.
    DataCopies,
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
    copies: u32,
    data: bool,
}

impl Loss {
    fn new(which: Which, mask: u32) -> Self {
        Self {
            which,
            mask,
            counted: Vec::new(),
            answers: 0,
            copies: 0,
            data: false,
        }
    }

    fn judge(&mut self, copy: &Copy) -> Fate {
        let index = match self.which {
            Which::Copies => Some(copy.copy as u32),
            Which::DataCopies if copy.format == Format::Data => {
                self.copies += 1;
                Some(self.copies - 1)
            }
            Which::DataCopies => None,
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
            (Which::One, 1) | (Which::Shared | Which::Copies | Which::DataCopies | Which::Answers, _) => {
                self.mask
            }
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

/// What is sent again, and how what is missing is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Plain,
    Coded,
    Buckets,
}

fn options(slow: Slow, how: How) -> TransmitterOptions {
    let mut options = TransmitterOptions::default();
    options.expect = Some(RECEIVERS as u32);
    options.datagram = DATAGRAM;
    options.slow = slow;
    options.fec = (how == How::Coded).then_some(Fec {
        symbols: 4,
        rows: 8,
        proactive: 0,
    });
    if how == How::Buckets {
        options.mode = Mode::Bucket(BucketOptions::default());
    }
    options.patience = Duration::from_secs(10);
    options.window = 32 * DATAGRAM as u64;
    options
}

fn message() -> Vec<u8> {
    (0..MESSAGE)
        .map(|place| (place * 7 + place / 256) as u8)
        .collect()
}

/// Runs one world; everybody ends, nobody says what is not so, and whoever the policy waits for is whole. Says how many are.
fn play(which: Which, mask: u32, slow: Slow, how: How) -> usize {
    let what = format!("{which:?} mask {mask:#012b} {slow:?} {how:?}");
    let mut loss = Loss::new(which, mask);
    let mut world = World::new(RECEIVERS + 1, move |copy| loss.judge(copy));
    let cast = world.cast(0, Target::Group(group(1)), options(slow, how));
    let mut join = ReceiverOptions::default();
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
    let mut all_whole = 0;
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
        let out = report.is_some_and(|report| matches!(report.state, MemberState::Dropped(_)));
        if slow == Slow::Drop {
            assert!(whole || out, "{what}: receiver {host}: {closed:?}, {report:?}");
        } else {
            assert!(
                whole && party.ended,
                "{what}: receiver {host}: {closed:?}, {report:?}"
            );
            assert!(
                says,
                "{what}: receiver {host} is whole, and the report says {report:?}"
            );
        }
        all_whole += usize::from(whole);
    }
    let closed = world.party(0, cast).closed();
    assert_eq!(closed, Some(&GroupClose::Normal), "{what}");
    all_whole
}

/// Every mask; how many receivers were whole in all of them together.
fn all(which: Which, slow: Slow, how: How) -> usize {
    (0..1 << FIRST).map(|mask| play(which, mask, slow, how)).sum()
}

const EVERYBODY: usize = RECEIVERS << FIRST;

fn all_are_whole(which: Which) {
    for slow in [Slow::Wait, Slow::CatchUp] {
        for how in [How::Plain, How::Coded] {
            assert_eq!(all(which, slow, how), EVERYBODY);
        }
    }
}

#[test]
fn what_everybody_lacks_is_sent_again() {
    all_are_whole(Which::Shared);
}

#[test]
fn what_one_lacks_is_sent_again() {
    all_are_whole(Which::One);
}

#[test]
fn each_lacks_something_else() {
    all_are_whole(Which::Apart);
}

#[test]
fn each_lacks_other_data() {
    all_are_whole(Which::DataApart);
}

#[test]
fn every_subset_of_the_first_copies_is_lost() {
    all_are_whole(Which::Copies);
}

#[test]
fn every_subset_of_the_first_copies_of_data_is_lost() {
    all_are_whole(Which::DataCopies);
}

#[test]
fn every_subset_of_the_first_answers_is_lost() {
    all_are_whole(Which::Answers);
}

/// Whoever is not whole is said to be out; without long silences hardly anybody is.
#[test]
fn who_drops_slow_ones_says_so() {
    for which in [
        Which::DataApart,
        Which::One,
        Which::Copies,
        Which::DataCopies,
        Which::Answers,
    ] {
        for how in [How::Plain, How::Coded] {
            let whole = all(which, Slow::Drop, how);
            assert!(whole >= EVERYBODY * 9 / 10, "{which:?} {how:?}: {whole}");
        }
    }
}

#[test]
fn buckets_find_what_is_missing() {
    for which in [Which::Copies, Which::DataCopies, Which::Answers] {
        assert_eq!(all(which, Slow::Wait, How::Buckets), EVERYBODY);
        assert_eq!(all(which, Slow::CatchUp, How::Buckets), EVERYBODY);
        let whole = all(which, Slow::Drop, How::Buckets);
        assert!(whole >= EVERYBODY * 9 / 10, "{which:?}: {whole}");
    }
}
