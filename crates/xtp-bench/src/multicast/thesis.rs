//! Figures 3.9 to 3.15 of the thesis of 1991, in virtual time: an idle network and hosts that take no time, so that what is
//! left is the protocol ([`xtp_sim::transfer`]).

use xtp_sim::transfer::{Transfer, TransferFigures, Way};

use crate::context::Context;
use crate::error::Error;
use crate::papers::GROUP_PLOTS;
use crate::report::Series;
use xtp::{BucketOptions, Cycle};

/// Octets of a message.
const SIZES: [usize; 9] = [
    16,
    64,
    256,
    1 << 10,
    2 << 10,
    4 << 10,
    8 << 10,
    16 << 10,
    64 << 10,
];
/// Octets a second of the thesis's networks.
const TOKEN_RING: u64 = 500_000;
const ETHERNET: u64 = 1_250_000;
/// The number of receivers of the thesis's figures about buckets, slotting and damping, and of a group they were meant for.
const FOUR: usize = 4;
const TEN: usize = 10;
const SIZE_LABEL: &str = "message size, octets (log)";
const RATE_LABEL: &str = "Mbit/s, as the transmitter sees it";

/// One curve of a plot.
struct Curve {
    plot: &'static str,
    name: String,
    y_label: &'static str,
    receivers: usize,
    way: Way,
    /// Octets a second of the network.
    rate: u64,
    value: fn(&TransferFigures) -> f64,
}

/// Transfers everything, and records the curves.
///
/// # Errors
/// [`Error::Interrupted`].
pub(super) fn run(context: &mut Context<'_>) -> Result<(), Error> {
    let curves = curves();
    context.expect(curves.len() as u64);
    for curve in &curves {
        context.step(format!("{}, {}", curve.plot, curve.name))?;
        match points(curve) {
            Ok(points) => context.report.series.push(Series {
                plot: curve.plot.to_owned(),
                transport: curve.name.clone(),
                x_label: SIZE_LABEL.to_owned(),
                y_label: curve.y_label.to_owned(),
                points,
            }),
            Err(what) => {
                let text = format!("{}, {}: {what}", curve.plot, curve.name);
                context.report.failures.push(text);
            }
        }
    }
    efficiency(context);
    Ok(())
}

fn points(curve: &Curve) -> Result<Vec<(f64, f64)>, String> {
    let of = |size| {
        let mut transfer = Transfer::new(curve.way, curve.receivers, size);
        transfer.rate = curve.rate;
        let figures = transfer
            .run()
            .map_err(|what| format!("messages of {size} octets: {what}"))?;
        Ok((size as f64, (curve.value)(&figures)))
    };
    SIZES.into_iter().map(of).collect()
}

fn megabits(figures: &TransferFigures) -> f64 {
    figures.octets_per_second * 8e-6
}

fn control(figures: &TransferFigures) -> f64 {
    figures.control_packets as f64
}

fn pause(figures: &TransferFigures) -> f64 {
    figures.longest_pause.as_secs_f64() * 1e3
}

fn bucket(change: impl FnOnce(&mut BucketOptions)) -> Way {
    let mut options = BucketOptions::default();
    change(&mut options);
    Way::Bucket(options)
}

/// As the thesis's implementation had it: a bucket for each message, and each waits for its turn.
fn classic(options: &mut BucketOptions) {
    (options.cycle, options.classic) = (Cycle::Message, true);
}

fn curves() -> Vec<Curve> {
    let [ring, ethernet, _, pauses, buckets, control_4, control_10, rate_4] = GROUP_PLOTS;
    let mut curves = throughput(ring, TOKEN_RING);
    curves.extend(throughput(ethernet, ETHERNET));
    curves.extend(longest_pauses(pauses));
    curves.extend(by_buckets(buckets));
    curves.extend(spread_and_damped(
        (control_4, "control packets of receivers"),
        FOUR,
        control,
    ));
    curves.extend(spread_and_damped(
        (control_10, "control packets of receivers"),
        TEN,
        control,
    ));
    curves.extend(spread_and_damped((rate_4, RATE_LABEL), FOUR, megabits));
    curves
}

