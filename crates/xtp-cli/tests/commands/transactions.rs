//! `xtp call` and `xtp answer`.

use crate::support::{Nobody, Running, costs, noise, xtp, xtp_fed};

#[test]
fn a_programs_output_is_the_answer() {
    let (answer, address) = Running::listener(&["answer", "127.0.0.1:0", "--", "tr", "a-z", "A-Z"]);
    assert_eq!(xtp(&["call", "-m", "hello", &address]).expect(0).stdout, b"HELLO");
    assert_eq!(
        xtp_fed(&["call", &address], b"from input").expect(0).stdout,
        b"FROM INPUT"
    );
    assert_eq!(xtp(&["call", "-m", "", &address]).expect(0).stdout, b"");
    let done = answer.interrupt().expect(130);
    assert_eq!(done.stdout, b"");
}

#[test]
fn long_requests_and_answers_arrive_whole() {
    let (_answer, address) = Running::listener(&["answer", "127.0.0.1:0", "--", "cat"]);
    let request = noise(900_000);
    assert!(xtp_fed(&["call", &address], &request).expect(0).stdout == request);
}

#[test]
fn transactions_cost_what_their_ladders_say() {
    for (server, client, packets) in [
        (&[][..], &[][..], (2, 1)),
        (&["--unconfirmed"], &[], (1, 1)),
        (&[], &["--slow"], (2, 2)),
    ] {
        let mut args = vec!["answer", "127.0.0.1:0"];
        args.extend(server);
        args.extend(["--", "echo", "done"]);
        let (_answer, address) = Running::listener(&args);
        let mut args = vec!["call", "--json", "-m", "a request of some length", &address];
        args.extend(client);
        costs(&packets, || {
            let done = xtp(&args).expect(0);
            assert_eq!(done.json()["answer"]["text"], "done\n");
            done.packets()
        });
    }
}

#[test]
fn a_failing_program_is_status_4_here_and_a_remark_there() {
    let (mut answer, address) =
        Running::listener(&["answer", "127.0.0.1:0", "--", "sh", "-c", "echo no; exit 3"]);
    let done = xtp(&["call", "-m", "x", &address]).expect(4);
    assert_eq!(done.stdout, b"");
    assert!(
        done.sentence().contains("the program ended with status 3"),
        "{done:?}"
    );
    let remark = answer.wait_for("request from ");
    assert!(remark.contains("'sh' ended with status 3"), "{remark}");
    // It goes on.
    xtp(&["call", "-m", "x", &address]).expect(4);
}

#[test]
fn a_program_that_cannot_be_run_is_no_server() {
    for (name, why) in [
        ("no-such-program-anywhere", "check its name"),
        ("./nor-here", "check its name"),
        ("/dev/null", "it is no program"),
        ("/", "it is no program"),
    ] {
        let done = xtp(&["answer", "127.0.0.1:0", "--", name]).expect(1);
        let said = done.sentence();
        assert!(
            said.contains(&format!("cannot run '{name}'")) && said.contains(why),
            "{done:?}"
        );
    }
}

#[test]
fn limits_of_the_server_are_kept() {
    let (mut answer, address) = Running::listener(&[
        "answer",
        "--max-request",
        "1000",
        "--max-response",
        "1000",
        "127.0.0.1:0",
        "--",
        "cat",
    ]);
    assert_eq!(
        xtp_fed(&["call", &address], &[b'x'; 1_000])
            .expect(0)
            .stdout
            .len(),
        1_000
    );
    xtp_fed(&["call", &address], &[b'x'; 50_000]).expect(4);
    let remark = answer.wait_for("request from ");
    assert!(remark.contains("--max-request"), "{remark}");
    let (_answer, address) =
        Running::listener(&["answer", "--max-response", "1000", "127.0.0.1:0", "--", "yes"]);
    xtp(&["call", "-m", "x", &address]).expect(4);
}

#[test]
fn the_limit_of_the_caller_is_kept() {
    let (_answer, address) = Running::listener(&["answer", "127.0.0.1:0", "--", "cat"]);
    let done = xtp_fed(&["call", "--max-size", "1000", &address], &[b'x'; 5_000]).expect(1);
    assert!(done.sentence().contains("--max-size"), "{done:?}");
}

#[test]
fn programs_run_beside_each_other() {
    let directory = tempfile::tempdir().expect("a directory");
    let flag = directory.path().join("flag");
    // The first program ends only when the second has run.
    let script = format!(
        "read what; if [ $what = wait ]; then while [ ! -e {0} ]; do sleep 0.01; done; else touch {0}; fi; echo $what",
        flag.display()
    );
    let (_answer, address) =
        Running::listener(&["answer", "--jobs", "2", "127.0.0.1:0", "--", "sh", "-c", &script]);
    let first = Running::start(&["call", "-m", "wait\n", &address]);
    assert_eq!(xtp(&["call", "-m", "go\n", &address]).expect(0).stdout, b"go\n");
    assert_eq!(first.finish().expect(0).stdout, b"wait\n");
}

#[test]
fn a_caller_that_does_not_wait_is_status_3() {
    let (_answer, address) = Running::listener(&["answer", "127.0.0.1:0", "--", "sleep", "1000"]);
    let done = xtp(&["call", "--timeout", "300ms", "-m", "x", &address]).expect(3);
    assert!(done.sentence().contains("--timeout"), "{done:?}");
    xtp(&["call", "-m", "x", &Nobody::new().address()]).expect(3);
}

#[test]
fn a_program_may_run_for_the_time_given() {
    let (mut answer, address) = Running::listener(&[
        "answer",
        "--timeout",
        "50ms",
        "127.0.0.1:0",
        "--",
        "sleep",
        "1000",
    ]);
    xtp(&["call", "-m", "x", &address]).expect(4);
    assert!(answer.wait_for("request from ").contains("was stopped"));
}

#[test]
fn one_request_is_enough_if_told_so() {
    let (answer, address) =
        Running::listener(&["answer", "--once", "--json", "127.0.0.1:0", "--", "echo", "only"]);
    assert_eq!(xtp(&["call", "-m", "x", &address]).expect(0).stdout, b"only\n");
    let object = answer.finish().expect(0).json();
    assert_eq!(
        (object["requests"].as_u64(), object["answered"].as_u64()),
        (Some(1), Some(1))
    );
}

#[test]
fn an_answer_can_go_to_a_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("answer");
    let (_answer, address) = Running::listener(&["answer", "127.0.0.1:0", "--", "echo", "kept"]);
    let done = xtp(&["call", "-m", "x", "-o", path.to_str().expect("text"), &address]).expect(0);
    assert_eq!(done.stdout, b"");
    assert_eq!(std::fs::read(&path).expect("written"), b"kept\n");
}

#[test]
fn a_service_nobody_offers_is_refused() {
    let (_answer, address) = Running::listener(&["answer", "127.0.0.1:0/80", "--", "true"]);
    xtp(&["call", "-m", "x", &address.replace("/80", "/81")]).expect(4);
    xtp(&["call", "-m", "x", &address]).expect(0);
}
