//! The transports, by name.

use ::xtp::CongestionKind;

use crate::console::Console;
use crate::error::{Error, Worked};
use crate::job::{Job, Outcome};
use crate::plan::{Experiment, Rivals};
use crate::stage::Stage;

mod answering;
mod exchange;
mod external;
mod flowing;
pub(crate) mod fresh;
mod groups;
pub(crate) mod many;
mod patterns;
#[cfg(feature = "rivals")]
mod quinn;
pub(crate) mod sockets;
mod tcp;
mod udp;
pub(crate) mod waiting;
mod xtp;

/// Congestion controllers of xtp by name.
const CONTROLLERS: [(&str, CongestionKind); 5] = [
    ("auto", CongestionKind::Auto),
    ("fixed", CongestionKind::Fixed),
    ("cubic", CongestionKind::Cubic),
    ("model", CongestionKind::Model),
    ("kdd", CongestionKind::Kdd),
];

/// A transport that can be measured.
pub(crate) struct Transport {
    /// Its name on the command line and in the result.
    pub(crate) name: &'static str,
    /// The experiments between a client and a server that it is measured in.
    pub(crate) experiments: &'static [Experiment],
    /// Why it cannot be measured on a stage; prepares the stage if it has to be. Of an experiment at a size.
    pub(crate) obstacle: fn(&Stage, Experiment, u64) -> Option<String>,
    /// The work of its parties.
    pub(crate) work: Work,
}

/// The work of a party.
pub(crate) type Work = fn(&Job, &mut Console) -> Worked<Outcome>;

/// All of them, xtp first: the others are compared with it.
static ALL: &[&Transport] = &[
    &xtp::XTP,
    &xtp::PLAIN,
    &xtp::FRESH,
    &xtp::WRITE,
    &xtp::MESH,
    &xtp::CUBIC,
    &xtp::GBN,
    &xtp::KDD,
    &xtp::KDD_GBN,
    &udp::UDP,
    &udp::FRESH,
    &exchange::R_UDP,
    &exchange::T_UDP,
    &tcp::TCP,
    &tcp::FRESH,
    &tcp::SENDFILE,
    &tcp::SPLICE,
    &tcp::ZEROCOPY,
    &tcp::FAST_OPEN,
    &tcp::ABORT,
    &tcp::RENO,
    &tcp::BBR,
    #[cfg(feature = "rivals")]
    &quinn::QUINN,
    #[cfg(feature = "rivals")]
    &quinn::FRESH,
    #[cfg(feature = "rivals")]
    &quinn::QUINN_0RTT,
    &external::IPERF3,
    &external::FI_PINGPONG,
    &external::UCX_PERFTEST,
    &patterns::XTP_KEPT,
    &patterns::XTP_ONESHOT,
    &patterns::TCP_PER_MESSAGE,
    &patterns::TCP_PER_PHASE,
    &groups::UFTP,
    &groups::UDPCAST,
    &groups::NORM,
    &groups::RAW,
];

/// Nothing stands in the way.
pub(crate) fn always(_: &Stage, _: Experiment, _: u64) -> Option<String> {
    None
}

/// The names of all transports.
pub fn names() -> Vec<&'static str> {
    ALL.iter().map(|transport| transport.name).collect()
}

/// The transport of this name.
///
/// # Errors
/// [`Error::UnknownTransport`], which lists those there are.
pub(crate) fn find(name: &str) -> Result<&'static Transport, Error> {
    let found = ALL.iter().copied().find(|transport| transport.name == name);
    found.ok_or_else(|| Error::UnknownTransport {
        name: name.to_owned(),
        known: names().join(", "),
    })
}

/// Whether a transport is a program of others, whose messages are of one length.
pub(crate) fn is_foreign(name: &str) -> bool {
    let foreign = [&external::FI_PINGPONG, &external::IPERF3, &external::UCX_PERFTEST];
    foreign.iter().any(|transport| transport.name == name)
}

/// The congestion controller of this name.
///
/// # Errors
/// [`Error::Plan`], which lists those there are.
pub(crate) fn controller(name: &str) -> Result<CongestionKind, Error> {
    let found = CONTROLLERS.iter().find(|(known, _)| *known == name);
    found.map(|(_, kind)| *kind).ok_or_else(|| {
        let known = CONTROLLERS.map(|(name, _)| name).join(", ");
        Error::Plan(format!("there is no controller '{name}'; choose of {known}"))
    })
}

/// The transport of ours that one is compared with in an experiment: only in bulk are there two kinds of memory.
pub(crate) fn baseline_of(transport: &str, experiment: &str) -> &'static str {
    match experiment == Experiment::Bulk.name() && fresh::is_fresh(transport) {
        true => fresh::OURS,
        false => "xtp",
    }
}

/// What is measured in an experiment between a client and a server: xtp, then the rivals asked for that offer it, and what
/// they are compared with.
pub(crate) fn chosen(rivals: &Rivals, experiment: Experiment) -> Vec<&'static Transport> {
    let wanted = |transport: &Transport| match rivals {
        _ if transport.name == "xtp" => true,
        Rivals::All => true,
        Rivals::None => false,
        Rivals::Some(named) => named
            .iter()
            .any(|name| name == transport.name || baseline_of(name, experiment.name()) == transport.name),
    };
    let offers = |transport: &&Transport| transport.experiments.contains(&experiment);
    ALL.iter()
        .copied()
        .filter(offers)
        .filter(|transport| wanted(transport))
        .collect()
}
