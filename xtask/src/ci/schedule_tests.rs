//! Steps that wait, fail, are late or need others, as shell scripts.

use std::time::Duration;

use super::{Job, LAST, Outcome, Verdict, Work, failures, ran, run};

const NEVER: Duration = Duration::from_secs(3_600);

/// A job of one shell script.
fn job(name: &'static str, script: &str) -> Job {
    Job {
        name,
        place: "",
        needs: &[],
        rotates: false,
        work: Work::Run(vec![["sh", "-c", script].map(str::to_owned).to_vec()]),
    }
}

fn outcomes(jobs: &[Job], slots: usize, late: Duration) -> Vec<Outcome> {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &folder.path().join("ci"), jobs, Some(slots), late).unwrap()
}

#[test]
fn each_step_has_its_outcome_in_the_order_of_the_list() {
    let jobs = [
        job("slow", "sleep 0.2; echo 'ran: two of three'"),
        job("wrong", "echo here; exit 3"),
        job("quick", "true"),
    ];
    let all = outcomes(&jobs, 2, NEVER);
    assert_eq!(
        all.iter().map(|outcome| outcome.name).collect::<Vec<_>>(),
        ["slow", "wrong", "quick"]
    );
    assert_eq!(
        (&all[0].verdict, all[0].ran.as_str()),
        (&Verdict::Passed, "two of three")
    );
    assert!(matches!(&all[1].verdict, Verdict::Failed(reason) if reason.contains('3')));
    assert_eq!(all[2].verdict, Verdict::Passed);
}

#[test]
fn a_step_whose_need_fails_is_left_out() {
    let needs = Job {
        needs: &["build"],
        ..job("use", "touch used")
    };
    let all = outcomes(&[job("build", "exit 1"), needs], 2, NEVER);
    assert!(matches!(&all[1].verdict, Verdict::LeftOut(reason) if reason.contains("build")));
}

#[test]
fn a_step_waits_for_what_it_needs() {
    let needs = Job {
        needs: &["build"],
        ..job("use", "test -e built")
    };
    let all = outcomes(&[job("build", "sleep 0.2; touch built"), needs], 2, NEVER);
    assert_eq!(all[1].verdict, Verdict::Passed);
}

#[test]
fn one_step_at_a_time_builds_in_a_directory() {
    let script = "mkdir lock && sleep 0.1 && rmdir lock";
    let in_place = |name| Job {
        place: "debug",
        ..job(name, script)
    };
    let all = outcomes(&[in_place("one"), in_place("two"), in_place("three")], 3, NEVER);
    assert!(all.iter().all(|outcome| outcome.verdict == Verdict::Passed));
}

#[test]
fn what_is_late_and_exhaustive_is_left_out_and_all_else_runs() {
    let rotating = Job {
        rotates: true,
        ..job("fuzz", "true")
    };
    let all = outcomes(&[rotating, job("tests", "true")], 1, Duration::ZERO);
    assert!(matches!(&all[0].verdict, Verdict::LeftOut(reason) if reason.contains("late")));
    assert_eq!(all[1].verdict, Verdict::Passed);
}

#[test]
fn a_command_that_is_not_there_is_a_failure() {
    let absent = Job {
        work: Work::Run(vec![vec!["no-such-program".to_owned()]]),
        ..job("absent", "")
    };
    let all = outcomes(&[absent], 1, NEVER);
    assert!(matches!(&all[0].verdict, Verdict::Failed(reason) if reason.contains("no-such-program")));
}

#[test]
fn what_steps_say_they_ran_is_found() {
    assert_eq!(ran("building\nran: a\nother\nran: b\n"), "a, b");
    assert_eq!(ran("it ran: nothing\n"), "");
}

#[test]
fn the_last_lines_of_failed_steps_stand_once_more() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!("seq {}; exit 1", LAST + 1);
    let jobs = [job("well", "echo fine"), job("wrong", &script)];
    let all = run(folder.path(), folder.path(), &jobs, Some(1), NEVER).unwrap();
    let shown = failures(folder.path(), &all);
    let lines: Vec<&str> = shown.lines().skip(1).collect();
    assert_eq!((lines[0], lines[lines.len() - 1]), ("2", "61"));
    assert!(!shown.contains("fine"), "{shown}");
}
