//! SIGINT, SIGTERM and SIGHUP: the first one ends what is waited for, so that the command closes cleanly; a second SIGINT or
//! SIGTERM ends the process. A terminal that is closed may send SIGHUP several times.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

#[cfg(unix)]
use signal_hook::consts::SIGHUP;
use signal_hook::consts::{SIGINT, SIGTERM};
use xtp::Endpoint;

use super::{Failure, Status};

/// Set when this process is told to end, for what has no [`Signals`] at hand.
static ENDING: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Whether this process is told to end.
pub(super) fn is_ending() -> bool {
    ENDING.get().is_some_and(|caught| caught.load(Ordering::SeqCst))
}

type Hook = Box<dyn Fn() + Send>;

#[derive(Default)]
struct Watch {
    /// Set by the signal's handler itself: what the process does after a signal never looks as if there was none.
    caught: Arc<AtomicBool>,
    /// As `caught`, by SIGTERM or SIGHUP only.
    terminated: Arc<AtomicBool>,
    /// Set once the hooks are told.
    told: AtomicBool,
    hooks: Mutex<Vec<Hook>>,
    endpoints: Mutex<Vec<Endpoint>>,
}

/// What was caught, and whom it concerns.
pub(crate) struct Signals {
    watch: Arc<Watch>,
}

impl Signals {
    /// Catches SIGINT, SIGTERM and, unless it is ignored, SIGHUP from now on.
    ///
    /// # Errors
    /// If the system does not allow it.
    pub(crate) fn catch() -> Result<Self, Failure> {
        let watch = Arc::new(Watch::default());
        let _ = ENDING.set(Arc::clone(&watch.caught));
        let told = Arc::clone(&watch);
        let ending = || caught_signals().into_iter().filter(|signal| *signal != SIGINT);
        on_signal(&watch.caught, move |insists| told.tell(insists))
            .and_then(|()| {
                ending().try_for_each(|signal| {
                    signal_hook::flag::register(signal, Arc::clone(&watch.terminated)).map(drop)
                })
            })
            .map_err(|error| {
                Failure::failed(format!("cannot catch signals: {error}; start xtp another way"))
            })?;
        Ok(Self { watch })
    }

    /// Whether one was caught.
    pub(crate) fn caught(&self) -> bool {
        self.watch.caught.load(Ordering::SeqCst)
    }

    /// Whether SIGTERM or SIGHUP was caught.
    pub(crate) fn terminated(&self) -> bool {
        self.watch.terminated.load(Ordering::SeqCst)
    }

    /// Fails with status 130 if one was caught.
    ///
    /// # Errors
    /// Exactly then.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.caught() {
            Err(Failure::interrupted())
        } else {
            Ok(())
        }
    }

    /// Runs `hook` when one is caught; at once if one was.
    pub(crate) fn on_caught(&self, hook: impl Fn() + Send + 'static) {
        let mut hooks = self.watch.hooks.lock().unwrap_or_else(PoisonError::into_inner);
        if self.watch.told.load(Ordering::SeqCst) {
            hook();
        }
        hooks.push(Box::new(hook));
    }

    /// Interrupts what waits on `endpoint` when one is caught.
    pub(crate) fn interrupts(&self, endpoint: &Endpoint) {
        let mut endpoints = self
            .watch
            .endpoints
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        endpoints.push(endpoint.clone());
        if self.watch.told.load(Ordering::SeqCst) {
            endpoint.interrupt();
        }
    }

    /// Lets go of the endpoints, which then wait for their confirmations; so calls on them may wait again.
    pub(crate) fn release(&self) {
        let endpoints = {
            let mut endpoints = self
                .watch
                .endpoints
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *endpoints)
        };
        for endpoint in endpoints {
            endpoint.resume();
        }
    }
}

impl Watch {
    /// `insists`: a second signal of this kind ends the process at once, without waiting for confirmations.
    fn tell(&self, insists: bool) {
        if self.told.swap(true, Ordering::SeqCst) {
            if insists {
                std::process::exit(Status::Interrupted.code().into());
            }
            return;
        }
        for endpoint in self
            .endpoints
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
        {
            endpoint.interrupt();
        }
        for hook in self.hooks.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            hook();
        }
    }
}

/// The signals that end a command. SIGHUP is one unless the process was started with it ignored, as `nohup` does: then it is to
/// outlive its terminal.
#[cfg(unix)]
fn caught_signals() -> Vec<i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    match hangup_is_ignored(&status) {
        Some(false) => vec![SIGINT, SIGTERM, SIGHUP],
        // Where the system does not tell, the default is left as it is.
        Some(true) | None => vec![SIGINT, SIGTERM],
    }
}

#[cfg(not(unix))]
fn caught_signals() -> Vec<i32> {
    vec![SIGINT, SIGTERM]
}

/// Whether SIGHUP is among the ignored signals of `/proc/self/status`; `None` if that does not say.
#[cfg(unix)]
fn hangup_is_ignored(status: &str) -> Option<bool> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    let mask = u64::from_str_radix(mask.trim(), 16).ok()?;
    Some(mask >> (SIGHUP - 1) & 1 == 1)
}

/// Has `act` told of each signal, and whether it is one that insists when it comes again.
#[cfg(unix)]
fn on_signal(caught: &Arc<AtomicBool>, act: impl Fn(bool) + Send + 'static) -> std::io::Result<()> {
    let all = caught_signals();
    for signal in &all {
        signal_hook::flag::register(*signal, Arc::clone(caught))?;
    }
    let mut signals = signal_hook::iterator::Signals::new(all)?;
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            for signal in signals.forever() {
                act(signal != SIGHUP);
            }
        })?;
    Ok(())
}

/// Without a way to wait for signals the flag is looked at.
#[cfg(not(unix))]
fn on_signal(caught: &Arc<AtomicBool>, act: impl Fn(bool) + Send + 'static) -> std::io::Result<()> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(caught))?;
        signal_hook::flag::register(signal, Arc::clone(&flag))?;
    }
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            loop {
                std::thread::sleep(std::time::Duration::from_millis(50));
                if flag.swap(false, Ordering::SeqCst) {
                    act(true);
                }
            }
        })?;
    Ok(())
}

#[cfg(all(test, unix))]
#[path = "signals_tests.rs"]
mod tests;
