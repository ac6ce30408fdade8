//! A report as part of a repository: one table in Markdown, and its pictures as files of their own.

use super::element::Element;
use super::figures::{self, Kind};
use super::groups;
use super::number;
use super::palette::rank;
use super::standalone::standalone;
use crate::csv;
use crate::report::Report;
use crate::row::Row;

/// What begins the part of a page that is written by [`Page::put_into`]; the rest of that line does not matter.
pub const BEGIN: &str = "<!-- figures:";
/// What ends it.
pub const END: &str = "<!-- end of figures -->";

/// What whoever compares should know of a factor over QUIC.
const ENCRYPTS: &str = "\nquinn encrypts and authenticates every packet; no other transport here does.\n";

/// A report for a page that has other text, too.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Host, table, remarks, and references to the plots.
    pub markdown: String,
    /// Names of files and what belongs into them: a picture each, and the figures that the pictures show as CSV.
    pub plots: Vec<(String, String)>,
}

/// Makes it; `folder` is where the plots will be, as seen from the page.
pub fn page(report: &Report, folder: &str) -> Page {
    let report = &super::clean::cleaned(report);
    let plots: Vec<(String, String, String)> = super::sections(report)
        .into_iter()
        .filter_map(|(name, section)| {
            let id = section.attribute("id")?.to_owned();
            Some((name, format!("{id}.svg"), standalone(&pictures(&section)?)))
        })
        .collect();
    let mut markdown = host(report);
    markdown.push_str(&table(report));
    if report.rows.iter().any(|row| row.transport.starts_with("quinn")) {
        markdown.push_str(ENCRYPTS);
    }
    for (name, file, _) in &plots {
        markdown.push_str(&format!("\n![{name}]({folder}/{file})\n"));
    }
    let tables: Vec<String> = csv::files(report)
        .into_iter()
        .map(|(name, _)| format!("[{name}]({folder}/{name})"))
        .collect();
    if !tables.is_empty() {
        markdown.push_str(&format!("\nThe same as CSV: {}.\n", tables.join(", ")));
    }
    for failure in &report.failures {
        markdown.push_str(&format!("\nFAILED: {}\n", cell(failure)));
    }
    for note in &report.notes {
        markdown.push_str(&format!("\n* {}", cell(note)));
    }
    markdown.push('\n');
    Page {
        markdown,
        plots: plots
            .into_iter()
            .map(|(_, file, svg)| (file, svg))
            .chain(csv::files(report))
            .collect(),
    }
}

/// The first picture of a section; where it is a paper's beside ours, ours too: the paper's alone says nothing of this run.
fn pictures(section: &Element) -> Option<Vec<&Element>> {
    let first = section.find("svg")?;
    let beside = section.all(&|element| element.classes().any(|class| class == "cards"));
    let beside = beside
        .first()
        .map(|cards| cards.all(&|element| element.name() == "svg"));
    Some(match beside.as_deref() {
        Some([paper, ours, ..]) if section.attribute("id") == Some("then") && std::ptr::eq(*paper, first) => {
            vec![*paper, *ours]
        }
        _ => vec![first],
    })
}

impl Page {
    /// `text` with the part between [`BEGIN`] and [`END`] replaced; `None` if it has no such part.
    pub fn put_into(&self, text: &str) -> Option<String> {
        let begin = text.find(BEGIN)?;
        let first = begin + text[begin..].find('\n')? + 1;
        let end = first + text[first..].find(END)?;
        Some(format!(
            "{}\n{}\n{}",
            &text[..first],
            self.markdown.trim(),
            &text[end..]
        ))
    }
}

fn host(report: &Report) -> String {
    let host = &report.host;
    format!(
        "`{}`: {}, {} cores, {}, {}.\n\n",
        cell(&report.command),
        cell(&host.cpu),
        host.cores,
        cell(&host.kernel),
        cell(&host.date)
    )
}

/// A line for each case: an experiment at a size over a path.
fn table(report: &Report) -> String {
    let mut text = "| experiment | path | octets | xtp | packets, calls, CPU-s/GB | others, and how many times better xtp is |\n\
                    | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    for experiment in groups::experiments(&report.rows) {
        for group in groups::groups(&report.rows, experiment) {
            for size in group.sizes() {
                let rows: Vec<&Row> = group
                    .rows
                    .iter()
                    .copied()
                    .filter(|row| row.size == size)
                    .collect();
                let words = [
                    figures::title(experiment),
                    group.conditions(),
                    size.map(number::octets).unwrap_or_default(),
                    ours(&rows),
                    costs(&rows),
                    others(rows),
                ];
                text.push_str(&format!("| {} |\n", words.map(|word| cell(&word)).join(" | ")));
            }
        }
    }
    text
}

fn our_row<'a>(rows: &[&'a Row]) -> Option<&'a Row> {
    rows.iter().copied().find(|row| row.transport == "xtp")
}

fn ours(rows: &[&Row]) -> String {
    let Some(figure) = our_row(rows).and_then(figures::main) else {
        return String::new();
    };
    let spread = figure.spread.map_or(String::new(), |[low, high]| {
        format!(" ({} to {})", number::short(low), number::short(high))
    });
    format!("{} {}{spread}", number::short(figure.value), figure.kind.unit())
}

fn costs(rows: &[&Row]) -> String {
    let Some(row) = our_row(rows) else {
        return String::new();
    };
    let costs = [row.packets_per_op, row.syscalls_per_op, row.cpu_s_per_gb];
    let known = costs.map(|cost| cost.map_or("–".to_owned(), number::short));
    known.join(", ")
}

/// Every other transport with its figure; who is ahead of us in bold.
fn others(mut rows: Vec<&Row>) -> String {
    let xtp = our_row(&rows);
    rows.retain(|row| row.transport != "xtp");
    rows.sort_by_key(|row| rank(&row.transport));
    let words = rows.iter().filter_map(|row| {
        let figure = figures::main(row)?;
        let value = number::short(figure.value);
        let unit = match xtp.and_then(figures::main).map(|ours| ours.kind) {
            Some(kind) if kind == figure.kind => "",
            _ => Kind::unit(figure.kind),
        };
        let text = format!("{} {value} {unit}", row.transport);
        let text = text.trim_end();
        Some(match figures::advantage(row, xtp) {
            Some(factor) if factor < 1.0 => format!("**{text} ({})**", number::factor(factor)),
            Some(factor) => format!("{text} ({})", number::factor(factor)),
            None => text.to_owned(),
        })
    });
    words.collect::<Vec<_>>().join("; ")
}

/// Text that stays in its cell, and is no markup.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '|' | '<' | '`' => {
                out.push('\\');
                out.push(character);
            }
            '\n' | '\r' => out.push(' '),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
