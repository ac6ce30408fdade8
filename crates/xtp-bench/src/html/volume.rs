//! Experiments told by bars: bulk with its cost in CPU time, scale with its memory, patterns, and those that this
//! program does not know.

use super::axis::Kind;
use super::bars::{self, BarRow, Column, Value};
use super::by_size::card;
use super::element::{Element, el};
use super::figures::{self, Figure};
use super::groups::{self, Group};
use super::lines::{self, Curve, LineChart, Point};
use super::number;
use super::palette::Palette;
use super::{summary, table};
use crate::report::Report;
use crate::row::Row;

fn definition(experiment: &str) -> &'static str {
    match experiment {
        "bulk" => {
            "One association, the same message from the processor's cache as fast as it goes, to a receiver that counts: the \
             most that can be had. CPU is user and system time of both processes; softirq time is the whole host's and \
             stands beside it."
        }
        super::clean::FRESH => {
            "One association, from more memory than any cache holds to a receiver that reads every octet: what programs have. \
             TCP sends in four ways, of which the best counts."
        }
        "sharing" => {
            "Flows over one link, the second three seconds after the first: what each gets in the last two thirds."
        }
        "ratecontrol" => "From a fast to a slow machine: a link with a short queue, the rate set or not.",
        "scale" => "Many associations: set-ups a second, and the memory each one costs while open.",
        "random" => {
            "Of many open associations one after the other is used, each time another: a message there and back."
        }
        "stencil" => "Every process exchanges its borders with its neighbours in a grid, round after round.",
        "bag" => "Workers fetch tasks over associations made on the fly.",
        "phases" => "The pattern of communication changes from phase to phase.",
        "multicast" => {
            "A file from one sender to many receivers, each a host of its own: goodput to each, from the start of the \
             sender to the end of the last receiver. Named are receivers, size, uplink, and loss of each receiver."
        }
        "messages" => {
            "Messages of one size after the other from one sender to a group: from the first octet to the last confirmation. \
             xtp: members report by name (mode U); xtp-bucket: to everybody, collected in buckets (mode B); xtp-stream: an \
             association with one receiver."
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
        if let Some(block) = block(group, palette) {
            section = section.child(block);
            drawn = true;
        }
    }
    drawn.then_some(section)
}

fn block(group: &Group<'_>, palette: &Palette) -> Option<Element> {
    let mut pictures: Vec<Element> = Vec::new();
    let sizes = group.sizes();
    if sizes.len() > 3 {
        pictures.extend(against_size(group, palette));
        pictures.extend(at_size(group, *sizes.last()?, palette));
    } else {
        pictures.extend(sizes.iter().filter_map(|&size| at_size(group, size, palette)));
    }
    if pictures.is_empty() {
        return None;
    }
    let mut block = el("div").child(el("h3").text(group.conditions()));
    if let Some(sentence) = summary::sentence(&group.rows) {
        block = block.child(el("p").class("lead").text(sentence));
    }
    let mut rows = group.rows.clone();
    rows.sort_by_key(|row| (row.size, super::palette::rank(&row.transport)));
    let table = if sizes.len() > 3 {
        table::matrix(group, palette)
    } else {
        table::detail(&rows, palette)
    };
    Some(block.children(pictures).child(table))
}

/// Columns of the bars: the main figure and what it costs.
fn values(row: &Row, kind: figures::Kind, xtp: Option<&Row>) -> Option<(Figure, Vec<Option<Value>>)> {
    let figure = figures::of_kind(row, kind)?;
    let ratio = |own: Option<f64>, stated: Option<f64>, ours: Option<f64>| {
        let ratio = stated.or_else(|| Some(own? / ours?));
        match ratio {
            Some(ratio) if row.transport != "xtp" && row.experiment != "sharing" && ratio.is_finite() => {
                number::factor(ratio)
            }
            _ => String::new(),
        }
    };
    let plain = |value: Option<f64>, note: String| {
        value.map(|value| Value {
            value,
            spread: None,
            note,
        })
    };
    let ours = xtp.and_then(|xtp| figures::of_kind(xtp, kind));
    let main = Value {
        value: figure.value,
        spread: figure.spread,
        note: ratio(Some(figure.value), row.ratio_to_xtp, ours.map(|ours| ours.value)),
    };
    let cpu = ratio(
        row.cpu_s_per_gb,
        row.ratio_cpu_to_xtp,
        xtp.and_then(|xtp| xtp.cpu_s_per_gb),
    );
    let memory = ratio(
        row.octets_per_association,
        None,
        xtp.and_then(|xtp| xtp.octets_per_association),
    );
    let seen = |value: Option<f64>, of: figures::Kind| if kind == of { None } else { value };
    Some((
        figure,
        vec![
            Some(main),
            plain(row.cpu_s_per_gb, cpu),
            plain(row.softirq_s_per_gb, String::new()),
            plain(row.octets_per_association, memory),
            plain(row.distance.share.map(|share| share * 100.0), String::new()),
            plain(
                row.distance.retransmitted.map(|share| share * 100.0),
                String::new(),
            ),
            plain(seen(row.ops_per_s, figures::Kind::Operations), String::new()),
            plain(row.packets_per_op, String::new()),
        ],
    ))
}

