//! Curves that are no rows: goodput over time, windows, throughput over buffers; one picture a plot.

use super::axis::Kind;
use super::by_size::card;
use super::element::{Element, el};
use super::lines::{self, Curve, LineChart, Point};
use super::palette::{Palette, rank};
use crate::report::{Report, Series};

/// The plots that no other section shows; nothing if there are none.
pub(super) fn section(report: &Report, palette: &Palette) -> Option<Element> {
    let pictures = pictures(report, palette, |plot| !super::then::shows(plot));
    if pictures.is_empty() {
        return None;
    }
    let class = if pictures.len() > 8 {
        "cards small"
    } else {
        "cards"
    };
    Some(
        el("section")
            .attr("id", "curves")
            .child(el("h2").text("Curves"))
            .child(el("div").class(class).children(pictures)),
    )
}

/// Pictures of the plots that `wanted` picks by name.
pub(super) fn pictures(report: &Report, palette: &Palette, wanted: impl Fn(&str) -> bool) -> Vec<Element> {
    let mut plots: Vec<&str> = Vec::new();
    for series in &report.series {
        if wanted(&series.plot) && !plots.contains(&series.plot.as_str()) {
            plots.push(&series.plot);
        }
    }
    plots
        .into_iter()
        .filter_map(|plot| {
            let curves: Vec<&Series> = report
                .series
                .iter()
                .filter(|series| series.plot == plot)
                .collect();
            picture(plot, &curves, palette)
        })
        .collect()
}

/// One plot: axes as the first curve names them.
fn picture(plot: &str, series: &[&Series], palette: &Palette) -> Option<Element> {
    let first = series.first()?;
    let mut sorted = series.to_vec();
    sorted.sort_by_key(|series| std::cmp::Reverse((rank(&series.transport), series.transport.clone())));
    let curves: Vec<Curve> = sorted.into_iter().map(|series| curve(series, palette)).collect();
    let octets = first.x_label.contains("octets") || first.x_label.contains("message size");
    let chart = LineChart {
        title: plot.to_owned(),
        x_label: first.x_label.clone(),
        x: if octets { Kind::Octets } else { Kind::Along },
        y_label: first.y_label.clone(),
        y: Kind::Linear,
        unit: "",
        curves,
        reference: None,
    };
    Some(card(plot, "", lines::draw(&chart)?))
}

fn curve(series: &Series, palette: &Palette) -> Curve {
    let mut points: Vec<Point> = series
        .points
        .iter()
        .filter(|(x, y)| x.is_finite() && y.is_finite())
        .map(|&(x, y)| Point { x, y, spread: None })
        .collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    Curve {
        label: series.transport.clone(),
        class: palette.class(&series.transport).to_owned(),
        dots: points.len() <= 20,
        points,
        dashed: false,
    }
}
