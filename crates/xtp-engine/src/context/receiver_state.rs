//! How far the peer's stream has come, and where this end's user stopped taking it (§6.1, §6.2, §6.3).
//!
//! ```text
//!       NameEnd              Complete
//! Open ---------> SizeKnown ----------> Complete
//!   | Refuse          | Refuse
//!   v      NameEnd    v
//! Refused ---------> RefusedSizeKnown
//! ```
//! The user may stop taking in any of these states, so that is no state of the stream.

use xtp_core::fields::Fields;

/// State of the receiver half.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReceiverState {
    stage: ReceiverStage,
    /// Where the user stopped taking, [`u64::MAX`] while it takes: what came beyond is thrown away (§6.6).
    stopped_at: u64,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum ReceiverStage {
    /// Octets come, and no end is known. `end_pending`: END came all the same, and FIRST is repeated until the stream is whole (§6.5).
    Open { end_pending: bool },
    /// WCLOSE named the end, and octets are missing.
    SizeKnown { final_seq: u64, end_pending: bool },
    /// All came. `told`: RCLOSE left with status.
    Complete { final_seq: u64, told: bool },
    /// The user refused the rest, and no end is known. `on_first`: with FIRST, and on data RCLOSE repeats that; the return stream is empty.
    /// `told`: RCLOSE left with status.
    Refused { on_first: bool, told: bool },
    /// The same, and WCLOSE named the end.
    RefusedSizeKnown {
        final_seq: u64,
        on_first: bool,
        told: bool,
    },
}

/// What can change it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum ReceiverEvent {
    /// WCLOSE: the stream ends here.
    NameEnd { final_seq: u64 },
    /// An initiator got END with a response that has a hole.
    EndEarly,
    /// Every octet before the end is there.
    Complete,
    /// The user takes no more.
    Refuse { on_first: bool },
    /// Status with RCLOSE left.
    RcloseLeft,
}

impl ReceiverStage {
    /// The state after `event`. One that cannot change anything leaves it as it is. In place: callers know the event.
    #[inline(always)]
    const fn after(self, event: ReceiverEvent) -> Self {
        use ReceiverEvent as On;
        use ReceiverStage::*;
        match (self, event) {
            (Open { end_pending }, On::NameEnd { final_seq }) => SizeKnown {
                final_seq,
                end_pending,
            },
            (Open { .. }, On::EndEarly) => Open { end_pending: true },
            (Open { .. }, On::Refuse { on_first }) => Refused {
                on_first,
                told: false,
            },
            // Without an end nothing is complete.
            (Open { .. }, On::Complete | On::RcloseLeft) => self,
            (SizeKnown { final_seq, .. }, On::EndEarly) => SizeKnown {
                final_seq,
                end_pending: true,
            },
            (SizeKnown { final_seq, .. }, On::Complete) => Complete {
                final_seq,
                told: false,
            },
            (SizeKnown { final_seq, .. }, On::Refuse { on_first }) => RefusedSizeKnown {
                final_seq,
                on_first,
                told: false,
            },
            (SizeKnown { .. }, On::NameEnd { .. } | On::RcloseLeft) => self,
            (Complete { final_seq, .. }, On::RcloseLeft) => Complete {
                final_seq,
                told: true,
            },
            (Complete { .. }, On::NameEnd { .. } | On::EndEarly | On::Complete | On::Refuse { .. }) => self,
            (Refused { on_first, told }, On::NameEnd { final_seq }) => RefusedSizeKnown {
                final_seq,
                on_first,
                told,
            },
            (Refused { on_first, .. }, On::RcloseLeft) => Refused { on_first, told: true },
            (Refused { .. }, On::EndEarly | On::Complete | On::Refuse { .. }) => self,
            (
                RefusedSizeKnown {
                    final_seq, on_first, ..
                },
                On::RcloseLeft,
            ) => RefusedSizeKnown {
                final_seq,
                on_first,
                told: true,
            },
            (
                RefusedSizeKnown { .. },
                On::NameEnd { .. } | On::EndEarly | On::Complete | On::Refuse { .. },
            ) => self,
        }
    }
}

impl ReceiverState {
    /// Nothing came yet.
    pub(super) const OPEN: Self = Self {
        stage: ReceiverStage::Open { end_pending: false },
        stopped_at: u64::MAX,
    };

    #[inline(always)]
    fn apply(&mut self, event: ReceiverEvent) {
        self.stage = self.stage.after(event);
    }

