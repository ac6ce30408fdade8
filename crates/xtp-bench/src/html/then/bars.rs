//! Single figures then and now as bars: one column a paper or a condition of ours.

use super::{dated, groups_with};
use crate::html::bars::{self, BarRow, Column, Value};
use crate::html::by_size::card;
use crate::html::element::{Element, el};
use crate::html::figures;
use crate::html::groups::{self, Group};
use crate::html::number;
use crate::html::palette::{Palette, rank};
use crate::papers::{self, Paper, Printed};
use crate::report::Report;

/// Conditions of ours shown beside a paper.
const SHOWN: usize = 3;

/// A figure of one transport in one column.
type Entry = (String, f64);

/// Columns with their entries, by transport.
struct Comparison {
    title: String,
    explained: String,
    columns: Vec<(String, Vec<Entry>)>,
    /// Order of the bars where they stand for no transports.
    order: Vec<String>,
}

fn draw(comparison: &Comparison, palette: &Palette) -> Option<Element> {
    if comparison.columns.len() < 2 {
        return None;
    }
    let transports = comparison.order.is_empty();
    let mut names: Vec<&str> = comparison.order.iter().map(String::as_str).collect();
    for (name, _) in comparison.columns.iter().flat_map(|(_, entries)| entries) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    if transports {
        names.sort_by_key(|name| rank(name));
    }
    let rows: Vec<BarRow> = names
        .into_iter()
        .map(|name| BarRow {
            label: name.to_owned(),
            class: if transports { palette.class(name) } else { "c-xtp" }.to_owned(),
            values: comparison
                .columns
                .iter()
                .map(|(_, entries)| {
                    let (_, value) = entries.iter().find(|(own, _)| own == name)?;
                    Some(Value {
                        value: *value,
                        spread: None,
                        note: String::new(),
                    })
                })
                .collect(),
        })
        .collect();
    let columns: Vec<Column> = comparison
        .columns
        .iter()
        .map(|(label, _)| Column {
            label: label.clone(),
            share: 1.0,
        })
        .collect();
    let picture = bars::draw_alike(&comparison.title, &columns, &rows)?;
    let figure = card(&comparison.title, &comparison.explained, picture);
    Some(el("div").child(figure))
}

fn entries(printed: &[Printed], scale: f64) -> Vec<Entry> {
    printed
        .iter()
        .map(|printed| (printed.transport.to_owned(), printed.value / scale))
        .collect()
}

/// Times of all transports of a group at the size nearest to `size`, as multiples of `base`.
fn multiples(group: &Group<'_>, size: u64, base: &str) -> Option<(String, Vec<Entry>)> {
    let sizes = group.sizes();
    let near = sizes
        .into_iter()
        .flatten()
        .min_by_key(|have| have.abs_diff(size))?;
    let time = |transport: &str| {
        let row = group.row(transport, Some(near))?;
        Some(figures::of_kind(row, figures::Kind::Time)?.value)
    };
    let base = time(base)?;
    let entries = group
        .transports()
        .into_iter()
        .filter_map(|transport| Some((transport.to_owned(), time(transport)? / base)))
        .collect();
    let label = format!("now: {}, {} octets", group.conditions(), number::octets(near));
    Some((label, entries))
}

fn paper_column(paper: &Paper, printed: &[Printed], scale: f64) -> (String, Vec<Entry>) {
    (dated(paper), entries(printed, scale))
}

/// Open, send 16 octets, close: multiples of XTP's time.
pub(super) fn one_shot(report: &Report, palette: &Palette) -> Option<Element> {
    let xtp = papers::ONE_SHOT_US.first()?.value;
    let mut columns = vec![paper_column(&papers::VIRGINIA, papers::ONE_SHOT_US, xtp)];
    let groups = groups_with(report, "oneshot", &["xtp"]);
    columns.extend(
        groups
            .iter()
            .take(SHOWN)
            .filter_map(|group| multiples(group, 16, "xtp")),
    );
    let comparison = Comparison {
        title: "Open, send 16 octets, close, as a multiple of XTP's time".to_owned(),
        explained: format!(
            "{}: XTP {} ms, TCP {} ms, the sender's view",
            papers::ONE_SHOT_US[0].place,
            number::tick(papers::ONE_SHOT_US[0].value / 1000.0),
            number::tick(papers::ONE_SHOT_US[1].value / 1000.0)
        ),
        columns,
        order: Vec::new(),
    };
    draw(&comparison, palette)
}

