//! Lines as `llvm-cov` writes them.

use super::*;

const TEXT: &str = "\
SF:/somewhere/crates/a/src/one.rs
FN:3,name
DA:3,2
DA:4,0
DA:6,0
DA:7,1
DA:9,0
LF:5
end_of_record
SF:/somewhere/crates/b/src/other.rs
DA:1,0
end_of_record
";

#[test]
fn lines_of_the_folder_are_counted() {
    let files = parse(TEXT, "crates/a/src/").expect("well-formed");
    assert_eq!(files.len(), 1);
    assert_eq!(files[0].path, "crates/a/src/one.rs");
    assert_eq!((files[0].covered(), files[0].lines.len()), (2, 5));
    assert_eq!(files[0].percent(), 40.0);
    assert_eq!(files[0].missed(), "4-6 9");
}

#[test]
fn a_file_named_twice_is_one_file() {
    let twice = format!("{TEXT}SF:/somewhere/crates/a/src/one.rs\nDA:4,5\nend_of_record\n");
    let files = parse(&twice, "crates/a/src/").expect("well-formed");
    assert_eq!((files[0].covered(), files[0].missed().as_str()), (3, "6 9"));
}

#[test]
fn what_is_not_understood_is_told() {
    assert!(parse("SF:/x/crates/a/src/one.rs\nDA:x,1\n", "crates/a/src/").is_err());
    assert!(parse(TEXT, "crates/c/src/").is_err());
}
