//! What is written down is read again.

use super::*;

#[test]
fn what_is_written_is_read() {
    let witness = |killer: &str, test: &str| Witness {
        killer: killer.to_owned(),
        test: test.to_owned(),
    };
    let all = Witnesses::from([
        ("one".to_owned(), witness("xtp-engine tests/a.rs", "b::c")),
        ("two".to_owned(), witness("seeds", "")),
        ("gone".to_owned(), witness("seeds", "seed 4")),
    ]);
    let written = text(&all, &["two", "one", "new"]);
    assert_eq!(written, "two | seeds |\none | xtp-engine tests/a.rs | b::c\n");
    let mut kept = all;
    kept.remove("gone");
    assert_eq!(parse(&written), kept);
    assert_eq!(parse("\nno witness\n"), Witnesses::new());
}
