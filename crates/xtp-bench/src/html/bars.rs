//! Bars: one line a transport, one column a quantity or a condition, all scales from zero.

use super::element::{Element, el};
use super::lines::{line, words};
use super::number;

/// One transport's figures.
#[derive(Debug, Clone)]
pub(super) struct BarRow {
    pub(super) label: String,
    /// Class that gives the colour.
    pub(super) class: String,
    /// One a column; none where the quantity was not measured.
    pub(super) values: Vec<Option<Value>>,
}

/// One figure.
#[derive(Debug, Clone)]
pub(super) struct Value {
    pub(super) value: f64,
    pub(super) spread: Option<[f64; 2]>,
    /// Stands behind the number (the ratio to xtp).
    pub(super) note: String,
}

/// A quantity.
#[derive(Debug, Clone)]
pub(super) struct Column {
    /// Name, unit and which direction is better.
    pub(super) label: String,
    /// Share of the width.
    pub(super) share: f64,
}

const WIDTH: f64 = 1160.0;
const STEP: f64 = 24.0;
const TOP: f64 = 26.0;
const GAP: f64 = 26.0;

/// Draws columns of different quantities, each with its own scale; columns without any figure are left out, and
/// nothing is drawn if none has one.
pub(super) fn draw(title: &str, columns: &[Column], rows: &[BarRow]) -> Option<Element> {
    draw_columns(title, columns, rows, None)
}

/// As [`draw`], for columns of one quantity: equal lengths are equal figures all over the picture.
pub(super) fn draw_alike(title: &str, columns: &[Column], rows: &[BarRow]) -> Option<Element> {
    let all: Vec<f64> = rows
        .iter()
        .flat_map(|row| row.values.iter().flatten().map(|value| value.value))
        .collect();
    draw_columns(title, columns, rows, Some(limit(&all)))
}

fn draw_columns(title: &str, columns: &[Column], rows: &[BarRow], common: Option<f64>) -> Option<Element> {
    let filled: Vec<usize> = (0..columns.len())
        .filter(|&index| rows.iter().any(|row| value(row, index).is_some()))
        .collect();
    let rows: Vec<&BarRow> = rows
        .iter()
        .filter(|row| row.values.iter().any(Option::is_some))
        .collect();
    if filled.is_empty() {
        return None;
    }
    let longest = rows
        .iter()
        .map(|row| row.label.chars().count())
        .max()
        .unwrap_or(0);
    let left = 14.0 + 7.2 * longest.min(40) as f64;
    let height = TOP + STEP * rows.len() as f64 + 8.0;
    let mut svg = el("svg")
        .class("chart bars")
        .attr("viewBox", format!("0 0 {WIDTH} {height}"))
        .attr("role", "img")
        .attr("aria-label", title);
    for (index, row) in rows.iter().enumerate() {
        let middle = TOP + STEP * index as f64 + STEP / 2.0;
        let name = words(left - 10.0, middle + 4.0, "end", &row.label).class("name");
        svg = svg.child(el("g").class(&row.class).child(name));
    }
    let shares: f64 = filled.iter().map(|&index| columns[index].share).sum();
    let room = WIDTH - left - GAP * (filled.len() - 1) as f64;
    let mut from = left;
    for &index in &filled {
        let width = room * columns[index].share / shares;
        svg = svg.child(draw_column(
            (&columns[index], index),
            &rows,
            (from, width),
            common,
        ));
        from += width + GAP;
    }
    Some(svg)
}

fn value(row: &BarRow, index: usize) -> Option<&Value> {
    row.values.get(index)?.as_ref()
}

fn draw_column(
    (column, index): (&Column, usize),
    rows: &[&BarRow],
    (from, width): (f64, f64),
    common: Option<f64>,
) -> Element {
    let values: Vec<f64> = rows
        .iter()
        .filter_map(|row| Some(value(row, index)?.value))
        .collect();
    let spreads = rows.iter().filter_map(|row| Some(value(row, index)?.spread?[1]));
    let full = common.unwrap_or_else(|| limit(&values));
    let full = if common.is_some() || values.iter().any(|value| *value > full) {
        full
    } else {
        spreads.fold(full, f64::max)
    };
    let longest = rows
        .iter()
        .filter_map(|row| value(row, index))
        .map(|value| text_of(value).chars().count())
        .max();
    let bar_room = (width - 14.0 - 6.6 * longest.unwrap_or(0) as f64).max(30.0);
    let bottom = TOP + STEP * rows.len() as f64;
    let mut group = el("g")
        .child(words(from, 14.0, "start", &column.label).class("unit"))
        .child(line(from, TOP - 2.0, from, bottom + 2.0).class("axis"));
    for (place, row) in rows.iter().enumerate() {
        let Some(value) = value(row, index) else { continue };
        let middle = TOP + STEP * place as f64 + STEP / 2.0;
        group = group.child(draw_bar(row, value, from, bar_room, full, middle));
    }
    group
}

/// The value at which the column ends. One transport far above all others would press them into nothing: its bar
/// is broken then.
fn limit(values: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let greatest = sorted.last().copied().unwrap_or(1.0);
    let few = sorted.len() / 3;
    let far_above = |pair: &&[f64]| pair[1] > 4.0 * pair[0] && pair[0] > 0.0;
    if let Some(pair) = sorted.windows(2).rev().take(few).find(far_above) {
        return pair[0] * 1.5;
    }
    if greatest > 0.0 { greatest } else { 1.0 }
}

fn text_of(value: &Value) -> String {
    match value.note.as_str() {
        "" => number::short(value.value),
        note => format!("{}  {note}", number::short(value.value)),
    }
}

fn draw_bar(row: &BarRow, value: &Value, from: f64, room: f64, full: f64, middle: f64) -> Element {
    let share = |value: f64| room * (value / full).clamp(0.0, 1.0);
    let broken = value.value > full * 1.001;
    let length = share(value.value).max(1.5);
    let mut note = format!("{}: {}", row.label, text_of(value));
    if let Some([low, high]) = value.spread {
        note.push_str(&format!(
            ", spread {} to {}",
            number::short(low),
            number::short(high)
        ));
    }
    let mut group = el("g").class(&row.class).child(
        el("rect")
            .class("bar")
            .at("x", from)
            .at("y", middle - 8.0)
            .at("width", length)
            .at("height", 16.0)
            .attr("rx", 2)
            .child(el("title").text(note)),
    );
    if broken {
        let x = from + room * 0.82;
        let path = format!(
            "M{:.1} {:.1}l5 -22M{:.1} {:.1}l5 -22",
            x,
            middle + 11.0,
            x + 5.0,
            middle + 11.0
        );
        group = group.child(el("path").class("break").attr("d", path));
    } else if let Some([low, high]) = value.spread {
        group = group.child(line(from + share(low), middle, from + share(high), middle).class("whisker"));
    }
    let reach = value.spread.map_or(length, |[_, high]| length.max(share(high)));
    let mut text = words(
        from + reach + 6.0,
        middle + 4.0,
        "start",
        &number::short(value.value),
    )
    .class("value");
    if !value.note.is_empty() {
        text = text.child(el("tspan").attr("dx", 7).text(&value.note));
    }
    group.child(text)
}

#[cfg(test)]
#[path = "bars_tests.rs"]
mod tests;
