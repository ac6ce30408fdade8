//! A run that somebody ends keeps what it had measured.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use xtp_bench::{Error, Experiment, Launcher, Plan, Remarks, Report, Rivals};

/// Ping-pong at two sizes, once each, interrupted when this measurement begins.
fn interrupted_at(measurement: u64) -> Result<Report, Error> {
    let mut plan = Plan::new(Experiment::Pingpong);
    plan.sizes = vec![4, 8];
    plan.rivals = Rivals::None;
    plan.runs = 1;
    plan.quick = true;
    let launcher = Launcher {
        program: env!("CARGO_BIN_EXE_xtp").into(),
        args: vec!["bench-worker".to_owned()],
        interrupted: Arc::new(AtomicBool::new(false)),
        remarks: Remarks::default(),
    };
    let interrupted = Arc::clone(&launcher.interrupted);
    xtp_bench::run(&plan, &launcher, &mut |progress| {
        // What is shown is what begins; as many were done before it.
        if !progress.doing.is_empty() && progress.done == measurement {
            interrupted.store(true, Ordering::Relaxed);
        }
    })
}

#[test]
fn rows_that_were_complete_are_reported() {
    let report = interrupted_at(1).expect("one row was complete");
    assert!(report.interrupted);
    assert_eq!(
        report.rows.iter().map(|row| row.size).collect::<Vec<_>>(),
        [Some(4)]
    );
    assert!(
        report.notes.iter().any(|note| note.starts_with("interrupted")),
        "{:?}",
        report.notes
    );
    assert_eq!(report.failures, Vec::<String>::new());
}

#[test]
fn nothing_complete_is_nothing_to_report() {
    assert!(matches!(interrupted_at(0), Err(Error::Interrupted)));
}
