//! Line charts: the name of each curve stands at its right end, in its colour; ours is drawn last and heavier.

use super::axis::{Axis, Kind};
use super::element::{Element, el};
use super::number;

/// One place on a curve, with the spread over rounds where it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) spread: Option<[f64; 2]>,
}

/// One curve.
#[derive(Debug, Clone)]
pub(super) struct Curve {
    /// What stands at its end.
    pub(super) label: String,
    /// Class that gives its colour (see `palette`).
    pub(super) class: String,
    /// In rising order of x.
    pub(super) points: Vec<Point>,
    /// Drawn dashed: computed, not measured.
    pub(super) dashed: bool,
    /// Whether to mark the points (a curve of hundreds of points would be a row of pearls).
    pub(super) dots: bool,
}

/// A chart of curves over common axes.
#[derive(Debug, Clone)]
pub(super) struct LineChart {
    /// What it shows, for readers who do not see it.
    pub(super) title: String,
    pub(super) x_label: String,
    pub(super) x: Kind,
    pub(super) y_label: String,
    pub(super) y: Kind,
    /// Unit of y in the tooltips.
    pub(super) unit: &'static str,
    pub(super) curves: Vec<Curve>,
    /// A horizontal line: its value and name (the link's rate, or `xtp` where it stands for our own figure).
    pub(super) reference: Option<(f64, String)>,
}

const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 330.0;
const LEFT: f64 = 52.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 288.0;
const LABEL_STEP: f64 = 14.0;

/// Draws a chart; nothing if no curve has a point.
pub(super) fn draw(chart: &LineChart) -> Option<Element> {
    let points = || chart.curves.iter().flat_map(|curve| curve.points.iter());
    points().next()?;
    // Our own name is written in bold.
    let wide = |class: &str| if class == "c-xtp" { 8.2 } else { 6.6 };
    let curves = chart.curves.iter();
    let curves = curves.map(|curve| wide(&curve.class) * curve.label.chars().count().min(28) as f64);
    let references = chart
        .reference
        .iter()
        .map(|(_, name)| 6.6 * name.chars().count().min(28) as f64);
    let right = WIDTH - 26.0 - curves.chain(references).fold(0.0, f64::max);
    let x = Axis::over(points().map(|point| point.x), chart.x, LEFT, right);
    let references = chart.reference.iter().map(|(value, _)| *value);
    let spread = |point: &Point| point.spread.unwrap_or([point.y; 2]);
    let heights = points().flat_map(|point| [point.y, spread(point)[0], spread(point)[1]]);
    let y = Axis::over(heights.chain(references), chart.y, BOTTOM, TOP);
    let mut svg = el("svg")
        .class("chart")
        .attr("viewBox", format!("0 0 {WIDTH} {HEIGHT}"))
        .attr("role", "img")
        .attr("aria-label", &chart.title);
    svg = grid(svg, chart, &x, &y, right);
    for curve in chart.curves.iter().filter(|curve| !curve.points.is_empty()) {
        svg = svg.child(draw_curve(curve, chart, &x, &y));
    }
    Some(svg.child(end_labels(chart, &x, &y, right)))
}

fn grid(mut svg: Element, chart: &LineChart, x: &Axis, y: &Axis, right: f64) -> Element {
    for tick in y.ticks() {
        let height = y.pixel(tick.value);
        let class = if tick.label.is_some() {
            "grid"
        } else {
            "grid minor"
        };
        svg = svg.child(line(LEFT, height, right, height).class(class));
        if let Some(label) = tick.label {
            svg = svg.child(words(LEFT - 7.0, height + 4.0, "end", &label).class("tick"));
        }
    }
    for tick in x.ticks() {
        let place = x.pixel(tick.value);
        if let Some(label) = tick.label {
            svg = svg
                .child(line(place, BOTTOM, place, BOTTOM + 4.0).class("axis"))
                .child(words(place, BOTTOM + 17.0, "middle", &label).class("tick"));
        }
    }
    if let Some((value, _)) = &chart.reference {
        let height = y.pixel(*value);
        svg = svg.child(line(LEFT, height, right, height).class("reference"));
    }
    svg.child(line(LEFT, BOTTOM, right, BOTTOM).class("axis"))
        .child(words(LEFT - 40.0, 14.0, "start", &chart.y_label).class("unit"))
        .child(words(right, BOTTOM + 34.0, "end", &chart.x_label).class("unit"))
}

