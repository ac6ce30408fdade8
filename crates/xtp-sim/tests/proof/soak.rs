//! The soak of `model.py` with the real engine: 20 % loss, 10 % duplication and reordering (§4.4).

use std::time::Duration;

use crate::common::{MS, SECOND, ends, link, quiet, tail};
use xtp_engine::{CloseReason, ErrorControl};
use xtp_link::{LinkConfig, Loss};
use xtp_sim::app::{Outcome, Task};
use xtp_sim::paradigm::{Paradigm, Size};
use xtp_sim::trace::Side;
use xtp_sim::world::World;

const PARADIGMS: [Paradigm; 6] = [
    Paradigm::AcknowledgedDatagram,
    Paradigm::OneShot,
    Paradigm::Transaction,
    Paradigm::TransactionUnconfirmed,
    Paradigm::ByteStream,
    Paradigm::MessageStream,
];

/// The ends whose last confirmation was lost (§6.7), and the runs.
fn soak(size: u32, seeds: u64) -> (u32, u32) {
    let config = LinkConfig {
        loss: Loss::Random(0.2),
        duplicate: 0.1,
        jitter: 20 * MS,
        ..link(20 * MS)
    };
    let (mut residue, mut runs) = (0, 0);
    for paradigm in PARADIGMS {
        for seed in 0..seeds {
            let mut world = World::pair(seed * 13 + u64::from(size), &config);
            world.net.records = Some(Vec::new());
            let answer = (size / 2).max(1);
            let mut flow = paradigm.flow(Size {
                message: size.max(1),
                count: 2,
                answer,
                pause: Duration::ZERO,
            });
            quiet(&mut flow.open.tuning);
            quiet(&mut flow.listen.tuning);
            if seed % 3 == 1 {
                flow.open.tuning.error_control = ErrorControl::GoBackN;
                flow.listen.tuning.error_control = ErrorControl::GoBackN;
            }
            world.add_flow(flow);
            assert!(
                world.settle(600 * SECOND),
                "{} {seed}: {:?}\n{}",
                paradigm.name(),
                ends(&world),
                tail(&world)
            );
            assert_eq!(
                world.failure,
                None,
                "{} {seed}\n{}",
                paradigm.name(),
                tail(&world)
            );
            residue += u32::from(!judge(paradigm, seed, &world));
            runs += 1;
        }
    }
    (residue, runs)
}

/// Exactly once and complete; whether both ends know it.
fn judge(paradigm: Paradigm, seed: u64, world: &World) -> bool {
    let what = || format!("{} {seed}: {:?}\n{}", paradigm.name(), ends(world), tail(world));
    assert_eq!(world.flows[0].accepted, 1, "{}", what());
    let complete = |side: Side| {
        let written = world.flows[0].ledgers[side.other().index()].written;
        world
            .task(0, side)
            .is_some_and(|task| task.reader.next == written)
    };
    assert!(
        complete(Side::Initiator) && complete(Side::Responder),
        "{}",
        what()
    );
    let normal = |task: &Task| task.outcome == Outcome::Closed(CloseReason::Normal);
    [Side::Initiator, Side::Responder]
        .iter()
        .all(|&side| world.task(0, side).is_some_and(normal))
}

#[test]
fn one_packet() {
    let (residue, runs) = soak(50, 200);
    assert!(
        residue * 50 <= runs,
        "{residue} of {runs} runs ended without the last confirmation"
    );
}

#[test]
fn several_packets() {
    let (residue, runs) = soak(5_000, 200);
    assert!(
        residue * 50 <= runs,
        "{residue} of {runs} runs ended without the last confirmation"
    );
}

#[test]
fn many_packets() {
    let (residue, runs) = soak(100_000, 20);
    assert!(
        residue * 20 <= runs,
        "{residue} of {runs} runs ended without the last confirmation"
    );
}
