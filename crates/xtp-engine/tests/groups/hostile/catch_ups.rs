//! Catch-ups that are replayed, or that are begun by somebody who lets nobody else have one.

use super::forge::{View, speak};
use super::scene::{Kind, RECEIVERS, STEP, Scene, format_of, join, message, options, outside, quiet};
use crate::world::{ARRIVES, Copy, Fate, Sent, World, address, group, is_done};
use std::cell::Cell;
use std::time::Duration;
use xtp_engine::group::{GroupClose, GroupId, MemberState, Target};
use xtp_wire::{Control, Format, Options, Packet, ToTransmitter};

const SECOND: Duration = Duration::from_secs(1);
/// Receivers that are cut off for a while.
const LATE: [usize; 2] = [2, 3];

/// A transmitter and three receivers, two of which hear nothing for a while and fetch it afterwards.
struct Fetching<'a> {
    world: World<'a>,
    cast: GroupId,
    receivers: Vec<(usize, GroupId)>,
}

impl<'a> Fetching<'a> {
    fn new(cut: &'a Cell<bool>, late: &'static [usize]) -> Self {
        Self::with(cut, late, false)
    }

    /// The same; with somebody who joins at an address at which nobody is, and says no more.
    fn with(cut: &'a Cell<bool>, late: &'static [usize], liar: bool) -> Self {
        let judge = move |copy: &Copy| match cut.get()
            && late.iter().any(|host| copy.to == *host || copy.from == *host)
        {
            true => Fate::Lost,
            false => ARRIVES,
        };
        let mut world = World::new(RECEIVERS + 1, judge);
        world.tap = Some(Vec::new());
        let mut options = options(Kind::Coded);
        options.patience = 20 * SECOND;
        options.expect = options.expect.map(|expect| expect + u32::from(liar));
        let cast = world.cast(0, Target::Group(group(1)), options);
        let receivers: Vec<_> = (1..=RECEIVERS)
            .map(|host| (host, world.join(host, join())))
            .collect();
        world.write(0, cast, &message(), true);
        let now = world.now;
        world.engine(0).group_finish(now, cast).unwrap();
        for _ in 0..20 {
            world.run_for(STEP);
            let view = View::of(world.tap.as_deref().unwrap());
            if liar && view.key != 0 {
                enter(&mut world, &view);
            }
        }
        cut.set(true);
        world.run_for(SECOND);
        cut.set(false);
        Self {
            world,
            cast,
            receivers,
        }
    }

