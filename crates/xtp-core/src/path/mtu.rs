//! Search for the largest datagram a path carries (§5.5 [D-40], after RFC 8899).

use super::LEAST_DATAGRAM;
use crate::Time;
use crate::fields::Fields;
use core::time::Duration;

/// UDP payload sizes tried on any path, with the Ethernet one for IPv4 and IPv6.
const LADDER_V4: [usize; 5] = [1_200, 1_400, 1_472, 4_096, 8_972];
const LADDER_V6: [usize; 5] = [1_200, 1_400, 1_452, 4_096, 8_972];
/// Sizes tried on local paths besides; the last is what fits an IPv4 packet, the one before it IPv6 on Linux loopback.
const LADDER_LOCAL: [usize; 4] = [16_384, 32_768, 65_488, 65_507];
/// Probes of one size before it counts as too big.
const TRIES: u8 = 3;
/// How long an answer may take.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);
/// Rest before a size that failed is tried again.
const REST: Duration = Duration::from_secs(600);
/// The same after a black hole, which may have been something else; twice as long after each that follows.
const HOLE_REST: Duration = Duration::from_secs(4);

#[derive(Copy, Clone, Debug)]
struct MtuProbe {
    size: usize,
    tries: u8,
    /// `None`: timed out, to be repeated.
    deadline: Option<Time>,
}

/// The search: climbs the ladder of usual sizes one rung after the other.
#[derive(Clone, Debug)]
pub struct MtuSearch {
    base: usize,
    max: usize,
    local: bool,
    v6: bool,
    current: usize,
    probe: Option<MtuProbe>,
    /// Sizes above this one are known not to fit, until `resume`.
    ceiling: usize,
    resume: Option<Time>,
    latest: Time,
    /// Black holes so far.
    holes: u8,
}

impl MtuSearch {
    /// A search from `base` to `max` octets of UDP payload that begins with datagrams of `start`; `local` adds the sizes
    /// of loopback.
    pub fn new(base: usize, start: usize, max: usize, local: bool, v6: bool, now: Time) -> Self {
        let base = base.min(max);
        let (probe, ceiling, resume) = (None, max, None);
        Self {
            base,
            max,
            local,
            v6,
            current: start.clamp(base, max),
            probe,
            ceiling,
            resume,
            latest: now,
            holes: 0,
        }
    }

    /// Whether the path is one of this host.
    pub fn is_local(&self) -> bool {
        self.local
    }

    /// Size of datagrams in use, octets of UDP payload.
    pub fn current(&self) -> usize {
        self.current
    }

    /// Whether [`Self::next_probe`] would send one.
    pub fn would_probe(&self, now: Time) -> bool {
        match &self.probe {
            Some(probe) => probe.deadline.is_none(),
            None => self.resume.is_some_and(|resume| resume <= now) || self.next_size().is_some(),
        }
    }

    /// The size of a probe to send now, if one is due. It counts as sent.
    pub fn next_probe(&mut self, now: Time) -> Option<usize> {
        self.latest = self.latest.max(now);
        if self.resume.is_some_and(|resume| resume <= now) {
            self.resume = None;
            self.ceiling = self.max;
        }
        let deadline = Some(now + PROBE_TIMEOUT);
        match &mut self.probe {
            Some(probe) if probe.deadline.is_some() => None,
            Some(probe) => {
                probe.deadline = deadline;
                probe.tries += 1;
                Some(probe.size)
            }
            None => {
                let size = self.next_size()?;
                self.probe = Some(MtuProbe {
                    size,
                    tries: 1,
                    deadline,
                });
                Some(size)
            }
        }
    }

    /// When [`MtuSearch::on_timeout`] is due. A search that rests has no deadline: an idle path is left alone.
    pub fn probe_deadline(&self) -> Option<Time> {
        self.probe?.deadline
    }

    /// A PATH response confirmed a datagram of `size` octets. Whether datagrams may grow.
    pub fn on_response(&mut self, size: usize, now: Time) -> bool {
        self.latest = self.latest.max(now);
        match self.probe {
            Some(probe) if probe.size == size => {
                self.probe = None;
                self.current = size;
                true
            }
            _ => false,
        }
    }

