//! Events of associations for the [log](super::journal).

use tracing::Level;
use xtp_engine::{CloseReason, ContextId, ContextStats, Event};

use super::Core;
use super::journal::{TARGET, counts};

impl Core {
    /// Something happened to an association.
    #[inline]
    pub(super) fn tell(&mut self, id: ContextId, event: &Event) {
        if tracing::enabled!(target: TARGET, Level::INFO) {
            self.tell_in_words(id, event);
        }
    }

    #[cold]
    fn tell_in_words(&mut self, id: ContextId, event: &Event) {
        let stats = self
            .engine
            .settled()
            .context(id)
            .ok()
            .map(|context| context.stats());
        let peer = self.slots.get(&id).map(|slot| slot.peer);
        let number = id.as_u64();
        match (event, peer) {
            (Event::Accepted { .. }, _) | (_, None) => {}
            (Event::Closed(reason), Some(peer)) => {
                let counts = stats.as_ref().map(counts).unwrap_or_default();
                match reason {
                    CloseReason::Normal => {
                        tracing::info!(target: TARGET, id = number, %peer, "ended: {counts}");
                    }
                    reason => tracing::info!(target: TARGET, id = number, %peer, "ended: {reason}; {counts}"),
                }
            }
            (Event::Moved(to), Some(_)) => {
                tracing::debug!(target: TARGET, id = number, peer = %to, "the peer has moved");
            }
            (Event::MaxData(octets), Some(peer)) => {
                tracing::debug!(target: TARGET, id = number, %peer, "packets carry up to {octets} octets now");
            }
            (Event::Refused { not_taken }, Some(peer)) => {
                tracing::debug!(target: TARGET, id = number, %peer, "the peer takes no more; {not_taken} octets were not taken");
            }
            (event, Some(peer)) => tracing::trace!(target: TARGET, id = number, %peer, "{event:?}"),
        }
        self.tell_losses(id, stats);
    }

    /// Losses that came since the last were told.
    fn tell_losses(&mut self, id: ContextId, stats: Option<ContextStats>) {
        let (Some(stats), Some(slot)) = (stats, self.slots.get_mut(&id)) else {
            return;
        };
        let told = slot.if_more().map_or(0, |more| more.lost_told);
        let new = stats.packets_lost.saturating_sub(told);
        if new > 0 {
            slot.more().lost_told = stats.packets_lost;
            let peer = slot.peer;
            tracing::debug!(
                target: TARGET, id = id.as_u64(), %peer,
                "lost {new} packets; round trip {:?}, window {} octets",
                stats.rtt.unwrap_or_default(), stats.congestion_window.unwrap_or_default()
            );
        }
    }
}
