//! The figures of a report as CSV, for spreadsheets and plotting programs.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::report::Report;

/// What stands first in each line.
const FIRST: [&str; 5] = ["experiment", "transport", "path", "size", "wait"];

/// Names of files and what belongs into them: the rows, and the points of curves; a file without lines is left out.
pub(crate) fn files(report: &Report) -> Vec<(String, String)> {
    let rows: Vec<Value> = report
        .rows
        .iter()
        .filter_map(|row| serde_json::to_value(row).ok())
        .collect();
    let files = [("figures.csv", figures(&rows)), ("curves.csv", curves(report))];
    files
        .into_iter()
        .filter_map(|(name, text)| Some((name.to_owned(), text?)))
        .collect()
}

/// A line a row, a column a figure; spreads are two columns.
fn figures(rows: &[Value]) -> Option<String> {
    let names: BTreeSet<&str> = rows
        .iter()
        .filter_map(Value::as_object)
        .flat_map(|row| row.keys().map(String::as_str))
        .filter(|name| !FIRST.contains(name))
        .collect();
    let is_pair = |name: &str| rows.iter().any(|row| row[name].is_array());
    let mut heads: Vec<String> = FIRST.map(str::to_owned).to_vec();
    for name in &names {
        match is_pair(name) {
            true => {
                let name = name.trim_end_matches("_spread");
                heads.extend([format!("{name}_least"), format!("{name}_greatest")]);
            }
            false => heads.push((*name).to_owned()),
        }
    }
    let mut lines = vec![heads];
    for row in rows {
        let mut line: Vec<String> = FIRST.iter().map(|name| text(&row[*name])).collect();
        for name in &names {
            match is_pair(name) {
                true => line.extend([text(&row[*name][0]), text(&row[*name][1])]),
                false => line.push(text(&row[*name])),
            }
        }
        lines.push(line);
    }
    written(lines)
}

/// A line a point.
fn curves(report: &Report) -> Option<String> {
    let heads = ["plot", "curve", "x", "y", "x_label", "y_label"].map(str::to_owned);
    let points = report.series.iter().flat_map(|series| {
        series.points.iter().map(|(x, y)| {
            vec![
                series.plot.clone(),
                series.transport.clone(),
                x.to_string(),
                y.to_string(),
                series.x_label.clone(),
                series.y_label.clone(),
            ]
        })
    });
    written([heads.to_vec()].into_iter().chain(points).collect())
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// `None` without any line below the heads.
fn written(lines: Vec<Vec<String>>) -> Option<String> {
    if lines.len() < 2 {
        return None;
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    for line in lines {
        writer.write_record(line).ok()?;
    }
    String::from_utf8(writer.into_inner().ok()?).ok()
}

#[cfg(test)]
#[path = "csv_tests.rs"]
mod tests;
