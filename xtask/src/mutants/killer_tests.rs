//! What cargo and test programs print, understood.

use super::*;

#[test]
fn cargo_names_the_programs() {
    assert_eq!(
        executable("  Executable tests/smoke.rs (/tmp/t/debug/deps/smoke-12ab)"),
        Some(("tests/smoke.rs".to_owned(), "/tmp/t/debug/deps/smoke-12ab".into()))
    );
    assert_eq!(
        executable("  Executable unittests src/lib.rs (target/debug/deps/xtp_engine-1)"),
        Some(("src/lib.rs".to_owned(), "target/debug/deps/xtp_engine-1".into()))
    );
    assert_eq!(executable("    Finished `test` profile in 0.1s"), None);
}

#[test]
fn a_failed_test_and_a_failed_seed_are_failures() {
    assert_eq!(failure("test a::b ... FAILED\n").as_deref(), Some("a::b"));
    assert_eq!(
        failure("test a::b - should panic ... FAILED\n").as_deref(),
        Some("a::b - should panic")
    );
    assert_eq!(failure("seed 17 failed: not over\n").as_deref(), Some("seed 17"));
    assert_eq!(failure("test a::b ... ok\n"), None);
    assert_eq!(failure("0 of 400 seeds from 1 failed\n"), None);
    assert_eq!(failure("test result: FAILED. 1 passed; 2 failed\n"), None);
}

/// A killer that is a line of shell.
fn shell(line: &str) -> Killer {
    Killer {
        kind: Kind::Wire,
        name: "shell".to_owned(),
        program: "/bin/sh".into(),
        folder: std::env::temp_dir(),
        words: vec!["-c".to_owned(), line.to_owned()],
        limit: 1,
    }
}

#[test]
fn the_first_failure_ends_the_run() {
    let end = |line| shell(line).run(3, Path::new("/dev/null"));
    assert_eq!(end("exit 0"), Ok(End::Passed));
    assert_eq!(
        end("echo 'test one ... FAILED'; while :; do :; done"),
        Ok(End::Failed("one".to_owned()))
    );
    assert_eq!(end("test $XTP_MUTANT = 3 || exit 1"), Ok(End::Passed));
}

#[test]
fn a_run_without_end_is_stopped() {
    let end = shell("printf 'test two ... '; while :; do :; done").run(3, Path::new("/dev/null"));
    let Ok(End::Died(how)) = end else {
        panic!("{end:?}")
    };
    assert!(how.ends_with(" in two"), "{how}");
}
