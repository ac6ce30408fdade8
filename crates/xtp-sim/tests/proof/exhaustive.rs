//! Every subset of the first ten packets put on the link is lost, for every paradigm; each run comes to its clean
//! end or to a typed error, nothing is delivered twice, in part, or damaged.

use std::time::Duration;

use crate::common::{MS, SECOND, link};
use xtp_engine::CloseReason;
use xtp_link::Script;
use xtp_sim::app::{Outcome, Task};
use xtp_sim::paradigm::{Paradigm, Size};
use xtp_sim::trace::Side;
use xtp_sim::world::World;

const SIZE: Size = Size {
    message: 1_500,
    count: 3,
    answer: 700,
    pause: Duration::ZERO,
};

#[derive(Default, Debug, PartialEq, Eq)]
struct Ends {
    clean: u32,
    residue: u32,
    failed: u32,
}

fn flow(paradigm: Paradigm) -> xtp_sim::flow::FlowSpec {
    let size = match paradigm {
        Paradigm::Datagram | Paradigm::TransactionUnconfirmed => Size { message: 300, ..SIZE },
        Paradigm::TransactionSlow => Size {
            pause: 1_500 * MS,
            ..SIZE
        },
        _ => SIZE,
    };
    let mut flow = paradigm.flow(size);
    crate::common::quiet(&mut flow.open.tuning);
    crate::common::quiet(&mut flow.listen.tuning);
    flow
}

fn run(paradigm: Paradigm, mask: u64) -> World {
    let mut world = World::pair(mask, &link(20 * MS));
    world.net.records = Some(Vec::new());
    world.net.link_mut(0, 1).set_script(Script::from_mask(mask));
    world.add_flow(flow(paradigm));
    let settled = world.settle(400 * SECOND);
    if let Some(failure) = &world.failure {
        panic!(
            "{} {mask:#b}: {failure}\n{}",
            paradigm.name(),
            crate::common::tail(&world)
        );
    }
    assert!(
        settled,
        "{} {mask:#b}: not over\n{}{:?}",
        paradigm.name(),
        crate::common::tail(&world),
        crate::common::ends(&world)
    );
    world
}

fn normal(task: Option<&Task>) -> bool {
    task.is_some_and(|task| task.outcome == Outcome::Closed(CloseReason::Normal))
}

fn judge(paradigm: Paradigm, mask: u64, world: &World, ends: &mut Ends) {
    let what = || {
        format!(
            "{} {mask:#b} {:?}\n{}",
            paradigm.name(),
            crate::common::ends(world),
            crate::common::tail(world)
        )
    };
    let (initiator, responder) = (world.task(0, Side::Initiator), world.task(0, Side::Responder));
    let twice = if paradigm.is_stream() { 2 } else { 1 };
    assert!(world.flows[0].accepted <= twice, "{}", what());
    let delivered = responder.is_some_and(|task| task.reader.ended);
    if !paradigm.is_reliable() {
        if paradigm != Paradigm::UnreliableStream {
            assert!(normal(initiator), "{}", what());
            let read = responder.map_or(0, |task| task.reader.next);
            assert!(
                read == 0 || read == world.flows[0].ledgers[0].written,
                "{}",
                what()
            );
        }
    } else if normal(initiator) {
        assert!(delivered, "told that all is well: {}", what());
    }
    let answers = world.flows[0].ledgers[1].written > 0;
    let answered = !answers || initiator.is_some_and(|task| task.reader.ended);
    if normal(responder) && paradigm != Paradigm::TransactionUnconfirmed {
        assert!(answered, "the responder was told that all is well: {}", what());
    }
    if normal(initiator) && (normal(responder) || !paradigm.is_reliable()) {
        ends.clean += 1;
    } else if delivered && answered {
        ends.residue += 1;
    } else {
        ends.failed += 1;
    }
}

/// All 1 024 subsets; at most `residue` may end as 14.10 says, at most `failed` with a typed error.
fn all_subsets(paradigm: Paradigm, residue: u32, failed: u32) {
    let mut ends = Ends::default();
    for mask in 0..1_024 {
        let world = run(paradigm, mask);
        judge(paradigm, mask, &world, &mut ends);
    }
    assert!(
        ends.residue <= residue && ends.failed <= failed,
        "{} {ends:?}",
        paradigm.name()
    );
    assert_eq!(ends.clean + ends.residue + ends.failed, 1_024);
}

#[test]
fn datagram() {
    all_subsets(Paradigm::Datagram, 0, 0);
}

#[test]
fn long_datagram() {
    all_subsets(Paradigm::LongDatagram, 0, 0);
}

#[test]
fn acknowledged_datagram() {
    all_subsets(Paradigm::AcknowledgedDatagram, 8, 0);
}

#[test]
fn acknowledged_delivered() {
    all_subsets(Paradigm::AcknowledgedDelivered, 8, 0);
}

#[test]
fn one_shot() {
    all_subsets(Paradigm::OneShot, 8, 0);
}

/// The responder knows no round trip, so its WTIMER of 1 s outlasts the initiator's time-wait of 20 short ones when the
/// END and one repetition are lost: everything is delivered, and the responder says "unconfirmed" (§6.7).
#[test]
fn transaction() {
    all_subsets(Paradigm::Transaction, 140, 0);
}

#[test]
fn transaction_unconfirmed() {
    all_subsets(Paradigm::TransactionUnconfirmed, 8, 0);
}

#[test]
fn transaction_slow() {
    all_subsets(Paradigm::TransactionSlow, 60, 0);
}

#[test]
fn byte_stream() {
    all_subsets(Paradigm::ByteStream, 8, 0);
}

#[test]
fn message_stream() {
    all_subsets(Paradigm::MessageStream, 8, 0);
}

#[test]
fn unreliable_stream() {
    all_subsets(Paradigm::UnreliableStream, 8, 0);
}

#[test]
fn tags() {
    all_subsets(Paradigm::Tags, 8, 0);
}
