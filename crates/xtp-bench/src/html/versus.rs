//! Ratios as bars to both sides of one: to the right xtp is ahead, to the left it is behind.

use super::axis::{Axis, Kind};
use super::element::{Element, el};
use super::lines::{line, words};
use super::number;

/// One comparison.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Versus {
    pub(super) label: String,
    /// Geometric mean of the factors.
    pub(super) factor: f64,
    /// Smallest and greatest of them.
    pub(super) range: [f64; 2],
    /// What it was compared with, and in how many cases xtp was ahead.
    pub(super) note: String,
}

const WIDTH: f64 = 1160.0;
/// Pixels of a character of a label.
const CHARACTER: f64 = 6.4;
/// Room behind the scale for the factor.
const FACTOR: f64 = 74.0;
const TOP: f64 = 42.0;
const STEP: f64 = 25.0;

/// Draws comparisons; nothing without any.
pub(super) fn draw(title: &str, rows: &[Versus]) -> Option<Element> {
    if rows.is_empty() {
        return None;
    }
    let longest = |text: fn(&Versus) -> &str| {
        let lengths = rows.iter().map(|row| text(row).chars().count());
        CHARACTER * lengths.max().unwrap_or(0) as f64
    };
    let left = longest(|row| &row.label) + 20.0;
    let right = (WIDTH - FACTOR - longest(|row| &row.note) - 6.0).max(left + 200.0);
    let ends = rows.iter().flat_map(|row| row.range);
    let axis = Axis::over(ends.chain([0.8, 1.25]), Kind::Log, left, right);
    let bottom = TOP + STEP * rows.len() as f64;
    let one = axis.pixel(1.0);
    let mut svg = el("svg")
        .class("chart bars")
        .attr("viewBox", format!("0 0 {WIDTH} {}", bottom + 8.0))
        .attr("role", "img")
        .attr("aria-label", title)
        .child(words(one - 12.0, 14.0, "end", "← rival ahead").class("unit"))
        .child(words(one + 12.0, 14.0, "start", "xtp ahead →").class("unit"));
    for tick in axis.ticks() {
        let Some(label) = tick.label else { continue };
        let place = axis.pixel(tick.value);
        svg = svg
            .child(line(place, TOP - 4.0, place, bottom).class("grid"))
            .child(words(place, TOP - 9.0, "middle", &format!("{label}×")).class("tick"));
    }
    for (index, row) in rows.iter().enumerate() {
        let middle = TOP + STEP * index as f64 + STEP / 2.0;
        svg = svg.child(draw_row(row, &axis, (left, right), middle));
    }
    Some(svg.child(line(one, TOP - 4.0, one, bottom).class("axis")))
}

fn draw_row(row: &Versus, axis: &Axis, (left, right): (f64, f64), middle: f64) -> Element {
    let (one, end) = (axis.pixel(1.0), axis.pixel(row.factor));
    let class = if row.factor >= 1.0 { "c-good" } else { "c-bad" };
    let bar = el("rect")
        .class("bar")
        .at("x", one.min(end))
        .at("y", middle - 8.0)
        .at("width", (end - one).abs().max(1.5))
        .at("height", 16.0)
        .attr("rx", 2);
    let (from, to) = (axis.pixel(row.range[0]), axis.pixel(row.range[1]));
    let factor = number::factor(row.factor);
    let mut group = el("g")
        .class(class)
        .child(words(left - 14.0, middle + 4.0, "end", &row.label).class("value"))
        .child(bar);
    if to - from > 3.0 {
        group = group.child(line(from, middle, to, middle).class("whisker"));
    }
    group
        .child(words(right + 62.0, middle + 4.0, "end", &factor).class("name"))
        .child(words(right + FACTOR, middle + 4.0, "start", &row.note).class("value"))
}
