//! Catch-ups that are replayed, or that are begun by somebody who lets nobody else have one.

use super::forge::View;
use super::scene::{Kind, RECEIVERS, STEP, format_of, join, message, options, outside};
use crate::world::{ARRIVES, Copy, Fate, Sent, World, address, group, is_done};
use std::cell::Cell;
use std::time::Duration;
use xtp_engine::group::{GroupClose, GroupId, Target};
use xtp_wire::{Format, Header, Key, Packet};

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
        let cast = world.cast(0, Target::Group(group(1)), options);
        let receivers: Vec<_> = (1..=RECEIVERS)
            .map(|host| (host, world.join(host, join())))
            .collect();
        world.write(0, cast, &message(), true);
        let now = world.now;
        world.engine(0).group_finish(now, cast).unwrap();
        world.run_for(SECOND / 10);
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
        assert!(members.iter().all(is_done), "{members:?}");
        let whole = self.receivers.iter().map(|(host, id)| {
            let party = self.world.party(*host, *id);
            assert!(party.octets == message(), "host {host}");
            assert_eq!(party.closed(), Some(&GroupClose::Normal), "host {host}");
            party.complete_at.expect("it is whole").since(began)
        });
        whole.collect()
    }
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
        !packet.header.options.contains(xtp_wire::Options::MULTI) && is_first == firsts
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

/// A FIRST under a new key of its own: another association of the same member.
fn renewed(first: &[u8], by: u64) -> Vec<u8> {
    let mut octets = first.to_vec();
    let packet = Packet::parse(first).expect("well-formed");
    let header = Header {
        key: Key::own(packet.header.key.value() ^ by << 1),
        ..packet.header
    };
    let packet = Packet { header, ..packet };
    octets.resize(packet.encoded_len(), 0);
    packet.encode(&mut octets).expect("it has a form");
    octets
}

/// A member opens one catch-up after the other and lets none of them end: the other one that needs one gets it.
#[test]
fn a_member_has_one_place_among_those_who_fetch() {
    let run = |attacked: bool| {
        let cut = Cell::new(false);
        let mut fetching = Fetching::new(&cut, &LATE);
        let mut made = 0;
        let whole = fetching.play(|world| {
            let firsts = requests(world, LATE[0], true);
            if let (true, Some(first)) = (attacked, firsts.first()) {
                made += 1;
                world.inject(address(LATE[0]), address(0), &renewed(first, made));
            }
        });
        (whole[LATE[1] - 1], made)
    };
    let (quiet, _) = run(false);
    let (attacked, made) = run(true);
    assert!(made > 10, "{made}");
    assert!(
        attacked <= quiet + SECOND / 2,
        "{attacked:?} instead of {quiet:?}"
    );
}

/// Whoever knows a member's key and is elsewhere fetches nothing, and takes nobody's place in the window.
#[test]
fn a_catch_up_is_the_members_own() {
    let run = |attacked: bool| {
        let cut = Cell::new(false);
        // One fetches; its FIRST is made into one of another member, which holds the window.
        let mut fetching = Fetching::new(&cut, &LATE[..1]);
        let mut made = 0;
        let whole = fetching.play(|world| {
            let firsts = requests(world, LATE[0], true);
            let view = View::of(world.tap.as_deref().unwrap());
            if let (true, Some(first), Some(told)) = (attacked, firsts.first(), view.member(address(1))) {
                made += 1;
                let own = view.member(address(LATE[0])).expect("it fetches").own;
                let stolen = with_other_member(&renewed(first, made), own, told.own);
                world.inject(outside(), address(0), &stolen);
            }
        });
        let lagged = fetching.world.members(0, fetching.cast);
        let lagged = lagged
            .iter()
            .filter(|one| one.address == address(1) && !is_prompt(one.state));
        (whole, lagged.count(), made)
    };
    let (quiet, ..) = run(false);
    let (attacked, lagged, made) = run(true);
    assert!(made > 10, "{made}");
    assert_eq!(lagged, 0, "it held the window from beginning to end");
    assert_eq!(attacked[0], quiet[0]);
}

fn is_prompt(state: xtp_engine::group::MemberState) -> bool {
    state == xtp_engine::group::MemberState::Done(false)
}

/// The same packet in the name of another member.
fn with_other_member(first: &[u8], own: u64, other: u64) -> Vec<u8> {
    let at = first
        .windows(8)
        .position(|octets| octets == own.to_be_bytes())
        .expect("it names the member");
    let mut octets = first.to_vec();
    octets[at..at + 8].copy_from_slice(&other.to_be_bytes());
    reseal(&octets)
}

/// With a checksum that fits.
fn reseal(octets: &[u8]) -> Vec<u8> {
    let mut octets = octets.to_vec();
    xtp_wire::seal(&mut octets, std::iter::empty());
    octets
}
