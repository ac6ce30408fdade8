//! Heat maps: a grid of figures, each cell filled as far as its figure reaches.

use super::element::{Element, el};
use super::lines::words;

/// A grid for one transport.
#[derive(Debug, Clone)]
pub(super) struct HeatMap {
    pub(super) title: String,
    /// Class that gives the colour.
    pub(super) class: String,
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<String>,
    /// What the columns and the rows are.
    pub(super) column_label: String,
    pub(super) row_label: String,
    /// Row by row: share of full colour (0 to 1), text, smaller text below.
    pub(super) cells: Vec<Vec<Option<Cell>>>,
}

/// One figure.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    pub(super) share: f64,
    pub(super) text: String,
    pub(super) below: String,
    /// A colour other than the map's.
    pub(super) class: Option<&'static str>,
}

const CELL_WIDTH: f64 = 74.0;
const CELL_HEIGHT: f64 = 38.0;
const LEFT: f64 = 62.0;
const TOP: f64 = 46.0;

/// Draws a grid.
pub(super) fn draw(map: &HeatMap) -> Element {
    let width = LEFT + CELL_WIDTH * map.columns.len().max(3) as f64 + 6.0;
    let height = TOP + CELL_HEIGHT * map.rows.len() as f64 + 6.0;
    let mut svg = el("svg")
        .class(format!("chart heat {}", map.class))
        .attr("viewBox", format!("0 0 {width} {height}"))
        .attr("style", format!("max-width:{width}px"))
        .attr("role", "img")
        .attr("aria-label", &map.title)
        .child(words(LEFT, 16.0, "start", &map.column_label).class("unit"))
        .child(words(LEFT - 8.0, TOP - 8.0, "end", &map.row_label).class("unit"));
    for (index, column) in map.columns.iter().enumerate() {
        let middle = LEFT + CELL_WIDTH * (index as f64 + 0.5);
        svg = svg.child(words(middle, TOP - 8.0, "middle", column).class("tick"));
    }
    for (index, row) in map.rows.iter().enumerate() {
        let top = TOP + CELL_HEIGHT * index as f64;
        let label = words(LEFT - 8.0, top + CELL_HEIGHT / 2.0 + 4.0, "end", row).class("tick");
        svg = svg.child(label);
        for (column, cell) in map.cells[index].iter().enumerate() {
            let left = LEFT + CELL_WIDTH * column as f64;
            svg = svg.child(draw_cell(cell.as_ref(), left, top));
        }
    }
    svg
}

fn draw_cell(cell: Option<&Cell>, left: f64, top: f64) -> Element {
    let frame = |class: &'static str| {
        el("rect")
            .class(class)
            .at("x", left + 1.0)
            .at("y", top + 1.0)
            .at("width", CELL_WIDTH - 2.0)
            .at("height", CELL_HEIGHT - 2.0)
            .attr("rx", 3)
    };
    let Some(cell) = cell else {
        return el("g").child(frame("empty"));
    };
    let opacity = 0.06 + 0.5 * cell.share.clamp(0.0, 1.0).powf(1.5);
    let middle = left + CELL_WIDTH / 2.0;
    let group = match cell.class {
        Some(class) => el("g").class(class),
        None => el("g"),
    };
    group
        .child(frame("heat-fill").attr("fill-opacity", format!("{opacity:.2}")))
        .child(words(middle, top + 17.0, "middle", &cell.text).class("value"))
        .child(words(middle, top + 30.0, "middle", &cell.below).class("tick"))
}
