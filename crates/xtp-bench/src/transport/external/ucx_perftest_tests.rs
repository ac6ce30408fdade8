//! What ucx_perftest of UCX 1.13 prints.

use super::{Figures, parse};

const PRINTED: &str = "\
+--------------+--------------+------------------------------+---------------------+-----------------------+
|              |              |        latency (usec)        |   bandwidth (MB/s)  |  message rate (msg/s) |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
|    Stage     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
[thread 0]               937      3.603  1446.009  4867.010        0.04       0.01         692         205
Final:                  3000      3.594   126.601  1607.189        0.48       0.04        7899         622
";

#[test]
fn the_final_figures_count() {
    let figures = parse(PRINTED).expect("figures");
    assert_eq!(
        figures,
        Figures {
            half_us: 3.594,
            bandwidth: 0.04
        }
    );
}

#[test]
fn anything_else_is_a_failure() {
    let without = PRINTED.replace("Final:", "");
    for text in [
        "",
        "[1:2] ucx_perftest.c error",
        &without,
        "Final: 1 2",
        "Final: 1 0 0 0 0 0",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
}
