//! Rows that can be compared: one experiment over one path with one way to wait.

use std::collections::BTreeMap;

use super::palette::rank;
use crate::row::Row;

/// Rows of one experiment, path, wait and least length.
#[derive(Debug, Clone)]
pub(super) struct Group<'a> {
    pub(super) experiment: &'a str,
    pub(super) path: &'a str,
    pub(super) wait: &'a str,
    least: Option<u64>,
    pub(super) rows: Vec<&'a Row>,
}

/// The groups of an experiment in the order of their first rows.
pub(super) fn groups<'a>(rows: &'a [Row], experiment: &str) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for row in rows.iter().filter(|row| row.experiment == experiment) {
        let wait = row.wait.as_deref().unwrap_or("");
        let found = groups
            .iter_mut()
            .find(|group| (group.path, group.wait, group.least) == (row.path.as_str(), wait, row.least));
        match found {
            Some(group) => group.rows.push(row),
            None => groups.push(Group {
                experiment: &row.experiment,
                path: &row.path,
                wait,
                least: row.least,
                rows: vec![row],
            }),
        }
    }
    groups
}

impl<'a> Group<'a> {
    /// `loopback, spin`, `loopback, spin, lengths from 64`.
    pub(super) fn conditions(&self) -> String {
        let lengths = self.least.map(|least| format!("lengths from {least}"));
        let parts = [self.path, self.wait, lengths.as_deref().unwrap_or("")].map(str::trim);
        let named: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        named.join(", ")
    }

    /// The sizes, rising; rows without one come first.
    pub(super) fn sizes(&self) -> Vec<Option<u64>> {
        let mut sizes: Vec<Option<u64>> = self.rows.iter().map(|row| row.size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// The transports: ours first, then by kin.
    pub(super) fn transports(&self) -> Vec<&'a str> {
        let names: BTreeMap<(usize, &str), ()> = self
            .rows
            .iter()
            .map(|row| ((rank(&row.transport), row.transport.as_str()), ()))
            .collect();
        names.into_keys().map(|(_, name)| name).collect()
    }

    /// The row of a transport at a size.
    pub(super) fn row(&self, transport: &str, size: Option<u64>) -> Option<&'a Row> {
        let found = |row: &&&Row| row.transport == transport && row.size == size;
        self.rows.iter().find(found).copied()
    }

    /// The size that stands for the group where one picture shows one size: 64 octets if measured, else the smallest.
    pub(super) fn small_size(&self) -> Option<u64> {
        let sizes = self.sizes();
        if sizes.contains(&Some(64)) {
            return Some(64);
        }
        sizes.first().copied().flatten()
    }
}

/// The experiments of a report in the order of the command's own list, unknown ones at the end.
pub(super) fn experiments(rows: &[Row]) -> Vec<&str> {
    const ORDER: &[&str] = &[
        "pingpong",
        "oneshot",
        "transaction",
        "bulk",
        super::clean::FRESH,
        "scale",
        "random",
        "wan",
        "sharing",
        "transfers",
        "buffers",
        "gbn",
        "ratecontrol",
        "stencil",
        "bag",
        "phases",
        "multicast",
        "messages",
    ];
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&row.experiment.as_str()) {
            names.push(&row.experiment);
        }
    }
    names.sort_by_key(|name| {
        let place = ORDER.iter().position(|known| known == name);
        place.unwrap_or(ORDER.len())
    });
    names
}
