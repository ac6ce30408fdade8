//! The line between a worker and its coordinator: a job in, one answer out, and word to stop.

use std::io::{self, BufRead, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Problem, Worked};
use crate::job::{Said, Told};

type Hook = Box<dyn Fn() + Send>;

#[derive(Default)]
struct Watch {
    stopped: AtomicBool,
    hooks: Mutex<Vec<Hook>>,
}

/// The line to the coordinator.
pub(crate) struct Console {
    watch: Arc<Watch>,
}

/// Whether the coordinator said stop. Costs a relaxed load to look at.
#[derive(Clone)]
pub(crate) struct Stop(Arc<Watch>);

impl Stop {
    pub(crate) fn is_set(&self) -> bool {
        self.0.stopped.load(Ordering::Relaxed)
    }

    /// One that nobody sets, for tests.
    #[cfg(test)]
    pub(crate) fn never() -> Self {
        Self(Arc::default())
    }

    /// Sets it, for tests.
    #[cfg(test)]
    pub(crate) fn set(&self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }
}

impl Console {
    /// One that has not said anything yet.
    pub(crate) fn new() -> Self {
        Self {
            watch: Arc::default(),
        }
    }

    /// One without a coordinator, for tests.
    #[cfg(test)]
    pub(crate) fn silent() -> Self {
        Self::new()
    }

    /// Says where this worker can be reached. From here on it notices when it is told to stop.
    pub(crate) fn ready(&mut self, address: impl ToString) -> Worked<()> {
        let address = address.to_string();
        say(&Said::Ready { address })?;
        self.watch();
        Ok(())
    }

    /// As [`ready`](Self::ready), then waits for the addresses of all equals.
    pub(crate) fn ready_for_peers(&mut self, address: impl ToString) -> Worked<Vec<String>> {
        let address = address.to_string();
        say(&Said::Ready { address })?;
        match hear()? {
            Told::Peers(peers) => {
                self.watch();
                Ok(peers)
            }
            Told::Stop => Err(Problem::new("stopped before it began")),
        }
    }

    /// Whether this worker was told to stop.
    pub(crate) fn stop(&self) -> Stop {
        Stop(Arc::clone(&self.watch))
    }

    /// Runs `hook`, on another thread, when told to stop; at once if it was.
    pub(crate) fn on_stop(&self, hook: impl Fn() + Send + 'static) {
        let mut hooks = self.watch.hooks.lock().unwrap_or_else(PoisonError::into_inner);
        if self.watch.stopped.load(Ordering::SeqCst) {
            hook();
        }
        hooks.push(Box::new(hook));
    }

    /// From here on it notices when it is told to stop.
    pub(crate) fn watch(&self) {
        let watch = Arc::clone(&self.watch);
        thread::spawn(move || {
            // A coordinator that vanished waits for nothing.
            let Ok(Told::Stop) = hear() else {
                std::process::exit(1)
            };
            watch.stopped.store(true, Ordering::SeqCst);
            for hook in watch.hooks.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                hook();
            }
        });
    }
}

/// The next line of the coordinator.
pub(crate) fn hear<T: DeserializeOwned>() -> Worked<T> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}

/// Tells the coordinator.
pub(crate) fn say(said: &impl Serialize) -> Worked<()> {
    let mut line = serde_json::to_vec(said)?;
    line.push(b'\n');
    let mut stdout = io::stdout().lock();
    stdout.write_all(&line)?;
    Ok(stdout.flush()?)
}
