//! Associations at rest, and what is left of those that are over.

use crate::mutants::Mutant;

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "parked-with-unread",
        "xtp-engine/src/context/rest.rs",
        "«reader.store.is_empty()» && !reader.update_due",
        "true",
        "an association is parked with octets nobody has read",
    ),
    Mutant::new(
        "parked-with-unsent",
        "xtp-engine/src/context/rest.rs",
        "«writer.queue.is_empty()» && writer.inflight",
        "true",
        "an association is parked with octets in its queue",
    ),
    Mutant::new(
        "parked-in-flight",
        "xtp-engine/src/context/rest.rs",
        "&& «writer.inflight.is_empty()»",
        "true",
        "an association is parked with octets under way",
    )
    .explained("what is in flight lies in the queue until it is acknowledged, and the queue is asked too"),
    Mutant::new(
        "parked-while-asked",
        "xtp-engine/src/context/rest.rs",
        "&& «reader.dreq.is_none()» && reader.owed",
        "true",
        "an association is parked that owes an answer of its user",
    ),
    Mutant::new(
        "parked-while-asking",
        "xtp-engine/src/context/rest.rs",
        "«writer.requests.open.is_empty()» && writer.requests.dreq",
        "true",
        "an association is parked whose question is not answered",
    )
    .explained("whoever asked has WTIMER running, as each turn asserts; said apart because parking drops the list of questions"),
    Mutant::new(
        "parked-in-doubt",
        "xtp-engine/src/context/rest.rs",
        "&& «self.doubt == Doubt::No»",
        "true",
        "a doubt is forgotten by parking",
    )
    .explained("who doubts has its turn to come or the timer of its doubt running"),
    Mutant::new(
        "parked-unproved",
        "xtp-engine/src/context/rest.rs",
        "«self.peer.validated» && self.peer.mtu",
        "true",
        "an association whose peer proved nothing is parked",
    )
    .explained("nothing is lost by it: the budget is packed too, and who holds a place or counts as half-open stays whole for that"),
    Mutant::new(
        "parked-too-soon",
        "xtp-engine/src/context/rest.rs",
        "at if «at < now» => Rest::Complete",
        "true",
        "what proves a change of port is forgotten by parking",
    ),
    Mutant::new(
        "parking-forgets-pace",
        "xtp-engine/src/context/parked.rs",
        "«(context.writer.control, context.writer.pacer) = *pace;»",
        "",
        "the congestion window is forgotten by parking",
    ),
    Mutant::new(
        "parking-forgets-buckets",
        "xtp-engine/src/context/parked.rs",
        "«context.writer.peer_bucket = rare.peer_bucket;»",
        "",
        "the peer's limit of rate is forgotten by parking",
    ),
    Mutant::new(
        "parking-forgets-paths",
        "xtp-engine/src/context/parked.rs",
        "«context.peer.paths = rare.paths;»",
        "",
        "distrust of an address is forgotten by parking",
    ),
    Mutant::new(
        "parking-forgets-opening",
        "xtp-engine/src/context/parked.rs",
        "«context.opening = self.opening.map(|opening| *opening);»",
        "",
        "what an initiator began with is forgotten by parking",
    ),
    Mutant::new(
        "parking-forgets-window",
        "xtp-engine/src/context/parked.rs",
        "«context.reader.window = rare.window;»",
        "",
        "the window a receiver told is forgotten by parking",
    ),
    Mutant::new(
        "nobody-is-parked",
        "xtp-engine/src/engine/parking.rs",
        "«self.contexts.whole() > self.config.overrides.max_whole»",
        "false",
        "memory of associations at rest is not given back",
    ),
    Mutant::new(
        "slot-without-generation",
        "xtp-engine/src/engine/slab.rs",
        "(«u64::from(place.generation) == id.0 >> 32» && there).then_some(slot)",
        "true",
        "an old identifier reaches whoever has its slot now",
    ),
    Mutant::new(
        "time-waits-without-limit",
        "xtp-engine/src/engine/time_waits.rs",
        "while «self.time_waits.count > self.config.overrides.max_time_waits»",
        "false",
        "finished initiators have no limit",
    ),
    Mutant::new(
        "time-waits-for-ever",
        "xtp-engine/src/engine/time_waits.rs",
        "while «self.time_waits.deadline().is_some_and(|at| at <= self.now)»",
        "false",
        "finished initiators are never forgotten",
    ),
];
