//! What went over the links, written as a ladder a reader can follow.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use xtp_link::{DropCause, Outcome};
use xtp_wire::{Format, Options};

use crate::packet::Seen;

/// Which end of an association.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// Sent FIRST.
    Initiator,
    /// Was listening.
    Responder,
}

impl Side {
    /// 0 or 1, for tables of two.
    pub const fn index(self) -> usize {
        match self {
            Self::Initiator => 0,
            Self::Responder => 1,
        }
    }

    /// The other end.
    pub const fn other(self) -> Self {
        match self {
            Self::Initiator => Self::Responder,
            Self::Responder => Self::Initiator,
        }
    }
}

/// What became of a packet on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The link took it, once or twice.
    Link(Outcome),
    /// Nobody has this address.
    NoHost,
    /// The carrier had no room and keeps it for later.
    Kept,
    /// The carrier did not take it.
    Refused,
    /// No host sent it: somebody put it into the socket of the host that is named, and this is what is wrong with it.
    Injected(&'static str),
}

impl Fate {
    /// Whether it will never arrive.
    pub fn is_lost(self) -> bool {
        matches!(
            self,
            Self::NoHost | Self::Refused | Self::Link(Outcome::Dropped(_))
        )
    }
}

/// A packet handed to a link.
#[derive(Clone, Debug)]
pub struct Record {
    /// World time, nanoseconds.
    pub at: u64,
    /// Host that sent it.
    pub from: usize,
    /// Association and end it was sent by, as far as keys tell.
    pub end: Option<(usize, Side)>,
    /// The packet.
    pub seen: Seen,
    /// What became of it.
    pub fate: Fate,
}

/// Names of the option bits in the order they are printed.
const NAMES: [(Options, &str); 15] = [
    (Options::MULTI, "MULTI"),
    (Options::NOERR, "NOERR"),
    (Options::NOFLOW, "NOFLOW"),
    (Options::RES, "RES"),
    (Options::FASTNAK, "FASTNAK"),
    (Options::SORT, "SORT"),
    (Options::EDGE, "EDGE"),
    (Options::SREQ, "SREQ"),
    (Options::DREQ, "DREQ"),
    (Options::RCLOSE, "RCLOSE"),
    (Options::WCLOSE, "WCLOSE"),
    (Options::BTAG, "BTAG"),
    (Options::EOM, "EOM"),
    (Options::END, "END"),
    (Options::NOCHECK, "NOCHECK"),
];

/// The names of `options`; NOCHECK, which the carrier decides for all packets alike, is left out.
pub fn option_names(options: Options) -> String {
    let set = NAMES
        .iter()
        .filter(|(bit, _)| *bit != Options::NOCHECK && options.contains(*bit));
    set.map(|(_, name)| *name).collect::<Vec<_>>().join(" ")
}

/// Every option bit with its name.
pub fn option_table() -> &'static [(Options, &'static str)] {
    &NAMES
}

/// Name of a packet format as `docs/protocol` writes it.
pub fn format_name(format: Format) -> &'static str {
    match format {
        Format::Data => "DATA",
        Format::Cntl => "CNTL",
        Format::First => "FIRST",
        Format::Ecntl => "ECNTL",
        Format::Tcntl => "TCNTL",
        Format::Join => "JOIN",
        Format::Jcntl => "JCNTL",
        Format::Diag => "DIAG",
        Format::Path => "PATH",
        Format::Xcntl => "XCNTL",
        Format::Cookie => "COOKIE",
        Format::Xdata => "XDATA",
        Format::Parity => "PARITY",
        Format::Gnack => "GNACK",
        Format::Sealed => "SEALED",
    }
}

/// Turns records into lines. Syncs are shown counted from the first one of each end, so that a trace does not
/// depend on random starts.
#[derive(Debug, Default)]
pub struct Printer {
    bases: BTreeMap<(usize, Side), u32>,
    xkeys: BTreeMap<u64, ()>,
}

impl Printer {
    /// The line of one record, without a line end.
    pub fn line(&mut self, record: &Record) -> String {
        let seen = &record.seen;
        let who = match record.end {
            Some((_, Side::Initiator)) => "I".to_owned(),
            Some((_, Side::Responder)) => "R".to_owned(),
            None => format!("h{}", record.from),
        };
        let mut out = format!("{} {who} {}", seconds(record.at), format_name(seen.format));
        let _ = write!(out, " {{{}}}", option_names(seen.options));
        let base = self.base(record.end, seen);
        let _ = write!(
            out,
            " sync={} seq={}+{}",
            seen.sync.wrapping_sub(base),
            seen.seq,
            seen.len
        );
        self.control(&mut out, record);
        if let Some(xkey) = seen.xkey {
            self.xkeys.insert(xkey, ());
            out.push_str(" xkey");
        } else if self.xkeys.contains_key(&seen.key.value()) {
            out.push_str(" by-xkey");
        }
        if let Some((code, val)) = seen.diag {
            let _ = write!(out, " code={code} val={val}");
        }
        out.push_str(fate_mark(record.fate));
        if let Fate::Injected(wrong) = record.fate {
            let _ = write!(out, " into host {}: {wrong}", record.from);
        }
        out
    }

    fn base(&mut self, end: Option<(usize, Side)>, seen: &Seen) -> u32 {
        match end {
            Some(end) if seen.format != Format::Cookie => {
                *self.bases.entry(end).or_insert_with(|| seen.sync.wrapping_sub(1))
            }
            _ => 0,
        }
    }

    fn control(&self, out: &mut String, record: &Record) {
        let seen = &record.seen;
        let Some(control) = seen.control else { return };
        let base = record
            .end
            .and_then(|(association, side)| self.bases.get(&(association, side.other())));
        let echo = match (control.echo, base) {
            (0, _) => "none".to_owned(),
            (echo, Some(base)) => echo.wrapping_sub(*base).to_string(),
            (echo, None) => format!("#{echo}"),
        };
        let _ = write!(out, " rseq={} alloc={} echo={echo}", control.rseq, control.alloc);
        for (left, right) in &seen.spans {
            let _ = write!(out, " [{left},{right})");
        }
        if let Some((flags, delivered)) = seen.extended {
            if flags & !2 != 0 {
                let _ = write!(out, " flags={flags:#x}");
            }
            if let Some(delivered) = delivered {
                let _ = write!(out, " delivered={delivered}");
            }
        }
    }
}

fn seconds(nanos: u64) -> String {
    format!("{}.{:06}", nanos / 1_000_000_000, nanos % 1_000_000_000 / 1_000)
}

fn fate_mark(fate: Fate) -> &'static str {
    match fate {
        Fate::Link(Outcome::Queued) => "",
        Fate::Link(Outcome::Duplicated) => " TWICE",
        Fate::Link(Outcome::Dropped(DropCause::Loss | DropCause::Script)) => " LOST",
        Fate::Link(Outcome::Dropped(DropCause::QueueFull)) => " LOST (queue full)",
        Fate::Link(Outcome::Dropped(DropCause::TooLarge)) => " LOST (too large)",
        Fate::Link(Outcome::Dropped(DropCause::Down)) => " LOST (link down)",
        Fate::NoHost => " LOST (no such address)",
        Fate::Kept => " KEPT (send buffer full)",
        Fate::Refused => " LOST (refused by the carrier)",
        Fate::Injected(_) => " INJECTED",
    }
}
