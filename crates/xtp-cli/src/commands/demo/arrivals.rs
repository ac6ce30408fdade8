//! What arrived at the receiving process, over whatever protocol.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::payload;
use super::pipe::Answer;

/// Longest wait for an exchange to arrive.
const PATIENCE: Duration = Duration::from_secs(1);

/// The account, shared by the threads of the receiver.
#[derive(Clone, Default)]
pub(super) struct Arrivals {
    shared: Arc<(Mutex<Answer>, Condvar)>,
}

impl Arrivals {
    /// An exchange of `size` octets arrived.
    pub(super) fn arrived(&self, octets: &[u8], size: usize) {
        let age = payload::age(octets, size);
        self.note(|account| {
            account.arrivals += 1;
            account.damaged += u64::from(age.is_none());
            let age = age.unwrap_or_default();
            account.one_way_ns = u64::try_from(age.as_nanos()).unwrap_or(u64::MAX);
        });
    }

    /// A file arrived; whoever sent it compares the hashes.
    pub(super) fn file(&self) {
        self.note(|account| account.arrivals += 1);
    }

    /// Something arrived that should not, or not as it should.
    pub(super) fn damaged(&self) {
        self.note(|account| account.damaged += 1);
    }

    fn note(&self, change: impl FnOnce(&mut Answer)) {
        let (account, news) = &*self.shared;
        change(&mut account.lock().unwrap_or_else(PoisonError::into_inner));
        news.notify_all();
    }

    /// The account once it has this many arrivals, or after a second.
    pub(super) fn wait(&self, arrivals: u64) -> Answer {
        let (account, news) = &*self.shared;
        let account = account.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = news.wait_timeout_while(account, PATIENCE, |account| account.arrivals < arrivals);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}