    /// Octets are taken from the peer: neither did all come, nor were they refused.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        matches!(
            self.stage,
            ReceiverStage::Open { .. } | ReceiverStage::SizeKnown { .. }
        )
    }

    /// Open, and the end is not known.
    #[inline]
    pub(super) fn is_endless(&self) -> bool {
        matches!(self.stage, ReceiverStage::Open { .. })
    }

    /// Where the stream ends, once that is known.
    #[inline]
    pub(super) fn final_seq(&self) -> Option<u64> {
        match self.stage {
            ReceiverStage::Open { .. } | ReceiverStage::Refused { .. } => None,
            ReceiverStage::SizeKnown { final_seq, .. }
            | ReceiverStage::Complete { final_seq, .. }
            | ReceiverStage::RefusedSizeKnown { final_seq, .. } => Some(final_seq),
        }
    }

    /// END came with a hole: FIRST is repeated until the response is whole (§6.5).
    pub(super) fn end_is_pending(&self) -> bool {
        matches!(
            self.stage,
            ReceiverStage::Open { end_pending: true }
                | ReceiverStage::SizeKnown {
                    end_pending: true,
                    ..
                }
        )
    }

    /// RCLOSE left with status.
    pub(super) fn is_told(&self) -> bool {
        matches!(
            self.stage,
            ReceiverStage::Complete { told: true, .. }
                | ReceiverStage::Refused { told: true, .. }
                | ReceiverStage::RefusedSizeKnown { told: true, .. }
        )
    }

    /// Refused behind FIRST, which status says.
    pub(super) fn is_refused_later(&self) -> bool {
        matches!(
            self.stage,
            ReceiverStage::Refused { on_first: false, .. }
                | ReceiverStage::RefusedSizeKnown { on_first: false, .. }
        )
    }

    /// The same, and no status has said so.
    pub(super) fn refusal_is_untold(&self) -> bool {
        matches!(
            self.stage,
            ReceiverStage::Refused {
                on_first: false,
                told: false,
            } | ReceiverStage::RefusedSizeKnown {
                on_first: false,
                told: false,
                ..
            }
        )
    }

    /// Data with `status`, or without, says that the stream is refused.
    #[inline]
    pub(super) fn is_refused_on_data(&self, status: bool) -> bool {
        match self.stage {
            ReceiverStage::Refused { on_first, .. } | ReceiverStage::RefusedSizeKnown { on_first, .. } => {
                on_first || status
            }
            ReceiverStage::Open { .. } | ReceiverStage::SizeKnown { .. } | ReceiverStage::Complete { .. } => {
                false
            }
        }
    }

    /// Where the user stopped taking, [`u64::MAX`] while it takes.
    #[inline]
    pub(super) fn stopped_at(&self) -> u64 {
        self.stopped_at
    }

    /// The user takes no more, whatever the peer does.
    #[inline]
    pub(super) fn has_stopped(&self) -> bool {
        self.stopped_at != u64::MAX
    }

    /// The user takes nothing from here on. It never takes again.
    pub(super) fn stop_at(&mut self, taken: u64) {
        self.stopped_at = self.stopped_at.min(taken);
    }

    /// The peer's stream ends at `final_seq`. What was named first stays.
    pub(super) fn name_end(&mut self, final_seq: u64) {
        self.apply(ReceiverEvent::NameEnd { final_seq });
    }

    /// END came with a hole.
    pub(super) fn end_early(&mut self) {
        self.apply(ReceiverEvent::EndEarly);
    }

    /// Every octet before the end is there.
    pub(super) fn complete(&mut self) {
        self.apply(ReceiverEvent::Complete);
    }

    /// The user refuses the stream, with FIRST or later.
    pub(super) fn refuse(&mut self, on_first: bool) {
        self.apply(ReceiverEvent::Refuse { on_first });
    }

    /// Status with RCLOSE left.
    pub(super) fn rclose_left(&mut self) {
        self.apply(ReceiverEvent::RcloseLeft);
    }

    /// As part of the walk over a context at rest.
    pub(super) fn walk(&mut self, fields: &mut impl Fields) {
        let (mut stage, mut final_seq, mut flag, mut on_first) = match self.stage {
            ReceiverStage::Open { end_pending } => (0, 0, end_pending, false),
            ReceiverStage::SizeKnown {
                final_seq,
                end_pending,
            } => (1, final_seq, end_pending, false),
            ReceiverStage::Complete { final_seq, told } => (2, final_seq, told, false),
            ReceiverStage::Refused { on_first, told } => (3, 0, told, on_first),
            ReceiverStage::RefusedSizeKnown {
                final_seq,
                on_first,
                told,
            } => (4, final_seq, told, on_first),
        };
        // Few users stop taking before they go.
        let mut stopped = self.has_stopped().then_some(self.stopped_at);
        fields.number(&mut stage);
        fields.number(&mut final_seq);
        fields.option(&mut stopped, Fields::number);
        fields.flags(&mut [&mut flag, &mut on_first]);
        let stage = match stage {
            0 => ReceiverStage::Open { end_pending: flag },
            1 => ReceiverStage::SizeKnown {
                final_seq,
                end_pending: flag,
            },
            2 => ReceiverStage::Complete {
                final_seq,
                told: flag,
            },
            3 => ReceiverStage::Refused { on_first, told: flag },
            _ => ReceiverStage::RefusedSizeKnown {
                final_seq,
                on_first,
                told: flag,
            },
        };
        *self = Self {
            stage,
            stopped_at: stopped.unwrap_or(u64::MAX),
        };
    }
}

#[cfg(test)]
#[path = "receiver_state_tests.rs"]
mod tests;
