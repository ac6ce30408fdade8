//! What a cast tells in the end: an object for programs, a line for people, and the status.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde::Serialize;
use xtp::{Cast, CastStats, DropReason, MemberReport, MemberState};

use crate::common::{Failure, Outcome, Output, Status, peer_text, rate_text, size_text, span_text};
use crate::files::tally::Tally;

/// The receivers a cast waits for before it begins.
#[derive(Copy, Clone)]
pub(super) struct Invited<'a> {
    /// At least so many.
    pub(super) expected: usize,
    /// All of these addresses.
    pub(super) listed: &'a [SocketAddr],
    /// All of these names and IP addresses.
    pub(super) to: &'a [String],
}

impl Invited<'_> {
    /// How many have still to join; 0 where the cast waits for whichever receivers join in time.
    pub(super) fn missing(&self, members: &[MemberReport]) -> usize {
        let here = || {
            let left = |member: &&MemberReport| !matches!(member.state, MemberState::Dropped(_));
            members.iter().filter(left)
        };
        let named = self
            .to
            .iter()
            .filter(|wanted| !here().any(|member| is_meant(member, wanted)))
            .count();
        let listed = self
            .listed
            .iter()
            .filter(|address| !here().any(|member| peer_text(member.address) == peer_text(**address)))
            .count();
        named
            .max(listed)
            .max(self.expected.saturating_sub(here().count()))
    }
}

/// What was asked for, and the time it took.
pub(super) struct Ending<'a> {
    pub(super) group: &'a str,
    pub(super) invited: Invited<'a>,
    pub(super) any: Option<u32>,
    /// From the first octet that left to the end; nothing if none left.
    pub(super) span: Duration,
}

/// The object of `--json`.
#[derive(Serialize)]
pub(super) struct SendReport {
    ok: bool,
    /// Octets of content that were sent, each once.
    bytes: u64,
    /// Octets that were not sent since all receivers have them from a broken transfer.
    resumed_from: u64,
    /// Files that were not sent since all receivers have them.
    unchanged: u64,
    /// From the first octet that left to the end.
    seconds: f64,
    /// Octets of UDP payload that left.
    wire_bytes: u64,
    data_packets: u64,
    repair_packets: u64,
    feedback_packets: u64,
    receivers: Vec<Receiver>,
}

#[derive(Serialize)]
struct Receiver {
    address: String,
    name: String,
    state: &'static str,
    reason: String,
    seconds: f64,
    bytes: u64,
    /// A later receiver took its place, and stands for it.
    #[serde(skip)]
    succeeded: bool,
}

impl Receiver {
    /// `later` joined after it.
    fn of(member: &MemberReport, later: &[MemberReport]) -> Self {
        let (state, reason) = match member.state {
            MemberState::Done(false) => ("complete", String::new()),
            MemberState::Done(true) => ("caught-up", String::new()),
            MemberState::Dropped(reason @ DropReason::Left) => ("left", reason.to_string()),
            MemberState::Dropped(reason @ DropReason::Replaced) => ("replaced", reason.to_string()),
            MemberState::Dropped(reason) if member.text.is_empty() => ("dropped", reason.to_string()),
            MemberState::Dropped(reason) => ("dropped", format!("{reason}: {}", member.text)),
            MemberState::Pending | MemberState::Holder | MemberState::Laggard => (
                "dropped",
                "the transfer ended before it had everything".to_owned(),
            ),
        };
        Self {
            address: peer_text(member.address),
            name: member.name.clone(),
            state,
            reason,
            seconds: member.time.as_secs_f64(),
            bytes: member.octets,
            succeeded: state == "replaced" && later.iter().any(|other| has_same_place(member, other)),
        }
    }

    /// One that never came.
    fn absent(name: &str) -> Self {
        let is_address = name.parse::<IpAddr>().is_ok() || name.parse::<SocketAddr>().is_ok();
        let (address, name) = if is_address { (name, "") } else { ("", name) };
        Self {
            address: address.to_owned(),
            name: name.to_owned(),
            state: "absent",
            reason: "never joined".to_owned(),
            seconds: 0.0,
            bytes: 0,
            succeeded: false,
        }
    }

    fn has_everything(&self) -> bool {
        matches!(self.state, "complete" | "caught-up")
    }
}

/// Whether the place of two receivers is the same: that of a name, without names that of an address and port.
fn has_same_place(one: &MemberReport, other: &MemberReport) -> bool {
    one.name == other.name && (!one.name.is_empty() || one.address == other.address)
}

/// Whether `wanted`, a name or an IP address, means this member.
fn is_meant(member: &MemberReport, wanted: &str) -> bool {
    let host = member.address.ip().to_canonical();
    member.name == wanted
        || wanted
            .parse::<IpAddr>()
            .is_ok_and(|wanted| wanted.to_canonical() == host)
}

impl SendReport {
    /// The state of every receiver.
    pub(super) fn new(cast: &Cast, ending: &Ending<'_>) -> Self {
        let stats = cast.stats().unwrap_or_default();
        let members = cast.members().unwrap_or_default();
        Self::of(&members, &stats, ending)
    }

