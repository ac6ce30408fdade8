//! When a program that serves on has everything.

use super::Mark;

#[test]
fn what_a_program_says_or_leaves_is_a_mark_when_it_is_there() {
    let file = std::env::temp_dir().join(format!("xtp-mark-{}", std::process::id()));
    let appears = Mark::Appears(file.clone());
    let says = Mark::Says(file.clone(), "completed");
    assert_eq!((appears.left(), says.left()), (None, None));
    std::fs::write(&file, "receiver ready\n").expect("written");
    assert!(appears.left().is_some());
    assert_eq!(says.left(), None);
    std::fs::write(&file, "receiver ready\nhas completed it\n").expect("written");
    assert!(says.left().is_some());
    std::fs::remove_file(file).expect("removed");
}
