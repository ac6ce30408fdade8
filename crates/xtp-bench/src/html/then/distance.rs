//! The long-distance experiments of KDD: throughput over round-trip time, error recovery, rate control.

use super::dated;
use crate::html::axis::Kind;
use crate::html::bars::{self, BarRow, Column, Value};
use crate::html::by_size::card;
use crate::html::element::{Element, el};
use crate::html::lines::{self, Curve, LineChart, Point};
use crate::html::number;
use crate::html::palette::Palette;
use crate::html::series;
use crate::papers;
use crate::report::Report;

/// Throughput against round-trip time by retained buffers.
pub(super) fn buffers(report: &Report, palette: &Palette) -> Option<Element> {
    let ours = series::pictures(report, palette, is_buffers);
    if ours.is_empty() {
        return None;
    }
    Some(
        el("div")
            .child(el("h3").text("Throughput against round-trip time, by retained application buffers"))
            .child(
                el("div")
                    .class("cards")
                    .maybe(paper_buffers(palette))
                    .children(ours),
            ),
    )
}

/// Plots about retained buffers.
pub(in crate::html) fn is_buffers(plot: &str) -> bool {
    plot.to_lowercase().contains("buffer")
}

/// Plots about go-back-N and selective repeat.
pub(in crate::html) fn is_recovery(plot: &str) -> bool {
    let plot = plot.to_lowercase();
    ["go-back", "gbn", "selective", "bit error"]
        .iter()
        .any(|word| plot.contains(word))
}

/// Plots about rate control.
pub(in crate::html) fn is_rate_control(plot: &str) -> bool {
    plot.to_lowercase().contains("rate control")
}

fn paper_buffers(palette: &Palette) -> Option<Element> {
    let rtts: Vec<f64> = (0..=40).map(|step| f64::from(step) * 5.0).collect();
    let curve = |label: &str, class: &str, value: &dyn Fn(f64) -> f64| Curve {
        label: label.to_owned(),
        class: class.to_owned(),
        points: rtts
            .iter()
            .map(|&rtt| Point {
                x: rtt,
                y: value(rtt) / papers::KDD_LINK_MBIT_S,
                spread: None,
            })
            .collect(),
        dashed: true,
        dots: false,
    };
    let chart = LineChart {
        title: dated(&papers::KDD),
        x_label: "round-trip time, ms".to_owned(),
        x: Kind::Along,
        y_label: "share of the link".to_owned(),
        y: Kind::Linear,
        unit: "of the link",
        curves: vec![
            curve("TCP, 52 KB", palette.class("tcp"), &papers::kdd_tcp_limit_mbit_s),
            curve("1 buffer", "c-x4", &|rtt| papers::kdd_limit_mbit_s(1, rtt)),
            curve("2 buffers", "c-x2", &|rtt| papers::kdd_limit_mbit_s(2, rtt)),
            curve("4 and 8", "c-xtp", &|rtt| papers::kdd_limit_mbit_s(4, rtt)),
        ],
        reference: Some((1.0, "link (36.864 Mbit/s)".to_owned())),
    };
    let explained = "Printed: 32 Mbit/s flat from 0 to 200 ms with 4 and 8 buffers, 2 buffers flat to 120 ms, TCP \
                     26.78 at 0 ms; the dashed limits are computed from the printed buffer sizes (section 4.2.1, \
                     Figure 6)";
    Some(card(&dated(&papers::KDD), explained, lines::draw(&chart)?))
}

/// Go-back-N beside selective repeat.
pub(super) fn recovery(report: &Report, palette: &Palette) -> Option<Element> {
    let ours = series::pictures(report, palette, is_recovery);
    if ours.is_empty() {
        return None;
    }
    let said = format!(
        "{}, section 4.2.3, Figure 7 (no numbers printed): {}",
        papers::KDD.year,
        papers::GO_BACK_N
    );
    Some(
        el("div")
            .child(el("h3").text("Go-back-N and selective repeat"))
            .child(el("p").text(said))
            .child(el("div").class("cards").children(ours)),
    )
}

/// Rate control on and off, from a fast to a slow machine.
pub(super) fn rate_control(report: &Report, palette: &Palette) -> Option<Element> {
    let ours = series::pictures(report, palette, is_rate_control);
    if ours.is_empty() {
        return None;
    }
    let rows: Vec<BarRow> = papers::RATE_CONTROL_MBIT_S
        .iter()
        .map(|printed| {
            let requests = papers::RATE_CONTROL_REQUESTS
                .iter()
                .find(|requests| requests.variant == printed.variant);
            let value = |value: f64| Value {
                value,
                spread: None,
                note: String::new(),
            };
            BarRow {
                label: format!("{}, {}", printed.transport, printed.variant),
                class: palette.class(printed.transport).to_owned(),
                values: vec![
                    Some(value(printed.value)),
                    requests.map(|found| value(found.value)),
                ],
            }
        })
        .collect();
    let column = |label: &str| Column {
        label: label.to_owned(),
        share: 1.0,
    };
    let columns = [column("Mbit/s"), column("requests for retransmission")];
    let title = format!("{}, Table 2 (10 Mbit/s Ethernet)", papers::KDD.year);
    let gain = papers::RATE_CONTROL_MBIT_S[0].value / papers::RATE_CONTROL_MBIT_S[1].value;
    let explained = format!("Rate control gained {}", number::factor(gain));
    let picture = bars::draw(&title, &columns, &rows)?;
    Some(
        el("div")
            .child(el("h3").text("Rate control from a fast to a slow machine"))
            .child(card(&title, &explained, picture))
            .child(el("div").class("cards").children(ours)),
    )
}
