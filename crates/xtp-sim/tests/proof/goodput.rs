//! Goodput over loss, round trip and error control, in virtual time: a table that changes only with the protocol.

use std::fmt::Write as _;
use std::time::Duration;

use crate::common::{MS, bulk, finish_clean, link};
use expect_test::expect;
use xtp_engine::{CongestionKind, ErrorControl};
use xtp_link::{LinkConfig, Loss};
use xtp_sim::trace::Side;
use xtp_sim::world::World;

const OCTETS: u32 = 1_000_000;

fn goodput(loss: f64, rtt: Duration, error_control: ErrorControl, congestion: CongestionKind) -> f64 {
    let config = LinkConfig {
        rate_bits_per_s: Some(100_000_000),
        queue_octets: Some(LinkConfig::default_queue(100_000_000, rtt)),
        loss: if loss > 0.0 {
            Loss::Random(loss)
        } else {
            Loss::None
        },
        ..link(rtt)
    };
    let mut world = World::pair(7, &config);
    let mut flow = bulk(OCTETS);
    flow.open.tuning.congestion = congestion;
    flow.listen.tuning.error_control = error_control;
    world.add_flow(flow);
    finish_clean(&mut world);
    let end = world.task(0, Side::Responder).map_or(0, |task| task.finished_at);
    f64::from(OCTETS) * 8.0 / (end as f64 / 1e3)
}

#[test]
fn table() {
    let mut table = String::from(
        "Mbit/s on a link of 100 Mbit/s, 1 MB\nloss     rtt      sel/cubic  gbn/cubic  sel/fixed\n",
    );
    for loss in [0.0, 0.001, 0.01, 0.05] {
        for rtt in [MS, 20 * MS, 100 * MS] {
            let cells = [
                goodput(loss, rtt, ErrorControl::Selective, CongestionKind::Cubic),
                goodput(loss, rtt, ErrorControl::GoBackN, CongestionKind::Cubic),
                goodput(loss, rtt, ErrorControl::Selective, CongestionKind::Fixed),
            ];
            let percent = format!("{:.1} %", loss * 100.0);
            let _ = write!(table, "{percent:<8} {:<8}", format!("{rtt:?}"));
            let _ = writeln!(table, " {:>9.1}  {:>9.1}  {:>9.1}", cells[0], cells[1], cells[2]);
        }
    }
    expect![[r#"
        Mbit/s on a link of 100 Mbit/s, 1 MB
        loss     rtt      sel/cubic  gbn/cubic  sel/fixed
        0.0 %    1ms           89.2       68.2       89.3
        0.0 %    20ms          38.3       38.3       25.4
        0.0 %    100ms          9.2        9.2       24.0
        0.1 %    1ms           90.1       85.1       89.1
        0.1 %    20ms          13.1       11.4       25.4
        0.1 %    100ms          3.4        2.8       20.0
        1.0 %    1ms           88.2       73.9       87.7
        1.0 %    20ms           8.3        6.8       23.8
        1.0 %    100ms          2.2        1.6       18.5
        5.0 %    1ms           48.4       30.5       70.0
        5.0 %    20ms           3.9        2.5       24.5
        5.0 %    100ms          0.8        0.5       18.5
    "#]]
    .assert_eq(&table);
}
