//! Which losses say nothing about how fast the group may be served (§9.11).
//!
//! What a full queue throws away becomes more when more is sent; what a way to a receiver loses by itself does not. So the share that
//! is lost while the model sends faster than the path was seen to carry is held against the share at other times.

/// Packets of each kind that tell a share.
const ENOUGH: u64 = 128;
/// Of so many, older ones count half.
const MOST: u64 = 4 * ENOUGH;
/// A share that is more than one in so many is no chance, whatever the rate.
const HEAVY: u64 = 12;
/// Nor is one that is by one in so many of what was sent greater at a higher rate: a full queue throws away one in five of what comes a
/// quarter too fast.
const RISES: u64 = 20;
/// Shares are compared as parts of this.
const WHOLE: u64 = 1 << 20;

#[derive(Copy, Clone, Debug, Default)]
struct LossShare {
    left: u64,
    lost: u64,
}

impl LossShare {
    fn note(&mut self, left: u64, lost: u64, most: u64) {
        self.left += left;
        self.lost += lost;
        if self.left > most {
            self.left /= 2;
            self.lost /= 2;
        }
    }

    /// So many octets of `total`.
    fn of(&self, total: u64) -> u64 {
        let part = u128::from(total) * u128::from(self.lost) / u128::from(self.left.max(1));
        u64::try_from(part).unwrap_or(total).min(total)
    }
}

/// What the pacemaker lost.
#[derive(Copy, Clone, Debug)]
pub(super) struct Losses {
    /// Octets of a packet.
    packet: u64,
    /// What left while a probe sent faster than the path was seen to carry, and at other times.
    probes: LossShare,
    otherwise: LossShare,
}

impl Losses {
    pub(super) fn new(packet: u64) -> Self {
        Self {
            packet,
            probes: LossShare::default(),
            otherwise: LossShare::default(),
        }
    }

    /// Of so many octets so many were lost.
    pub(super) fn note(&mut self, left: u64, lost: u64, probing: bool) {
        let share = if probing {
            &mut self.probes
        } else {
            &mut self.otherwise
        };
        share.note(left, lost, MOST * self.packet);
    }

    /// Whether it is known that no greater share is lost where more is sent.
    pub(super) fn are_even(&self) -> bool {
        let (probes, otherwise) = (&self.probes, &self.otherwise);
        let least = ENOUGH * self.packet;
        let known = probes.left >= least && otherwise.left >= least;
        known && probes.of(WHOLE) <= otherwise.of(WHOLE) + WHOLE / RISES
    }

    /// Whether what is lost is lost by chance, as far as is known.
    pub(super) fn are_chance(&self) -> bool {
        self.are_even() && self.probes.of(WHOLE) <= WHOLE / HEAVY
    }

    /// Octets of `left` whose loss is chance: they have passed whatever queue there is.
    pub(super) fn of_chance(&self, left: u64) -> u64 {
        match self.are_chance() {
            true => self.probes.of(left).min(self.otherwise.of(left)),
            false => 0,
        }
    }
}

#[cfg(test)]
#[path = "losses_tests.rs"]
mod tests;
