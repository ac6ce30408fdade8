//! Mode B in virtual time: what slotting and damping save, how long the window stays closed, and what the number of buckets does.
//!
//! A transmitter and its receivers on one wire: 10 Mbit/s, half a millisecond each way, a window of 32 KiB. For every size of
//! messages from 16 octets to 64 KiB the same number of octets is sent; counted are packets of receivers from the first octet
//! to the last confirmation. Options: `--loss N` (copies in a thousand), `--only TABLE` (control, stall, buckets). `xtp bench
//! multicast --part thesis` draws the same.

use xtp_engine::group::{BucketOptions, Cycle};
use xtp_sim::transfer::{Transfer, TransferFigures, Way};

const SIZES: [usize; 7] = [16, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10];

fn run(receivers: usize, each: usize, way: Way, lost: u64) -> TransferFigures {
    let mut transfer = Transfer::new(way, receivers, each);
    transfer.lost = lost;
    match transfer.run() {
        Ok(figures) => figures,
        Err(what) => panic!("{transfer:?}: {what}"),
    }
}

fn kilobits(figures: &TransferFigures) -> f64 {
    figures.octets_per_second * 8e-3
}

fn name(cycle: Cycle) -> &'static str {
    match cycle {
        Cycle::Timer => "timer",
        Cycle::Message => "message",
    }
}

/// Figures 3.14 and 3.15: slotting and damping, off and on.
fn control(lost: u64) {
    println!(
        "status packets of all receivers (kbit/s): neither, slotting, damping, both; {lost} of 1 000 copies lost"
    );
    for receivers in [4, 10] {
        for cycle in [Cycle::Timer, Cycle::Message] {
            let mut saved = Vec::new();
            for each in SIZES {
                let of = |slotting, damping| {
                    let options = BucketOptions {
                        slotting,
                        damping,
                        cycle,
                        ..BucketOptions::default()
                    };
                    run(receivers, each, Way::Bucket(options), lost)
                };
                let all = [of(false, false), of(true, false), of(false, true), of(true, true)];
                let cells = all.map(|one| format!("{:>7} ({:>5.0})", one.control_packets, kilobits(&one)));
                let less = 1.0 - all[3].control_packets as f64 / all[0].control_packets as f64;
                saved.push(less);
                println!(
                    "N {receivers:>2} {:<7} {each:>6}: {}  -{:.0} %",
                    name(cycle),
                    cells.join(" "),
                    100.0 * less
                );
            }
            let mean = saved.iter().sum::<f64>() / saved.len() as f64;
            println!(
                "N {receivers:>2} {:<7}   mean: -{:.0} %",
                name(cycle),
                100.0 * mean
            );
        }
    }
}

/// The longest time without a packet of new octets, without loss, beside W + 2 rtt.
fn stall() {
    println!(
        "longest pause of new octets, ms (W + 2 rtt: N 4 4.0, N 10 7.0; at this rate a packet takes 1.2)"
    );
    for receivers in [4, 10] {
        for (cycle, classic) in [
            (Cycle::Timer, false),
            (Cycle::Message, false),
            (Cycle::Timer, true),
            (Cycle::Message, true),
        ] {
            let cells = SIZES.map(|each| {
                let options = BucketOptions {
                    cycle,
                    classic,
                    ..BucketOptions::default()
                };
                let pause = run(receivers, each, Way::Bucket(options), 0).longest_pause;
                format!("{:>6.1}", pause.as_secs_f64() * 1e3)
            });
            let how = if classic { "classic" } else { "ripe" };
            println!(
                "N {receivers:>2} {:<7} {how:<7}: {}",
                name(cycle),
                cells.join(" ")
            );
        }
    }
}

/// Figures 3.9 to 3.13: throughput by receivers, and by buckets.
fn buckets(lost: u64) {
    println!("kbit/s (status packets) by the size of messages {SIZES:?}; {lost} of 1 000 copies lost");
    let row = |what: String, receivers, way| {
        let cells = SIZES.map(|each| {
            let one = run(receivers, each, way, lost);
            format!("{:>5.0} ({:>5})", kilobits(&one), one.control_packets)
        });
        println!("{what:<28}: {}", cells.join(" "));
    };
    row("an association".to_owned(), 1, Way::Stream);
    for receivers in [1, 2, 4, 6, 10] {
        row(
            format!("1 to {receivers}, timer"),
            receivers,
            Way::Bucket(BucketOptions::default()),
        );
        row(format!("1 to {receivers}, mode U"), receivers, Way::Named);
    }
    for (cycle, classic) in [
        (Cycle::Timer, false),
        (Cycle::Timer, true),
        (Cycle::Message, false),
        (Cycle::Message, true),
    ] {
        for buckets in [2, 4, 8] {
            let options = BucketOptions {
                buckets,
                cycle,
                classic,
                ..BucketOptions::default()
            };
            let how = if classic { ", classic" } else { "" };
            row(
                format!("1 to 4, {buckets} buckets, {}{how}", name(cycle)),
                4,
                Way::Bucket(options),
            );
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |flag: &str| {
        let place = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(place + 1).cloned()
    };
    let lost = value("--loss").and_then(|text| text.parse().ok()).unwrap_or(0);
    let only = value("--only");
    let wanted = |table: &str| only.as_deref().is_none_or(|only| only == table);
    if wanted("control") {
        control(lost);
    }
    if wanted("stall") {
        stall();
    }
    if wanted("buckets") {
        buckets(lost);
    }
}
