//! The thesis's figures about groups: our curves in virtual time, with the numbers that the thesis prints beside them.

use crate::html::axis::Kind;
use crate::html::by_size::card;
use crate::html::element::{Element, el};
use crate::html::lines::{self, Curve, LineChart, Point};
use crate::html::number;
use crate::papers::{self, GROUP_PLOTS, Printed};
use crate::report::{Report, Series};

/// Colours of the curves of a plot, in order; what the plot is about comes first.
const COLOURS: [&str; 6] = ["c-xtp", "c-o0", "c-o1", "c-rudp", "c-o4", "c-udp"];
/// The colour of what is printed.
const PRINTED: &str = "c-bad";
/// Of plots whose values lie far apart.
const LOGARITHMIC: &str = "(log)";

/// Plots about groups.
pub(in crate::html) fn is_group(plot: &str) -> bool {
    GROUP_PLOTS.contains(&plot)
}

/// All of them that the report has.
pub(super) fn figures(report: &Report) -> Option<Element> {
    let cards: Vec<Element> = GROUP_PLOTS
        .iter()
        .enumerate()
        .filter_map(|(index, plot)| picture(report, index, plot))
        .collect();
    if cards.is_empty() {
        return None;
    }
    let lead = "The thesis measured seven personal computers; here hosts take no time, so that the network and the protocol \
                are left: packets of 1440 octets, half a millisecond each way, a window of 32 KiB, no loss. \"As in 1991\": \
                a bucket for each message, each waiting for its turn. Red: what the thesis prints.";
    Some(
        el("div")
            .child(el("h3").text("One sender and a group"))
            .child(el("p").class("lead").text(lead))
            .child(el("div").class("cards").children(cards)),
    )
}

fn picture(report: &Report, index: usize, plot: &str) -> Option<Element> {
    let series: Vec<&Series> = report
        .series
        .iter()
        .filter(|series| series.plot == *plot)
        .collect();
    let first = series.first()?;
    let mut curves: Vec<Curve> = series.iter().zip(colours(series.len())).map(curve).collect();
    curves.extend(printed(index).into_iter().filter_map(mark));
    // What is drawn last lies on top.
    curves.reverse();
    let logarithmic = first.y_label.contains(LOGARITHMIC);
    let chart = LineChart {
        title: plot.to_owned(),
        x_label: first.x_label.clone(),
        x: Kind::Octets,
        y_label: first.y_label.clone(),
        y: if logarithmic { Kind::Log } else { Kind::Linear },
        unit: "",
        curves,
        reference: None,
    };
    Some(card(plot, &explained(index, &series), lines::draw(&chart)?))
}

/// The last curve of a plot is what it is about.
fn colours(count: usize) -> impl Iterator<Item = &'static str> {
    (0..count).map(move |place| COLOURS[(count - 1 - place) % COLOURS.len()])
}

fn curve((series, class): (&&Series, &'static str)) -> Curve {
    let point = |&(x, y): &(f64, f64)| Point { x, y, spread: None };
    Curve {
        label: series.transport.clone(),
        class: class.to_owned(),
        points: series.points.iter().map(point).collect(),
        dashed: false,
        dots: true,
    }
}

/// What the thesis prints for a plot.
fn printed(index: usize) -> Vec<&'static Printed> {
    let of = |network: &'static str| {
        let all = papers::GROUP_MBIT_S.iter();
        all.filter(move |printed| printed.variant.starts_with(network))
            .collect()
    };
    match index {
        0 => of("Token Ring"),
        1 => of("Ethernet"),
        2 => vec![&papers::GROUP_EFFICIENCY_PERCENT],
        3 => vec![&papers::BUCKET_PAUSE_MS],
        _ => Vec::new(),
    }
}

fn mark(printed: &'static Printed) -> Option<Curve> {
    let name = printed.variant.rsplit(", ").next().unwrap_or(printed.variant);
    let point = Point {
        x: printed.size? as f64,
        y: printed.value,
        spread: None,
    };
    Some(Curve {
        label: format!("{}: {name}", papers::VIRGINIA.year),
        class: PRINTED.to_owned(),
        points: vec![point],
        dashed: false,
        dots: true,
    })
}

/// What a curve has at a size.
fn value(series: &[&Series], name: &str, size: u64) -> Option<f64> {
    let curve = series.iter().find(|series| series.transport == name)?;
    let point = curve.points.iter().find(|(x, _)| *x == size as f64)?;
    Some(point.1)
}

/// Mean over the sizes of one curve over another.
fn mean_ratio(series: &[&Series], of: &str, to: &str) -> Option<f64> {
    let find = |name: &str| series.iter().find(|series| series.transport == name);
    let (of, to) = (find(of)?, find(to)?);
    let ratios: Vec<f64> = of
        .points
        .iter()
        .zip(&to.points)
        .map(|(of, to)| of.1 / to.1)
        .collect();
    let mean = ratios.iter().sum::<f64>() / ratios.len().max(1) as f64;
    (mean.is_finite() && !ratios.is_empty()).then_some(mean)
}

/// The thesis's number and ours, in words.
fn explained(index: usize, series: &[&Series]) -> String {
    let year = papers::VIRGINIA.year;
    let now = |name: &str, size| value(series, name, size).map_or("–".to_owned(), number::short);
    match index {
        0 => format!(
            "{year}: 0.985 Mbit/s to four with 4 KB, unicast 0.991. Here {} and {}",
            now("1-to-4", 4096),
            now("unicast", 4096)
        ),
        1 => format!(
            "{year}: 0.985 Mbit/s to six with 2 KB, unicast 2.53. Here {} and {}; in the way of {year} {}",
            now("1-to-6", 2048),
            now("unicast", 2048),
            now("1-to-6 as in 1991", 2048)
        ),
        2 => format!(
            "{year}: six receivers got 221 % of unicast with 1 KB. Here {} %",
            now("1-to-6", 1024)
        ),
        3 => format!(
            "{year}: 165 ms with messages of half a window. Here the same {} ms, and {} ms where ripe buckets count at once",
            now("messages, as in 1991", 16_384),
            now("messages, ripe at once", 16_384)
        ),
        4 => format!("{year}, no numbers printed: fewer buckets are faster for long messages"),
        5 | 6 => {
            let saved = mean_ratio(series, "both", "neither").map_or(0.0, |ratio| 100.0 * (1.0 - ratio));
            let then = match index {
                5 => format!("{year}: both save 21 %, mean over message sizes"),
                _ => format!("{year}: meant for such groups, not measured"),
            };
            format!("{then}. Here {} %", number::short(saved))
        }
        _ => {
            let kept = mean_ratio(series, "both", "neither").map_or(0.0, |ratio| 100.0 * ratio);
            format!(
                "{year}, no numbers printed: slotting makes it slower. Here both keep {} % of the throughput",
                number::short(kept)
            )
        }
    }
}

#[cfg(test)]
#[path = "group_tests.rs"]
mod tests;
