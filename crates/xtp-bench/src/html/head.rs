//! What was measured where: the head of the page, and what a reader has to know at its end.

use serde_json::Value;

use super::element::{Element, el};
use super::number;
use crate::report::Report;
use crate::row::Row;

/// Title, host and settings.
pub(super) fn head(report: &Report) -> Element {
    let facts = facts(report);
    let date = facts.iter().find(|(name, _)| name == "date");
    let date = date.map_or(String::new(), |(_, date)| format!(", {date}"));
    let mut command = el("dl");
    let mut list = el("dl").class("facts");
    if !report.command.is_empty() {
        command = command
            .child(el("dt").text("command"))
            .child(el("dd").child(el("code").text(&report.command)));
    }
    for (name, value) in facts.iter().filter(|(name, _)| name != "date") {
        list = list.child(el("dt").text(name)).child(el("dd").text(value));
    }
    el("header")
        .child(el("h1").text("xtp beside its rivals"))
        .child(el("p").class("lead").text(format!("{}{date}", extent(report))))
        .child(command)
        .child(list)
}

/// How much was measured, in a sentence.
fn extent(report: &Report) -> String {
    let rows = &report.rows;
    match (rows.len(), report.series.len()) {
        (0, 0) => return "No figures".to_owned(),
        (0, curves) => return format!("{curves} curves"),
        _ => {}
    }
    let count = |pick: fn(&Row) -> &str| {
        let mut names: Vec<&str> = rows.iter().map(pick).collect();
        names.sort_unstable();
        names.dedup();
        names.len()
    };
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let rounds = rows.iter().map(|row| row.rounds).min().unwrap_or(0);
    let most = rows.iter().map(|row| row.rounds).max().unwrap_or(0);
    let rounds = if rounds == most {
        plural(most as usize, "round")
    } else {
        format!("{rounds} to {most} rounds")
    };
    format!(
        "{} of {} in {}, {rounds} each, every transport in turn within a round",
        plural(rows.len(), "figure"),
        plural(count(|row| &row.transport), "transport"),
        plural(count(|row| &row.experiment), "experiment"),
    )
}

/// The host's fields as they are, whatever they are: nothing that was recorded is left out.
fn facts(report: &Report) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    if let Ok(Value::Object(fields)) = serde_json::to_value(&report.host) {
        for (name, value) in fields {
            flatten(&name, &value, &mut facts);
        }
    }
    if let Some(load) = report.load.text() {
        facts.push(("load".to_owned(), load.trim_start_matches("load: ").to_owned()));
    }
    facts
}

fn flatten(name: &str, value: &Value, facts: &mut Vec<(String, String)>) {
    // Parameters of the kernel keep their names.
    let name = if name.contains('.') {
        name.to_owned()
    } else {
        name.replace('_', " ")
    };
    match value {
        Value::Object(fields) => {
            for (inner, value) in fields {
                flatten(inner, value, facts);
            }
        }
        Value::Array(values) => {
            let words: Vec<String> = values.iter().map(plain).collect();
            facts.push((name, words.join(", ")));
        }
        Value::Number(octets) if name == "memory" => {
            let gibibytes = octets.as_f64().unwrap_or(0.0) / f64::from(1 << 30);
            facts.push((name, format!("{} GiB", number::short(gibibytes))));
        }
        other => facts.push((name, plain(other))),
    }
    facts.retain(|(_, value)| !value.is_empty() && value != "0" && value != "0 GiB");
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// What failed: above everything else, since a reader must not miss it.
pub(super) fn failures(report: &Report) -> Option<Element> {
    let list = list(&report.failures)?;
    Some(
        el("section")
            .class("failures")
            .child(el("h3").text("What failed"))
            .child(list),
    )
}

/// Remarks of the run.
pub(super) fn notes(report: &Report) -> Option<Element> {
    let list = list(&report.notes)?;
    Some(
        el("section")
            .attr("id", "notes")
            .child(el("h2").text("Remarks"))
            .child(list),
    )
}

fn list(lines: &[String]) -> Option<Element> {
    if lines.is_empty() {
        return None;
    }
    Some(el("ul").children(lines.iter().map(|line| el("li").text(line))))
}
