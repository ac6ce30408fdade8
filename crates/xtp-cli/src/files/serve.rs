//! `xtp serve`: a directory for `xtp cp`.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Serialize;
use xtp::{Incoming, ListenOptions, Listener, ports};

use super::channel::Outbox;
use super::partial::Claims;
use super::problem::{Code, Fault, Problem};
use super::root::Root;
use super::session::{Service, configure, tuning};
use super::tally::Tally;
use crate::args::ServeArgs;
use crate::common::{Address, Common, Failure, Outcome};

/// Clients at a time; each one has two threads.
const SESSIONS: usize = 64;
/// How often a busy server looks for new clients. Nobody is refused meanwhile; greetings wait this long at most.
const GLANCE: Duration = Duration::from_millis(5);

/// What the server did, for `--json`.
#[derive(Debug, Default, Serialize)]
struct Served {
    ok: bool,
    sessions: u64,
    refused_sessions: u64,
    files: u64,
    bytes: u64,
    failed: u64,
}

#[derive(Debug, Default)]
struct Totals {
    files: AtomicU64,
    bytes: AtomicU64,
    failed: AtomicU64,
}

/// Offers a directory until interrupted.
pub(crate) fn serve(args: &ServeArgs, common: &Common) -> Outcome {
    let directory = args.directory.display();
    survive_size_limits()?;
    let root = Root::open(&args.directory).map_err(|error| {
        let problem = Problem::io(format_args!("cannot serve {directory}"), &error);
        Failure::failed(problem.text)
    })?;
    let listen = args.listen.as_deref().unwrap_or("127.0.0.1");
    let mut config = common.config(Some(Address::parse(listen, ports::FILES)?.bind()?));
    configure(&mut config);
    let endpoint = common.server(config)?;
    let mut options = ListenOptions::streams(ports::FILES);
    options.tuning = tuning();
    common.tune(&mut options.tuning);
    let listener = endpoint
        .listen_with(options)
        .map_err(|error| Failure::of("cannot listen", &error))?;
    // Disks are slow at times; clients must not take that for a dead server.
    let _driver = endpoint
        .spawn_driver()
        .map_err(|error| Failure::of("cannot serve", &error))?;
    common.announce(&endpoint, None);
    let service = Arc::new(Service {
        root: Arc::new(root),
        read_only: args.read_only,
        claims: Claims::default(),
    });
    let mut sessions = Sessions::default();
    let mut served = Served::default();
    let ended = loop {
        match next(&listener, &mut sessions, common) {
            Ok(incoming) => match sessions.begin(&service, incoming) {
                true => served.sessions += 1,
                false => served.refused_sessions += 1,
            },
            Err(error) if error.is_interrupted() => break Failure::interrupted(),
            Err(error) => break Failure::of("cannot serve any longer", &error),
        }
    };
    sessions.join();
    served.files = sessions.totals.files.load(Ordering::Relaxed);
    served.bytes = sessions.totals.bytes.load(Ordering::Relaxed);
    served.failed = sessions.totals.failed.load(Ordering::Relaxed);
    if common.out.is_json() {
        common.out.object(&served)?;
    }
    Err(ended)
}

/// A file that outgrows the limit of the process is an error like others; by default it would end the process.
pub(crate) fn survive_size_limits() -> Outcome {
    let unread = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, unread)
        .map(drop)
        .map_err(|error| Failure::io("cannot catch signals", &error))
}

/// Waits for the next client. While there are others this thread keeps away from the socket: whoever waits there takes
/// the packets of all, and a session that takes its own saves a change of threads for each batch.
fn next(listener: &Listener, sessions: &mut Sessions, common: &Common) -> xtp::Result<Incoming> {
    loop {
        if sessions.are_idle() {
            return listener.accept();
        }
        match listener.try_accept() {
            Err(error) if error.is_would_block() => {}
            outcome => return outcome,
        }
        if common.signals.caught() {
            return Err(xtp::Error::Interrupted);
        }
        std::thread::sleep(GLANCE);
    }
}

/// The clients that are served now.
#[derive(Default)]
struct Sessions {
    threads: VecDeque<JoinHandle<()>>,
    totals: Arc<Totals>,
}

impl Sessions {
    /// Whether nobody is served.
    fn are_idle(&mut self) -> bool {
        self.threads.retain(|thread| !thread.is_finished());
        self.threads.is_empty()
    }

    /// Serves one more client; false if there is no room.
    fn begin(&mut self, service: &Arc<Service>, incoming: Incoming) -> bool {
        self.threads.retain(|thread| !thread.is_finished());
        if self.threads.len() >= SESSIONS {
            turn_away(incoming);
            return false;
        }
        let service = Arc::clone(service);
        let totals = Arc::clone(&self.totals);
        let thread = std::thread::Builder::new()
            .name("session".into())
            .spawn(move || run(&service, incoming, &totals));
        match thread {
            Ok(thread) => self.threads.push_back(thread),
            // The association went with the closure: the client sees it closed.
            Err(error) => tracing::error!(%error, "no thread for a session"),
        }
        true
    }

    fn join(&mut self) {
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a session panicked");
            }
        }
    }
}

fn turn_away(incoming: Incoming) {
    let text = format!("the server is busy with {SESSIONS} copies; try again later");
    let stream = incoming.into_stream();
    Outbox::new(&stream).fatal(&Problem::new(Code::TooMany, text));
}

fn run(service: &Service, incoming: Incoming, totals: &Totals) {
    let peer = incoming.peer();
    tracing::info!(%peer, "a session begins");
    let stream = incoming.into_stream();
    let tally = Tally::default();
    let outcome = service.session(&stream, &tally);
    totals.files.fetch_add(tally.files.get(), Ordering::Relaxed);
    totals.bytes.fetch_add(tally.sent.get(), Ordering::Relaxed);
    totals.failed.fetch_add(tally.failed.get(), Ordering::Relaxed);
    match outcome {
        Ok(()) => {
            tracing::info!(%peer, files = tally.files.get(), octets = tally.sent.get(), "a session ends")
        }
        Err(Fault::Stopped) => stream.abort(),
        Err(fault) => tracing::warn!(%peer, ?fault, "a session broke off"),
    }
}
