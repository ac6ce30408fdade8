//! Programs that are started, watched and ended.

use std::time::Duration;

use super::{Program, children_seconds, is_listening, missing};
use crate::console::Stop;

#[test]
fn listeners_are_found_by_port() {
    let table = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:B79B 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 8721 1
   1: 0100007F:B79C 0100007F:B79B 01 00000000:00000000 00:00000000 00000000     0        0 8722 1
";
    assert!(is_listening(table, 0xB79B));
    assert!(!is_listening(table, 0xB79C));
    assert!(!is_listening(table, 1));
    assert!(!is_listening("", 1));
}

#[test]
fn time_of_children_is_found_behind_any_name() {
    let stat = "7 (a ) b) S 1 7 7 0 -1 4194560 100 200 0 0 3 4 150 50 20 0 1 0 100 0 0";
    let ticks = rustix::param::clock_ticks_per_second() as f64;
    assert_eq!(children_seconds(stat), Some(200.0 / ticks));
    assert_eq!(children_seconds("7 (x) S 1"), None);
}

#[test]
fn what_is_not_installed_is_said_with_its_package() {
    let why = missing("no-program-has-this-name", "a-package").expect("it is not there");
    assert!(
        why.contains("no-program-has-this-name") && why.contains("a-package"),
        "{why}"
    );
    assert_eq!(missing("sh", "dash"), None);
}

fn shell(script: &str) -> Program {
    Program::start("sh", &["-c".to_owned(), script.to_owned()], &[("SAID", "yes")]).expect("a shell")
}

#[test]
fn what_a_program_prints_is_returned_when_it_ends() {
    let ran = shell("echo $SAID").end(&Stop::never(), Duration::from_secs(60));
    assert_eq!(ran.expect("an end").stdout, "yes\n");
}

#[test]
fn a_program_that_fails_is_quoted() {
    let ran = shell("echo no luck >&2; exit 3").end(&Stop::never(), Duration::from_secs(60));
    let problem = ran.err().expect("a failure").0;
    assert!(problem.contains("no luck") && problem.contains('3'), "{problem}");
}

#[test]
fn a_program_that_does_not_end_is_ended() {
    let ran = shell("exec sleep 1000").end(&Stop::never(), Duration::ZERO);
    assert!(ran.is_err_and(|problem| problem.0.contains("in time")));
}

#[test]
fn a_server_that_ends_does_not_listen() {
    assert!(shell("exit 0").listens(1).is_err());
}
