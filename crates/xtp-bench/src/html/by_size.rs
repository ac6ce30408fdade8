//! Experiments of single messages: time against message size, and the ratio to xtp beside it.

use super::axis::Kind;
use super::bars::{self, BarRow, Column, Value};
use super::element::{Element, el};
use super::figures::{self, advantage};
use super::groups::{self, Group};
use super::lines::{self, Curve, LineChart, Point};
use super::number;
use super::palette::Palette;
use super::{summary, table};
use crate::report::{Fit, Report};
use crate::row::Row;

/// What an experiment measures, in the words of its definition.
fn definition(experiment: &str) -> &'static str {
    match experiment {
        "pingpong" => {
            "Full round trips over an established association: request and echo have the same size."
        }
        "oneshot" => {
            "One message to a receiver that nothing is known about: from the call that opens to the moment the \
             sender knows that the receiving process has it and its own side is closed."
        }
        "transaction" => {
            "One request and one answer of the same size with set-up and tear-down, nothing established before."
        }
        _ => "",
    }
}

/// The section of one experiment.
pub(super) fn section(report: &Report, experiment: &str, palette: &Palette) -> Option<Element> {
    let groups = groups::groups(&report.rows, experiment);
    let mut section = el("section")
        .attr("id", experiment)
        .child(el("h2").text(figures::title(experiment)))
        .child(el("p").class("lead").text(definition(experiment)));
    let mut drawn = false;
    for group in &groups {
        if let Some(block) = block(group, report, palette) {
            section = section.child(block);
            drawn = true;
        }
    }
    drawn.then_some(section)
}

fn block(group: &Group<'_>, report: &Report, palette: &Palette) -> Option<Element> {
    let mut cards = el("div").class("cards");
    let mut drawn = false;
    for chart in [times(group, palette), ratios(group, palette)]
        .into_iter()
        .flatten()
    {
        cards = cards.child(chart);
        drawn = true;
    }
    let bars = at_one_size(group, palette);
    if !drawn && bars.is_none() {
        return None;
    }
    let mut block = el("div").child(el("h3").text(group.conditions()));
    if let Some(sentence) = summary::sentence(&group.rows) {
        block = block.child(el("p").class("lead").text(sentence));
    }
    if drawn {
        block = block.child(cards);
    }
    let fits: Vec<&Fit> = report
        .fits
        .iter()
        .filter(|fit| fit.experiment == group.experiment && fit.path == group.path && fit.wait == group.wait)
        .collect();
    Some(
        block
            .maybe(bars)
            .child(table::matrix(group, palette))
            .maybe(fit_table(&fits, palette)),
    )
}

/// Curves of a group: one a transport that was measured at two sizes at least.
fn curves(group: &Group<'_>, palette: &Palette, value: impl Fn(&Row) -> Option<Point>) -> Vec<Curve> {
    let mut transports = group.transports();
    transports.reverse();
    transports
        .into_iter()
        .filter_map(|transport| {
            let points: Vec<Point> = group
                .sizes()
                .into_iter()
                .filter_map(|size| group.row(transport, size).and_then(&value))
                .collect();
            (points.len() > 1).then(|| Curve {
                label: transport.to_owned(),
                class: palette.class(transport).to_owned(),
                points,
                dashed: false,
                dots: true,
            })
        })
        .collect()
}

/// Time against message size, both logarithmic.
fn times(group: &Group<'_>, palette: &Palette) -> Option<Element> {
    let curves = curves(group, palette, |row| {
        let figure = figures::of_kind(row, figures::Kind::Time)?;
        Some(Point {
            x: row.size? as f64,
            y: figure.value,
            spread: figure.spread,
        })
    });
    let name = figures::title(group.experiment);
    let chart = LineChart {
        title: format!("{name}, {}: median against message size", group.conditions()),
        x_label: "message size, octets (log)".to_owned(),
        x: Kind::Octets,
        y_label: "median, µs (log; less is better)".to_owned(),
        y: Kind::Log,
        unit: "µs",
        curves,
        reference: None,
    };
    Some(card(
        &format!("{name}: time"),
        "Bands: from the fastest round to the slowest.",
        lines::draw(&chart)?,
    ))
}

