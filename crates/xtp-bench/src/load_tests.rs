//! Whose time it was.

use super::*;

#[test]
fn ticks_are_read_where_the_kernel_writes_them() {
    let stat = "cpu  100 20 30 4000 50 6 7 8 0 0\ncpu0 50 10 15 2000 25 3 3 4 0 0\ncpu1 50 10 15 2000 25 3 4 4 0 0\nintr 5\n";
    assert_eq!(busy(stat), Some(158), "without idle time and interrupts");
    assert_eq!(processors(stat), 2);
    assert_eq!((busy("cpu  1 2"), busy("")), (None, None));
    let line = "42 (a (b) c) S 7 42 42 0 -1 0 0 0 0 0 11 12 13 14 20 0 1 0 5";
    assert_eq!(process(line), Some((7, 50)));
    assert_eq!(process("42 (x"), None);
}

#[test]
fn a_tenth_of_all_processors_spoils() {
    let mut load = HostLoad::default();
    assert_eq!(load.text(), None);
    assert!(!load.add(None), "too short to tell");
    assert!(!load.add(Some(2.0)));
    assert!(load.add(Some(40.0)));
    load.before = Some(0.5);
    let text = load.text().expect("known");
    let expected = "load: 0.50 threads in the minute before; other processes had 21 % of all processors, at most 40 %; \
                    1 of 2 measurements spoilt by more than 10 %";
    assert_eq!(text, expected);
    let mut one = HostLoad::default();
    assert!(one.add(Some(11.0)));
    let text = one.text().expect("known");
    assert_eq!(
        text,
        "load: other processes had 11 % of all processors; more than 10 % spoils figures"
    );
    let mut later = HostLoad::default();
    assert_eq!(load.with(&later), load);
    later.add(Some(6.0));
    let both = load.with(&later);
    assert_eq!(
        (both.judged, both.spoilt, both.others_percent),
        (3, 1, Some(16.0))
    );
    assert_eq!(
        HostLoad::default().with(&HostLoad::default()),
        HostLoad::default()
    );
}

/// What this process and those it starts do is not others' doing: two accounts of the same interval.
#[test]
fn own_time_is_own() {
    let before = own().expect("Linux tells");
    let mut child = std::process::Command::new("sh");
    child.args(["-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"]);
    assert!(child.status().expect("a shell").success());
    let after = own().expect("Linux tells");
    assert!(
        after > before,
        "{before} {after}: a child that has ended is counted"
    );
}
