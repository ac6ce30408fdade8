//! `xtp serve`: a directory for `xtp cp`.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::Serialize;
use xtp::{Incoming, ListenOptions, Listener, Stream, service_numbers};

use super::channel::Outbox;
use super::partial::Claims;
use super::problem::{Code, Fault, Problem};
use super::receiver::STACK;
use super::root::Root;
use super::session::{GREETING, PATIENCE, Service, configure, tuning};
use super::tally::Tally;
use crate::args::ServeArgs;
use crate::common::{
    Address, Common, Failure, Outcome, PAUSE, Pace, REJECTED, descriptors, may_enter, survive_size_limits,
};

/// Clients at a time whose addresses are proved, and so many others; each one has two threads.
const SESSIONS: usize = 64;
/// Descriptors a client takes as a rule: directories of a walk, files, and those that wait to be synchronised. One that gets none more has that
/// told of its file.
const OF_A_SESSION: usize = 16;
/// Associations that have not greeted yet. They have no thread.
const STRANGERS: usize = 256;
/// Interval at which a busy server looks for new clients. None is refused meanwhile; greetings wait this long at most.
const GLANCE: Duration = Duration::from_millis(5);
/// How often it looks how its sessions get on.
const LOOK: Duration = Duration::from_secs(1);

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
    if args.owner && !rustix::process::geteuid().is_root() {
        return Err(Failure::usage(
            "--owner: only root can give files away; leave it out",
        ));
    }
    let root = Root::open(&args.directory).map_err(|error| {
        let problem = Problem::io(format_args!("cannot serve {directory}"), &error);
        Failure::failed(problem.text)
    })?;
    let listen = args.listen.as_deref().unwrap_or("127.0.0.1");
    let mut config = common.config(Some(Address::parse(listen, service_numbers::FILES)?.bind()?));
    configure(&mut config);
    let endpoint = common.server(config)?;
    let mut options = ListenOptions::streams(service_numbers::FILES);
    options.tuning = tuning(PATIENCE);
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
        owner: args.owner,
    });
    let (mut door, mut sessions) = (Door::default(), Sessions::new(descriptors()));
    let mut served = Served::default();
    let ended = loop {
        match door.next(&listener, &mut sessions, common) {
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
    let outcome = common.end_of_server(Err(ended));
    served.ok = outcome.is_ok();
    if common.out.is_json() {
        common.out.object(&served)?;
    }
    outcome
}

/// Associations that began and have not greeted: they hold up no others.
#[derive(Default)]
struct Door {
    waiting: VecDeque<(Incoming, Instant)>,
}

impl Door {
    /// Waits for the next client that greets. While there are others this thread keeps away from the socket: a thread that waits
    /// there takes the packets of all, and a session that takes its own saves a change of threads for each batch.
    fn next(
        &mut self,
        listener: &Listener,
        sessions: &mut Sessions,
        common: &Common,
    ) -> xtp::Result<Incoming> {
        loop {
            if self.waiting.is_empty() && sessions.are_idle() {
                self.admit(listener.accept()?);
            }
            for _ in 0..STRANGERS {
                match listener.try_accept() {
                    Ok(incoming) => self.admit(incoming),
                    Err(error) if error.is_would_block() => break,
                    Err(error) => return Err(error),
                }
            }
            let greets = |(incoming, _): &(Incoming, Instant)| incoming.is_complete();
            if let Some(place) = self.waiting.iter().position(greets)
                && let Some((incoming, _)) = self.waiting.remove(place)
            {
                return Ok(incoming);
            }
            let late = |(_, since): &(Incoming, Instant)| since.elapsed() > GREETING;
            while self.waiting.front().is_some_and(late)
                && let Some((incoming, _)) = self.waiting.pop_front()
            {
                incoming.reject(REJECTED, "no greeting came in time");
            }
            if common.signals.caught() {
                return Err(xtp::Error::Interrupted);
            }
            sessions.look(Instant::now());
            std::thread::sleep(GLANCE);
        }
    }

    fn admit(&mut self, incoming: Incoming) {
        if self.waiting.len() >= STRANGERS
            && let Some((oldest, _)) = self.waiting.pop_front()
        {
            oldest.reject(REJECTED, "too many wait; try again");
        }
        self.waiting.push_back((incoming, Instant::now()));
    }
}

/// One client.
struct Session {
    thread: JoinHandle<()>,
    /// Its own, which ends with its thread.
    stream: Weak<Stream>,
    /// Its address was proved when it was asked last.
    proved: bool,
    source: IpAddr,
    tally: Arc<Tally>,
    pace: Pace,
    /// Turns of its disk at the last look.
    turns: u64,
    /// How long it has moved too little although it was the client's turn, at the last look.
    stalled: Duration,
}

impl Session {
    fn look(&mut self, now: Instant) {
        let Some(stream) = self.stream.upgrade() else {
            return;
        };
        let Ok(stats) = stream.stats() else { return };
        let moved = stats.octets_acknowledged + stats.octets_received;
        let works = self.tally.has_worked(&mut self.turns);
        // What the client does not take it cannot wait for.
        if works && stream.tuning().unacknowledged() == 0 {
            self.pace.rest(moved, now);
        }
        self.stalled = self.pace.note(moved, now);
    }
}

/// The clients that are served now.
struct Sessions {
    /// Places for each kind of them: fewer where the system allows few open files, so that no kind takes those of another.
    places: usize,
    sessions: Vec<Session>,
    totals: Arc<Totals>,
    looked: Option<Instant>,
}

impl Sessions {
    fn new(descriptors: usize) -> Self {
        Self {
            places: (descriptors / OF_A_SESSION / 2).clamp(2, SESSIONS),
            sessions: Vec::new(),
            totals: Arc::default(),
            looked: None,
        }
    }

    /// Whether no client is served.
    fn are_idle(&mut self) -> bool {
        self.sessions.retain(|session| !session.thread.is_finished());
        self.sessions.is_empty()
    }

    /// Looks how they get on, if that is due.
    fn look(&mut self, now: Instant) {
        if self
            .looked
            .is_some_and(|looked| now.saturating_duration_since(looked) < LOOK)
        {
            return;
        }
        self.looked = Some(now);
        self.sessions.iter_mut().for_each(|session| session.look(now));
    }

    /// Whether there is room for one more whose address is proved, or is not: then the oldest of the same kind may have to
    /// go. Of those that are proved the one that has made no progress for the longest goes; for the next of an address that holds too
    /// many, one of its own.
    fn has_room(&mut self, proved: bool, source: IpAddr) -> bool {
        self.sessions.retain(|session| !session.thread.is_finished());
        for session in &mut self.sessions {
            session.proved |= session.stream.upgrade().is_some_and(|stream| stream.is_proved());
        }
        let alike = || self.sessions.iter().filter(|session| session.proved == proved);
        let its_own = |session: &&Session| session.source == source;
        let count = alike().count();
        let gives_way = if proved {
            if may_enter(self.places, count, alike().filter(its_own).count()) {
                return true;
            }
            let full = count >= self.places;
            let late = alike().filter(|session| session.stalled >= PAUSE && (full || its_own(session)));
            late.max_by_key(|session| session.stalled)
        } else {
            // Once it is proved it counts among those: of its own address not more come in this way than could in the other.
            let greedy = self.sessions.iter().filter(its_own).count() >= self.places / 2;
            if count < self.places && !greedy {
                return true;
            }
            alike().find(|session| !greedy || its_own(session))
        };
        let Some(session) = gives_way else { return false };
        // Its thread ends with this.
        if let Some(stream) = session.stream.upgrade() {
            stream.abort_shared();
        }
        count < 2 * self.places
    }

    /// Serves one more client; false if there is no room.
    fn begin(&mut self, service: &Arc<Service>, incoming: Incoming) -> bool {
        let (proved, peer) = (incoming.is_proved(), incoming.peer());
        let source = peer.ip().to_canonical();
        if !self.has_room(proved, source) {
            turn_away(incoming, self.places);
            return false;
        }
        let service = Arc::clone(service);
        let totals = Arc::clone(&self.totals);
        let stream = Arc::new(incoming.into_stream());
        let its = Arc::downgrade(&stream);
        let tally = Arc::new(Tally::default());
        let own = Arc::clone(&tally);
        let thread = std::thread::Builder::new()
            .name("session".into())
            .stack_size(STACK)
            .spawn(move || run(&service, peer, &stream, &tally, &totals));
        match thread {
            Ok(thread) => self.sessions.push(Session {
                thread,
                stream: its,
                proved,
                source,
                tally: own,
                pace: Pace::new(Instant::now()),
                turns: 0,
                stalled: Duration::ZERO,
            }),
            // The association goes with its handles: the client sees it closed.
            Err(error) => tracing::error!(%error, "no thread for a session"),
        }
        true
    }

    fn join(&mut self) {
        for session in self.sessions.drain(..) {
            if session.thread.join().is_err() {
                tracing::error!("a session panicked");
            }
        }
    }
}

fn turn_away(incoming: Incoming, places: usize) {
    let text = format!(
        "the server is busy with copies: it makes {places} at once, and half of them for one address; try again later"
    );
    let stream = incoming.into_stream();
    Outbox::new(&stream).fatal(&Problem::new(Code::TooMany, text));
}

fn run(service: &Service, peer: SocketAddr, stream: &Stream, tally: &Tally, totals: &Totals) {
    tracing::info!(%peer, "a session begins");
    let outcome = service.session(stream, tally);
    totals.files.fetch_add(tally.files.get(), Ordering::Relaxed);
    totals.bytes.fetch_add(tally.sent.get(), Ordering::Relaxed);
    totals.failed.fetch_add(tally.failed.get(), Ordering::Relaxed);
    match outcome {
        Ok(()) => {
            tracing::info!(%peer, files = tally.files.get(), octets = tally.sent.get(), "a session ends")
        }
        Err(Fault::Stopped) => stream.abort_shared(),
        Err(fault) => tracing::warn!(%peer, ?fault, "a session broke off"),
    }
}
