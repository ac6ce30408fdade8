//! What happens in a simulated group.

use core::net::SocketAddr;
use std::time::Duration;

use xtp_engine::group::{Cycle, Mode, ReceiverOptions, TransmitterOptions};
use xtp_link::LinkConfig;

use super::liar::LiarPlan;
use super::past::PastPlan;
use super::twin::TwinPlan;
use super::world::{member_address, neighbour_address};
use crate::clock::Clock;

/// A whole group, from beginning to end.
#[derive(Clone, Debug)]
pub struct CastPlan {
    /// How the transmitter casts.
    pub options: TransmitterOptions,
    /// To an address of the group, or to each one.
    pub target: Target,
    /// What it writes.
    pub messages: Vec<Message>,
    /// That is one datagram, and there is no stream.
    pub is_datagram: bool,
    /// How its user gives back what is no longer kept, if it does.
    pub past: Option<PastPlan>,
    /// It runs once more without the troubles, and those to whom nothing happens are as fast.
    pub is_compared: bool,
    /// Its link to the bridge: what is lost here everybody lacks.
    pub uplink: LinkConfig,
    /// The link from the bridge to it.
    pub downlink: LinkConfig,
    /// Its clock.
    pub clock: Clock,
    /// Octets its socket holds.
    pub socket_buffer: usize,
    /// The receivers.
    pub members: Vec<MemberPlan>,
    /// What goes wrong, in no order.
    pub troubles: Vec<Trouble>,
    /// Somebody outside joins under a member's name.
    pub twin: Option<TwinPlan>,
    /// A member says of itself what is not so.
    pub liar: Option<LiarPlan>,
}

/// Where packets for the group go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// To a multicast address.
    Group,
    /// To each receiver.
    Each,
}

/// What the transmitter's user writes at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// How many octets; at least 1.
    pub octets: u32,
    /// Bound to the first of them.
    pub tag: Option<u64>,
    /// Whether a message ends behind them.
    pub eom: bool,
    /// How long the user waits before.
    pub pause: Duration,
}

/// One receiver.
#[derive(Clone, Debug)]
pub struct MemberPlan {
    /// How it joins.
    pub join: ReceiverOptions,
    /// When.
    pub at: Duration,
    /// From the bridge to it.
    pub down: LinkConfig,
    /// From it to the bridge.
    pub up: LinkConfig,
    /// Its clock.
    pub clock: Clock,
    /// Octets its sockets hold together.
    pub socket_buffer: usize,
    /// Time between two looks at its sockets.
    pub look: Duration,
    /// How its user reads.
    pub reading: Reading,
    /// What its user says in the end.
    pub verdict: Verdict,
    /// It is not there at all.
    pub left_out: bool,
    /// Its endpoint is on the host of that receiver, or both are behind one address: their ports differ.
    pub beside: Option<usize>,
    /// Most datagrams of one receive call; neighbours of equal length come joined. 1: each comes alone.
    pub batch: usize,
}

/// How a receiver's user reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Whatever there is, at once.
    Fast,
    /// So many octets at intervals.
    Slow {
        /// How many.
        octets: usize,
        /// The interval.
        every: Duration,
    },
    /// Nothing until then.
    From(Duration),
}

/// What a receiver's user says when everything is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is as it should be.
    Confirm {
        /// How long it takes to find out.
        after: Duration,
    },
    /// It is not.
    Reject,
}

/// Something that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// When.
    pub at: Duration,
    /// What.
    pub what: Disturbance,
}

/// What goes wrong. Spans begin when it goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbance {
    /// A receiver is not scheduled.
    Pause {
        /// Which.
        member: usize,
        /// For how long.
        span: Duration,
    },
    /// A receiver's program ends; its host says so to whoever asks.
    Kill {
        /// Which.
        member: usize,
    },
    /// A receiver's host is gone, in silence.
    SwitchOff {
        /// Which.
        member: usize,
    },
    /// A receiver's program ends and another one joins in its place.
    Restart {
        /// Which.
        member: usize,
        /// For how long nobody is there.
        span: Duration,
    },
    /// A receiver's links carry nothing.
    Cut {
        /// Whose.
        member: usize,
        /// For how long.
        span: Duration,
    },
    /// The way to a receiver carries no packet of more octets, and no router says so.
    Deaf {
        /// Which.
        member: usize,
        /// Octets of the largest that comes.
        octets: usize,
        /// For how long.
        span: Duration,
    },
    /// The carrier of a receiver takes so many packets of what is sent at once as it likes, and throws the rest away.
    Refused {
        /// Whose.
        member: usize,
        /// For how long.
        span: Duration,
    },
    /// A receiver's user has had enough and lets go.
    Leave {
        /// Which.
        member: usize,
    },
    /// The transmitter's program ends.
    TransmitterKilled,
    /// The transmitter's host is gone, in silence.
    TransmitterOff,
    /// The transmitter is not scheduled.
    TransmitterPause {
        /// For how long.
        span: Duration,
    },
    /// The carrier of the transmitter takes part of what is sent at once, and throws the rest away.
    TransmitterRefused {
        /// For how long.
        span: Duration,
    },
}