    /// Runs to the end, and `attack` acts every few milliseconds; when each receiver was whole.
    fn play(&mut self, mut attack: impl FnMut(&mut World<'a>)) -> Vec<Duration> {
        let began = self.world.now;
        while !self.world.is_over() && self.world.now.since(began) < 60 * SECOND {
            self.world.run_for(STEP);
            attack(&mut self.world);
        }
        let members = self.world.members(0, self.cast);
        let real = members.iter().filter(|one| one.address != outside());
        assert!(
            real.clone().count() == RECEIVERS && real.clone().all(is_done),
            "{members:?}"
        );
        let whole = self.receivers.iter().map(|(host, id)| {
            let party = self.world.party(*host, *id);
            assert!(party.octets == message(), "host {host}");
            assert_eq!(party.closed(), Some(&GroupClose::Normal), "host {host}");
            party.complete_at.expect("it is whole").since(began)
        });
        whole.collect()
    }
}

/// Somebody at an address at which nobody is joins, and says that it heard the answer.
fn enter(world: &mut World<'_>, view: &View) {
    let word = match view.member(outside()) {
        None => view.join(5, "liar", Options::empty()),
        Some(told) => {
            let control = Control {
                rseq: 0,
                alloc: 1 << 30,
                echo: view.sync,
            };
            speak(told, 2, ToTransmitter::Status(control), Options::empty())
        }
    };
    world.inject(outside(), address(0), &word);
}

/// Packets of the transmitter's to receivers that are no packets of the group: those of catch-ups.
fn of_catch_ups(sent: &[Sent]) -> usize {
    let own = sent
        .iter()
        .filter(|one| one.src == address(0) && one.dst != group(1));
    own.filter(|one| matches!(format_of(one), Format::Data | Format::Xdata))
        .count()
}

/// All that receivers sent for catch-ups so far: their FIRSTs, and what followed.
fn requests(world: &World<'_>, host: usize, firsts: bool) -> Vec<Vec<u8>> {
    let tap = world.tap.iter().flatten();
    let own = tap.filter(|one| one.src == address(host) && one.dst == address(0));
    let of_association = own.filter(|one| {
        let packet = Packet::parse(&one.octets).expect("well-formed");
        let is_first = packet.header.format == Format::First;
        !packet.header.options.contains(Options::MULTI) && is_first == firsts
    });
    of_association.map(|one| one.octets.clone()).collect()
}

/// What was recorded comes again, from where it came and from elsewhere: nothing is served twice, and nobody is kept from anything.
#[test]
fn what_is_replayed_is_not_served_again() {
    let run = |attacked: bool| {
        let cut = Cell::new(false);
        let mut fetching = Fetching::new(&cut, &LATE);
        let mut replayed = 0;
        let whole = fetching.play(|world| {
            if !attacked {
                return;
            }
            for host in LATE {
                for firsts in [true, false] {
                    for octets in requests(world, host, firsts).into_iter().take(20) {
                        for source in [address(host), outside()] {
                            world.inject(source, address(0), &octets);
                            replayed += 1;
                        }
                    }
                }
            }
        });
        let sent = of_catch_ups(fetching.world.tap.as_deref().unwrap());
        (whole, sent, replayed)
    };
    let (quiet, packets, _) = run(false);
    let (attacked, sent, replayed) = run(true);
    assert!(packets > 100 && replayed > 200, "{packets}, {replayed}");
    assert!(sent <= packets + packets / 20, "{sent} instead of {packets}");
    for (one, before) in attacked.iter().zip(&quiet) {
        assert!(*one <= *before + SECOND / 4, "{attacked:?} instead of {quiet:?}");
    }
}

/// A member that is nobody's receiver opens one catch-up after the other and lets none of them end: the other one that needs one
/// gets it.
#[test]
fn a_member_has_one_place_among_those_who_fetch() {
    let run = |attacked: bool| {
        let cut = Cell::new(false);
        let mut fetching = Fetching::with(&cut, &LATE[..1], true);
        let mut made = 0;
        let whole = fetching.play(|world| {
            let view = View::of(world.tap.as_deref().unwrap());
            let told = view.member(outside()).expect("it is a member");
            if attacked {
                made += 1;
                world.inject(outside(), address(0), &view.catch_up(told.own, made));
            }
        });
        (whole[LATE[0] - 1], made)
    };
    let (quiet, _) = run(false);
    let (attacked, made) = run(true);
    assert!(made > 10, "{made}");
    assert!(attacked <= quiet + SECOND, "{attacked:?} instead of {quiet:?}");
}

/// Whoever knows a member's key and is elsewhere fetches nothing, and takes nobody's place in the window.
#[test]
fn a_catch_up_is_the_members_own() {
    let quiet = quiet(options(Kind::Coded));
    let mut made = 0;
    let attacked = Scene::new(options(Kind::Coded)).play(|scene| {
        let view = scene.view();
        if let Some(told) = view.member(address(1)) {
            made += 1;
            let forged = view.catch_up(told.own, made);
            scene.world.inject(outside(), address(0), &forged);
        }
    });
    attacked.assert_good();
    assert!(made > 50, "{made}");
    assert_eq!(attacked.complete, quiet.complete);
    let prompt = attacked.members.iter().find(|one| one.address == address(1));
    let state = prompt.map(|one| one.state);
    assert_eq!(
        state,
        Some(MemberState::Done(false)),
        "it held the window from beginning to end"
    );
}
