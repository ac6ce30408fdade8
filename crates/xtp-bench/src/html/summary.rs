//! The first picture: xtp against the best rival of every experiment, losses included.

use std::collections::BTreeMap;

use super::element::{Element, el};
use super::figures::{self, advantage, is_ours, is_rival};
use super::number;
use super::palette::Palette;
use super::versus::{self, Versus};
use crate::report::Report;
use crate::row::Row;

/// xtp beside one rival in one case.
#[derive(Debug, Clone)]
struct Case<'a> {
    rival: &'a Row,
    xtp: Option<&'a Row>,
    factor: f64,
}

/// Cases shown in the table of losses.
const LISTED: usize = 40;

/// Experiments of which each path is a case, not a condition.
fn spans_paths(experiment: &str) -> bool {
    matches!(experiment, "wan" | "buffers" | "gbn" | "multicast")
}

/// Every case with xtp in it: (experiment, path, wait, size) with the rivals' rows.
fn cases<'a>(rows: &'a [Row], counts: impl Fn(&str) -> bool) -> Vec<Vec<Case<'a>>> {
    type Key<'a> = (&'a str, &'a str, Option<&'a str>, Option<u64>);
    let mut order: Vec<Key<'a>> = Vec::new();
    let mut found: BTreeMap<Key<'a>, Vec<&'a Row>> = BTreeMap::new();
    // Whoever shares a link should get half of it, not more.
    for row in rows.iter().filter(|row| row.experiment != "sharing") {
        let key = (
            row.experiment.as_str(),
            row.path.as_str(),
            row.wait.as_deref(),
            row.size,
        );
        if !found.contains_key(&key) {
            order.push(key);
        }
        found.entry(key).or_default().push(row);
    }
    let mut all = Vec::new();
    for key in order {
        let rows = &found[&key];
        let xtp = rows.iter().find(|row| row.transport == "xtp").copied();
        let rivals = rows.iter().filter(|row| counts(&row.transport));
        let cases: Vec<Case<'a>> = rivals
            .filter_map(|&rival| {
                Some(Case {
                    rival,
                    xtp,
                    factor: advantage(rival, xtp)?,
                })
            })
            .collect();
        if !cases.is_empty() {
            all.push(cases);
        }
    }
    all
}

/// The strongest rival of a case.
fn strongest<'c, 'a>(cases: &'c [Case<'a>]) -> Option<&'c Case<'a>> {
    cases.iter().min_by(|a, b| a.factor.total_cmp(&b.factor))
}

