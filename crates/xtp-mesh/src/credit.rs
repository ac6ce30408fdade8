//! How much of a peer's may lie here without a receive, and how much of ours there.

use crate::record::{FIRST_MESSAGES, FIRST_OCTETS, Fault};

/// Octets and messages, counted since the session began, or differences of such.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amount {
    pub(crate) octets: u64,
    pub(crate) messages: u64,
}

impl Amount {
    pub(crate) const FIRST: Self = Self {
        octets: FIRST_OCTETS,
        messages: FIRST_MESSAGES,
    };

    /// So much more.
    pub(crate) fn add(&mut self, more: Self) {
        self.octets += more.octets;
        self.messages += more.messages;
    }

    /// A message less, of so many octets.
    pub(crate) fn take(&mut self, octets: u64) {
        self.octets = self.octets.saturating_sub(octets);
        self.messages = self.messages.saturating_sub(1);
    }

    /// Whether it is no more than this.
    pub(crate) fn fits(&self, most: &Self) -> bool {
        self.octets <= most.octets && self.messages <= most.messages
    }
}

/// What this end may send.
#[derive(Debug)]
pub(crate) struct Allowance {
    granted: Amount,
    sent: Amount,
}

impl Allowance {
    pub(crate) fn new() -> Self {
        Self {
            granted: Amount::FIRST,
            sent: Amount::default(),
        }
    }

    /// Whether another message may be sent, if only as an announcement.
    pub(crate) fn has_message(&self) -> bool {
        self.sent.messages < self.granted.messages
    }

    /// Whether an eager message of this length may be.
    pub(crate) fn has_octets(&self, length: u64) -> bool {
        length <= self.granted.octets - self.sent.octets
    }

    /// A message was sent, with so many octets of it.
    pub(crate) fn spend(&mut self, octets: u64) {
        self.sent.messages += 1;
        self.sent.octets += octets;
    }

    /// The peer grants so much in all.
    ///
    /// # Errors
    ///
    /// [`Fault::Revoked`] if that is less than before.
    pub(crate) fn grant(&mut self, octets: u64, messages: u64) -> Result<(), Fault> {
        if octets < self.granted.octets || messages < self.granted.messages {
            return Err(Fault::Revoked);
        }
        self.granted = Amount { octets, messages };
        Ok(())
    }
}

/// What the peer may send.
#[derive(Debug)]
pub(crate) struct Grant {
    /// What may lie here or be under way at a time.
    share: Amount,
    granted: Amount,
    received: Amount,
    /// Of that, what has its receive.
    consumed: Amount,
}

impl Grant {
    pub(crate) fn new() -> Self {
        Self {
            share: Amount::FIRST,
            granted: Amount::FIRST,
            received: Amount::default(),
            consumed: Amount::default(),
        }
    }

    /// A message begins to come, with so many octets of it. It counts when it is whole: what an association brought of it before it
    /// ended comes again.
    ///
    /// # Errors
    ///
    /// [`Fault::Credit`] if it was not granted.
    pub(crate) fn admit(&self, octets: u64) -> Result<(), Fault> {
        let fits = self.received.messages < self.granted.messages
            && octets <= self.granted.octets - self.received.octets;
        if fits { Ok(()) } else { Err(Fault::Credit) }
    }

    /// A message came that was admitted.
    pub(crate) fn receive(&mut self, octets: u64) {
        self.received.messages += 1;
        self.received.octets += octets;
    }

    /// What came and has no receive yet.
    pub(crate) fn waiting(&self) -> Amount {
        Amount {
            octets: self.received.octets - self.consumed.octets,
            messages: self.received.messages - self.consumed.messages,
        }
    }

    /// A message has its receive.
    pub(crate) fn consume(&mut self, octets: u64) {
        self.consumed.messages += 1;
        self.consumed.octets += octets;
    }

    /// Every message that may wait does: more may, twice as many at most, as far as `most` allows for all peers together.
    pub(crate) fn widen(&mut self, most: u64) {
        if self.waiting().messages >= self.share.messages / 2 {
            self.share.messages += most.min(self.share.messages);
        }
    }

    /// What the peer is to be told, if that is worth a record: half of what may lie here has its receive.
    pub(crate) fn due(&mut self) -> Option<(u64, u64)> {
        let next = Amount {
            octets: self.consumed.octets + self.share.octets,
            messages: self.consumed.messages + self.share.messages,
        };
        let octets = next.octets - self.granted.octets >= self.share.octets / 2;
        let messages = next.messages - self.granted.messages >= self.share.messages / 2;
        (octets || messages).then(|| {
            self.granted = next;
            (next.octets, next.messages)
        })
    }
}

#[cfg(test)]
#[path = "credit_tests.rs"]
mod tests;