/// Packets of a one-shot.
pub(super) fn packets(report: &Report, palette: &Palette) -> Option<Element> {
    let built: Vec<Printed> = papers::ONE_SHOT_PACKETS
        .iter()
        .filter(|printed| !printed.variant.contains("theory"))
        .copied()
        .collect();
    let mut columns = vec![paper_column(&papers::SANDIA, &built, 1.0)];
    for group in groups::groups(&report.rows, "oneshot").iter().take(SHOWN) {
        let size = group.small_size();
        let counted: Vec<Entry> = group
            .transports()
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), group.row(name, size)?.packets_per_op?)))
            .collect();
        if !counted.is_empty() {
            columns.push((format!("now: {}", group.conditions()), counted));
        }
    }
    let comparison = Comparison {
        title: "Packets of a one-shot".to_owned(),
        explained:
            "section 4: MXTP took five through TLI, three are needed; section 3.1: TCP at least nine. \
                    R-UDP takes three by construction"
                .to_owned(),
        columns,
        order: Vec::new(),
    };
    draw(&comparison, palette)
}

/// Transactions as multiples of T-UDP.
pub(super) fn transaction(report: &Report, palette: &Palette) -> Option<Element> {
    let mut columns = vec![paper_column(&papers::SANDIA, papers::TRANSACTION_OVERHEAD, 1.0)];
    let groups = groups_with(report, "transaction", &["xtp", "t-udp"]);
    columns.extend(
        groups
            .iter()
            .take(SHOWN)
            .filter_map(|group| multiples(group, 4, "t-udp")),
    );
    let comparison = Comparison {
        title: "Transaction with set-up and tear-down, as a multiple of T-UDP's".to_owned(),
        explained:
            "section 4, Figure 8: overheads of XTP and TCP \"roughly four and six times that of T-UDP\"; \
                    now: medians of the smallest messages"
                .to_owned(),
        columns,
        order: Vec::new(),
    };
    draw(&comparison, palette)
}

/// XTP's throughput over TCP's, by message size.
pub(super) fn throughput(report: &Report, palette: &Palette) -> Option<Element> {
    let of = |transport: &str, size| {
        papers::THROUGHPUT_MBIT_S
            .iter()
            .find(|printed| printed.transport == transport && printed.size == Some(size))
            .map(|printed| printed.value)
    };
    let label = number::size;
    let mut sizes: Vec<u64> = vec![4096, 8192];
    let then: Vec<Entry> = [4096, 8192]
        .into_iter()
        .filter_map(|size| Some((label(size), of("xtp", size)? / of("tcp", size)?)))
        .collect();
    let mut columns = vec![(dated(&papers::VIRGINIA), then)];
    for group in groups_with(report, "bulk", &["xtp", "tcp"]).iter().take(SHOWN) {
        let ratio = |size| {
            let rate = |name| Some(figures::of_kind(group.row(name, size)?, figures::Kind::Rate)?.value);
            Some((label(size?), rate("xtp")? / rate("tcp")?))
        };
        let now: Vec<Entry> = group.sizes().into_iter().filter_map(ratio).collect();
        if !now.is_empty() {
            sizes.extend(group.sizes().into_iter().flatten());
            columns.push((format!("now: {}", group.conditions()), now));
        }
    }
    sizes.sort_unstable();
    sizes.dedup();
    let comparison = Comparison {
        title: "Throughput against message size: XTP's as a multiple of TCP's".to_owned(),
        explained: "Figure 3.16: 3.16 and 3.18 Mbit/s with XTP's data checksum, TCP 2.68 and 2.39".to_owned(),
        columns,
        order: sizes.into_iter().map(label).collect(),
    };
    draw(&comparison, palette)
}

/// A user-level transport beside the kernel's TCP: round trip of 4 octets.
pub(super) fn user_level(report: &Report, palette: &Palette) -> Option<Element> {
    let linux: Vec<Printed> = papers::PVM_ROUND_TRIP_US
        .iter()
        .filter(|printed| printed.variant.contains("Linux"))
        .copied()
        .collect();
    let tcp = linux.iter().find(|printed| printed.transport == "tcp")?.value;
    let mut columns = vec![paper_column(&papers::MARYLAND, &linux, tcp)];
    let groups = groups_with(report, "pingpong", &["xtp", "tcp"]);
    for group in groups.iter().take(SHOWN) {
        let (label, mut entries) = multiples(group, 4, "tcp")?;
        entries.retain(|(name, _)| name == "xtp" || name == "tcp");
        columns.push((label, entries));
    }
    let comparison = Comparison {
        title: "Round trip of 4 octets: user-level transport as a multiple of kernel TCP".to_owned(),
        explained:
            "section 3, Figure 1(a): through PVM 527 µs over Linux TCP, 151 µs over U-Net active messages; \
                    ours without a message-passing library"
                .to_owned(),
        columns,
        order: Vec::new(),
    };
    draw(&comparison, palette)
}
