//! What cargo and test programs print, understood.

use super::super::kind::SEEDS;
use super::*;

#[test]
fn cargo_names_the_programs() {
    let message = |target: &str, executable: &str| {
        format!(
            "{{\"reason\":\"compiler-artifact\",\"manifest_path\":\"/t/crates/xtp-engine/Cargo.toml\",\
             \"target\":{{\"kind\":[\"test\"],\"src_path\":\"/t/crates/xtp-engine/{target}\"}},\
             \"executable\":{executable},\"fresh\":true}}"
        )
    };
    let program = |name: &str, executable: &str| TestProgram {
        package: "xtp-engine".to_owned(),
        name: name.to_owned(),
        executable: executable.into(),
    };
    assert_eq!(
        executable(&message("tests/smoke.rs", "\"/b/debug/deps/smoke-12ab\"")),
        Some(program("tests/smoke.rs", "/b/debug/deps/smoke-12ab"))
    );
    assert_eq!(
        executable(&message("src/lib.rs", "\"/b/debug/deps/xtp_engine-1\"")),
        Some(program("src/lib.rs", "/b/debug/deps/xtp_engine-1"))
    );
    assert_eq!(executable(&message("src/lib.rs", "null")), None);
    assert_eq!(
        executable("{\"reason\":\"build-finished\",\"success\":true}"),
        None
    );
}

#[test]
fn a_program_is_a_killer_or_two() {
    let named = |package: &str, name: &str| {
        let program = TestProgram {
            package: package.to_owned(),
            name: name.to_owned(),
            executable: "/bin/sh".into(),
        };
        let killers = killers(Path::new("/t"), &program, 9);
        let kinds = killers.into_iter().map(|killer| (killer.kind, killer.name));
        kinds.collect::<Vec<_>>()
    };
    let one = |kind, name: &str| vec![(kind, name.to_owned())];
    assert_eq!(
        named("xtp-wire", "src/lib.rs"),
        one(Kind::Wire, "xtp-wire src/lib.rs")
    );
    assert_eq!(
        named("xtp-engine", "tests/hostile/main.rs"),
        one(Kind::Engine, "xtp-engine tests/hostile/main.rs")
    );
    assert_eq!(
        named("xtp-engine", "src/lib.rs"),
        [
            (Kind::Units, "worlds".to_owned()),
            (Kind::Units, "xtp-engine src/lib.rs".to_owned())
        ]
    );
    assert_eq!(named("xtp-sim", SEEDS), one(Kind::Seeds, "seeds"));
    assert_eq!(
        named("xtp-sim", "src/lib.rs"),
        one(Kind::Proofs, "xtp-sim src/lib.rs")
    );
    assert_eq!(named("xtp-cli", "tests/bench/main.rs"), []);
}

#[test]
fn a_failed_test_and_a_failed_seed_are_failures() {
    assert_eq!(failure("test a::b ... FAILED\n").as_deref(), Some("a::b"));
    assert_eq!(
        failure("test a::b - should panic ... FAILED\n").as_deref(),
        Some("a::b")
    );
    assert_eq!(
        failure("test a::b ... WORLDS_SEED=7 cargo test  # action 3: told\n").as_deref(),
        Some("seed 7")
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
        worlds: (0, 9),
        limit: 1,
        clock_limit: Duration::from_secs(60),
        reaches: None,
    }
}

#[test]
fn the_first_failure_ends_the_run() {
    let end = |line| shell(line).run(Choice::Mutant(3), Path::new("/dev/null"));
    assert_eq!(end("exit 0"), Ok(End::Passed));
    assert_eq!(
        end("echo 'test one ... FAILED'; while :; do :; done"),
        Ok(End::Failed("one".to_owned()))
    );
    assert_eq!(end("test $XTP_MUTANT = 3 || exit 1"), Ok(End::Passed));
}

#[test]
fn a_run_without_end_is_stopped() {
    let end =
        shell("printf 'test two ... '; while :; do :; done").run(Choice::Mutant(3), Path::new("/dev/null"));
    assert!(
        matches!(&end, Ok(End::Died(how, test)) if how.contains("signal") && test == "two"),
        "{end:?}"
    );
}

#[test]
fn a_run_that_waits_for_ever_is_stopped_with_what_it_started() {
    let file = std::env::temp_dir().join(format!("xtask-child-{}", std::process::id()));
    let line = format!(
        "sleep 1000 & echo $! >{}; printf 'test three ... '; wait",
        file.display()
    );
    let waiting = Killer {
        clock_limit: Duration::from_secs(3),
        ..shell(&line)
    };
    let end = waiting.run(Choice::Mutant(3), Path::new("/dev/null"));
    assert!(
        matches!(&end, Ok(End::Died(how, test)) if how.contains("signal") && test == "three"),
        "{end:?}"
    );
    let child = std::fs::read_to_string(&file).unwrap();
    // A signal was sent; when it arrives is the system's matter.
    let lives = || {
        let state = std::fs::read_to_string(format!("/proc/{}/stat", child.trim()));
        state.is_ok_and(|state| !state.contains(") Z "))
    };
    let ended = (0..3_000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        !lives()
    });
    assert!(ended);
    let _ = std::fs::remove_file(file);
}

#[test]
fn one_test_or_seed_runs_alone() {
    let tests = shell("");
    assert_eq!(tests.alone("a::b").words, ["a::b", "--exact"]);
    assert_eq!(tests.alone("").words, tests.words);
    assert_eq!(tests.alone("seed 4").worlds, (4, 5));
    let seeds = Killer {
        kind: Kind::Seeds,
        ..tests
    };
    assert_eq!(seeds.alone("seed 4").words, ["4", "1", "--fail-fast"]);
}

#[test]
fn only_what_is_come_to_can_be_noticed() {
    let file = std::env::temp_dir().join(format!("xtask-reached-{}", std::process::id()));
    let mut killer = shell("test $XTP_MUTANT = trace && printf '2\\n5\\n' >$XTP_MUTANT_REACHED");
    assert!(killer.reaches(3));
    killer.measure(&file).unwrap();
    assert!(killer.reaches(2) && killer.reaches(5) && !killer.reaches(3));
    assert!(shell("exit 1").measure(&file).is_err());
}
