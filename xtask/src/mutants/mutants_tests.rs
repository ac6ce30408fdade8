//! The catalogue itself.

use super::*;

#[test]
fn every_mutant_has_its_place_and_says_what_it_breaks() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the repository");
    let all = numbered();
    assert_eq!(tree::misfits(root, &all), Vec::<String>::new());
    for one in &all {
        let mutant = one.mutant;
        assert!(!mutant.breaks.is_empty(), "{}", mutant.name);
        assert_ne!(
            mutant.from.replace(['«', '»'], ""),
            mutant.to,
            "{} changes nothing",
            mutant.name
        );
    }
}

#[test]
fn a_lost_place_is_told_with_what_to_do() {
    static LOST: Mutant = Mutant::new("lost", "xtp-wire/src/lib.rs", "no such text", "", "nothing");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the repository");
    let lost = Numbered {
        number: 1,
        concern: "wire",
        mutant: &LOST,
    };
    let told = tree::misfits(root, &[lost, lost]);
    assert!(
        told.iter()
            .any(|line| line.contains("two mutants are called `lost`")),
        "{told:?}"
    );
    assert!(
        told.iter()
            .any(|line| line.contains("occurs 0 times in crates/xtp-wire/src/lib.rs")),
        "{told:?}"
    );
}
