//! What a row says in one number, and what that number says about us.

use crate::row::Row;

/// The kind of figure an experiment is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Microseconds an operation: less is better.
    Time,
    /// Gbit/s: more is better.
    Rate,
    /// Mbit/s, where links are slower than hosts: more is better.
    SlowRate,
    /// Operations a second: more is better.
    Operations,
}

impl Kind {
    /// Quantity, unit and direction.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Time => "median, µs (less is better)",
            Self::Rate => "Gbit/s (more is better)",
            Self::SlowRate => "Mbit/s (more is better)",
            Self::Operations => "operations/s (more is better)",
        }
    }

    /// The unit alone.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Time => "µs",
            Self::Rate => "Gbit/s",
            Self::SlowRate => "Mbit/s",
            Self::Operations => "operations/s",
        }
    }
}

/// A row's main figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Figure {
    pub(super) kind: Kind,
    pub(super) value: f64,
    pub(super) spread: Option<[f64; 2]>,
}

/// The main figure of a row: what its experiment is about, or else whatever it has.
pub(super) fn main(row: &Row) -> Option<Figure> {
    let order = match row.experiment.as_str() {
        name if on_link(name) => [Kind::SlowRate, Kind::Operations, Kind::Time],
        "bulk" | super::clean::FRESH => [Kind::Rate, Kind::Operations, Kind::Time],
        "scale" | "bag" => [Kind::Operations, Kind::Rate, Kind::Time],
        _ => [Kind::Time, Kind::Operations, Kind::Rate],
    };
    order.into_iter().find_map(|kind| of_kind(row, kind))
}

/// The figure of one kind.
pub(super) fn of_kind(row: &Row, kind: Kind) -> Option<Figure> {
    let (value, spread) = match kind {
        Kind::Time => (row.p50_us, row.p50_us_spread),
        Kind::Rate => (row.gbit_s, row.gbit_s_spread),
        Kind::SlowRate => (
            row.gbit_s.map(|rate| rate * 1000.0),
            row.gbit_s_spread.map(|spread| spread.map(|rate| rate * 1000.0)),
        ),
        Kind::Operations => (row.ops_per_s, None),
    };
    let value = value.filter(|value| value.is_finite() && *value > 0.0)?;
    Some(Figure { kind, value, spread })
}

/// How much better xtp does than `rival`, as a factor: above 1 xtp is ahead.
///
/// From the median of per-round ratios where the row has it, else from the medians.
pub(super) fn advantage(rival: &Row, xtp: Option<&Row>) -> Option<f64> {
    let figure = main(rival)?;
    let ratio = rival.ratio_to_xtp.or_else(|| {
        let ours = of_kind(xtp?, figure.kind)?;
        Some(figure.value / ours.value)
    })?;
    if !(ratio.is_finite() && ratio > 0.0) {
        return None;
    }
    Some(match figure.kind {
        Kind::Time => ratio,
        Kind::Rate | Kind::SlowRate | Kind::Operations => 1.0 / ratio,
    })
}

/// Whether `transport` offers what xtp offers. Raw UDP does not, to one or to a group: no order, no recovery, no
/// association. It is the floor that nothing over it can pass.
pub(super) fn is_rival(transport: &str) -> bool {
    !is_ours(transport) && !matches!(transport, "udp" | "raw")
}

/// xtp and its variants.
pub(super) fn is_ours(transport: &str) -> bool {
    transport == "xtp" || transport.starts_with("xtp-") || transport.starts_with("xtp ")
}

/// Experiments over an emulated or shaped link, whose rate, not the host's, is the measure.
pub(super) fn on_link(experiment: &str) -> bool {
    matches!(
        experiment,
        "wan" | "sharing" | "transfers" | "buffers" | "gbn" | "ratecontrol" | "multicast" | "messages"
    )
}

/// An experiment's name for people.
pub(super) fn title(experiment: &str) -> String {
    match experiment {
        "pingpong" => "Ping-pong",
        "oneshot" => "One-shot",
        "transaction" => "Transaction",
        "bulk" => "Bulk, hot: one message from cache",
        super::clean::FRESH => "Bulk from fresh memory, every octet read",
        "scale" => "Scale",
        "random" => "One of many, at random",
        "wan" => "Long distance",
        "sharing" => "Sharing a link",
        "transfers" => "Transfers from beginning to end",
        "buffers" => "Retained buffers",
        "gbn" => "Go-back-N and selective repeat",
        "ratecontrol" => "Rate control",
        "stencil" => "Stencil",
        "bag" => "Bag of tasks",
        "phases" => "Phases",
        "multicast" => "One to many",
        "messages" => "Messages to a group",
        other => other,
    }
    .to_owned()
}
