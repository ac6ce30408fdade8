//! A stream of some seconds, messages and tags in it, and receivers that miss a part of it.

use crate::world::{ARRIVES, Copy, Fate, World, group};
use std::cell::Cell;
use std::time::Duration;
use xtp_engine::Rate;
use xtp_engine::group::{Fec, GroupClose, GroupId, ReceiverOptions, Target, TransmitterOptions};

/// Octets of the stream, tags apart: some seconds at [`RATE`].
pub(crate) const LEN: usize = 600_000;
pub(crate) const RATE: u64 = 200_000;
/// Octets of a message; a tag stands before each third.
pub(crate) const MESSAGE: usize = 7_777;

pub(crate) fn octets() -> Vec<u8> {
    (0..LEN)
        .map(|place| (place / 7) as u8 ^ (place >> 11) as u8)
        .collect()
}

/// Everything is kept.
pub(crate) fn options(expect: u32) -> TransmitterOptions {
    let mut options = TransmitterOptions::default();
    options.expect = Some(expect);
    options.fec = Some(Fec {
        symbols: 8,
        rows: 8,
        proactive: 0,
    });
    options.rate = Rate {
        octets_per_second: RATE,
        burst: 16 << 10,
    };
    options.window = 256 << 10;
    options.keep = u64::MAX;
    options
}

pub(crate) fn join() -> ReceiverOptions {
    let mut join = ReceiverOptions::default();
    join.group = Some(group(1));
    join
}

pub(crate) fn write(world: &mut World<'_>, host: usize, id: GroupId) {
    let (whole, now) = (octets(), world.now);
    for (number, part) in whole.chunks(MESSAGE).enumerate() {
        if number % 3 == 0 {
            world.engine(host).group_tag(now, id, number as u64).unwrap();
        }
        world.write(host, id, part, true);
    }
    world.engine(host).group_finish(now, id).unwrap();
}

#[track_caller]
pub(crate) fn assert_whole(world: &World<'_>, host: usize, id: GroupId) {
    let party = world.party(host, id);
    assert!(party.octets == octets(), "the octets of host {host}");
    let ends = (1..=LEN.div_ceil(MESSAGE)).map(|part| (part * MESSAGE).min(LEN));
    assert!(party.ends.iter().copied().eq(ends), "{:?}", party.ends);
    let tags = (0..LEN.div_ceil(MESSAGE)).step_by(3);
    assert!(
        party
            .tags
            .iter()
            .copied()
            .eq(tags.map(|part| (part * MESSAGE, part as u64)))
    );
    assert_eq!(party.closed(), Some(&GroupClose::Normal));
}

/// Nothing reaches host 3, and nothing comes of it, while `cut` is set.
pub(crate) fn unless_cut(cut: &Cell<bool>) -> impl FnMut(&Copy) -> Fate + '_ {
    |copy| match cut.get() && (copy.to == 3 || copy.from == 3) {
        true => Fate::Lost,
        false => ARRIVES,
    }
}

/// The receivers of a group, by their hosts.
pub(crate) type Receivers = [(usize, GroupId); 3];

/// A transmitter and three receivers, and the whole stream is written.
pub(crate) fn three_receivers(
    cut: &Cell<bool>,
    options: TransmitterOptions,
) -> (World<'_>, GroupId, Receivers) {
    let mut world = World::new(4, unless_cut(cut));
    let cast = world.cast(0, Target::Group(group(1)), options);
    let receivers = [1, 2, 3].map(|host| (host, world.join(host, join())));
    write(&mut world, 0, cast);
    (world, cast, receivers)
}

/// The third of them is cut off after so many milliseconds, and then for so many; it has just come back.
pub(crate) fn one_cut_off(
    cut: &Cell<bool>,
    options: TransmitterOptions,
    (after, span): (u64, u64),
) -> (World<'_>, GroupId, Receivers) {
    let (mut world, cast, receivers) = three_receivers(cut, options);
    world.run_for(Duration::from_millis(after));
    cut.set(true);
    world.run_for(Duration::from_millis(span));
    cut.set(false);
    (world, cast, receivers)
}

/// Two receivers from the beginning; a third one joins after so many milliseconds.
pub(crate) fn one_late<'a>(
    mut world: World<'a>,
    options: TransmitterOptions,
    after: u64,
) -> (World<'a>, GroupId, Receivers) {
    let cast = world.cast(0, Target::Group(group(1)), options);
    let [one, other] = [1, 2].map(|host| (host, world.join(host, join())));
    write(&mut world, 0, cast);
    world.run_for(Duration::from_millis(after));
    let late = (3, world.join(3, join()));
    (world, cast, [one, other, late])
}
