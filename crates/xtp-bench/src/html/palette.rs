//! One colour a transport, the same in every picture of a report, with a light and a dark shade.

use std::collections::BTreeMap;

use crate::report::Report;

/// Name, class.
const KNOWN: &[(&str, &str)] = &[
    ("xtp", "c-xtp"),
    ("udp", "c-udp"),
    ("r-udp", "c-rudp"),
    ("t-udp", "c-tudp"),
    ("tcp", "c-tcp"),
    ("tcp-fastopen", "c-fastopen"),
    ("tcp-reno", "c-reno"),
    ("tcp-bbr", "c-bbr"),
    ("tcp-abort", "c-abort"),
    ("quinn", "c-quinn"),
    ("quinn-0rtt", "c-quinn0"),
    ("iperf3", "c-iperf"),
    ("fi_pingpong", "c-fi"),
    ("ucx_perftest", "c-ucx"),
];

/// Shades for variants of ours: near to xtp's own.
const OURS: usize = 5;
/// Shades for transports this file does not know.
const OTHERS: usize = 5;

/// The classes of all transports of a report.
#[derive(Debug, Default)]
pub(super) struct Palette {
    classes: BTreeMap<String, String>,
}

impl Palette {
    /// Gives every transport of `report` a class, in order of its name: the same report has the same colours.
    pub(super) fn new(report: &Report) -> Self {
        let rows = report.rows.iter().map(|row| &row.transport);
        let fits = report.fits.iter().map(|fit| &fit.transport);
        let series = report.series.iter().map(|series| &series.transport);
        let mut names: Vec<&String> = rows.chain(fits).chain(series).collect();
        names.sort_unstable();
        names.dedup();
        let (mut ours, mut others) = (0, 0);
        let mut classes = BTreeMap::new();
        for name in names {
            let class = match known(name) {
                Some(class) => class.to_owned(),
                None if name.starts_with("xtp") => numbered("c-x", &mut ours, OURS),
                None => numbered("c-o", &mut others, OTHERS),
            };
            classes.insert(name.clone(), class);
        }
        Self { classes }
    }

    /// The class of `transport`.
    pub(super) fn class(&self, transport: &str) -> &str {
        self.classes
            .get(transport)
            .map_or_else(|| known(transport).unwrap_or("c-o0"), String::as_str)
    }
}

/// The class of a transport by its name; `tcp (something)` has TCP's.
fn known(name: &str) -> Option<&'static str> {
    let exact = KNOWN.iter().find(|(known, _)| *known == name);
    let plain = name.split([' ', '/']).next().unwrap_or(name);
    let found = exact.or_else(|| KNOWN.iter().find(|(known, _)| *known == plain && *known != "xtp"));
    found.map(|(_, class)| *class)
}

fn numbered(prefix: &str, count: &mut usize, shades: usize) -> String {
    let class = format!("{prefix}{}", *count % shades);
    *count += 1;
    class
}

/// Place of a transport where several stand below each other: ours first, then the rivals by kin.
pub(super) fn rank(transport: &str) -> usize {
    if transport == "xtp" {
        return 0;
    }
    if transport.starts_with("xtp") {
        return 1;
    }
    KNOWN
        .iter()
        .position(|(known, _)| *known == transport)
        .map_or(KNOWN.len() + 2, |place| place + 2)
}
