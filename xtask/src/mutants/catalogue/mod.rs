//! The mutants: bugs that a hand could write, each at one place, by concern.

mod amplification;
mod close;
mod flow;
mod group_beside;
mod group_joins;
mod group_judging;
mod group_repair;
mod instances;
mod loss;
mod matching;
mod memory;
mod once;
mod one_shots;
mod parking;
mod path;
mod places;
mod round_trips;
mod shortcuts;
mod wire;

use super::Mutant;

/// What must fail in front of every kind of killer.
pub(super) const CANARY: Mutant = Mutant::new(
    "canary",
    "xtp-wire/src/packet.rs",
    "pub fn parse(datagram: &'a [u8]) -> Result<Self, WireError> {«»",
    "return Err(WireError::Truncated);",
    "no packet is understood",
);

/// Every mutant but the canary, with the concern it belongs to: the name of its file here.
pub(super) fn all() -> Vec<(&'static str, &'static Mutant)> {
    let tables: [(&'static str, &'static [Mutant]); 19] = [
        ("wire", wire::MUTANTS),
        ("flow", flow::MUTANTS),
        ("loss", loss::MUTANTS),
        ("close", close::MUTANTS),
        ("once", once::MUTANTS),
        ("path", path::MUTANTS),
        ("amplification", amplification::MUTANTS),
        ("parking", parking::MUTANTS),
        ("memory", memory::MUTANTS),
        ("places", places::MUTANTS),
        ("instances", instances::MUTANTS),
        ("round_trips", round_trips::MUTANTS),
        ("shortcuts", shortcuts::MUTANTS),
        ("one_shots", one_shots::MUTANTS),
        ("matching", matching::MUTANTS),
        ("group_joins", group_joins::MUTANTS),
        ("group_repair", group_repair::MUTANTS),
        ("group_judging", group_judging::MUTANTS),
        ("group_beside", group_beside::MUTANTS),
    ];
    let one_by_one = |(concern, table): (&'static str, &'static [Mutant])| {
        table.iter().map(move |mutant| (concern, mutant))
    };
    tables.into_iter().flat_map(one_by_one).collect()
}
