//! What an injector sends, and when that must have no effect.

use xtp_wire::{Format, Options};

use crate::packet::Seen;

/// A kind of injected packet. The first five are sent by somebody who knows addresses, ports and services; the others by
/// somebody who reads what passes, and sends beside it, but neither holds back nor changes what passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strike {
    /// A packet of the association under a key that is nobody's.
    WrongKey,
    /// A FIRST to a service that nobody offers.
    StrayFirst,
    /// "Over", under a key that is nobody's.
    KeylessEnd,
    /// A DIAG with whatever code, under a key that is nobody's.
    KeylessDiag,
    /// A COOKIE under a key that is nobody's.
    KeylessCookie,
    /// The same packet again, from where it came from, at once or much later.
    Replay,
    /// The same packet again from another address.
    ReplayElsewhere,
    /// An executed FIRST under another key, with the number its client gave it.
    Reborn,
    /// A repeated FIRST that begins elsewhere in the stream.
    FirstMoved,
    /// Status that echoes what was never sent, or long ago.
    WrongEcho,
    /// Status that acknowledges what was never sent.
    BeyondSent,
    /// Status with an alloc below its rseq.
    AllocBelow,
    /// Status with an alloc further from its rseq than any window is.
    AllocTooFar,
    /// An old status that takes credit back.
    Withdrawn,
    /// Old data with other octets, from where the reader's alloc ends.
    BeyondAlloc,
    /// Data far beyond whatever a reader takes.
    BeyondWindow,
    /// A DIAG with the right key after the peer was heard.
    LateDiag,
    /// "I do not know you" with the right key: a doubt, which a handshake dispels.
    Doubt,
    /// A COOKIE with the right key after the peer was heard.
    LateCookie,
    /// A made-up end of an association that was just begun, with one impossible number.
    FalseEnd,
    /// A made-up confirmation, likewise.
    FalseConfirmation,
}

impl Strike {
    /// All of them.
    pub const ALL: [Self; 21] = [
        Self::WrongKey,
        Self::StrayFirst,
        Self::KeylessEnd,
        Self::KeylessDiag,
        Self::KeylessCookie,
        Self::Replay,
        Self::ReplayElsewhere,
        Self::Reborn,
        Self::FirstMoved,
        Self::WrongEcho,
        Self::BeyondSent,
        Self::AllocBelow,
        Self::AllocTooFar,
        Self::Withdrawn,
        Self::BeyondAlloc,
        Self::BeyondWindow,
        Self::LateDiag,
        Self::Doubt,
        Self::LateCookie,
        Self::FalseEnd,
        Self::FalseConfirmation,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WrongKey => "wrong-key",
            Self::StrayFirst => "stray-first",
            Self::KeylessEnd => "keyless-end",
            Self::KeylessDiag => "keyless-diag",
            Self::KeylessCookie => "keyless-cookie",
            Self::Replay => "replay",
            Self::ReplayElsewhere => "replay-elsewhere",
            Self::Reborn => "reborn",
            Self::FirstMoved => "first-moved",
            Self::WrongEcho => "wrong-echo",
            Self::BeyondSent => "beyond-sent",
            Self::AllocBelow => "alloc-below",
            Self::AllocTooFar => "alloc-too-far",
            Self::Withdrawn => "withdrawn",
            Self::BeyondAlloc => "beyond-alloc",
            Self::BeyondWindow => "beyond-window",
            Self::LateDiag => "late-diag",
            Self::Doubt => "doubt",
            Self::LateCookie => "late-cookie",
            Self::FalseEnd => "false-end",
            Self::FalseConfirmation => "false-confirmation",
        }
    }

    /// Whether it is made from nothing but what a packet that leaves shows, and goes to its sender.
    pub(crate) const fn answers(self) -> bool {
        matches!(self, Self::FalseEnd | Self::FalseConfirmation)
    }

    /// Whether it may also come before the packet it is made from: what it says can not be, whatever happened before.
    pub(crate) const fn may_overtake(self) -> bool {
        matches!(
            self,
            Self::WrongKey
                | Self::StrayFirst
                | Self::KeylessEnd
                | Self::KeylessDiag
                | Self::KeylessCookie
                | Self::WrongEcho
                | Self::BeyondSent
                | Self::AllocBelow
                | Self::AllocTooFar
                | Self::BeyondWindow
        )
    }

    /// Whether it can be made from this packet.
    pub(crate) fn suits(self, seen: &Seen) -> bool {
        let first = seen.format == Format::First;
        let beside = matches!(seen.format, Format::Diag | Format::Cookie | Format::Path);
        match self {
            Self::WrongKey => !first,
            Self::StrayFirst | Self::Reborn | Self::FirstMoved => first,
            Self::KeylessEnd | Self::KeylessDiag | Self::KeylessCookie => true,
            Self::Replay | Self::ReplayElsewhere => !beside,
            Self::WrongEcho | Self::BeyondSent | Self::AllocBelow | Self::AllocTooFar => {
                seen.control.is_some() && seen.spans.is_empty()
            }
            Self::Withdrawn => seen.control.is_some(),
            Self::BeyondAlloc => {
                let bounded = !seen.has(Options::NOFLOW) && !seen.has(Options::NOERR);
                seen.format == Format::Data && seen.len > 0 && bounded && !seen.has(Options::BTAG)
            }
            Self::BeyondWindow => matches!(seen.format, Format::Data | Format::Xdata) && seen.len > 0,
            Self::LateDiag | Self::Doubt | Self::LateCookie => !beside && !first,
            Self::FalseEnd | Self::FalseConfirmation => {
                !seen.key.is_returned() && seen.is_data() && seen.len > 0
            }
        }
    }
}
