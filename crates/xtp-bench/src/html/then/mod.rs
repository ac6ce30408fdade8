//! The papers' figures beside ours. Thirty years lie between the machines, so that absolute values say nothing about
//! protocols: everything here is normalised, and each picture says by what.

mod bars;
mod distance;
mod group;
mod latency;

use super::element::{Element, el};
use super::groups::{self, Group};
use super::palette::Palette;
use crate::papers::{self, Paper};
use crate::report::Report;

/// The section; nothing if this report has no experiment of the papers.
pub(super) fn section(report: &Report, palette: &Palette) -> Option<Element> {
    let parts: Vec<(Element, &'static Paper)> = [
        latency::established(report, palette).map(|part| (part, &papers::SANDIA)),
        bars::one_shot(report, palette).map(|part| (part, &papers::VIRGINIA)),
        bars::packets(report, palette).map(|part| (part, &papers::SANDIA)),
        bars::transaction(report, palette).map(|part| (part, &papers::SANDIA)),
        bars::throughput(report, palette).map(|part| (part, &papers::VIRGINIA)),
        distance::buffers(report, palette).map(|part| (part, &papers::KDD)),
        distance::recovery(report, palette).map(|part| (part, &papers::KDD)),
        distance::rate_control(report, palette).map(|part| (part, &papers::KDD)),
        group::figures(report).map(|part| (part, &papers::VIRGINIA)),
        bars::user_level(report, palette).map(|part| (part, &papers::MARYLAND)),
    ]
    .into_iter()
    .flatten()
    .collect();
    if parts.is_empty() {
        return None;
    }
    let used = |paper: &&&'static Paper| parts.iter().any(|(_, used)| *used == **paper);
    let sources = papers::ALL.iter().filter(used).map(|paper| {
        el("li").text(format!(
            "{} ({}): {}. Measured on {}.",
            paper.authors, paper.year, paper.title, paper.machines
        ))
    });
    let sources = el("ul").children(sources);
    Some(
        el("section")
            .attr("id", "then")
            .child(el("h2").text("Then and now"))
            .child(el("p").class("lead").text(
                "The experiments of the papers and ours, normalised: only numbers that the papers print are shown, \
                 and dashed lines are computed from parameters that they print.",
            ))
            .children(parts.into_iter().map(|(part, _)| part))
            .child(el("h3").text("Sources"))
            .child(sources),
    )
}

/// Whether a plot stands here, beside the paper's.
pub(super) fn shows(plot: &str) -> bool {
    group::is_group(plot)
        || distance::is_buffers(plot)
        || distance::is_recovery(plot)
        || distance::is_rate_control(plot)
}

/// Heading of what `paper` printed.
fn dated(paper: &Paper) -> String {
    format!("{}: the paper", paper.year)
}

/// Groups of an experiment in which all of `transports` were measured.
fn groups_with<'a>(report: &'a Report, experiment: &str, transports: &[&str]) -> Vec<Group<'a>> {
    let mut groups = groups::groups(&report.rows, experiment);
    groups.retain(|group| {
        let measured = group.transports();
        transports.iter().all(|wanted| measured.contains(wanted))
    });
    groups
}