/// Ratio to xtp against message size.
fn ratios(group: &Group<'_>, palette: &Palette) -> Option<Element> {
    let mut curves = curves(group, palette, |row| {
        let xtp = group.row("xtp", row.size);
        Some(Point {
            x: row.size? as f64,
            y: advantage(row, xtp)?,
            spread: None,
        })
    });
    curves.retain(|curve| curve.label != "xtp");
    let name = figures::title(group.experiment);
    let chart = LineChart {
        title: format!(
            "{name}, {}: ratio to xtp against message size",
            group.conditions()
        ),
        x_label: "message size, octets (log)".to_owned(),
        x: Kind::Octets,
        y_label: "rival / xtp (log)".to_owned(),
        y: Kind::Log,
        unit: "of xtp's time",
        curves,
        reference: Some((1.0, "xtp".to_owned())),
    };
    Some(card(
        &format!("{name}: times of xtp"),
        "Medians of per-round ratios; above the dotted line xtp is faster.",
        lines::draw(&chart)?,
    ))
}

/// Bars at one size: one-shots and transactions, and whatever was measured at one size only.
fn at_one_size(group: &Group<'_>, palette: &Palette) -> Option<Element> {
    if group.experiment == "pingpong" && group.sizes().len() > 1 {
        return None;
    }
    let size = group.small_size();
    let xtp = group.row("xtp", size);
    let mut rows: Vec<(f64, BarRow)> = Vec::new();
    for transport in group.transports() {
        let Some(row) = group.row(transport, size) else {
            continue;
        };
        let Some(figure) = figures::main(row) else {
            continue;
        };
        let note = match advantage(row, xtp) {
            Some(factor) if transport != "xtp" => number::factor(factor),
            _ => String::new(),
        };
        let plain = |value: Option<f64>| {
            value.map(|value| Value {
                value,
                spread: None,
                note: String::new(),
            })
        };
        let main = Value {
            value: figure.value,
            spread: figure.spread,
            note,
        };
        rows.push((
            figure.value,
            BarRow {
                label: transport.to_owned(),
                class: palette.class(transport).to_owned(),
                values: vec![Some(main), plain(row.packets_per_op), plain(row.syscalls_per_op)],
            },
        ));
    }
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let rows: Vec<BarRow> = rows.into_iter().map(|(_, row)| row).collect();
    let column = |label: &str, share| Column {
        label: label.to_owned(),
        share,
    };
    let columns = [
        column("median, µs, and times of xtp", 0.56),
        column("packets an operation", 0.22),
        column("system calls an operation", 0.22),
    ];
    let octets = size.map_or_else(String::new, |size| format!(", {} octets", number::octets(size)));
    let title = format!("{}{octets}", figures::title(group.experiment));
    let svg = bars::draw(&title, &columns, &rows)?;
    Some(card(
        &title,
        "Fastest first; thin lines: from the fastest round to the slowest.",
        svg,
    ))
}

fn fit_table(fits: &[&Fit], palette: &Palette) -> Option<Element> {
    if fits.is_empty() {
        return None;
    }
    let head = [
        "line through all sizes",
        "overhead, µs",
        "± 95 %",
        "per octet, ns",
        "± 95 %",
    ];
    let mut table = el("table").child(el("tr").children(head.map(|name| el("th").text(name))));
    for fit in fits {
        let figures = [
            fit.overhead_us,
            fit.overhead_ci95,
            fit.per_octet_us * 1000.0,
            fit.per_octet_ci95 * 1000.0,
        ];
        table = table.child(
            el("tr")
                .class(palette.class(&fit.transport))
                .child(el("td").text(&fit.transport))
                .children(figures.map(|figure| el("td").text(number::short(figure)))),
        );
    }
    Some(el("div").class("scroll").child(table))
}

/// A picture with its caption.
pub(super) fn card(title: &str, explained: &str, picture: Element) -> Element {
    let mut caption = el("figcaption").text(title);
    if !explained.is_empty() {
        caption = caption.child(el("small").text(explained));
    }
    el("figure").child(caption).child(picture)
}
