//! L8x: an established exchange of one-packet messages costs two packets a round trip.

use std::time::Duration;

use crate::common::{MS, control_packets, finish_clean, link, repeated_and_lost, send, stream_flow};
use xtp_engine::EngineConfig;
use xtp_sim::app::Step;
use xtp_sim::host::HostConfig;
use xtp_sim::trace::Side;
use xtp_sim::world::World;
use xtp_wire::Caps;

const ROUNDS: u32 = 1_000;

fn exchange(octets: u32, rtt: Duration, think: Duration, xdata: bool, rounds: u32) -> World {
    let configs = (1..=2u8).map(|number| {
        let mut engine = EngineConfig::new([number; 32]);
        if !xdata {
            engine.overrides.caps -= Caps::XDATA;
        }
        HostConfig::new(engine)
    });
    let mut world = World::new(1, configs.collect(), &link(rtt), false).expect("valid settings");
    world.net.records = Some(Vec::new());
    let mut ping = Vec::new();
    let mut pong = Vec::new();
    for round in 1..=rounds {
        ping.extend([send(octets), Step::AwaitMessages(round)]);
        pong.push(Step::AwaitMessages(round));
        if think > Duration::ZERO {
            ping.push(Step::Wait(think));
            pong.push(Step::Wait(think));
        }
        pong.push(send(octets));
    }
    ping.push(Step::CloseWriter);
    pong.extend([Step::AwaitEnd, Step::CloseWriter]);
    world.add_flow(stream_flow(ping, pong));
    finish_clean(&mut world);
    world
}

fn check(xdata: bool, bound: f64) {
    // No round trip takes no time at all: within one moment everything would be young for ever.
    for rtt in [Duration::from_micros(2), Duration::from_micros(20), MS, 50 * MS] {
        for think in [Duration::ZERO, Duration::from_micros(10), 5 * MS, 200 * MS] {
            let world = exchange(64, rtt, think, xdata, ROUNDS);
            let packets = world.net.packets as f64 / f64::from(ROUNDS);
            let control = [Side::Initiator, Side::Responder].map(|side| control_packets(&world, side));
            assert!(
                packets <= bound,
                "{packets} packets a round trip, rtt {rtt:?}, think {think:?}, control {control:?}"
            );
            for side in [Side::Initiator, Side::Responder] {
                assert_eq!(
                    repeated_and_lost(&world, side).0,
                    0,
                    "sent again, rtt {rtt:?}, think {think:?}"
                );
            }
        }
    }
}

#[test]
fn with_xdata() {
    check(true, 2.01);
}

#[test]
fn without_xdata() {
    check(false, 2.07);
}

/// A near peer's answer acknowledges a message of many packets as it does one of a single packet, so that nobody who
/// sleeps meanwhile is woken for a report. Longer thoughts than these shrink the window below such a message, and a closed
/// window asks.
#[test]
fn long_messages_to_a_near_peer_ask_nothing() {
    let micros = Duration::from_micros;
    for think in [Duration::ZERO, micros(10), micros(100)] {
        for octets in [8 << 10, 16 << 10, 64 << 10] {
            let world = exchange(octets, micros(40), think, true, 200);
            for side in [Side::Initiator, Side::Responder] {
                let control = control_packets(&world, side);
                assert!(
                    control <= 6,
                    "{control} for 200 messages of {octets}, think {think:?}"
                );
            }
        }
    }
}

/// Where one would have to wait long for what is lost, the last packet asks.
#[test]
fn long_messages_to_a_distant_peer_ask() {
    let world = exchange(16 << 10, 20 * MS, Duration::from_micros(10), true, 100);
    let control = control_packets(&world, Side::Responder);
    assert!(control >= 90, "{control} answers to 100 messages");
}

#[test]
fn round_trip_samples_leave_the_users_time_out() {
    for xdata in [true, false] {
        for think in [Duration::ZERO, 5 * MS, 200 * MS] {
            let rtt = 20 * MS;
            let mut world = World::pair(1, &link(rtt));
            let mut ping: Vec<_> = (1..=50)
                .flat_map(|round| [send(64), Step::AwaitMessages(round), Step::Wait(think)])
                .collect();
            ping.push(Step::Wait(1_000_000 * MS));
            let pong = (1..=50)
                .flat_map(|round| [Step::AwaitMessages(round), Step::Wait(think), send(64)])
                .collect();
            if !xdata {
                world = exchange_without_xdata(rtt);
            }
            world.add_flow(stream_flow(ping, pong));
            world.run_for(100 * rtt + 100 * think + 500 * MS);
            assert_eq!(world.failure, None);
            for side in [Side::Initiator, Side::Responder] {
                let task = world.task(0, side).expect("it runs");
                let stats = world.hosts[task.host]
                    .engine
                    .view()
                    .context(task.id)
                    .expect("it lives")
                    .stats();
                let srtt = stats.rtt.expect("samples were taken");
                assert!(
                    srtt >= rtt && srtt <= rtt * 6 / 5,
                    "{srtt:?} instead of {rtt:?}, think {think:?} {side:?}"
                );
            }
        }
    }
}

fn exchange_without_xdata(rtt: Duration) -> World {
    let configs = (1..=2u8).map(|number| {
        let mut engine = EngineConfig::new([number; 32]);
        engine.overrides.caps -= Caps::XDATA;
        HostConfig::new(engine)
    });
    World::new(1, configs.collect(), &link(rtt), false).expect("valid settings")
}
