//! Bars: one line a transport, one column a quantity or a condition. Lengths are figures, from zero; where the greatest is many times the
//! least, which bars would press into nothing, dots stand on a logarithmic scale instead.

use super::axis::{Axis, Kind};
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
/// Room below for the numbers of logarithmic scales.
const TICKS: f64 = 18.0;
/// From this ratio of the greatest to the least on figures are dots: the least would be a bar of a few pixels.
const WIDE: f64 = 8.0;

/// From a figure to its place in a column.
enum Scale {
    /// Bars from zero to this figure.
    Bars(f64),
    /// Dots.
    Dots(Axis),
}

impl Scale {
    /// For these figures between the pixels `from` and `to`.
    fn over(values: &[f64], from: f64, to: f64) -> Self {
        match is_wide(values) {
            true => Self::Dots(Axis::over(values.iter().copied(), Kind::Log, from, to)),
            false => Self::Bars(values.iter().copied().fold(0.0, f64::max)),
        }
    }
}

fn is_wide(values: &[f64]) -> bool {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = values.iter().copied().fold(0.0, f64::max);
    least > 0.0 && least.is_finite() && greatest > WIDE * least
}

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
    draw_columns(title, columns, rows, Some(&all))
}

fn draw_columns(title: &str, columns: &[Column], rows: &[BarRow], common: Option<&[f64]>) -> Option<Element> {
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
    let left = 14.0 + rows.iter().map(|row| name_width(row)).fold(0.0, f64::max);
    let wide = |index: &usize| is_wide(common.unwrap_or(&reach(&rows, *index)));
    let below = if filled.iter().any(wide) { TICKS } else { 0.0 };
    let height = TOP + STEP * rows.len() as f64 + 8.0 + below;
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

/// Pixels that a row's name takes at most; our own is larger and bold.
fn name_width(row: &BarRow) -> f64 {
    let letter = if row.class == "c-xtp" { 9.2 } else { 7.8 };
    letter * row.label.chars().count().min(40) as f64
}

fn value(row: &BarRow, index: usize) -> Option<&Value> {
    row.values.get(index)?.as_ref()
}

fn draw_column(
    (column, index): (&Column, usize),
    rows: &[&BarRow],
    (from, width): (f64, f64),
    common: Option<&[f64]>,
) -> Element {
    let longest = rows
        .iter()
        .filter_map(|row| value(row, index))
        .map(|value| text_of(value).chars().count())
        .max();
    let room = (width - 14.0 - 6.6 * longest.unwrap_or(0) as f64).max(30.0);
    let bottom = TOP + STEP * rows.len() as f64;
    let own = reach(rows, index);
    let scale = Scale::over(common.unwrap_or(&own), from, from + room);
    let label = match scale {
        Scale::Bars(_) => column.label.clone(),
        Scale::Dots(_) => format!("{} (logarithmic)", column.label),
    };
    let mut group = el("g").child(words(from, 14.0, "start", &label).class("unit"));
    if let Scale::Dots(axis) = &scale {
        let mut last = f64::NEG_INFINITY;
        for tick in axis.ticks() {
            let Some(label) = tick.label else { continue };
            let place = axis.pixel(tick.value);
            group = group.child(line(place, TOP - 2.0, place, bottom + 2.0).class("grid"));
            // Labels that would run into each other are left out.
            if place - last > 6.6 * label.chars().count() as f64 + 8.0 {
                last = place;
                group = group.child(words(place, bottom + TICKS, "middle", &label).class("tick"));
            }
        }
    }
    group = group.child(line(from, TOP - 2.0, from, bottom + 2.0).class("axis"));
    for (place, row) in rows.iter().enumerate() {
        let Some(value) = value(row, index) else { continue };
        let middle = TOP + STEP * place as f64 + STEP / 2.0;
        group = group.child(draw_value(row, value, (from, room), &scale, middle));
    }
    group
}

/// The figures of a column and the ends of their spreads.
fn reach(rows: &[&BarRow], index: usize) -> Vec<f64> {
    let ends = |value: &Value| {
        let [low, high] = value.spread.unwrap_or([value.value; 2]);
        [low, value.value, high]
    };
    rows.iter()
        .filter_map(|row| value(row, index))
        .flat_map(ends)
        .collect()
}

fn text_of(value: &Value) -> String {
    match value.note.as_str() {
        "" => number::short(value.value),
        note => format!("{}  {note}", number::short(value.value)),
    }
}

fn draw_value(row: &BarRow, value: &Value, (from, room): (f64, f64), scale: &Scale, middle: f64) -> Element {
    let place = |figure: f64| match scale {
        Scale::Bars(full) => from + room * (figure / full.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0),
        Scale::Dots(axis) => axis.pixel(figure),
    };
    let mut note = format!("{}: {}", row.label, text_of(value));
    if let Some([low, high]) = value.spread {
        note.push_str(&format!(
            ", spread {} to {}",
            number::short(low),
            number::short(high)
        ));
    }
    let end = place(value.value);
    let mark = match scale {
        Scale::Bars(_) => el("rect")
            .class("bar")
            .at("x", from)
            .at("y", middle - 8.0)
            .at("width", (end - from).max(1.5))
            .at("height", 16.0)
            .attr("rx", 2),
        Scale::Dots(_) => el("circle")
            .class("dot")
            .at("cx", end)
            .at("cy", middle)
            .at("r", 5.0),
    };
    let mut group = el("g").class(&row.class);
    if let Some([low, high]) = value.spread {
        let whisker = line(place(low), middle, place(high), middle).class("whisker");
        // A dot hides what it stands on, a bar does not.
        group = match scale {
            Scale::Bars(_) => group.child(mark.child(el("title").text(note))).child(whisker),
            Scale::Dots(_) => group.child(whisker).child(mark.child(el("title").text(note))),
        };
    } else {
        group = group.child(mark.child(el("title").text(note)));
    }
    let reach = value.spread.map_or(end, |[_, high]| end.max(place(high)));
    let beside = match scale {
        Scale::Bars(_) => 6.0,
        Scale::Dots(_) => 11.0,
    };
    let mut text = words(reach + beside, middle + 4.0, "start", &number::short(value.value)).class("value");
    if !value.note.is_empty() {
        text = text.child(el("tspan").attr("dx", 7).text(&value.note));
    }
    group.child(text)
}

#[cfg(test)]
#[path = "bars_tests.rs"]
mod tests;
