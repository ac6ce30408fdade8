//! Latency over established associations as a multiple of UDP's: the fitted lines of 1994 beside today's medians.

use super::{dated, groups_with};
use crate::html::axis::Kind;
use crate::html::by_size::card;
use crate::html::element::{Element, el};
use crate::html::figures;
use crate::html::groups::Group;
use crate::html::lines::{self, Curve, LineChart, Point};
use crate::html::number;
use crate::html::palette::Palette;
use crate::papers::{self, LatencyFit};
use crate::report::{Fit, Report};

/// Transports of the paper, as far as they were measured in the same way.
const COMPARED: &[&str] = &["r-udp", "tcp", "xtp"];

pub(super) fn established(report: &Report, palette: &Palette) -> Option<Element> {
    let groups = groups_with(report, "pingpong", &["udp", "xtp"]);
    let ours: Vec<Element> = groups.iter().filter_map(|group| now(group, palette)).collect();
    if ours.is_empty() {
        return None;
    }
    let cards = el("div").class("cards").maybe(then(palette)).children(ours);
    Some(
        el("div")
            .child(el("h3").text("Latency over an established association, as a multiple of UDP's"))
            .child(cards)
            .maybe(overheads(report, palette)),
    )
}

fn fit_of(transport: &str) -> Option<&'static LatencyFit> {
    papers::ESTABLISHED.iter().find(|fit| fit.transport == transport)
}

fn chart(title: &str, curves: Vec<Curve>) -> Option<Element> {
    lines::draw(&LineChart {
        title: title.to_owned(),
        x_label: "message size, octets (log)".to_owned(),
        x: Kind::Octets,
        y_label: "times UDP's latency (log)".to_owned(),
        y: Kind::Log,
        unit: "times UDP",
        curves,
        reference: Some((1.0, "udp".to_owned())),
    })
}

fn then(palette: &Palette) -> Option<Element> {
    let udp = fit_of("udp")?;
    let curves = COMPARED.iter().filter_map(|transport| {
        let fit = fit_of(transport)?;
        Some(Curve {
            label: (*transport).to_owned(),
            class: palette.class(transport).to_owned(),
            points: papers::SIZES
                .iter()
                .map(|&size| Point {
                    x: size as f64,
                    y: fit.one_way_us(size) / udp.one_way_us(size),
                    spread: None,
                })
                .collect(),
            dashed: true,
            dots: false,
        })
    });
    let title = dated(&papers::SANDIA);
    let picture = chart(&title, curves.collect())?;
    let explained = format!("{}; XTP and TCP lie on each other", papers::ESTABLISHED_PLACE);
    Some(card(&title, &explained, picture))
}

fn now(group: &Group<'_>, palette: &Palette) -> Option<Element> {
    let mut names: Vec<&str> = group.transports();
    names.retain(|name| COMPARED.contains(name) || figures::is_ours(name));
    names.reverse();
    let time = |transport: &str, size| {
        let row = group.row(transport, size)?;
        Some(figures::of_kind(row, figures::Kind::Time)?.value)
    };
    let sizes = group.sizes();
    let sizes = sizes.iter().filter(|size| size.is_some_and(|size| size <= 4096));
    let sizes: Vec<Option<u64>> = sizes.copied().collect();
    let curves: Vec<Curve> = names
        .into_iter()
        .map(|transport| Curve {
            label: transport.to_owned(),
            class: palette.class(transport).to_owned(),
            points: sizes
                .iter()
                .filter_map(|&size| {
                    Some(Point {
                        x: size? as f64,
                        y: time(transport, size)? / time("udp", size)?,
                        spread: None,
                    })
                })
                .collect(),
            dashed: false,
            dots: true,
        })
        .filter(|curve| curve.points.len() > 1)
        .collect();
    let title = format!("Now: {}", group.conditions());
    Some(card(&title, "round trips, medians", chart(&title, curves)?))
}

/// The fitted overheads, then and now.
fn overheads(report: &Report, palette: &Palette) -> Option<Element> {
    let ours = |transport: &str, like: &Fit| {
        let same = |fit: &&Fit| {
            fit.transport == transport
                && (&fit.experiment, &fit.path, &fit.wait) == (&like.experiment, &like.path, &like.wait)
        };
        report.fits.iter().find(same).map(|fit| fit.overhead_us / 2.0)
    };
    let bases = report
        .fits
        .iter()
        .filter(|fit| fit.experiment == "pingpong" && fit.transport == "udp");
    let bases: Vec<&Fit> = bases.collect();
    if bases.is_empty() {
        return None;
    }
    let mut head = el("tr")
        .child(el("th").text("overhead one way, µs"))
        .child(el("th").text(papers::SANDIA.year))
        .child(el("th").text("times UDP"));
    for base in &bases {
        let conditions = format!("now, {}, {}", base.path, base.wait);
        head = head
            .child(el("th").text(conditions))
            .child(el("th").text("times UDP"));
    }
    let mut table = el("table").child(head);
    let udp = fit_of("udp")?;
    for fit in papers::ESTABLISHED {
        let mut line = el("tr")
            .class(palette.class(fit.transport))
            .child(el("td").text(fit.transport))
            .child(el("td").text(number::short(fit.overhead_us)))
            .child(el("td").text(number::factor(fit.overhead_us / udp.overhead_us)));
        for base in &bases {
            let own = ours(fit.transport, base);
            let ratio = own.map(|own| own * 2.0 / base.overhead_us);
            line = line
                .child(el("td").text(own.map_or_else(|| "–".to_owned(), number::short)))
                .child(el("td").text(ratio.map_or_else(|| "–".to_owned(), number::factor)));
        }
        table = table.child(line);
    }
    Some(el("div").class("scroll").child(table))
}
