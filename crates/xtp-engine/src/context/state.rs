//! The state machine of a context (§2.8), as one table a reader can see at once.
//!
//! ```text
//!              UserOpens            PeerHeard           Handshake
//! Quiescent ------------> Opening -----------> Active <===========> InHandshake
//!                            |                   |      Answered        |
//! Listening --FirstAccepted--|-------------------^                      |
//!                            +------- Finished --+------ Finished ------+--> Inactive --Forgotten--> Gone
//! ```
//! What happens besides the change of state is decided by the other modules; whether a change is legal is
//! decided here alone.

/// States of §2.8. `Gone`: nothing is left to look up.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum State {
    /// Q: opened by the user, no packet sent.
    Quiescent,
    /// L: a responder's context at the moment its FIRST is being accepted.
    Listening,
    /// A0: FIRST sent, peer not heard.
    Opening,
    /// A1: both ends know each other.
    Active,
    /// AH: synchronising handshake open, no data is sent.
    InHandshake,
    /// Z: over for this end; answers stragglers.
    Inactive,
    /// Forgotten: may be freed as soon as the user lets go.
    Gone,
}

/// What can change the state.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Transition {
    /// The initiator's first packet leaves.
    UserOpens,
    /// A FIRST was admitted.
    FirstAccepted,
    /// Anything valid came from the peer.
    PeerHeard,
    /// WTIMER expired again, or a hint says that the peer may be gone (§3.7.1 line 5, §7.5).
    Handshake,
    /// A control packet or XDATA answered the handshake.
    Answered,
    /// END sent or received, abort, refusal, timeout.
    Finished,
    /// ZTIMER expired, or nothing had to be remembered.
    Forgotten,
}

impl State {
    /// Every state, in the order of the diagram.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 7] = [
        Self::Quiescent,
        Self::Listening,
        Self::Opening,
        Self::Active,
        Self::InHandshake,
        Self::Inactive,
        Self::Gone,
    ];

    /// The state after `event`, or `None` where the event cannot change anything.
    pub(crate) const fn after(self, event: Transition) -> Option<Self> {
        use State::*;
        use Transition::*;
        match (self, event) {
            (Quiescent, UserOpens) => Some(Opening),
            (Quiescent, Finished) => Some(Gone),
            (Listening, FirstAccepted) => Some(Active),
            (Opening, PeerHeard) => Some(Active),
            (Active, Handshake) => Some(InHandshake),
            (InHandshake, Answered) => Some(Active),
            (Opening | Active | InHandshake, Finished) => Some(Inactive),
            (Inactive, Forgotten) => Some(Gone),
            _ => None,
        }
    }

    /// Whether packets of the association are still exchanged for the user.
    pub(crate) const fn is_live(self) -> bool {
        matches!(
            self,
            Self::Quiescent | Self::Listening | Self::Opening | Self::Active | Self::InHandshake
        )
    }

    /// Whether the peer was heard (§2.8).
    pub(crate) const fn heard(self) -> bool {
        matches!(self, Self::Active | Self::InHandshake | Self::Inactive)
    }
}

impl Transition {
    /// Every transition.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 7] = [
        Self::UserOpens,
        Self::FirstAccepted,
        Self::PeerHeard,
        Self::Handshake,
        Self::Answered,
        Self::Finished,
        Self::Forgotten,
    ];
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
