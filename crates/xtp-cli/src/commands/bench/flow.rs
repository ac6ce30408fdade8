//! `xtp bench flow`: a plan from the arguments, a line an interval, and what both ends counted.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use xtp_bench::{
    DatagramCount, Error, FlowCount, FlowDirection, FlowInterval, FlowPair, FlowPart, FlowPlan, FlowReport,
    Launcher,
};

use super::{failure, put, wait, writable};
use crate::args::{BenchArgs, FlowArgs};
use crate::common::{Address, Common, Failure, Outcome, size_text, span_text};

/// Octets a second of each stream of datagrams where none are named: 1 Mbit/s.
const BITRATE: u64 = 125_000;
/// Octets of a datagram where none are named: in one packet on most paths.
const DATAGRAM: u64 = 1_200;

/// Options of flows mean nothing to other experiments.
pub(super) fn refuse(args: &FlowArgs) -> Outcome {
    let given = [
        ("--time", args.time.is_some()),
        ("--interval", args.interval.is_some()),
        ("--parallel", args.parallel.is_some()),
        ("--reverse", args.reverse),
        ("--bidir", args.bidir),
        ("--datagrams", args.datagrams),
        ("--bitrate", args.bitrate.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((name, _)) => Err(Failure::usage(format!("{name} is an option of `xtp bench flow`"))),
    }
}

/// Measures and reports.
pub(super) fn run(args: &BenchArgs, common: &Common, launcher: &Launcher) -> Outcome {
    let plan = plan(args, common)?;
    writable(args)?;
    let out = &common.out;
    let way = match plan.direction {
        FlowDirection::ToServer => "to the server",
        FlowDirection::FromServer => "from the server",
        FlowDirection::Both => "both ways",
    };
    out.note(format_args!(
        "{} for {}, {} {way} against {}",
        match plan.datagram_rate {
            Some(_) => "datagrams",
            None => "octets",
        },
        span_text(plan.time),
        match plan.streams {
            1 => "one stream".to_owned(),
            streams => format!("{streams} streams"),
        },
        plan.to
    ));
    let mut printed = Ok(());
    let mut show = |interval: &FlowInterval| {
        for part in &interval.parts {
            let line = interval_line(interval, part);
            printed = std::mem::replace(&mut printed, Ok(())).and_then(|()| out.line(line));
        }
        // Without a reader of its lines the measurement ends.
        if printed.is_err() || common.check().is_err() {
            launcher.interrupted.store(true, Ordering::Relaxed);
        }
    };
    let report = xtp_bench::run_flows(&plan, launcher, &mut show).map_err(|error| failure(&error, common))?;
    printed?;
    write(args, common, &report)?;
    common.check()?;
    match report.error {
        None => Ok(()),
        Some(error) => Err(Failure::failed(format!("the measurement broke: {error}"))),
    }
}

fn write(args: &BenchArgs, common: &Common, report: &FlowReport) -> Outcome {
    let out = &common.out;
    for pair in &report.flows {
        for line in pair_lines(pair) {
            out.line(line)?;
        }
    }
    let there = report
        .core_percent_there
        .map_or_else(|| "unknown".to_owned(), |percent| format!("{percent:.0} %"));
    out.line(format_args!(
        "of a core: {:.0} % here, {there} at the server",
        report.core_percent_here
    ))?;
    if report.waited > 0.0 {
        out.note(format_args!("waited {:.0} s for other clients", report.waited));
    }
    match args.json.as_deref() {
        None => Ok(()),
        Some(file) if file == Path::new("-") => out.object(report),
        Some(file) => {
            let text = serde_json::to_string_pretty(report)
                .map_err(|error| Failure::failed(format!("cannot write JSON: {error}")))?;
            put(file, &format!("{text}\n"))
        }
    }
}

fn plan(args: &BenchArgs, common: &Common) -> Result<FlowPlan, Failure> {
    senseless(args, common)?;
    let Some(server) = &args.to else {
        return Err(Failure::usage(
            "flows go between two hosts: run `xtp bench serve --listen ADDR` on the other and name it with --to ADDR",
        ));
    };
    let address = Address::peer_at(server, xtp_bench::REMOTE_SERVICE, xtp_bench::REMOTE_PORT)?;
    let found = address.resolve()?;
    let to = found
        .first()
        .ok_or_else(|| Failure::usage(format!("'{server}' has no address")))?;
    let flow = &args.flow;
    let mut plan = FlowPlan::new(*to);
    plan.time = flow.time.unwrap_or(plan.time);
    plan.interval = flow.interval.unwrap_or(plan.interval.min(plan.time));
    plan.streams = flow.parallel.unwrap_or(plan.streams);
    plan.direction = match (flow.reverse, flow.bidir) {
        (_, true) => FlowDirection::Both,
        (true, false) => FlowDirection::FromServer,
        (false, false) => FlowDirection::ToServer,
    };
    if flow.datagrams {
        plan.datagram_rate = Some(flow.bitrate.unwrap_or(BITRATE));
        plan.length = DATAGRAM;
    }
    plan.length = args.length.map_or(plan.length, |length| length as u64);
    plan.controller.clone_from(&args.controller);
    plan.wait = wait(common);
    plan.check()
        .map_err(|error: Error| Failure::usage(error.to_string()))?;
    Ok(plan)
}

/// Options of other experiments mean nothing to flows.
fn senseless(args: &BenchArgs, common: &Common) -> Outcome {
    let wan = &args.wan;
    let parts = [
        &wan.part,
        &wan.cells,
        &wan.rate,
        &wan.rtt,
        &wan.loss,
        &wan.seconds,
    ];
    let given = [
        ("--size", args.size.is_some()),
        ("--path", args.path != "loopback"),
        ("--rivals", args.rivals != "all" && args.rivals != "none"),
        ("--runs", args.runs != 5),
        ("--quick", args.quick),
        ("--html", args.html.is_some()),
        ("--page", args.page.is_some()),
        ("--report", args.report.is_some()),
        ("--count", args.count.is_some()),
        ("--source-sink", args.source_sink),
        ("--associations", args.associations.is_some()),
        ("--in-flight", args.in_flight.is_some()),
        ("--ranks", args.ranks.is_some()),
        ("--option", !args.options.is_empty()),
        ("an option of wan", parts.iter().any(|part| part.is_some())),
        ("--trace", common.args.trace.is_some()),
        ("--limit", common.args.limit.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((name, _)) => Err(Failure::usage(format!(
            "{name} means nothing to `xtp bench flow`; leave it out"
        ))),
    }
}

/// The beginning of a line: which flow, and which way.
fn label(flow: Option<u32>, from_server: bool) -> String {
    let flow = flow.map_or_else(|| "all".to_owned(), |flow| flow.to_string());
    let way = match from_server {
        false => "to server",
        true => "from server",
    };
    format!("[{flow:>3}] {way:<11}")
}

fn interval_line(interval: &FlowInterval, part: &FlowPart) -> String {
    let span = format!("{:.2}-{:.2} s", interval.begin, interval.end);
    let mut line = format!(
        "{} {span:>15} {:>12} {:>14}",
        label(part.flow, part.from_server),
        size_text(part.octets),
        bit_rate(part.bits_per_second)
    );
    if let Some(milliseconds) = part.round_trip_ms {
        let span = Duration::try_from_secs_f64(milliseconds * 1e-3).unwrap_or_default();
        line.push_str(&format!("  round trip {}", span_text(span)));
    }
    if let Some(repeated) = part.repeated.filter(|repeated| *repeated > 0) {
        line.push_str(&format!("  {} sent again", size_text(repeated)));
    }
    if let Some(datagrams) = &part.datagrams {
        line.push_str(&datagrams_text(datagrams));
    }
    line
}

/// What its sender counted, and its receiver.
fn pair_lines(pair: &FlowPair) -> Vec<String> {
    let line = |end: &str, count: &FlowCount, rate: f64| {
        let span = format!("{:.2} s", count.seconds);
        let mut line = format!(
            "{} {end:<8} {span:>7} {:>12} {:>14}",
            label(pair.flow, pair.from_server),
            size_text(count.octets),
            bit_rate(rate)
        );
        if let Some(repeated) = count.repeated {
            line.push_str(&format!("  {} sent again", size_text(repeated)));
        }
        if let Some(datagrams) = &count.datagrams {
            line.push_str(&datagrams_text(datagrams));
        }
        line
    };
    let mut lines = vec![line("sender", &pair.sender, pair.sender_bits_per_second)];
    match (&pair.receiver, pair.receiver_bits_per_second) {
        (Some(count), Some(rate)) => lines.push(line("receiver", count, rate)),
        _ => lines.push(format!(
            "{} receiver did not say what came",
            label(pair.flow, pair.from_server)
        )),
    }
    lines
}

fn datagrams_text(count: &DatagramCount) -> String {
    let mut text = format!("  {} datagrams", count.datagrams);
    if let (Some(lost), Some(percent)) = (count.lost, count.loss_percent()) {
        text.push_str(&format!(", {lost} lost ({percent:.2} %)"));
    }
    for (number, what) in [(count.out_of_order, "out of order"), (count.duplicates, "twice")] {
        if let Some(number) = number.filter(|number| *number > 0) {
            text.push_str(&format!(", {number} {what}"));
        }
    }
    if let Some(jitter) = count.jitter_ms {
        text.push_str(&format!(", jitter {jitter:.3} ms"));
    }
    text
}

/// A rate with three digits: `942 Mbit/s`.
fn bit_rate(bits_per_second: f64) -> String {
    let mut rate = bits_per_second;
    for unit in ["bit/s", "kbit/s", "Mbit/s"] {
        // What would be rounded to four digits has the next unit.
        if rate < 999.5 {
            return format!("{} {unit}", digits(rate));
        }
        rate /= 1e3;
    }
    format!("{} Gbit/s", digits(rate))
}

fn digits(number: f64) -> String {
    let places = match number {
        _ if number >= 99.95 => 0,
        _ if number >= 9.995 => 1,
        _ => 2,
    };
    format!("{number:.places$}")
}

#[cfg(test)]
#[path = "flow_tests.rs"]
mod tests;
