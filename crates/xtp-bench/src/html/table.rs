//! Tables: medians with their spread and ratio, as a matrix over sizes or with one line a row.

use super::element::{Element, el};
use super::figures::{self, Kind, advantage};
use super::groups::Group;
use super::number;
use super::palette::Palette;
use crate::row::Row;

/// Transports down, sizes across: median, spread over rounds, 99th percentile, ratio to xtp.
pub(super) fn matrix(group: &Group<'_>, palette: &Palette) -> Element {
    let sizes = group.sizes();
    let heads = sizes.iter().map(|size| {
        let name = size.map_or_else(|| "–".to_owned(), number::size);
        el("th").text(name)
    });
    let unit = group.rows.iter().find_map(|row| figures::main(row));
    let unit = unit.map_or("", |figure| figure.kind.unit());
    let mut table = el("table").child(el("tr").child(el("th").text(unit)).children(heads));
    for transport in group.transports() {
        let mut line = el("tr")
            .class(palette.class(transport))
            .child(el("td").text(transport));
        for &size in &sizes {
            let xtp = group.row("xtp", size);
            line = line.child(cell(group.row(transport, size), xtp));
        }
        table = table.child(line);
    }
    el("div").class("scroll").child(table)
}

fn cell(row: Option<&Row>, xtp: Option<&Row>) -> Element {
    let Some((row, figure)) = row.and_then(|row| Some((row, figures::main(row)?))) else {
        return el("td").text("–");
    };
    let mut cell = el("td").text(number::short(figure.value));
    if let Some([low, high]) = figure.spread {
        let spread = format!("{}–{}", number::short(low), number::short(high));
        cell = cell.child(el("small").text(spread));
    }
    if let Some(p99) = row.p99_us {
        cell = cell.child(el("small").text(format!("p99 {}", number::short(p99))));
    }
    if let Some(cpu) = row.cpu_s_per_gb {
        cell = cell.child(el("small").text(format!("CPU {} s/GB", number::short(cpu))));
    }
    cell.maybe(ratio(row, xtp))
}

/// How far xtp is ahead of the row, or behind it.
fn ratio(row: &Row, xtp: Option<&Row>) -> Option<Element> {
    // In sharing neither more nor less than the other is better.
    if row.transport == "xtp" || row.experiment == "sharing" {
        return None;
    }
    let factor = advantage(row, xtp)?;
    let (class, shown) = match factor >= 1.0 {
        true => ("good", format!("xtp {} ahead", number::factor(factor))),
        false => ("bad", format!("xtp {} behind", number::factor(1.0 / factor))),
    };
    Some(el("em").class(class).text(shown))
}

/// A column of the table with one line a row.
struct Field {
    name: &'static str,
    value: fn(&Row) -> Option<f64>,
    spread: fn(&Row) -> Option<[f64; 2]>,
}

fn none(_: &Row) -> Option<[f64; 2]> {
    None
}

const FIELDS: &[Field] = &[
    Field {
        name: "p50, µs",
        value: |row| row.p50_us,
        spread: |row| row.p50_us_spread,
    },
    Field {
        name: "p99, µs",
        value: |row| row.p99_us,
        spread: none,
    },
    Field {
        name: "Gbit/s",
        value: |row| row.gbit_s.filter(|_| !figures::on_link(&row.experiment)),
        spread: |row| row.gbit_s_spread,
    },
    Field {
        name: "Mbit/s",
        value: |row| {
            Some(
                figures::of_kind(row, Kind::SlowRate)
                    .filter(|_| figures::on_link(&row.experiment))?
                    .value,
            )
        },
        spread: |row| figures::of_kind(row, Kind::SlowRate)?.spread,
    },
    Field {
        name: "12th round trip, Mbit/s",
        value: |row| row.distance.gbit_s_12th_rtt.map(|rate| rate * 1000.0),
        spread: none,
    },
    Field {
        name: "settled, Mbit/s",
        value: |row| row.distance.gbit_s_settled.map(|rate| rate * 1000.0),
        spread: none,
    },
    Field {
        name: "share, %",
        value: |row| row.distance.share.map(|share| share * 100.0),
        spread: none,
    },
    Field {
        name: "Jain's index",
        value: |row| row.distance.jain,
        spread: none,
    },
    Field {
        name: "operations/s",
        value: |row| row.ops_per_s,
        spread: none,
    },
    Field {
        name: "CPU s/GB",
        value: |row| row.cpu_s_per_gb,
        spread: none,
    },
    Field {
        name: "softirq s/GB",
        value: |row| row.softirq_s_per_gb,
        spread: none,
    },
    Field {
        name: "packets/op",
        value: |row| row.packets_per_op,
        spread: none,
    },
    Field {
        name: "system calls/op",
        value: |row| row.syscalls_per_op,
        spread: none,
    },
    Field {
        name: "instructions/op",
        value: |row| row.instructions_per_op,
        spread: none,
    },
    Field {
        name: "octets/association",
        value: |row| row.octets_per_association,
        spread: none,
    },
    Field {
        name: "mean in queue, ms",
        value: |row| row.queue_mean_ms,
        spread: none,
    },
    Field {
        name: "95 % in queue, ms",
        value: |row| row.distance.queue_p95_ms,
        spread: none,
    },
    Field {
        name: "dropped by the queue, %",
        value: |row| row.distance.queue_drops.map(|share| share * 100.0),
        spread: none,
    },
    Field {
        name: "sent again, %",
        value: |row| row.distance.retransmitted.map(|share| share * 100.0),
        spread: none,
    },
    Field {
        name: "seconds",
        value: |row| row.delivery.seconds,
        spread: |row| row.delivery.seconds_spread,
    },
    Field {
        name: "end of the sender, s",
        value: |row| row.delivery.sender_s,
        spread: none,
    },
    Field {
        name: "recovery of one, s",
        value: |row| row.delivery.disturbed_s,
        spread: none,
    },
    Field {
        name: "the same run without it, s",
        value: |row| row.delivery.undisturbed_s,
        spread: none,
    },
    Field {
        name: "others slower by, %",
        value: |row| row.delivery.others_slower_percent,
        spread: none,
    },
    Field {
        name: "octets sent / octets",
        value: |row| row.delivery.wire_ratio,
        spread: none,
    },
    Field {
        name: "packets sent",
        value: |row| row.delivery.data_packets,
        spread: none,
    },
    Field {
        name: "packets back",
        value: |row| row.delivery.feedback_packets,
        spread: none,
    },
    Field {
        name: "CPU ratio to xtp",
        value: |row| row.ratio_cpu_to_xtp,
        spread: none,
    },
];

