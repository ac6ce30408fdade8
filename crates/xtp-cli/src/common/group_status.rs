//! What `--status` tells of the groups of an endpoint.

use serde::{Deserialize, Serialize};
use xtp::{CastStats, GroupParty, GroupReport, MemberReport, MemberState, SubscriptionStats};

use super::peer_text;

/// A transmitter or receiver of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct GroupLine {
    pub(crate) number: u64,
    /// The group's address; none where packets go to several addresses, or come to the endpoint's own.
    pub(crate) address: Option<String>,
    #[serde(flatten)]
    pub(crate) party: PartyLine,
    /// What it waits for.
    pub(crate) waits_for: String,
}

/// An end of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "role")]
pub(crate) enum PartyLine {
    Transmitter(TransmitterLine),
    Receiver(ReceiverLine),
    Listener,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TransmitterLine {
    /// Receivers that joined and are not out.
    pub(crate) receivers: usize,
    /// Those of them that have everything.
    pub(crate) done: usize,
    /// Receivers that fell behind, and are served apart from the others.
    pub(crate) behind: usize,
    /// Receivers that left or were given up.
    pub(crate) out: usize,
    /// The receiver that has least.
    pub(crate) slowest: Option<SlowestLine>,
    /// Octets of the stream so far.
    pub(crate) octets: u64,
    /// Octets that every receiver not behind has acknowledged.
    pub(crate) acknowledged: u64,
    /// Octets a second that may leave; none: no limit.
    pub(crate) rate: Option<u64>,
    pub(crate) round_trip_ms: Option<f64>,
    pub(crate) data_packets: u64,
    pub(crate) repair_packets: u64,
}

/// The receiver that has least.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SlowestLine {
    pub(crate) address: String,
    pub(crate) name: String,
    pub(crate) octets: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReceiverLine {
    /// The transmitter, once it was heard.
    pub(crate) from: Option<String>,
    /// Octets that came without a gap.
    pub(crate) octets: u64,
    /// Octets that were reconstructed from parity.
    pub(crate) repaired: u64,
    pub(crate) packets: u64,
    /// Whether it fetches by itself what it lacks.
    pub(crate) is_behind: bool,
}

impl GroupLine {
    pub(super) fn of(report: &GroupReport) -> Self {
        let (party, waits_for) = match &report.party {
            GroupParty::Transmitter {
                has_started,
                stats,
                members,
                ..
            } => {
                let line = TransmitterLine::of(stats, members);
                let waits_for = match () {
                    () if report.is_over => "the program to notice its end",
                    () if !has_started => "receivers to join",
                    () if line.acknowledged < line.octets => "the slowest receiver",
                    () if line.done < line.receivers => "the program to write, or receivers to be done",
                    () => "the program to write",
                };
                (PartyLine::Transmitter(line), waits_for)
            }
            GroupParty::Receiver {
                is_complete,
                readable,
                stats,
                ..
            } => {
                let waits_for = match () {
                    () if report.is_over => "the program to notice its end",
                    () if stats.transmitter.is_none() => "a transmitter",
                    () if *readable > 0 => "the program to read",
                    () if *is_complete => "the program to confirm, or the transmitter to know",
                    () if stats.is_behind => "what it fetches by itself",
                    () => "the transmitter to send",
                };
                (PartyLine::Receiver(ReceiverLine::of(stats)), waits_for)
            }
            _ => (PartyLine::Listener, "transmitters"),
        };
        Self {
            number: report.number,
            address: report.address.map(peer_text),
            party,
            waits_for: waits_for.to_owned(),
        }
    }
}

impl TransmitterLine {
    fn of(stats: &CastStats, members: &[MemberReport]) -> Self {
        let count = |is: fn(&MemberState) -> bool| members.iter().filter(|member| is(&member.state)).count();
        let out = count(|state| matches!(state, MemberState::Dropped(_)));
        let unfinished = members
            .iter()
            .filter(|member| !matches!(member.state, MemberState::Dropped(_) | MemberState::Done(_)));
        Self {
            receivers: members.len() - out,
            done: count(|state| matches!(state, MemberState::Done(_))),
            behind: count(|state| matches!(state, MemberState::Laggard)),
            out,
            slowest: unfinished
                .min_by_key(|member| member.octets)
                .map(|member| SlowestLine {
                    address: peer_text(member.address),
                    name: member.name.clone(),
                    octets: member.octets,
                }),
            octets: stats.position,
            acknowledged: stats.acknowledged,
            rate: (stats.rate > 0).then_some(stats.rate),
            round_trip_ms: stats.round_trip.map(|span| span.as_secs_f64() * 1e3),
            data_packets: stats.data_packets,
            repair_packets: stats.repair_packets,
        }
    }
}

impl ReceiverLine {
    fn of(stats: &SubscriptionStats) -> Self {
        Self {
            from: stats.transmitter.map(peer_text),
            octets: stats.octets,
            repaired: stats.decoded,
            packets: stats.packets,
            is_behind: stats.is_behind,
        }
    }
}
