//! Messages that are matched with posted receives.

use crate::mutants::Mutant;

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "posted-last-first",
        "xtp-engine/src/matching/posted.rs",
        "first.is_none_or(|(first, _)| «*id < first»)",
        "*id > first",
        "of receives of several kinds the one posted last gets the message",
    ),
    Mutant::new(
        "mask-is-ignored",
        "xtp-engine/src/matching/mod.rs",
        "(Self::Like { tag: wanted, mask }, Some(tag)) => «(tag ^ wanted) & mask == 0»,",
        "mask != 0 && tag == wanted",
        "a receive for a part of a tag finds no message that waits",
    ),
    Mutant::new(
        "too-long-is-delivered",
        "xtp-engine/src/engine/matching.rs",
        "match «octets <= length» {",
        "octets <= length.max(octets)",
        "a receive gets a message longer than it takes",
    ),
    Mutant::new(
        "held-is-granted-anew",
        "xtp-engine/src/context/reader.rs",
        "self.store.delivered() - «self.held.as_ref().map_or(0, |held| held.span())»",
        "self.held.as_ref().map_or(0, |held| held.span()) * 0",
        "messages that nobody received take nothing of the window",
    ),
    Mutant::new(
        "received-stays-held",
        "xtp-engine/src/context/matched.rs",
        "let Some(span) = held.whole.remove(&start) { «held.span -= span;»",
        "let _ = span;",
        "a message that was received takes of the window for ever",
    ),
    Mutant::new(
        "waiting-is-delivered",
        "xtp-engine/src/context/reader.rs",
        "«held.unwrap_or(self.store.delivered())»",
        "self.store.delivered().max(held.unwrap_or(0))",
        "delivery is confirmed of messages that nobody received",
    ),
    Mutant::new(
        "more-than-may-wait",
        "xtp-engine/src/context/matched.rs",
        "self.coming.is_some() || «self.whole.len() < most»",
        "self.whole.len() < most.max(usize::MAX)",
        "any number of messages wait for receives",
    ),
    Mutant::new(
        "ended-receives-wait",
        "xtp-engine/src/engine/matching.rs",
        "while let Some(posted) = «self.matching.posted.first_at(source)» {",
        "self.matching.posted.first_at(source).filter(|_| false)",
        "receives at an association that has ended are never told",
    ),
];