    fn of(members: &[MemberReport], stats: &CastStats, ending: &Ending<'_>) -> Self {
        let each = members.iter().enumerate();
        let mut receivers: Vec<_> = each
            .map(|(index, member)| Receiver::of(member, &members[index + 1..]))
            .collect();
        let missing = ending
            .invited
            .to
            .iter()
            .filter(|wanted| !members.iter().any(|member| is_meant(member, wanted)));
        receivers.extend(missing.map(|wanted| Receiver::absent(wanted)));
        for address in ending.invited.listed.iter().copied().map(peer_text) {
            if !receivers.iter().any(|receiver| receiver.address == address) {
                receivers.push(Receiver::absent(&address));
            }
        }
        let succeeded = receivers.iter().filter(|one| one.succeeded).count();
        while receivers.len() < ending.invited.expected + succeeded {
            receivers.push(Receiver::absent(""));
        }
        let whole = receivers
            .iter()
            .filter(|receiver| receiver.has_everything())
            .count();
        let ok = match ending.any {
            Some(any) => whole >= any as usize,
            None if !ending.invited.to.is_empty() => ending.invited.to.iter().all(|wanted| {
                members
                    .iter()
                    .any(|member| is_meant(member, wanted) && matches!(member.state, MemberState::Done(_)))
            }),
            None => whole > 0 && receivers.iter().all(|one| one.has_everything() || one.succeeded),
        };
        Self {
            ok,
            bytes: 0,
            resumed_from: 0,
            unchanged: 0,
            seconds: ending.span.as_secs_f64(),
            wire_bytes: stats.octets_sent,
            data_packets: stats.data_packets,
            repair_packets: stats.repair_packets,
            feedback_packets: stats.feedback_packets,
            receivers,
        }
    }

    /// Tells the result and makes it the outcome of the command.
    ///
    /// # Errors
    /// The cause that ended the cast, problems with files, or required receivers without everything.
    pub(super) fn conclude(
        mut self,
        out: &Output,
        tally: &Tally,
        ending: &Ending<'_>,
        broken: Option<Failure>,
    ) -> Outcome {
        self.bytes = tally.sent.get();
        self.resumed_from = tally.resumed.get();
        self.unchanged = tally.unchanged.get();
        let problems = tally.problems(0);
        for problem in &problems {
            out.error(&problem.text);
        }
        // An entry left out on purpose is no loss.
        let failed = problems.iter().any(|problem| problem.code.is_failure());
        let whole = self.receivers.iter().filter(|one| one.has_everything()).count();
        let outcome = match broken {
            Some(failure) => Err(failure),
            None if !self.ok => Err(Failure::failed(self.shortfall(ending))),
            None if failed => Err(Failure::new(Status::Failed, "")),
            None => Ok(()),
        };
        self.ok = outcome.is_ok();
        if out.is_json() {
            out.object_line(&self)?;
        }
        if whole > 0 {
            out.note(format_args!(
                "{} to {whole} receivers in {} ({} each), {} packets of data, {} of repair, {} of feedback{}",
                size_text(self.bytes),
                span_text(ending.span),
                rate_text(self.bytes, ending.span),
                self.data_packets,
                self.repair_packets,
                self.feedback_packets,
                there_already(tally)
            ));
        }
        // A failure names them itself.
        if outcome.is_ok() {
            for receiver in self.receivers.iter().filter(|one| !one.has_everything()) {
                out.note(receiver.named());
            }
        }
        outcome
    }

    /// What is missing, and of which receivers.
    fn shortfall(&self, ending: &Ending<'_>) -> String {
        let standing = self.receivers.iter().filter(|one| !one.succeeded);
        let (whole, without): (Vec<_>, Vec<_>) = standing.partition(|one| one.has_everything());
        let (whole, all) = (whole.len(), whole.len() + without.len());
        let mut text = match ending.any {
            Some(any) => format!(
                "{whole} receivers of {} have everything, of {any} that are to",
                ending.group
            ),
            None => format!(
                "{} of {all} receivers of {} have not everything",
                without.len(),
                ending.group
            ),
        };
        for (number, receiver) in without.iter().enumerate() {
            text.push_str(if number == 0 { ": " } else { "; " });
            text.push_str(&receiver.named());
        }
        text
    }
}

impl Receiver {
    fn named(&self) -> String {
        let name = crate::files::names::shown(self.name.as_bytes());
        let reason = crate::files::names::cleaned(self.reason.as_bytes());
        match (self.address.as_str(), name.as_str()) {
            ("", "") => reason,
            ("", name) => format!("{name}: {reason}"),
            (address, "") => format!("{address}: {reason}"),
            (address, name) => format!("{address} ({name}): {reason}"),
        }
    }
}

/// What was not sent, for the end of a summary.
pub(super) fn there_already(tally: &Tally) -> String {
    let mut text = match tally.unchanged.get() {
        0 => String::new(),
        unchanged => format!(", {unchanged} unchanged"),
    };
    if tally.resumed.get() > 0 {
        text.push_str(&format!(
            ", {} were there already",
            size_text(tally.resumed.get())
        ));
    }
    text
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
