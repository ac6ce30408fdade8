//! What is left of associations that are over, for tests that ask.

use xtp_engine::ListenerId;

use super::{AcceptQueue, Core};

impl Core {
    /// Counts that are zero when nothing is under way, and what they count.
    pub(crate) fn leftovers(&self) -> Vec<(&'static str, usize)> {
        let queues = self
            .queues
            .values()
            .map(AcceptQueue::left)
            .fold([0; 3], |sum, left| {
                [0, 1, 2].map(|place| sum[place] + left[place])
            });
        let [sets, streams, listeners] = self.watch.left();
        let stats = self.engine.view().stats();
        vec![
            ("slots", self.slots.len()),
            ("associations that wait at listeners", queues[0]),
            ("octets at listeners", queues[1]),
            ("held back at listeners", queues[2]),
            ("sets", sets),
            ("streams of sets", streams),
            ("listeners of sets", listeners),
            ("completion queues", self.requests.len()),
            ("posted receives", self.awaited.len()),
            ("orphans", self.orphans),
            ("gathered streams", usize::from(self.has_gathered())),
            ("contexts", stats.contexts),
            ("associations not accepted", stats.pending),
            ("half-open associations", stats.half_open),
            ("time-waits", stats.time_waits),
        ]
    }

    /// What is at a listener: associations, octets of them, and those held back.
    pub(crate) fn left_at(&self, listener: ListenerId) -> [usize; 3] {
        self.queues.get(&listener).map_or([0; 3], AcceptQueue::left)
    }
}
