//! The client's party: opens the flows, prints what passes, and puts both ends side by side.

use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use xtp::{Config, Endpoint};

use super::end::{FlowClock, FlowEnd, begin, datagrams_of, opening};
use super::report::{FlowCount, FlowInterval, FlowReport};
use super::terms::{FlowPlan, FlowTerms};
use super::worker::wait;
use crate::error::{Error, Worked};
use crate::job::Outcome;
use crate::launch::Launcher;
use crate::meter::Meter;
use crate::remote::Far;

/// How long a flow may take to be opened.
const OPENING: Duration = Duration::from_secs(10);
/// How often an interruption is looked for.
const LOOK: Duration = Duration::from_millis(20);

/// Has the flows of a plan exchanged with a server, and shows each interval as it passes.
///
/// A measurement that is interrupted ends early and is reported; so is one that breaks, with [`FlowReport::error`].
///
/// # Errors
/// [`Error`], if nothing could be measured.
pub fn run(
    plan: &FlowPlan,
    launcher: &Launcher,
    show: &mut dyn FnMut(&FlowInterval),
) -> Result<FlowReport, Error> {
    plan.check()?;
    // A name that no other client's flows have.
    let terms = plan.terms(RandomState::new().hash_one(plan.to));
    let mut far = Far::new(plan.to)?;
    let address = far.begin_flows(launcher, &terms)?;
    let mut report = FlowReport::new(plan);
    report.waited = far.waited().as_secs_f64();
    let measured = measure(plan, &terms, &address, launcher, &mut report, show);
    let there = far.end();
    let here = measured.map_err(|problem| far.failed(problem.0))?;
    let there = match there {
        Ok(outcome) => outcome,
        Err(error) => {
            report.error = report.error.or(Some(error.to_string()));
            Outcome::default()
        }
    };
    report.error = report.error.or_else(|| there.note.clone());
    report.ok = report.error.is_none();
    let ends: Vec<_> = here
        .into_iter()
        .map(|(number, from_server, count)| {
            let other = there.flows.get(&number).cloned();
            (number, from_server, count, other)
        })
        .collect();
    report.pair(&ends);
    if there.seconds > 0.0 {
        report.core_percent_there = Some(100.0 * there.cpu_s / there.seconds);
    }
    Ok(report)
}

/// What this end counted of each flow.
type Here = Vec<(u32, bool, FlowCount)>;

fn measure(
    plan: &FlowPlan,
    terms: &FlowTerms,
    address: &str,
    launcher: &Launcher,
    report: &mut FlowReport,
    show: &mut dyn FnMut(&FlowInterval),
) -> Worked<Here> {
    let mut config = Config::client();
    config.wait = wait(plan.wait);
    let endpoint = Endpoint::bind(config)?;
    let datagrams = datagrams_of(&endpoint, terms)?;
    let ends = open(&endpoint, terms, address)?;
    let meter = Meter::start("");
    let clock = FlowClock::new(terms);
    std::thread::scope(|scope| {
        begin(scope, (&endpoint, datagrams.as_ref()), &ends, terms, &clock);
        let mut intervals = Intervals::new(&ends, terms, &clock, plan.interval);
        while ends.iter().any(|end| !end.is_done()) {
            if launcher.interrupted.load(Ordering::Relaxed) {
                clock.stop.store(true, Ordering::Relaxed);
                for end in ends.iter().filter(|end| !end.sends()) {
                    end.abort();
                }
            }
            if Instant::now() > clock.deadline() {
                ends.iter().filter(|end| !end.is_done()).for_each(FlowEnd::abort);
            }
            if let Some(interval) = intervals.next() {
                show(&interval);
                report.intervals.push(interval);
            }
            std::thread::sleep(LOOK.min(intervals.left()));
        }
        // The last one, where flows ended with it.
        if let Some(interval) = intervals.next() {
            show(&interval);
            report.intervals.push(interval);
        }
        endpoint.interrupt();
    });
    endpoint.resume();
    let reading = meter.read();
    report.core_percent_here = 100.0 * reading.cpu_s / reading.seconds.max(1e-9);
    report.error = ends.iter().find_map(|end| {
        let number = end.heading.number;
        end.fault().map(|fault| format!("flow {number}: {fault}"))
    });
    let counted = ends
        .iter()
        .map(|end| (end.heading.number, end.heading.from_server, end.count(terms)));
    Ok(counted.collect())
}

/// All flows, each with its name at its beginning.
fn open(endpoint: &Endpoint, terms: &FlowTerms, address: &str) -> Worked<Vec<FlowEnd>> {
    let peer: SocketAddr = address.parse()?;
    let mut ends = Vec::new();
    for heading in terms.flows() {
        let stream = endpoint.open(peer, opening(terms)?)?;
        (&stream).write_all(&terms.name(heading.number))?;
        stream.connect(Some(OPENING))?;
        ends.push(FlowEnd::new(heading, stream, false));
    }
    Ok(ends)
}

/// Looks at all flows at even distances.
struct Intervals<'a> {
    ends: &'a [FlowEnd],
    terms: &'a FlowTerms,
    clock: &'a FlowClock,
    distance: Duration,
    /// When the last one ended, and what was counted by then.
    passed: f64,
    before: Vec<FlowCount>,
    next: Instant,
}

impl<'a> Intervals<'a> {
    fn new(ends: &'a [FlowEnd], terms: &'a FlowTerms, clock: &'a FlowClock, distance: Duration) -> Self {
        Self {
            ends,
            terms,
            clock,
            distance,
            passed: 0.0,
            before: vec![FlowCount::default(); ends.len()],
            next: clock.begin + distance,
        }
    }

    /// Until the next look.
    fn left(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// What passed since the last one, if it is time; none begins after the flows' time.
    fn next(&mut self) -> Option<FlowInterval> {
        let now = Instant::now();
        if now < self.next || self.next > self.clock.until + LOOK {
            return None;
        }
        self.next += self.distance;
        let counted: Vec<_> = self.ends.iter().map(|end| end.count(self.terms)).collect();
        let flows: Vec<_> = self
            .ends
            .iter()
            .map(|end| {
                let round_trip = end.round_trip().map(|span| span.as_secs_f64() * 1e3);
                let known = round_trip.filter(|_| end.sends());
                (end.heading.number, end.heading.from_server, known)
            })
            .collect();
        let end = (now - self.clock.begin).as_secs_f64();
        let interval = FlowInterval::between((self.passed, &self.before), (end, &counted), &flows);
        (self.passed, self.before) = (end, counted);
        Some(interval)
    }
}
