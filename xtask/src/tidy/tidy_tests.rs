//! All rules together.

use super::*;

#[test]
fn findings_come_in_order_of_place_with_file_and_line() {
    let files = [
        Source::new("crates/xtp/src/b.rs", "fn b() { todo!() }\n".to_owned()),
        Source::new("crates/xtp/src/a.rs", "//! A.\nmod tests {}\n".to_owned()),
    ];
    let shown: Vec<String> = check(&files).iter().map(ToString::to_string).collect();
    let places: Vec<&str> = shown
        .iter()
        .filter(|line| line.contains(".rs:"))
        .map(|line| &line[..21])
        .collect();
    assert_eq!(
        places,
        [
            "crates/xtp/src/a.rs:2",
            "crates/xtp/src/b.rs:1",
            "crates/xtp/src/b.rs:1"
        ]
    );
    assert!(
        shown
            .iter()
            .any(|line| line == "README.md:1: this file is missing: write it"),
        "{shown:?}"
    );
}