fn columns(kind: figures::Kind) -> Vec<Column> {
    let column = |label: &str, share| Column {
        label: label.to_owned(),
        share,
    };
    vec![
        column(&format!("{}, ratio to xtp", kind.label()), 0.5),
        column("CPU s/GB, ratio to xtp", 0.32),
        column("softirq s/GB", 0.2),
        column("octets an association", 0.32),
        column("share of the link, %", 0.32),
        column("sent again, %", 0.32),
        column("operations/s", 0.22),
        column("packets an operation", 0.22),
    ]
}

fn at_size(group: &Group<'_>, size: Option<u64>, palette: &Palette) -> Option<Element> {
    let xtp = group.row("xtp", size);
    let of_group = || {
        group
            .rows
            .iter()
            .find(|row| row.size == size && figures::main(row).is_some())
    };
    let kind = xtp
        .and_then(figures::main)
        .or_else(|| of_group().and_then(|row| figures::main(row)))?
        .kind;
    let mut rows: Vec<(f64, BarRow)> = Vec::new();
    for transport in group.transports() {
        let Some(row) = group.row(transport, size) else {
            continue;
        };
        let Some((figure, values)) = values(row, kind, xtp) else {
            continue;
        };
        let order = if kind == figures::Kind::Time {
            figure.value
        } else {
            -figure.value
        };
        rows.push((
            order,
            BarRow {
                label: transport.to_owned(),
                class: palette.class(transport).to_owned(),
                values,
            },
        ));
    }
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let rows: Vec<BarRow> = rows.into_iter().map(|(_, row)| row).collect();
    let octets = size.map_or_else(String::new, |size| {
        format!(", messages of {} octets", number::octets(size))
    });
    let title = format!("{}{octets}", figures::title(group.experiment));
    let svg = bars::draw(&title, &columns(kind), &rows)?;
    Some(card(
        &title,
        "Best first; thin lines: from the slowest round to the fastest.",
        svg,
    ))
}

/// The main figure against message size.
fn against_size(group: &Group<'_>, palette: &Palette) -> Option<Element> {
    let kind = group.rows.iter().find_map(|row| figures::main(row))?.kind;
    let mut transports = group.transports();
    transports.reverse();
    let curves: Vec<Curve> = transports
        .into_iter()
        .map(|transport| Curve {
            label: transport.to_owned(),
            class: palette.class(transport).to_owned(),
            points: group
                .sizes()
                .into_iter()
                .filter_map(|size| {
                    let figure = figures::of_kind(group.row(transport, size)?, kind)?;
                    Some(Point {
                        x: size? as f64,
                        y: figure.value,
                        spread: figure.spread,
                    })
                })
                .collect(),
            dashed: false,
            dots: true,
        })
        .collect();
    let title = format!(
        "{}, {}: against message size",
        figures::title(group.experiment),
        group.conditions()
    );
    let chart = LineChart {
        title: title.clone(),
        x_label: "message size, octets (log)".to_owned(),
        x: Kind::Octets,
        y_label: kind.label().to_owned(),
        y: if kind == figures::Kind::Time {
            Kind::Log
        } else {
            Kind::Linear
        },
        unit: kind.unit(),
        curves,
        reference: None,
    };
    let picture = card(&title, "", lines::draw(&chart)?);
    Some(el("div").class("cards").child(picture))
}