fn draw_curve(curve: &Curve, chart: &LineChart, x: &Axis, y: &Axis) -> Element {
    let place = |point: &Point| (x.pixel(point.x), y.pixel(point.y));
    let mut group = el("g").class(&curve.class);
    if let Some(band) = band(curve, x, y) {
        group = group.child(band);
    }
    let path: Vec<String> = curve
        .points
        .iter()
        .map(place)
        .enumerate()
        .map(|(index, (x, y))| format!("{}{x:.1} {y:.1}", if index == 0 { 'M' } else { 'L' }))
        .collect();
    let class = if curve.dashed { "curve dashed" } else { "curve" };
    group = group.child(el("path").class(class).attr("d", path.join("")));
    if curve.dots || curve.points.len() == 1 {
        group = group.children(curve.points.iter().map(|point| {
            let (left, top) = place(point);
            let at = match chart.x {
                Kind::Octets => format!("{} octets", point.x),
                _ => number::tick(point.x),
            };
            let note = format!("{}, {at}: {} {}", curve.label, number::short(point.y), chart.unit);
            el("circle")
                .class("dot")
                .at("cx", left)
                .at("cy", top)
                .attr("r", 3)
                .child(el("title").text(note))
        }));
    }
    group
}

/// The spread over rounds, as a pale band around the curve.
fn band(curve: &Curve, x: &Axis, y: &Axis) -> Option<Element> {
    let spreads: Vec<(f64, [f64; 2])> = curve
        .points
        .iter()
        .filter_map(|point| Some((point.x, point.spread?)))
        .collect();
    if spreads.len() < 2 || spreads.len() < curve.points.len() {
        return None;
    }
    let above = spreads.iter().map(|(at, [_, high])| (*at, *high));
    let below = spreads.iter().rev().map(|(at, [low, _])| (*at, *low));
    let corners: Vec<String> = above
        .chain(below)
        .map(|(at, value)| format!("{:.1},{:.1}", x.pixel(at), y.pixel(value)))
        .collect();
    Some(el("polygon").class("band").attr("points", corners.join(" ")))
}

/// A name and where its line ends.
struct End<'a> {
    label: &'a str,
    class: &'a str,
    x: f64,
    y: f64,
}

/// The names, beside the ends of their curves, moved apart where they would overlap.
fn end_labels(chart: &LineChart, x: &Axis, y: &Axis, right: f64) -> Element {
    let curves = chart.curves.iter().filter_map(|curve| {
        let last = curve.points.last()?;
        Some(End {
            label: &curve.label,
            class: &curve.class,
            x: x.pixel(last.x),
            y: y.pixel(last.y),
        })
    });
    let reference = chart.reference.iter().map(|(value, name)| End {
        label: name,
        class: if name == "xtp" { "c-xtp" } else { "c-udp" },
        x: right,
        y: y.pixel(*value),
    });
    let mut ends: Vec<End<'_>> = curves.chain(reference).collect();
    ends.sort_by(|a, b| a.y.total_cmp(&b.y));
    let wished: Vec<f64> = ends.iter().map(|end| end.y).collect();
    let places = spread_out(&wished, LABEL_STEP, TOP - 6.0, BOTTOM + 4.0);
    let mut group = el("g");
    for (end, place) in ends.iter().zip(places) {
        let mut label = el("g").class(end.class);
        if (place - end.y).abs() > 3.0 || right - end.x > 3.0 {
            let path = format!(
                "M{:.1} {:.1}L{:.1} {:.1}L{:.1} {place:.1}",
                end.x + 4.0,
                end.y,
                right + 4.0,
                end.y,
                right + 13.0
            );
            label = label.child(el("path").class("leader").attr("d", path));
        }
        let text = words(right + 16.0, place + 4.0, "start", end.label).class("name");
        group = group.child(label.child(text));
    }
    group
}

/// Moves `wished` places (rising) apart to at least `step`, staying as near as possible and within the bounds.
///
/// Places that press on each other form a block around their mean; if there are too many for the room, the
/// step shrinks.
pub(super) fn spread_out(wished: &[f64], step: f64, low: f64, high: f64) -> Vec<f64> {
    let room = (high - low).max(1.0);
    let step = step.min(room / wished.len().max(2) as f64);
    // Each block: sum of (wish - index inside the block * step), count.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    let begin = |&(sum, count): &(f64, usize)| {
        let last = high - step * (count - 1) as f64;
        (sum / count as f64).clamp(low, last.max(low))
    };
    for &wish in wished {
        let mut block = (wish, 1);
        while let Some(before) = blocks.last() {
            let end = begin(before) + step * before.1 as f64;
            if begin(&block) >= end - 1e-9 {
                break;
            }
            let (sum, count) = *before;
            let moved = block.0 - step * (count * block.1) as f64;
            block = (sum + moved, count + block.1);
            blocks.pop();
        }
        blocks.push(block);
    }
    blocks
        .iter()
        .flat_map(|block| {
            let first = begin(block);
            (0..block.1).map(move |index| first + step * index as f64)
        })
        .collect()
}

/// A straight line.
pub(super) fn line(x1: f64, y1: f64, x2: f64, y2: f64) -> Element {
    el("line").at("x1", x1).at("y1", y1).at("x2", x2).at("y2", y2)
}

/// Text at a place: `anchor` is `start`, `middle` or `end`.
pub(super) fn words(x: f64, y: f64, anchor: &'static str, text: &str) -> Element {
    el("text")
        .at("x", x)
        .at("y", y)
        .attr("text-anchor", anchor)
        .text(text)
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
