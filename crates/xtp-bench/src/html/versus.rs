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
const LEFT: f64 = 290.0;
const RIGHT: f64 = 790.0;
const TOP: f64 = 42.0;
const STEP: f64 = 25.0;

/// Draws comparisons; nothing without any.
pub(super) fn draw(title: &str, rows: &[Versus]) -> Option<Element> {
    if rows.is_empty() {
        return None;
    }
    let ends = rows.iter().flat_map(|row| row.range);
    let axis = Axis::over(ends.chain([0.8, 1.25]), Kind::Log, LEFT, RIGHT);
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
        svg = svg.child(draw_row(row, &axis, middle));
    }
    Some(svg.child(line(one, TOP - 4.0, one, bottom).class("axis")))
}

fn draw_row(row: &Versus, axis: &Axis, middle: f64) -> Element {
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
        .child(words(LEFT - 14.0, middle + 4.0, "end", &row.label).class("value"))
        .child(bar);
    if to - from > 3.0 {
        group = group.child(line(from, middle, to, middle).class("whisker"));
    }
    group
        .child(words(RIGHT + 62.0, middle + 4.0, "end", &factor).class("name"))
        .child(words(RIGHT + 74.0, middle + 4.0, "start", &row.note).class("value"))
}
