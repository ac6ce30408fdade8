//! How far the close of this end's stream has come (§6.1, §6.2, §6.3).
//!
//! ```text
//!       Close             WcloseLeft             Acknowledge
//! Open -------> Closing <------------> Closing --------------> Acknowledged
//!   |           untold   RepeatWclose   told
//!   |              |                      |
//!   +--------------+-------- Refuse ------+--> Refused
//! ```

use xtp_core::fields::Fields;

/// State of the sender half.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct SenderState {
    stage: SenderStage,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum SenderStage {
    /// The user may write.
    Open,
    /// Closed by the user: the stream ends at `final_seq`. `told`: WCLOSE left, and is not to be repeated.
    Closing { final_seq: u64, told: bool },
    /// RCLOSE said that all of it came.
    Acknowledged { final_seq: u64 },
    /// RCLOSE said that the peer's reader takes no more; it did not take the last `not_taken` octets of what was written.
    Refused { final_seq: u64, not_taken: u64 },
}

/// What can change it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum SenderEvent {
    /// The user closes a stream that ends here.
    Close { final_seq: u64 },
    /// A packet with WCLOSE left.
    WcloseLeft,
    /// That packet may be lost, or counts no more.
    RepeatWclose,
    /// RCLOSE of a reader that has everything.
    Acknowledge,
    /// RCLOSE of a reader that has not.
    Refuse { final_seq: u64, not_taken: u64 },
}

impl SenderStage {
    /// The state after `event`. One that cannot change anything leaves it as it is. In place: callers know the event.
    #[inline(always)]
    const fn after(self, event: SenderEvent) -> Self {
        use SenderEvent::*;
        use SenderStage::*;
        match (self, event) {
            (Open, Close { final_seq }) => Closing {
                final_seq,
                told: false,
            },
            (Open, WcloseLeft | RepeatWclose | Acknowledge) => self,
            (Closing { .. }, Close { .. }) => self,
            (Closing { final_seq, told: _ }, WcloseLeft) => Closing {
                final_seq,
                told: true,
            },
            (Closing { final_seq, told: _ }, RepeatWclose) => Closing {
                final_seq,
                told: false,
            },
            (Closing { final_seq, told: _ }, Acknowledge) => Acknowledged { final_seq },
            (Open | Closing { .. }, Refuse { final_seq, not_taken }) => Refused { final_seq, not_taken },
            (
                Acknowledged { .. } | Refused { .. },
                Close { .. } | WcloseLeft | RepeatWclose | Acknowledge | Refuse { .. },
            ) => self,
        }
    }
}

impl SenderState {
    /// Nothing was closed yet.
    pub(super) const OPEN: Self = Self {
        stage: SenderStage::Open,
    };

    #[inline(always)]
    fn apply(&mut self, event: SenderEvent) {
        self.stage = self.stage.after(event);
    }

    /// The user may write.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        matches!(self.stage, SenderStage::Open)
    }

    /// The user has closed, and the peer has not answered that.
    pub(super) fn is_closing(&self) -> bool {
        matches!(self.stage, SenderStage::Closing { .. })
    }

    /// The peer has answered: it has all, or takes no more.
    pub(super) fn is_closed(&self) -> bool {
        matches!(
            self.stage,
            SenderStage::Acknowledged { .. } | SenderStage::Refused { .. }
        )
    }

    /// Where the stream ends, once that is known.
    #[inline]
    pub(super) fn final_seq(&self) -> Option<u64> {
        match self.stage {
            SenderStage::Open => None,
            SenderStage::Closing { final_seq, .. }
            | SenderStage::Acknowledged { final_seq }
            | SenderStage::Refused { final_seq, .. } => Some(final_seq),
        }
    }

    /// A packet that ends at `end` is the last one of a stream whose close is not answered.
    pub(super) fn closes_at(&self, end: u64) -> bool {
        matches!(self.stage, SenderStage::Closing { final_seq, .. } if final_seq == end)
    }

    /// Closing, and WCLOSE is to leave.
    pub(super) fn is_untold(&self) -> bool {
        matches!(self.stage, SenderStage::Closing { told: false, .. })
    }

    /// Closing, and WCLOSE left.
    pub(super) fn is_told(&self) -> bool {
        matches!(self.stage, SenderStage::Closing { told: true, .. })
    }

    /// Octets written that a refusing reader did not take; `None` while none refused.
    pub(super) fn not_taken(&self) -> Option<u64> {
        match self.stage {
            SenderStage::Refused { not_taken, .. } => Some(not_taken),
            SenderStage::Open | SenderStage::Closing { .. } | SenderStage::Acknowledged { .. } => None,
        }
    }

    /// The user closes a stream that ends at `final_seq`.
    pub(super) fn close(&mut self, final_seq: u64) {
        self.apply(SenderEvent::Close { final_seq });
    }

    /// A packet with WCLOSE left.
    pub(super) fn wclose_left(&mut self) {
        self.apply(SenderEvent::WcloseLeft);
    }

    /// WCLOSE is to leave again, if it is not answered.
    pub(super) fn repeat_wclose(&mut self) {
        self.apply(SenderEvent::RepeatWclose);
    }

    /// The peer has everything.
    pub(super) fn acknowledge(&mut self) {
        self.apply(SenderEvent::Acknowledge);
    }

    /// The peer takes no more: the stream ends at `final_seq`, and `not_taken` octets of what was written are lost.
    pub(super) fn refuse(&mut self, final_seq: u64, not_taken: u64) {
        self.apply(SenderEvent::Refuse { final_seq, not_taken });
    }

    /// As part of the walk over a context at rest.
    pub(super) fn walk(&mut self, fields: &mut impl Fields) {
        let (mut stage, mut end, mut more) = match self.stage {
            SenderStage::Open => (0, 0, 0),
            SenderStage::Closing { final_seq, told } => (1, final_seq, u64::from(told)),
            SenderStage::Acknowledged { final_seq } => (2, final_seq, 0),
            SenderStage::Refused { final_seq, not_taken } => (3, final_seq, not_taken),
        };
        for number in [&mut stage, &mut end, &mut more] {
            fields.number(number);
        }
        self.stage = match stage {
            0 => SenderStage::Open,
            1 => SenderStage::Closing {
                final_seq: end,
                told: more != 0,
            },
            2 => SenderStage::Acknowledged { final_seq: end },
            _ => SenderStage::Refused {
                final_seq: end,
                not_taken: more,
            },
        };
    }
}

#[cfg(test)]
#[path = "sender_state_tests.rs"]
mod tests;