    /// The probe's deadline may have passed.
    pub fn on_timeout(&mut self, now: Time) {
        self.latest = self.latest.max(now);
        let Some(probe) = &mut self.probe else { return };
        if probe.deadline.is_none_or(|deadline| deadline > now) {
            return;
        }
        probe.deadline = None;
        if probe.tries >= TRIES {
            let failed = probe.size;
            self.cap(failed - 1);
        }
    }

    /// The carrier (or a credible ICMP message) says that a datagram was too big; `limit` = what fits, if known. No report
    /// makes datagrams smaller than [`LEAST_DATAGRAM`].
    pub fn on_too_big(&mut self, limit: Option<usize>) {
        let limit = match (limit, self.probe) {
            (Some(limit), _) => limit.max(LEAST_DATAGRAM.min(self.base)),
            // Only the probe is new, so it is the probe that did not fit.
            (None, Some(probe)) => probe.size - 1,
            // What it began with was a guess: the sizes between are still to be tried.
            (None, None) if self.current > self.base => {
                self.cap(self.current - 1);
                self.current = self.base;
                return;
            }
            // Another packet of before it shrank.
            (None, None) if self.resume.is_some() => return,
            (None, None) => self.base,
        };
        if limit < self.max {
            self.cap(limit);
        }
    }

    /// Smaller packets got through while those of this size did not: what fitted once may fit no more. It is sought again
    /// soon, because it may have been chance or another path.
    pub fn on_black_hole(&mut self, now: Time) {
        self.latest = self.latest.max(now);
        if self.current > self.base {
            self.cap(self.base);
            let rest = HOLE_REST * (1 << self.holes.min(16));
            self.resume = Some(self.latest + rest.min(REST));
            self.holes = self.holes.saturating_add(1);
        }
    }

    /// Nobody answered datagrams of the size it began with: that may be their size, so it begins at the base. What is known
    /// to be less stays so.
    pub fn on_silence(&mut self) {
        self.current = self.current.min(self.base);
    }

    /// Whether a datagram of `size` octets may be too large for a path that carries the base size.
    pub fn is_above_base(&self, size: usize) -> bool {
        size > self.base
    }

    /// No probe is out.
    pub fn is_at_rest(&self) -> bool {
        self.probe.is_none()
    }

    /// Every field (see [`Fields`]) of a search at rest.
    pub fn walk(&mut self, fields: &mut impl Fields) {
        let Self {
            base,
            max,
            local,
            v6,
            current,
            probe: _,
            ceiling,
            resume,
            latest,
            holes,
        } = self;
        fields.flags(&mut [local, v6]);
        for size in [base, max, current, ceiling] {
            fields.size(size);
        }
        let mut count = u32::from(*holes);
        fields.small(&mut count);
        *holes = u8::try_from(count).unwrap_or(u8::MAX);
        fields.option(resume, Fields::time);
        fields.time(latest);
    }

    /// Whether nothing is being tried and nothing is left to try for now.
    #[cfg(test)]
    pub fn is_done(&self) -> bool {
        self.probe.is_none() && self.next_size().is_none()
    }

    /// Nothing above `limit` fits; rests before trying again.
    fn cap(&mut self, limit: usize) {
        self.ceiling = self.ceiling.min(limit);
        self.current = self.current.min(limit);
        self.resume = Some(self.latest + REST);
        if self.probe.is_some_and(|probe| probe.size > limit) {
            self.probe = None;
        }
    }

    /// The next rung above the current size that may fit. A local path carries whatever it is given almost always, so
    /// there the last rung comes first; once a size has failed, one follows the other there as well.
    fn next_size(&self) -> Option<usize> {
        let ladder = if self.v6 { LADDER_V6 } else { LADDER_V4 };
        let local: &[usize] = if self.local { &LADDER_LOCAL } else { &[] };
        let mut rungs = ladder
            .into_iter()
            .chain(local.iter().copied())
            .filter(|&size| size > self.current && size <= self.ceiling);
        match self.local && self.resume.is_none() {
            true => rungs.next_back(),
            false => rungs.next(),
        }
    }
}

#[cfg(test)]
#[path = "mtu_tests.rs"]
mod tests;