/// The bars: cases of one experiment, path and wait together.
fn bars(best: &[Case<'_>]) -> Vec<Versus> {
    let mut order: Vec<String> = Vec::new();
    let mut together: BTreeMap<String, Vec<&Case<'_>>> = BTreeMap::new();
    for case in best {
        let label = label(case.rival);
        if !together.contains_key(&label) {
            order.push(label.clone());
        }
        together.entry(label).or_default().push(case);
    }
    order
        .into_iter()
        .map(|label| {
            let cases = &together[&label];
            versus_of(label, cases)
        })
        .collect()
}

fn label(row: &Row) -> String {
    let mut parts = vec![figures::title(&row.experiment)];
    if !spans_paths(&row.experiment) {
        parts.push(row.path.clone());
    }
    parts.extend(row.wait.clone());
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

fn versus_of(label: String, cases: &[&Case<'_>]) -> Versus {
    let count = cases.len() as f64;
    let mean = (cases.iter().map(|case| case.factor.ln()).sum::<f64>() / count).exp();
    let lowest = cases.iter().map(|case| case.factor).fold(f64::INFINITY, f64::min);
    let highest = cases.iter().map(|case| case.factor).fold(0.0, f64::max);
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for case in cases {
        *names.entry(case.rival.transport.as_str()).or_default() += 1;
    }
    let mut names: Vec<(&str, usize)> = names.into_iter().collect();
    names.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let mut note = format!("vs {}", names[0].0);
    if names.len() > 1 {
        note.push_str(&format!(" and {} more", names.len() - 1));
    }
    if cases.len() > 1 {
        let wins = cases.iter().filter(|case| case.factor >= 1.0).count();
        note.push_str(&format!(", ahead in {wins} of {}", cases.len()));
    }
    Versus {
        label,
        factor: mean,
        range: [lowest, highest],
        note,
    }
}

/// The summary; nothing if no row can be compared.
pub(super) fn section(report: &Report, palette: &Palette) -> Option<Element> {
    let all = cases(&report.rows, is_rival);
    let best: Vec<Case<'_>> = all.iter().filter_map(|cases| strongest(cases)).cloned().collect();
    let floor: Vec<Case<'_>> = cases(&report.rows, |name| name == "udp")
        .into_iter()
        .flatten()
        .collect();
    let bars = bars(&best);
    let floor_bars = self::bars(&floor);
    if bars.is_empty() && floor_bars.is_empty() {
        return None;
    }
    let mut section = el("section")
        .attr("id", "summary")
        .child(el("h2").text("Against the best rival"));
    if !bars.is_empty() {
        section = section.child(tiles(&best)).child(figure(
            "xtp beside the best rival that offers the same service",
            "Bar: geometric mean over sizes (or cells of the grid) of rival / xtp in time, xtp / rival in throughput, \
             each the median of per-round ratios; thin line: from the worst case to the best. At every size the \
             strongest rival of that size counts.",
            &bars,
        ));
    }
    if !floor_bars.is_empty() {
        section = section.child(figure(
            "xtp beside raw UDP",
            "Raw UDP keeps no order, recovers nothing and has no associations: no rival, but the floor.",
            &floor_bars,
        ));
    }
    Some(section.maybe(losses(&best, palette)))
}

fn figure(title: &str, explained: &str, bars: &[Versus]) -> Element {
    let caption = el("figcaption").text(title).child(el("small").text(explained));
    el("figure").child(caption).maybe(versus::draw(title, bars))
}

fn tiles(best: &[Case<'_>]) -> Element {
    let wins = best.iter().filter(|case| case.factor >= 1.0).count();
    let losses = best.len() - wins;
    let tile = |class: &'static str, number: String, words: &str| {
        el("div")
            .class(class)
            .child(el("b").text(number))
            .child(el("span").text(words))
    };
    let of = format!("{wins} of {}", best.len());
    let mut tiles = el("div")
        .class("tiles")
        .child(tile("tile good", of, "cases with xtp ahead of every rival"))
        .child(tile(
            if losses == 0 { "tile" } else { "tile bad" },
            losses.to_string(),
            "cases with a rival ahead of xtp",
        ));
    let by_factor = |a: &&Case<'_>, b: &&Case<'_>| a.factor.total_cmp(&b.factor);
    if let (Some(worst), Some(best)) = (best.iter().min_by(by_factor), best.iter().max_by(by_factor)) {
        tiles = tiles
            .child(tile(
                "tile",
                number::factor(worst.factor),
                &describe("smallest", worst),
            ))
            .child(tile(
                "tile",
                number::factor(best.factor),
                &describe("greatest", best),
            ));
    }
    tiles
}

fn describe(which: &str, case: &Case<'_>) -> String {
    let size = case.rival.size.map(|size| format!(", {}", number::size(size)));
    format!(
        "{which}: {}{} against {}",
        label(case.rival).to_lowercase(),
        size.unwrap_or_default(),
        case.rival.transport
    )
}

/// Every case in which a rival is ahead.
fn losses(best: &[Case<'_>], palette: &Palette) -> Option<Element> {
    let mut lost: Vec<&Case<'_>> = best.iter().filter(|case| case.factor < 1.0).collect();
    if lost.is_empty() {
        return None;
    }
    lost.sort_by(|a, b| a.factor.total_cmp(&b.factor));
    let head = [
        "rival",
        "experiment",
        "path",
        "wait",
        "size",
        "rival's figure",
        "xtp's",
        "xtp is",
    ];
    let heads = head.iter().enumerate().map(|(place, name)| {
        let class = if place < 4 { "left" } else { "right" };
        el("th").class(class).text(name)
    });
    let mut table = el("table").child(el("tr").children(heads));
    for case in lost.iter().take(LISTED) {
        table = table.child(loss(case, palette));
    }
    let mut block = el("div")
        .child(el("h3").text("Where a rival is ahead"))
        .child(el("div").class("scroll").child(table));
    if lost.len() > LISTED {
        block = block.child(el("p").text(format!("and {} more.", lost.len() - LISTED)));
    }
    Some(block)
}

fn loss(case: &Case<'_>, palette: &Palette) -> Element {
    let row = case.rival;
    let shown = |row: Option<&Row>| {
        row.and_then(figures::main).map_or_else(
            || "–".to_owned(),
            |figure| format!("{} {}", number::short(figure.value), figure.kind.unit()),
        )
    };
    let behind = format!("{} behind", number::factor(1.0 / case.factor));
    el("tr")
        .class(palette.class(&row.transport))
        .child(el("td").text(&row.transport))
        .child(el("td").class("left").text(figures::title(&row.experiment)))
        .child(el("td").class("left").text(&row.path))
        .child(el("td").class("left").text(row.wait.as_deref().unwrap_or("–")))
        .child(el("td").text(row.size.map_or_else(|| "–".to_owned(), number::octets)))
        .child(el("td").text(shown(Some(row))))
        .child(el("td").text(shown(case.xtp)))
        .child(el("td").child(el("span").class("bad-text").text(behind)))
}

/// How the best variant of ours and the rivals stand at the head of a section, in a sentence.
pub(super) fn sentence(rows: &[&Row]) -> Option<String> {
    let rows: Vec<Row> = rows.iter().map(|row| (*row).clone()).collect();
    let all = cases(&rows, is_rival);
    let best: Vec<&Case<'_>> = all.iter().filter_map(|cases| strongest(cases)).collect();
    if best.is_empty() {
        return None;
    }
    let variants = rows
        .iter()
        .any(|row| is_ours(&row.transport) && row.transport != "xtp");
    let versus = versus_of(String::new(), &best);
    let ahead = versus.factor >= 1.0;
    let factor = number::factor(if ahead { versus.factor } else { 1.0 / versus.factor });
    let direction = if ahead { "ahead" } else { "behind" };
    let own = if variants {
        ", its variants not counted"
    } else {
        ""
    };
    let mean = if best.len() > 1 {
        " in the geometric mean"
    } else {
        ""
    };
    Some(format!(
        "Beside the strongest rival xtp is {factor} {direction}{mean} ({}{own}).",
        versus.note
    ))
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
