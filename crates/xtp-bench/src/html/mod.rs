//! A report as one page for people: self-contained, without scripts, in light and dark, on screen and on paper.

mod axis;
mod bars;
mod by_size;
#[cfg(test)]
mod checks;
mod clean;
mod element;
mod figures;
#[cfg(test)]
mod fixture;
mod groups;
mod head;
mod heat;
mod lines;
mod number;
pub(crate) mod page;
mod palette;
mod series;
mod standalone;
mod summary;
mod table;
mod then;
mod versus;
mod volume;
mod wan;

use element::{Element, el};
use palette::Palette;

use crate::report::Report;

/// The page as HTML: nothing in it refers to anything outside itself, and every text of the report is escaped.
///
/// Experiments without figures are left out; transports and experiments that this program does not know are drawn
/// like the others.
pub fn render(report: &Report) -> String {
    let report = &clean::cleaned(report);
    let sections = sections(report);
    let links = sections.iter().filter_map(|(name, section)| {
        let id = section.attribute("id")?;
        Some(el("a").attr("href", format!("#{id}")).text(name))
    });
    let nav = el("nav").children(links);
    let main = el("main")
        .child(head::head(report))
        .child(nav)
        .maybe(head::failures(report))
        .children(sections.into_iter().map(|(_, section)| section))
        .child(footer());
    let page = el("html")
        .attr("lang", "en")
        .child(page_head())
        .child(el("body").child(main));
    format!("<!doctype html>\n{page}\n")
}

/// What there is to show of a cleaned report, by name.
fn sections(report: &Report) -> Vec<(String, Element)> {
    let palette = Palette::new(report);
    let mut sections: Vec<(String, Element)> = Vec::new();
    let mut add = |name: String, section: Option<Element>| {
        sections.extend(section.map(|section| (name, section)));
    };
    add("Summary".to_owned(), summary::section(report, &palette));
    for experiment in groups::experiments(&report.rows) {
        let section = match experiment {
            "pingpong" | "oneshot" | "transaction" => by_size::section(report, experiment, &palette),
            "wan" | "buffers" | "gbn" => wan::section(report, experiment, &palette),
            _ => volume::section(report, experiment, &palette),
        };
        add(figures::title(experiment), section);
    }
    add("Curves".to_owned(), series::section(report, &palette));
    add("Then and now".to_owned(), then::section(report, &palette));
    add("Remarks".to_owned(), head::notes(report));
    sections
}

fn page_head() -> Element {
    el("head")
        .child(el("meta").attr("charset", "utf-8"))
        .child(
            el("meta")
                .attr("name", "viewport")
                .attr("content", "width=device-width, initial-scale=1"),
        )
        .child(el("title").text("xtp bench"))
        .child(el("style").style(include_str!("style.css")))
}

fn footer() -> Element {
    el("footer").text(
        "Medians over rounds; ratios are medians of per-round ratios, so that a disturbance of the host meets both \
         sides. Colours stand for transports, the same everywhere on this page.",
    )
}

#[cfg(test)]
#[path = "mod_tests.rs"]
mod tests;
