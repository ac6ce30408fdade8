//! Figures of rounds into rows.

use super::{Figures, Main, figures, rows};
use crate::job::Outcome;
use crate::launch::Pair;
use crate::plan::Experiment;
use crate::row::Row;

fn timed(p50_us: f64) -> Option<Figures> {
    Some(Figures {
        p50_us: Some(p50_us),
        ..Figures::default()
    })
}

#[test]
fn ratios_are_taken_within_rounds() {
    let rounds = vec![
        ("xtp".to_owned(), vec![timed(5.0), timed(10.0), timed(2.0)]),
        ("tcp".to_owned(), vec![timed(10.0), None, timed(8.0)]),
        ("udp".to_owned(), vec![None, None, None]),
    ];
    let template = Row {
        experiment: "pingpong".into(),
        size: Some(64),
        ..Row::default()
    };
    let rows = rows(&template, Main::Time, &rounds);
    let names: Vec<&str> = rows.iter().map(|row| row.transport.as_str()).collect();
    assert_eq!(names, ["xtp", "tcp"], "what was never measured has no row");
    assert_eq!(rows[0].ratio_to_xtp, Some(1.0));
    assert_eq!(rows[0].p50_us, Some(5.0));
    assert_eq!(rows[0].p50_us_spread, Some([2.0, 10.0]));
    assert_eq!((rows[0].rounds, rows[1].rounds), (3, 2));
    assert_eq!(rows[1].ratio_to_xtp, Some(3.0), "the median of 2 and 4");
    assert_eq!(rows[1].size, Some(64));
    assert_eq!(rows[1].gbit_s, None);
}

#[test]
fn fresh_memory_is_compared_with_fresh_memory() {
    let rounds = vec![
        ("xtp".to_owned(), vec![timed(1.0)]),
        ("xtp-fresh".to_owned(), vec![timed(4.0)]),
        ("tcp-splice".to_owned(), vec![timed(8.0)]),
        ("tcp".to_owned(), vec![timed(2.0)]),
    ];
    let ratios = |experiment: &str| {
        let template = Row {
            experiment: experiment.to_owned(),
            ..Row::default()
        };
        let rows = rows(&template, Main::Time, &rounds);
        rows.iter().map(|row| row.ratio_to_xtp).collect::<Vec<_>>()
    };
    assert_eq!(ratios("bulk"), [Some(1.0), Some(1.0), Some(2.0), Some(2.0)]);
    let of_xtp = [Some(1.0), Some(4.0), Some(8.0), Some(2.0)];
    assert_eq!(
        ratios("pingpong"),
        of_xtp,
        "elsewhere there is one kind of memory"
    );
}

#[test]
fn without_xtp_there_is_no_ratio() {
    let rounds = vec![("tcp".to_owned(), vec![timed(10.0)])];
    assert_eq!(rows(&Row::default(), Main::Time, &rounds)[0].ratio_to_xtp, None);
}

#[test]
fn figures_are_per_operation() {
    let client = Outcome {
        samples_ns: vec![1_000, 2_000, 3_000, 4_000],
        operations: 4,
        packets: Some(8),
        syscalls: Some(12),
        ..Outcome::default()
    };
    let server = Outcome {
        operations: 4,
        syscalls: Some(8),
        ..Outcome::default()
    };
    let pair = Pair { client, server };
    let round = figures(Experiment::Pingpong, &pair);
    assert_eq!(round.p50_us, Some(2.0));
    assert_eq!(round.p99_us, Some(4.0));
    assert_eq!(round.packets_per_op, Some(2.0));
    assert_eq!(round.syscalls_per_op, Some(5.0));
    assert_eq!((round.gbit_s, round.cpu_s_per_gb), (None, None));
}

#[test]
fn bulk_is_measured_at_the_receiver() {
    let server = Outcome {
        octets: 2_000_000_000,
        seconds: 4.0,
        cpu_s: 1.0,
        softirq_s: 0.5,
        ..Outcome::default()
    };
    let client = Outcome {
        cpu_s: 3.0,
        seconds: 100.0,
        ..Outcome::default()
    };
    let round = figures(Experiment::Bulk, &Pair { client, server });
    assert_eq!(round.gbit_s, Some(4.0));
    assert_eq!(round.cpu_s_per_gb, Some(2.0));
    assert_eq!(round.softirq_s_per_gb, Some(0.25));
    assert_eq!((round.client_cores, round.server_cores), (Some(0.03), Some(0.25)));
    assert_eq!(round.p50_us, None);
}
