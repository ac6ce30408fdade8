//! Programs: their start, their words, their ends.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::Signal;

use super::{Line, Party, is_installed, outcome, process_ticks, watch};
use crate::error::Error;
use crate::launch::{Launcher, Remarks};
use crate::stage::Place;

fn launcher() -> Launcher {
    Launcher {
        program: "true".into(),
        args: Vec::new(),
        interrupted: Arc::new(AtomicBool::new(false)),
        remarks: Remarks::default(),
    }
}

fn start(name: &str, script: &str) -> Party {
    let here = Place {
        enter: Vec::new(),
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        interface: "lo".to_owned(),
    };
    let mut line = Line::new("sh", "-c");
    line.args.push(script.to_owned());
    line.input = "a word\n".to_owned();
    let log = std::env::temp_dir().join(format!("xtp-party-{}-{name}.log", std::process::id()));
    Party::start(name.to_owned(), &here, &line, log).expect("starts")
}

fn until_ended(party: &mut Party) {
    let launcher = launcher();
    while party.ended.is_none() {
        watch(&launcher, [&mut *party].into_iter(), Duration::from_secs(1)).expect("watched");
    }
}

#[test]
fn a_program_is_told_and_heard_and_its_end_is_seen() {
    let mut party = start("heard", "read word; echo \"it said $word\"; exit 7");
    until_ended(&mut party);
    let ended = party.ended.expect("ended");
    assert_eq!(ended.status.code(), Some(7));
    assert_eq!(party.said(), "it said a word\n");
    let error = party.failed("ended").to_string();
    assert_eq!(error, "heard: ended: it said a word");
}

#[test]
fn a_program_that_waits_ends_by_a_signal() {
    let mut party = start("signalled", "exec sleep 1000");
    watch(&launcher(), [&mut party].into_iter(), Duration::ZERO).expect("watched");
    assert!(party.ended.is_none());
    party.signal(Signal::KILL);
    until_ended(&mut party);
    assert!(!party.ended.expect("ended").status.success());
}

#[test]
fn an_interruption_ends_waiting() {
    let launcher = launcher();
    launcher.interrupted.store(true, Ordering::Relaxed);
    let mut party = start("interrupted", "exec sleep 1000");
    let watched = watch(&launcher, [&mut party].into_iter(), Duration::from_secs(1));
    assert!(matches!(watched, Err(Error::Interrupted)), "{watched:?}");
}

#[test]
fn ticks_are_read_behind_the_name() {
    let stat = "12 (a) b) S 1 2 3 4 5 6 7 8 9 10 30 12 0 0";
    assert_eq!(process_ticks(stat), 42);
    assert_eq!(process_ticks(""), 0);
}

#[test]
fn what_is_not_there_is_not_installed() {
    assert!(is_installed("sh"));
    assert!(!is_installed("no-such-program-here"));
}

#[test]
fn octets_are_in_the_last_words() {
    let said = "{\"ready\":{\"address\":\"x\"}}\n{\"outcome\":{\"octets\":7}}\n";
    assert_eq!(outcome(said).map(|outcome| outcome.octets), Some(7));
    assert_eq!(outcome("{\"error\":\"no\"}\n"), None);
    assert_eq!(outcome("words\n"), None);
}
