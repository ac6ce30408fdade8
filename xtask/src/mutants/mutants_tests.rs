//! The catalogue of the repository, and what is said of a bad one.

use super::*;

#[test]
fn every_mutant_has_its_place_and_says_what_it_breaks() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the repository");
    let all = catalogue::load(root).map_err(|errors| lines(&errors)).unwrap();
    let placed = resolve::places(root, &all).map(drop);
    assert_eq!(placed.map_err(|errors| lines(&errors)), Ok(()));
    for one in &all {
        let mutant = &one.mutant;
        assert!(!mutant.breaks.is_empty(), "{}", mutant.name);
        assert_ne!(
            mutant.text.replace(['«', '»'], ""),
            mutant.becomes,
            "{} changes nothing",
            mutant.name
        );
    }
}
