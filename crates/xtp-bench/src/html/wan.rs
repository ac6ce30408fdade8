//! Long distance: goodput over round-trip time and loss, as maps and as curves.

use super::axis::Kind;
use super::by_size::card;
use super::element::{Element, el};
use super::figures::{self, advantage, is_rival};
use super::heat::{self, Cell, HeatMap};
use super::lines::{self, Curve, LineChart, Point};
use super::number;
use super::palette::{Palette, rank};
use super::{summary, table, volume};
use crate::report::Report;
use crate::row::Row;

/// What a path of the emulated link says about itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Link {
    /// Rate, Mbit/s.
    pub(super) rate: Option<f64>,
    /// Round-trip time, milliseconds.
    pub(super) rtt: f64,
    /// Loss, percent.
    pub(super) loss: f64,
    /// Probability that a bit is flipped.
    pub(super) bit_errors: f64,
}

impl Link {
    /// Reads `500mbit-100ms-0.1%`, perhaps with `-ber1e-7` behind it, and anything between the parts; none without a
    /// round-trip time, or with manners (`-jitter10ms`), which have no place on a map.
    pub(super) fn parse(path: &str) -> Option<Self> {
        let manner = path.split_once("%-").map(|(_, manner)| manner);
        if manner.is_some_and(|manner| !manner.starts_with("ber")) {
            return None;
        }
        let (path, errors) = path.split_once("ber").unwrap_or((path, "0"));
        let mut rate = None;
        let mut rtt = None;
        let mut loss = None;
        for (number, unit) in numbers(path) {
            let unit = unit.to_ascii_lowercase();
            if unit.starts_with("gbit") {
                rate = rate.or(Some(number * 1000.0));
            } else if unit.starts_with("mbit") {
                rate = rate.or(Some(number));
            } else if unit.starts_with("kbit") {
                rate = rate.or(Some(number / 1000.0));
            } else if unit.starts_with("ms") {
                rtt = rtt.or(Some(number));
            } else if unit.starts_with('%') || unit.starts_with("pct") || unit.starts_with("percent") {
                loss = loss.or(Some(number));
            }
        }
        Some(Self {
            rate,
            rtt: rtt?,
            loss: loss.unwrap_or(0.0),
            bit_errors: errors.parse().ok()?,
        })
    }
}

/// The numbers of a text, each with what follows it directly (blanks skipped).
fn numbers(text: &str) -> Vec<(f64, &str)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let tail = &rest[start..];
        let end = tail
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(tail.len());
        let unit = tail[end..].trim_start();
        if let Ok(number) = tail[..end].trim_end_matches('.').parse() {
            found.push((number, unit));
        }
        rest = &tail[end..];
    }
    found
}

fn definition(experiment: &str) -> &'static str {
    match experiment {
        "wan" => {
            "Goodput of whole transfers, start-up included, over an emulated link: every cell a round-trip time and \
             a loss rate."
        }
        "buffers" => {
            "The sender has 1, 2, 4 or 8 buffers of 512 000 octets; one that was sent is free again when all of it is \
             acknowledged."
        }
        "gbn" => "Bits are flipped on the way; the receiver keeps what comes out of order, or does not.",
        _ => "",
    }
}

type Found<'a> = (Link, &'a Row);

