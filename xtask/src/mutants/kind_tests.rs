//! Which programs are killers, and of what.

use super::super::tree::TESTED;
use super::*;

#[test]
fn every_kind_has_programs_a_canary_and_mutants() {
    for kind in Kind::ALL {
        for package in kind.packages() {
            assert!(TESTED.contains(package));
            assert!(kind.judges(&format!("{package}/src/lib.rs")), "{}", kind.name());
        }
        assert!(kind.canary().starts_with("canary"));
    }
}

#[test]
fn tests_of_sockets_are_asked_about_their_own_package_alone() {
    assert!(!Kind::Facade.judges("xtp-engine/src/engine/mod.rs"));
    assert!(!Kind::Sockets.judges("xtp/src/lib.rs"));
    assert!(!Kind::Units.judges("xtp-io/src/lib.rs"));
    assert!(Kind::Seeds.judges("xtp-link/src/lib.rs"));
}

#[test]
fn programs_that_prove_other_things_are_no_killers() {
    assert_eq!(Kind::of_program("xtp-cli", "tests/bench/main.rs"), None);
    assert_eq!(Kind::of_program("xtp-cli", "src/main.rs"), None);
    assert_eq!(
        Kind::of_program("xtp-cli", "tests/files/main.rs"),
        Some(Kind::Files)
    );
    assert_eq!(Kind::of_program("xtp", "tests/streams.rs"), Some(Kind::Facade));
}