/// Figures 3.9 and 3.10.
fn throughput(plot: &'static str, rate: u64) -> Vec<Curve> {
    let curve = |name: String, receivers, way| Curve {
        plot,
        name,
        y_label: RATE_LABEL,
        receivers,
        way,
        rate,
        value: megabits,
    };
    let mut curves = vec![
        curve("1-to-6 as in 1991".to_owned(), 6, bucket(classic)),
        curve(UNICAST.to_owned(), 1, Way::Stream),
    ];
    for receivers in [2, TEN, FOUR, 6] {
        curves.push(curve(format!("1-to-{receivers}"), receivers, bucket(|_| ())));
    }
    curves
}

const UNICAST: &str = "unicast";

/// Figure 3.11 is figure 3.10 over its unicast.
fn efficiency(context: &mut Context<'_>) {
    let [_, ethernet, efficiency, ..] = GROUP_PLOTS;
    let measured: Vec<Series> = context
        .report
        .series
        .iter()
        .filter(|series| series.plot == ethernet)
        .cloned()
        .collect();
    let Some(unicast) = measured.iter().find(|series| series.transport == UNICAST) else {
        return;
    };
    for group in measured.iter().filter(|series| series.transport != UNICAST) {
        let digits = group.transport.trim_start_matches("1-to-");
        let receivers = digits
            .split(' ')
            .next()
            .and_then(|digits| digits.parse::<f64>().ok());
        let Some(receivers) = receivers else { continue };
        let both = group.points.iter().zip(&unicast.points);
        let points = both.map(|((size, rate), (_, alone))| (*size, 100.0 * receivers * rate / alone));
        context.report.series.push(Series {
            plot: efficiency.to_owned(),
            y_label: "octets delivered to all, % of unicast (log)".to_owned(),
            points: points.collect(),
            ..group.clone()
        });
    }
}

/// Figure 3.12 explains pauses: here they are.
fn longest_pauses(plot: &'static str) -> Vec<Curve> {
    let of = |name: &str, cycle, classic| Curve {
        plot,
        name: name.to_owned(),
        y_label: "longest pause of new octets, ms (log)",
        receivers: FOUR,
        way: bucket(|options| (options.cycle, options.classic) = (cycle, classic)),
        rate: ETHERNET,
        value: pause,
    };
    vec![
        of("messages, as in 1991", Cycle::Message, true),
        of("timer, as in 1991", Cycle::Timer, true),
        of("messages, ripe at once", Cycle::Message, false),
        of("timer, ripe at once", Cycle::Timer, false),
    ]
}

/// Figure 3.13.
fn by_buckets(plot: &'static str) -> Vec<Curve> {
    let of = |name: String, way| Curve {
        plot,
        name,
        y_label: RATE_LABEL,
        receivers: FOUR,
        way,
        rate: ETHERNET,
        value: megabits,
    };
    let mut curves = Vec::new();
    for buckets in [2, 4, 8] {
        let then = bucket(|options| {
            classic(options);
            options.buckets = buckets;
        });
        curves.push(of(format!("{buckets} as in 1991"), then));
    }
    for buckets in [2, 4, 8] {
        let ripe = bucket(|options| (options.cycle, options.buckets) = (Cycle::Message, buckets));
        curves.push(of(format!("{buckets}, ripe at once"), ripe));
    }
    curves
}

/// Figures 3.14 and 3.15.
fn spread_and_damped(
    (plot, y_label): (&'static str, &'static str),
    receivers: usize,
    value: fn(&TransferFigures) -> f64,
) -> Vec<Curve> {
    let of = |name: &str, slotting, damping| Curve {
        plot,
        name: name.to_owned(),
        y_label,
        receivers,
        way: bucket(|options| {
            options.cycle = Cycle::Message;
            (options.slotting, options.damping) = (slotting, damping);
        }),
        rate: ETHERNET,
        value,
    };
    vec![
        of("neither", false, false),
        of("slotting", true, false),
        of("damping", false, true),
        of("both", true, true),
    ]
}

#[cfg(test)]
#[path = "thesis_tests.rs"]
mod tests;