/// Lines from which on a table is folded away: the picture above it says the same.
const LONG: usize = 16;

/// One line a row with every quantity that any of them has.
pub(super) fn detail(rows: &[&Row], palette: &Palette) -> Element {
    let conditions = Conditions::of(rows);
    let fields: Vec<&Field> = FIELDS
        .iter()
        .filter(|field| rows.iter().any(|row| (field.value)(row).is_some()))
        .collect();
    let mut head = el("tr").child(el("th").text("transport"));
    head = head.children(conditions.names().map(|name| el("th").class("left").text(name)));
    head = head.children(fields.iter().map(|field| el("th").text(field.name)));
    head = head.child(el("th").text("ratio to xtp"));
    if conditions.note {
        head = head.child(el("th").class("words").text("note"));
    }
    let mut table = el("table").child(head);
    for row in rows {
        table = table.child(line(row, rows, &conditions, &fields, palette));
    }
    let table = el("div").class("scroll").child(table);
    if rows.len() < LONG {
        return table;
    }
    let summary = el("summary").text(format!("All {} figures", rows.len()));
    el("details").child(summary).child(table)
}

/// Which columns of conditions a table needs: those that differ between its rows.
struct Conditions {
    path: bool,
    wait: bool,
    size: bool,
    note: bool,
}

impl Conditions {
    fn of(rows: &[&Row]) -> Self {
        let differ = |same: fn(&Row, &Row) -> bool| rows.windows(2).any(|pair| !same(pair[0], pair[1]));
        Self {
            path: differ(|a, b| a.path == b.path),
            wait: differ(|a, b| a.wait == b.wait),
            size: differ(|a, b| (a.size, a.least) == (b.size, b.least)),
            note: rows.iter().any(|row| row.note.is_some()),
        }
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        let all = [(self.path, "path"), (self.wait, "wait"), (self.size, "size")];
        all.into_iter().filter(|(shown, _)| *shown).map(|(_, name)| name)
    }
}

/// The length of a row's messages: `64`, `4 Ki`, `64 to 256`.
fn lengths(row: &Row) -> String {
    let Some(size) = row.size.map(number::octets) else {
        return "–".to_owned();
    };
    match row.least.map(number::octets) {
        Some(least) => format!("{least} to {size}"),
        None => size,
    }
}

fn line(row: &Row, rows: &[&Row], conditions: &Conditions, fields: &[&Field], palette: &Palette) -> Element {
    let same = |other: &&&Row| {
        other.transport == "xtp"
            && (
                &other.experiment,
                &other.path,
                &other.wait,
                (other.size, other.least),
            ) == (&row.experiment, &row.path, &row.wait, (row.size, row.least))
    };
    let xtp = rows.iter().find(same).copied();
    let mut line = el("tr")
        .class(palette.class(&row.transport))
        .child(el("td").text(&row.transport));
    let left = |text: &str| el("td").class("left").text(text);
    for name in conditions.names() {
        line = line.child(match name {
            "path" => left(&row.path),
            "wait" => left(row.wait.as_deref().unwrap_or("–")),
            _ => left(&lengths(row)),
        });
    }
    line = line.children(fields.iter().map(|field| field_cell(field, row)));
    line = line.child(el("td").maybe(ratio(row, xtp)));
    if conditions.note {
        line = line.child(el("td").class("words").text(row.note.as_deref().unwrap_or("")));
    }
    line
}

fn field_cell(field: &Field, row: &Row) -> Element {
    let Some(value) = (field.value)(row) else {
        return el("td").text("–");
    };
    let mut cell = el("td").text(number::short(value));
    if let Some([low, high]) = (field.spread)(row) {
        let spread = format!("{}–{}", number::short(low), number::short(high));
        cell = cell.child(el("small").text(spread));
    }
    cell
}
