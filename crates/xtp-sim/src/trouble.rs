//! Kinds of trouble, and one piece of it with its times and the hosts it concerns.

use std::time::Duration;

use crate::app::nanos;
use crate::fault::Fault;

/// A kind of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultClass {
    /// Packets are lost independently.
    RandomLoss,
    /// Packets are lost in bursts.
    BurstLoss,
    /// Packets arrive twice.
    Duplication,
    /// Packets are held back.
    Reordering,
    /// Bits are flipped.
    Corruption,
    /// A slow link with a short queue.
    QueueOverflow,
    /// Delays vary.
    Jitter,
    /// A link is cut for a while.
    Partition,
    /// A host is not scheduled for a while.
    PausedReader,
    /// A host loses its memory and starts again; its peers still use their keys.
    CrashRestart,
    /// Datagrams that used to fit no longer do.
    MtuChange,
    /// A host gets another address.
    AddressChange,
    /// Clocks run fast or slow, and disagree about UTC.
    ClockDrift,
    /// A link is cut for a while, in one direction.
    OneWayPartition,
    /// A link becomes slow for a while.
    RateChange,
    /// A host's UTC is put forward or back.
    ClockJump,
    /// The carrier refuses what a host sends for a while.
    SendErrors,
    /// Stores of a host are so small that they evict.
    SmallStores,
    /// A host has little memory for all its associations together.
    ScarceMemory,
    /// A host has places for few associations, and more begin.
    FewPlaces,
    /// A listener serves others for a while, or nobody.
    ListenerChange,
}

impl FaultClass {
    /// Those a seed has drawn from the beginning: this list never changes, or every seed becomes another one.
    pub const FIRST: [Self; 13] = [
        Self::RandomLoss,
        Self::BurstLoss,
        Self::Duplication,
        Self::Reordering,
        Self::Corruption,
        Self::QueueOverflow,
        Self::Jitter,
        Self::Partition,
        Self::PausedReader,
        Self::CrashRestart,
        Self::MtuChange,
        Self::AddressChange,
        Self::ClockDrift,
    ];

    /// All of them.
    pub const ALL: [Self; 21] = [
        Self::RandomLoss,
        Self::BurstLoss,
        Self::Duplication,
        Self::Reordering,
        Self::Corruption,
        Self::QueueOverflow,
        Self::Jitter,
        Self::Partition,
        Self::PausedReader,
        Self::CrashRestart,
        Self::MtuChange,
        Self::AddressChange,
        Self::ClockDrift,
        Self::OneWayPartition,
        Self::RateChange,
        Self::ClockJump,
        Self::SendErrors,
        Self::SmallStores,
        Self::ScarceMemory,
        Self::FewPlaces,
        Self::ListenerChange,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RandomLoss => "random-loss",
            Self::BurstLoss => "burst-loss",
            Self::Duplication => "duplication",
            Self::Reordering => "reordering",
            Self::Corruption => "corruption",
            Self::QueueOverflow => "queue-overflow",
            Self::Jitter => "jitter",
            Self::Partition => "partition",
            Self::PausedReader => "paused-reader",
            Self::CrashRestart => "crash-restart",
            Self::MtuChange => "mtu-change",
            Self::AddressChange => "address-change",
            Self::ClockDrift => "clock-drift",
            Self::OneWayPartition => "one-way-partition",
            Self::RateChange => "rate-change",
            Self::ClockJump => "clock-jump",
            Self::SendErrors => "send-errors",
            Self::SmallStores => "small-stores",
            Self::ScarceMemory => "scarce-memory",
            Self::FewPlaces => "few-places",
            Self::ListenerChange => "listener-change",
        }
    }

    /// Whether it holds from the beginning until everything is healed, on every link or host.
    pub const fn is_lasting(self) -> bool {
        matches!(
            self,
            Self::RandomLoss
                | Self::BurstLoss
                | Self::Duplication
                | Self::Reordering
                | Self::Corruption
                | Self::QueueOverflow
                | Self::Jitter
                | Self::ClockDrift
                | Self::SmallStores
                | Self::ScarceMemory
                | Self::FewPlaces
        )
    }
}

/// One piece of trouble: faults that belong together, the last of which ends it.
#[derive(Clone, Debug)]
pub struct Trouble {
    /// Of which kind it is.
    pub class: FaultClass,
    /// What happens when.
    pub faults: Vec<(Duration, Fault)>,
}

impl Trouble {
    /// When it begins and ends, nanoseconds of world time; what has one fault only begins.
    pub fn span(&self) -> (u64, u64) {
        let times = || self.faults.iter().map(|(at, _)| nanos(*at));
        (times().min().unwrap_or(0), times().max().unwrap_or(0))
    }

    /// The hosts it needs.
    pub(crate) fn hosts(&self) -> Vec<usize> {
        let named = self.faults.iter().flat_map(|(_, fault)| match *fault {
            Fault::Link { one, two, .. }
            | Fault::Rate { one, two, .. }
            | Fault::Configure { one, two, .. } => {
                vec![one, two]
            }
            Fault::OneWay { from, to, .. } => vec![from, to],
            Fault::Pause(host)
            | Fault::Resume(host)
            | Fault::Crash(host)
            | Fault::Restart(host)
            | Fault::Move { host, .. }
            | Fault::ClockJump { host, .. }
            | Fault::SendErrors { host, .. }
            | Fault::Serve { host, .. } => vec![host],
            Fault::Calm | Fault::Heal => Vec::new(),
        });
        named.collect()
    }

    /// Whether nothing gets from one of these hosts to the other, or not back, while it lasts.
    pub fn silences(&self, one: usize, two: usize) -> bool {
        self.faults.iter().any(|(_, fault)| match *fault {
            Fault::Link { one: a, two: b, .. } => (a, b) == (one, two) || (b, a) == (one, two),
            Fault::OneWay { from, to, .. } => (from, to) == (one, two) || (to, from) == (one, two),
            Fault::Pause(host) | Fault::Crash(host) | Fault::SendErrors { host, .. } => {
                host == one || host == two
            }
            _ => false,
        })
    }
}
