//! Credit: what may be granted, what may be used, what is stored of that which nobody granted.

use crate::mutants::Mutant;

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "octets-beyond-alloc-stored",
        "xtp-engine/src/context/receive.rs",
        "if end > «self.reader_room()» { self.stats.overrun",
        "self.reader_room() + 1_500",
        "up to 1 500 octets that nobody granted are stored",
    ),
    Mutant::new(
        "sequence-plausibility-not-asked",
        "xtp-engine/src/context/receive.rs",
        "«end <= next.saturating_add(upper) && end >= next.saturating_sub(lower)»",
        "true",
        "data from anywhere in the sequence is looked at",
    ),
    Mutant::new(
        "sequence-plausibility-below",
        "xtp-engine/src/context/receive.rs",
        "end <= next.saturating_add(upper) && «end >= next.saturating_sub(lower)»",
        "true",
        "data from far below what was received is looked at",
    ),
    Mutant::new(
        "grant-of-any-size",
        "xtp-engine/src/context/receive.rs",
        "&& «control.alloc - control.rseq <= MAX_GRANT»",
        "true",
        "a peer may grant more than the largest window",
    ),
    Mutant::new(
        "grant-below-received",
        "xtp-engine/src/context/receive.rs",
        "«control.alloc >= control.rseq» &&",
        "true",
        "a control packet whose alloc is below its rseq is believed",
    ),
    Mutant::new(
        "credit-falls",
        "xtp-engine/src/flow.rs",
        "if «alloc <= self.alloc» { return false;",
        "alloc == self.alloc",
        "an old grant takes back a newer one",
    ),
    Mutant::new(
        "credit-not-asked",
        "xtp-engine/src/flow.rs",
        "let credit = self.alloc.saturating_sub(next); let octets = «want.min(credit)»;",
        "want",
        "the writer sends what nobody granted",
    ),
    Mutant::new(
        "silly-windows",
        "xtp-engine/src/flow.rs",
        "if «credit < u64::from(maxdata).min(self.max_seen / 2) && !excused» {",
        "false",
        "crumbs of credit are used at once",
    ),
    Mutant::new(
        "alloc-falls",
        "xtp-engine/src/flow.rs",
        "self.advertised.max(room.min(delivered.saturating_add(MAX_ROOM)))",
        "room.min(delivered.saturating_add(MAX_ROOM))",
        "a reader takes back what it granted",
    ),
    Mutant::new(
        "capacity-beyond-largest-grant",
        "xtp-engine/src/flow.rs",
        "capacity: «capacity.clamp(1, MAX_ROOM)»",
        "capacity.max(1)",
        "a reader grants more than peers believe",
    ),
];