/// The section; rows whose path is no link are shown as bars instead.
pub(super) fn section(report: &Report, experiment: &str, palette: &Palette) -> Option<Element> {
    let rows = report.rows.iter().filter(|row| row.experiment == experiment);
    let found: Vec<Found<'_>> = rows
        .filter_map(|row| Some((Link::parse(&row.path)?, row)))
        .filter(|(_, row)| row.gbit_s.is_some())
        .collect();
    if found.is_empty() {
        return volume::section(report, experiment, palette);
    }
    let mut kinds: Vec<(Option<f64>, f64)> = found
        .iter()
        .map(|(link, _)| (link.rate, -link.bit_errors))
        .collect();
    kinds.sort_by(|a, b| b.partial_cmp(a).unwrap_or(std::cmp::Ordering::Equal));
    kinds.dedup();
    let mut section = el("section")
        .attr("id", experiment)
        .child(el("h2").text(figures::title(experiment)))
        .child(el("p").class("lead").text(definition(experiment)));
    for (rate, errors) in kinds {
        let here: Vec<Found<'_>> = found
            .iter()
            .filter(|(link, _)| (link.rate, -link.bit_errors) == (rate, errors))
            .copied()
            .collect();
        section = section.child(at_rate(rate, -errors, &here, palette));
    }
    let here = report.rows.iter().filter(|row| row.experiment == experiment);
    let others: Vec<&Row> = here.filter(|row| Link::parse(&row.path).is_none()).collect();
    if !others.is_empty() {
        let title = el("h3").text("Jitter, bursts, policers and rates that change");
        section = section.child(el("div").child(title).child(table::detail(&others, palette)));
    }
    Some(section)
}

fn at_rate(rate: Option<f64>, bit_errors: f64, found: &[Found<'_>], palette: &Palette) -> Element {
    let rows: Vec<&Row> = found.iter().map(|(_, row)| *row).collect();
    let mut title = match rate {
        Some(rate) => format!("{} Mbit/s", number::tick(rate)),
        None => "rate not stated".to_owned(),
    };
    if bit_errors > 0.0 {
        title.push_str(&format!(", bit error rate {bit_errors:e}"));
    }
    let mut block = el("div").child(el("h3").text(&title));
    if let Some(sentence) = summary::sentence(&rows) {
        block = block.child(el("p").class("lead").text(sentence));
    }
    let transports = transports(found);
    let maps = transports.iter().map(|name| {
        card(
            name,
            "Mbit/s, below it the share of the link",
            heat::draw(&goodput(name, rate, found, palette)),
        )
    });
    let mut cards = el("div").class("cards small");
    if let Some(map) = beside_best(found) {
        let words = "Above 1: xtp carried more than the best rival of the cell, whose name stands below";
        cards = cards.child(card("xtp / best rival", words, heat::draw(&map)));
    }
    // One column would say what the curves say better.
    if losses(found).len() > 1 {
        block = block.child(cards.children(maps));
    }
    let curves: Vec<Element> = losses(found)
        .into_iter()
        .filter_map(|loss| against_rtt(loss, rate, found, palette))
        .collect();
    if !curves.is_empty() {
        block = block.child(el("div").class("cards").children(curves));
    }
    let mut sorted = found.to_vec();
    sorted.sort_by(|(a, x), (b, y)| {
        (a.rtt, a.loss)
            .partial_cmp(&(b.rtt, b.loss))
            .unwrap_or(std::cmp::Ordering::Equal)
            .then(rank(&x.transport).cmp(&rank(&y.transport)))
    });
    let rows: Vec<&Row> = sorted.into_iter().map(|(_, row)| row).collect();
    block.child(table::detail(&rows, palette))
}

fn transports<'a>(found: &[Found<'a>]) -> Vec<&'a str> {
    let mut names: Vec<&str> = found.iter().map(|(_, row)| row.transport.as_str()).collect();
    names.sort_by_key(|name| (rank(name), *name));
    names.dedup();
    names
}

