//! What a broken session is called, and which ones go on.

use super::*;
use crate::files::problem::Problem;

#[test]
fn broken_connections_are_unreachable_and_say_what_to_do() {
    let patience = Duration::from_secs(7);
    let lost = Fault::Net(Error::Closed(CloseReason::Lost));
    let failure = explain("cannot copy", lost, patience);
    assert_eq!(failure.status, Status::Unreachable);
    assert!(failure.message.contains("run it again"), "{}", failure.message);
    assert!(failure.message.contains("--timeout"), "{}", failure.message);
    let stopped = explain("cannot copy", Fault::Stopped, patience);
    assert_eq!(stopped.status, Status::Interrupted);
}

const PATIENCE: Duration = Duration::from_secs(10);

fn lost() -> Fault {
    Fault::Net(Error::Closed(CloseReason::Lost))
}

#[test]
fn outages_go_on_and_refusals_do_not() {
    let (tally, heard) = (Tally::default(), Instant::now());
    let mut outages = Outages::default();
    assert_eq!(
        outages.deadline(&lost(), heard, PATIENCE, &tally),
        Some(heard + PATIENCE)
    );
    for fault in [
        Fault::Stopped,
        Fault::Peer(Problem::new(Code::ReadOnly, "")),
        Fault::Here(Problem::new(Code::NotFound, "")),
        Fault::Net(Error::Closed(CloseReason::LocalAbort)),
    ] {
        assert_eq!(
            outages.deadline(&fault, heard, PATIENCE, &tally),
            None,
            "{fault:?}"
        );
    }
}

#[test]
fn a_server_that_only_answers_is_not_waited_for_again_and_again() {
    let (tally, first) = (Tally::default(), Instant::now());
    let mut outages = Outages::default();
    for second in 0..5 {
        let heard = first + Duration::from_secs(second);
        assert_eq!(
            outages.deadline(&lost(), heard, PATIENCE, &tally),
            Some(first + PATIENCE)
        );
    }
    // Each octet that came through is progress.
    tally.sent.add(1);
    let heard = first + Duration::from_secs(7);
    assert_eq!(
        outages.deadline(&lost(), heard, PATIENCE, &tally),
        Some(heard + PATIENCE)
    );
}

#[test]
fn disorder_without_progress_ends() {
    let (tally, heard) = (Tally::default(), Instant::now());
    let mut outages = Outages::default();
    let disorder = || Fault::Here(violation("said nothing that makes sense"));
    for _ in 0..DISORDER {
        assert!(outages.deadline(&disorder(), heard, PATIENCE, &tally).is_some());
    }
    assert_eq!(outages.deadline(&disorder(), heard, PATIENCE, &tally), None);
    tally.sent.add(1);
    assert!(outages.deadline(&disorder(), heard, PATIENCE, &tally).is_some());
}
