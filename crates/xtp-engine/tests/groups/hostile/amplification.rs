//! Three times what came from an address that has shown nothing, and no more, of every packet there is (§7.8).

use super::forge::View;
use super::scene::{Kind, STEP, join, options, outside};
use crate::world::{ARRIVES, World, address, group};
use std::net::SocketAddr;
use std::time::Duration;
use xtp_engine::group::Target;
use xtp_wire::{Format, Options, Packet};

/// Longer than any answer is repeated.
const AFTERWARDS: Duration = Duration::from_secs(15);

/// A transmitter, a member of it, and a receiver of the same group to which nobody has spoken.
fn world() -> (World<'static>, View) {
    let mut world = World::new(3, |_| ARRIVES);
    world.tap = Some(Vec::new());
    let mut options = options(Kind::Coded);
    options.expect = Some(5);
    let _ = world.cast(0, Target::Group(group(1)), options);
    world.join(1, join());
    world.run_for(10 * STEP);
    let mut other = join();
    other.service_number = 7;
    world.join(2, other);
    let view = View::of(world.tap.as_deref().unwrap());
    assert_eq!(view.members.len(), 1);
    (world, view)
}

/// Every packet that somebody may send who has shown nothing: with the key of the group, which all receivers hear, and without it.
fn packets(view: &View) -> Vec<(SocketAddr, Vec<u8>)> {
    let mut all = Vec::new();
    for known in [view.clone(), view.guessed(1)] {
        let told = view.guessed(2).members[0];
        for name in ["", "a receiver", &"long".repeat(16)] {
            for options in [Options::empty(), Options::SREQ, Options::RCLOSE] {
                all.push((address(0), known.join(9, name, options)));
            }
        }
        all.push((address(0), known.join_with_room(9, "", 0, Options::empty())));
        all.push((address(0), known.catch_up(told.own, 77)));
        let others = known.to_transmitter(told, 5).into_iter();
        all.extend(others.map(|octets| (address(0), octets)));
        for host in 1..=2 {
            let others = known.to_member(told).into_iter();
            all.extend(others.map(|octets| (address(host), octets)));
        }
        for to in [group(1), address(0), address(1), address(2)] {
            all.extend(known.to_group().into_iter().map(|octets| (to, octets)));
        }
    }
    all
}

#[test]
fn every_packet_draws_three_times_its_octets_at_most() {
    let count = packets(&world().1).len();
    let mut worst = 0.0_f64;
    for number in 0..count {
        let (mut world, view) = world();
        let (to, octets) = packets(&view).swap_remove(number);
        let format = Packet::parse(&octets).map_or(Format::Data, |packet| packet.header.format);
        world.inject(outside(), to, &octets);
        world.run_for(AFTERWARDS);
        for host in 0..3 {
            let sent = world.tap.iter().flatten();
            let sent = sent.filter(|one| one.dst == outside() && one.src == address(host));
            let drawn: usize = sent.map(|one| one.octets.len()).sum();
            let times = drawn as f64 / octets.len() as f64;
            worst = worst.max(times);
            assert!(
                times <= 3.0,
                "packet {number}, {format:?} to {to}: x{times:.2} of host {host}"
            );
        }
    }
    assert!(worst > 1.0, "somebody answers: x{worst:.2}");
}
