//! SIGINT and SIGTERM: the first one ends what is waited for, so that the command closes cleanly; the second one
//! ends the process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use signal_hook::consts::{SIGINT, SIGTERM};
use xtp::Endpoint;

use super::{Failure, Status};

type Hook = Box<dyn Fn() + Send>;

#[derive(Default)]
struct Watch {
    /// Set by the signal's handler itself: what the process does after a signal never looks as if there was none.
    caught: Arc<AtomicBool>,
    /// As `caught`, by SIGTERM only.
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
    /// Catches SIGINT and SIGTERM from now on.
    ///
    /// # Errors
    /// If the system does not allow it.
    pub(crate) fn catch() -> Result<Self, Failure> {
        let watch = Arc::new(Watch::default());
        let told = Arc::clone(&watch);
        on_signal(&watch.caught, move || told.tell())
            .and_then(|()| signal_hook::flag::register(SIGTERM, Arc::clone(&watch.terminated)).map(drop))
            .map_err(|error| {
                Failure::failed(format!("cannot catch signals: {error}; start xtp another way"))
            })?;
        Ok(Self { watch })
    }

    /// Whether one was caught.
    pub(crate) fn caught(&self) -> bool {
        self.watch.caught.load(Ordering::SeqCst)
    }

    /// Whether SIGTERM was caught.
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
    fn tell(&self) {
        if self.told.swap(true, Ordering::SeqCst) {
            // Asked twice: whoever asks does not want to wait for anybody's confirmation.
            std::process::exit(Status::Interrupted.code().into());
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

#[cfg(unix)]
fn on_signal(caught: &Arc<AtomicBool>, act: impl Fn() + Send + 'static) -> std::io::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(caught))?;
    }
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            for _ in signals.forever() {
                act();
            }
        })?;
    Ok(())
}

/// Without a way to wait for signals the flag is looked at.
#[cfg(not(unix))]
fn on_signal(caught: &Arc<AtomicBool>, act: impl Fn() + Send + 'static) -> std::io::Result<()> {
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
                    act();
                }
            }
        })?;
    Ok(())
}
