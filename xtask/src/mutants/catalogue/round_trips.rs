//! What a reader knows of the round trip, and what it decides by it.

use crate::mutants::Mutant;

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "growth-unmeasured",
        "xtp-engine/src/context/receive.rs",
        "if «self.has_measured()» { self.reader.credit.grow(wanted);",
        "true",
        "a reader grows by a round trip that is a pause or a loss",
    ),
    Mutant::new(
        "round-trip-not-asked",
        "xtp-engine/src/context/round_trip.rs",
        "self.reader.asks_round_trip |= «self.rtt.samples() < SAMPLES || self.ships_window_in_terms()»;",
        "false",
        "a reader that needs the round trip never asks",
    ),
    Mutant::new(
        "round-trip-asked-for-ever",
        "xtp-engine/src/context/round_trip.rs",
        "self.reader.asks_round_trip |= «self.rtt.samples() < SAMPLES» || self.ships_window_in_terms();",
        "true",
        "a reader asks with every answer for ever",
    ),
    Mutant::new(
        "round-trip-asked-twice",
        "xtp-engine/src/context/round_trip.rs",
        "self.reader.asks_round_trip && «self.writer.requests.open.is_empty()»",
        "true",
        "a reader asks again before it was answered",
    ),
    Mutant::new(
        "round-trip-asked-of-nothing",
        "xtp-engine/src/context/round_trip.rs",
        "«self.reader.asks_round_trip = false;»",
        "",
        "two readers ask each other for ever",
    ),
    Mutant::new(
        "greatest-round-trip",
        "xtp-engine/src/control/growth.rs",
        "known => «known.min(rtt)»,",
        "known.max(rtt)",
        "one pause decides what a reader grants from then on",
    ),
    Mutant::new(
        "round-trip-of-the-old-path",
        "xtp-engine/src/context/path.rs",
        "«self.reader.growth.forget_rtt();»",
        "",
        "a reader goes on by the round trip of the path its peer has left",
    ),
    Mutant::new(
        "near-grows",
        "xtp-engine/src/control/growth.rs",
        "if capacity >= self.limit || «self.is_near()» { return capacity;",
        "false",
        "a reader of the same machine grows until the carrier's queue overflows",
    ),
    Mutant::new(
        "slow-user-grows",
        "xtp-engine/src/control/growth.rs",
        "if «waiting > capacity / 4» { return capacity;",
        "false",
        "a reader grows although its user does not keep up",
    ),
    Mutant::new(
        "growth-beyond-the-limit",
        "xtp-engine/src/control/growth.rs",
        "capacity.max(«wanted.min(self.limit)»)",
        "wanted",
        "a reader grows beyond what it may",
    ),
    Mutant::new(
        "growth-shrinks",
        "xtp-engine/src/control/growth.rs",
        "«capacity.max(wanted.min(self.limit))»",
        "wanted.min(self.limit)",
        "a reader takes back what it granted",
    ),
    Mutant::new(
        "remembered-pause",
        "xtp-engine/src/path/rtt.rs",
        "«wtimer(initial, initial / 2).min(WTIMER_UNKNOWN)»",
        "wtimer(initial, initial / 2)",
        "what one association measured during a pause times the losses of the next",
    ),
    Mutant::new(
        "window-by-a-guess",
        "xtp-engine/src/context/window.rs",
        "let rate = «self.rtt.srtt()».map_or(0,",
        "self.round_trip()",
        "a rate stands for ever that was computed from a pause",
    ),
];