fn distinct(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

fn losses(found: &[Found<'_>]) -> Vec<f64> {
    distinct(found.iter().map(|(link, _)| link.loss))
}

/// A map over all round-trip times and loss rates of `found`.
fn map(title: &str, class: &str, found: &[Found<'_>], cell: impl Fn(&[&Row]) -> Option<Cell>) -> HeatMap {
    let rtts = distinct(found.iter().map(|(link, _)| link.rtt));
    let losses = losses(found);
    let at = |rtt: f64, loss: f64| {
        let here = found
            .iter()
            .filter(|(link, _)| link.rtt == rtt && link.loss == loss);
        let rows: Vec<&Row> = here.map(|(_, row)| *row).collect();
        cell(&rows)
    };
    HeatMap {
        title: title.to_owned(),
        class: class.to_owned(),
        columns: losses
            .iter()
            .map(|loss| format!("{} %", number::tick(*loss)))
            .collect(),
        rows: rtts
            .iter()
            .map(|rtt| format!("{} ms", number::tick(*rtt)))
            .collect(),
        column_label: "packets lost".to_owned(),
        row_label: "RTT".to_owned(),
        cells: rtts
            .iter()
            .map(|&rtt| losses.iter().map(|&loss| at(rtt, loss)).collect())
            .collect(),
    }
}

fn goodput(transport: &str, rate: Option<f64>, found: &[Found<'_>], palette: &Palette) -> HeatMap {
    let greatest = found.iter().filter_map(|(_, row)| row.gbit_s).fold(0.0, f64::max) * 1000.0;
    let full = rate.unwrap_or(greatest).max(f64::MIN_POSITIVE);
    map(transport, palette.class(transport), found, |rows| {
        let row = rows.iter().find(|row| row.transport == transport)?;
        let mbit_s = row.gbit_s? * 1000.0;
        let share = mbit_s / full;
        Some(Cell {
            share,
            text: number::short(mbit_s),
            below: format!("{:.0} %", share * 100.0),
            class: None,
        })
    })
}

/// Ratio of xtp to the best rival in every cell.
fn beside_best(found: &[Found<'_>]) -> Option<HeatMap> {
    let ratio = |rows: &[&Row]| {
        let xtp = rows.iter().find(|row| row.transport == "xtp").copied();
        rows.iter()
            .filter(|row| is_rival(&row.transport))
            .filter_map(|row| Some((advantage(row, xtp)?, row.transport.clone())))
            .min_by(|a, b| a.0.total_cmp(&b.0))
    };
    let map = map("xtp / best rival", "c-good", found, |rows| {
        let (factor, rival) = ratio(rows)?;
        Some(Cell {
            share: (factor.ln().abs() / 2f64.ln()).clamp(0.0, 1.0),
            text: number::factor(factor),
            below: rival,
            class: (factor < 1.0).then_some("c-bad"),
        })
    });
    let any = map.cells.iter().flatten().any(Option::is_some);
    any.then_some(map)
}

/// Goodput against round-trip time at one loss rate.
fn against_rtt(loss: f64, rate: Option<f64>, found: &[Found<'_>], palette: &Palette) -> Option<Element> {
    let mut names = transports(found);
    names.reverse();
    let curves: Vec<Curve> = names
        .into_iter()
        .map(|name| {
            let here = found
                .iter()
                .filter(|(link, row)| link.loss == loss && row.transport == name);
            let mut points: Vec<Point> = here
                .filter_map(|(link, row)| {
                    Some(Point {
                        x: link.rtt,
                        y: row.gbit_s? * 1000.0,
                        spread: row.gbit_s_spread.map(|spread| spread.map(|value| value * 1000.0)),
                    })
                })
                .collect();
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            Curve {
                label: name.to_owned(),
                class: palette.class(name).to_owned(),
                points,
                dashed: false,
                dots: true,
            }
        })
        .filter(|curve| curve.points.len() > 1)
        .collect();
    let errors = found.first().map_or(0.0, |(link, _)| link.bit_errors);
    let impaired = match errors > 0.0 {
        true => format!("bit error rate {errors:e}"),
        false => format!("{} % lost", number::tick(loss)),
    };
    let title = format!("Goodput against round-trip time, {impaired}");
    let chart = LineChart {
        title: title.clone(),
        x_label: "round-trip time, ms".to_owned(),
        x: Kind::Along,
        y_label: "goodput, Mbit/s".to_owned(),
        y: Kind::Linear,
        unit: "Mbit/s",
        curves,
        reference: rate.map(|rate| (rate, "link".to_owned())),
    };
    Some(card(&title, "", lines::draw(&chart)?))
}

#[cfg(test)]
#[path = "wan_tests.rs"]
mod tests;