impl Disturbance {
    /// Its name in tables.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pause { .. } => "receiver paused",
            Self::Kill { .. } => "receiver killed",
            Self::SwitchOff { .. } => "receiver switched off",
            Self::Restart { .. } => "receiver restarted",
            Self::Cut { .. } => "receiver cut off",
            Self::Deaf { .. } => "receiver deaf to large packets",
            Self::Refused { .. } => "receiver: carrier takes a part",
            Self::Leave { .. } => "receiver leaves",
            Self::TransmitterKilled => "transmitter killed",
            Self::TransmitterOff => "transmitter switched off",
            Self::TransmitterPause { .. } => "transmitter paused",
            Self::TransmitterRefused { .. } => "transmitter: carrier takes a part",
        }
    }

    /// The receiver it concerns.
    pub const fn member(&self) -> Option<usize> {
        match *self {
            Self::Pause { member, .. }
            | Self::Kill { member }
            | Self::SwitchOff { member }
            | Self::Restart { member, .. }
            | Self::Cut { member, .. }
            | Self::Deaf { member, .. }
            | Self::Refused { member, .. }
            | Self::Leave { member } => Some(member),
            Self::TransmitterKilled
            | Self::TransmitterOff
            | Self::TransmitterPause { .. }
            | Self::TransmitterRefused { .. } => None,
        }
    }

    /// How long it lasts; for what does not end, nothing.
    pub const fn span(&self) -> Duration {
        match *self {
            Self::Pause { span, .. }
            | Self::Restart { span, .. }
            | Self::Cut { span, .. }
            | Self::Deaf { span, .. }
            | Self::Refused { span, .. }
            | Self::TransmitterPause { span }
            | Self::TransmitterRefused { span } => span,
            _ => Duration::ZERO,
        }
    }

    /// Whether the transmitter does not come back from it.
    pub const fn ends_the_transmitter(&self) -> bool {
        matches!(self, Self::TransmitterKilled | Self::TransmitterOff)
    }
}

impl CastPlan {
    /// Octets of sequence space that are written.
    pub fn octets(&self) -> u64 {
        let of = |message: &Message| u64::from(message.octets) + if message.tag.is_some() { 8 } else { 0 };
        self.messages.iter().map(of).sum()
    }

    /// Whether receivers answer to the whole group (§9.17).
    pub fn is_collected(&self) -> bool {
        matches!(self.options.mode, Mode::Bucket(_))
    }

    /// Whether a question follows the last octet of each message.
    pub(super) fn asks_behind_messages(&self) -> bool {
        matches!(self.options.mode, Mode::Bucket(buckets) if buckets.cycle == Cycle::Message)
    }

    /// Whether all that follows a hole is sent again.
    pub fn goes_back(&self) -> bool {
        matches!(self.options.mode, Mode::Bucket(buckets) if buckets.go_back_n)
    }

    /// Address of the endpoint of receiver `member`, of its program `instance`.
    pub fn address_of(&self, member: usize, instance: u16) -> SocketAddr {
        match self.members.get(member).and_then(|own| own.beside) {
            None => member_address(member, instance),
            Some(host) => neighbour_address(host, member, instance),
        }
    }

    /// When the last trouble is over.
    pub fn calm_at(&self) -> Duration {
        let ends = self
            .troubles
            .iter()
            .map(|trouble| trouble.at + trouble.what.span());
        let silent = self.liar.map(|liar| liar.at + liar.span);
        ends.chain(silent).max().unwrap_or_default()
    }

    /// What happens to this receiver.
    pub fn troubles_of(&self, member: usize) -> impl Iterator<Item = &Trouble> {
        let its = move |trouble: &&Trouble| trouble.what.member() == Some(member);
        self.troubles.iter().filter(its)
    }
}
