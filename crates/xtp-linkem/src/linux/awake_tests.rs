//! What is written where, and that a host without the file is no error.

use super::*;

#[test]
fn four_octets_of_zero_are_written() {
    let file = std::env::temp_dir().join(format!("xtp-linkem-latency-{}", std::process::id()));
    std::fs::write(&file, "").expect("a file");
    let held = Awake::by(&file);
    let written = std::fs::read(&file).expect("is there");
    std::fs::remove_file(&file).expect("is ours");
    assert!(held.is_some());
    assert_eq!(written, [0; 4]);
}

#[test]
fn nothing_is_held_where_there_is_no_such_file() {
    assert!(Awake::by(Path::new("/no/such/file")).is_none());
}
