//! The past of a group's stream, which its program gives back when somebody lacks what is no longer kept (§9.7).

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use xtp_engine::HistoryWish;
use xtp_engine::group::HistoryItem;

use crate::error::{Error, Result};

type HistoryFn = dyn Fn(u64, usize) -> Option<HistoryItem> + Send + Sync;

/// A function that gives back what was sent ([`CastOptions::history`](crate::CastOptions::history)).
#[derive(Clone)]
pub struct History(Arc<HistoryFn>);

impl History {
    /// Of what `supply(position, most)` returns.
    pub fn new(supply: impl Fn(u64, usize) -> Option<HistoryItem> + Send + Sync + 'static) -> Self {
        Self(Arc::new(supply))
    }
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("History")
    }
}

impl PartialEq for History {
    /// The same function, not one that does the same.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Asks the function, in a thread of its own: a disk that is slow holds up who is behind, and nobody else. The thread ends with
/// the last handle of this.
#[derive(Debug)]
pub(crate) struct Historian(Sender<HistoryWish>);

impl Historian {
    /// Starts it. What the function gives goes to `answer`; `None`, too, and if it panics.
    pub(crate) fn start(
        history: History,
        answer: impl Fn(&HistoryWish, Option<HistoryItem>) + Send + 'static,
    ) -> Result<Self> {
        let (wishes, asked) = channel();
        std::thread::Builder::new()
            .name("xtp-history".into())
            .spawn(move || run(&history, &answer, &asked))
            .map_err(|source| Error::Carrier {
                doing: "starting a thread for what is no longer kept",
                source,
            })?;
        Ok(Self(wishes))
    }

    /// Passes a wish on; false if nobody is there any more.
    pub(crate) fn ask(&self, wish: HistoryWish) -> bool {
        self.0.send(wish).is_ok()
    }
}

fn run(history: &History, tell: &dyn Fn(&HistoryWish, Option<HistoryItem>), asked: &Receiver<HistoryWish>) {
    while let Ok(wish) = asked.recv() {
        let mut answer = ReplyOnDrop {
            tell,
            wish,
            item: None,
        };
        answer.item = (history.0)(wish.from(), wish.most());
    }
}

/// Told when it is dropped, so that a function that panics has answered, too.
struct ReplyOnDrop<'a> {
    tell: &'a dyn Fn(&HistoryWish, Option<HistoryItem>),
    wish: HistoryWish,
    item: Option<HistoryItem>,
}

impl Drop for ReplyOnDrop<'_> {
    fn drop(&mut self) {
        (self.tell)(&self.wish, self.item.take());
    }
}
