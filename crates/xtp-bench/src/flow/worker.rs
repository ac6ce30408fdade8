//! The server's party: a process that serves one client's flows and ends.

use std::io::Read;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use xtp::{Config, Endpoint, Listener, Wait};

use super::end::{FlowClock, FlowEnd, accepting, begin, datagrams_of};
use super::terms::{FlowTerms, NAME};
use crate::console::{Console, Stop};
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome};
use crate::meter::Meter;
use crate::plan::WaitPolicy;

/// How long all flows of a client may take to come.
const COMING: Duration = Duration::from_secs(10);
/// How often it looks whether all flows are done, or it is told to stop.
const LOOK: Duration = Duration::from_millis(20);

/// Serves the flows of a job.
pub(crate) fn serve(job: &Job, terms: &FlowTerms, console: &mut Console) -> Worked<Outcome> {
    let mut config = Config::server(job.any_port());
    config.wait = wait(terms.wait);
    let endpoint = Endpoint::bind(config)?;
    let listener = endpoint.listen_with(accepting(terms)?)?;
    let datagrams = datagrams_of(&endpoint, terms)?;
    console.ready(endpoint.local_addr())?;
    let stop = console.stop();
    let ends = accept(&listener, terms, &stop)?;
    let meter = Meter::start(&job.interface);
    let clock = FlowClock::new(terms);
    std::thread::scope(|scope| {
        begin(scope, (&endpoint, datagrams.as_ref()), &ends, terms, &clock);
        watch(&ends, &clock, &stop);
        endpoint.interrupt();
    });
    endpoint.resume();
    let reading = meter.read();
    Ok(Outcome {
        seconds: reading.seconds,
        cpu_s: reading.cpu_s,
        softirq_s: reading.softirq_s,
        flows: ends
            .iter()
            .map(|end| (end.heading.number, end.count(terms)))
            .collect(),
        note: ends.iter().find_map(|end| end.fault().map(str::to_owned)),
        ..Outcome::default()
    })
}

/// How an endpoint waits.
pub(super) fn wait(policy: WaitPolicy) -> Wait {
    match policy {
        WaitPolicy::Block => Wait::Block,
        WaitPolicy::Spin => Wait::Spin,
        WaitPolicy::Adaptive => Wait::Adaptive,
    }
}

/// All flows of the client; what does not name itself as one of them is none.
fn accept(listener: &Listener, terms: &FlowTerms, stop: &Stop) -> Worked<Vec<FlowEnd>> {
    let expected = terms.flows().len();
    let until = Instant::now() + COMING;
    let mut ends: Vec<FlowEnd> = Vec::new();
    while ends.len() < expected {
        if stop.is_set() || Instant::now() >= until {
            return Err(Problem::new(format!("{} of {expected} flows came", ends.len())));
        }
        let stream = match listener.accept_timeout(LOOK) {
            Ok(incoming) => incoming.into_stream(),
            Err(error) if error.is_timeout() => continue,
            Err(error) => return Err(error.into()),
        };
        let mut name = [0; NAME];
        stream.set_read_timeout(Some(until.saturating_duration_since(Instant::now())));
        if (&stream).read_exact(&mut name).is_err() {
            continue;
        }
        stream.set_read_timeout(None);
        let heading = terms.named(&name);
        let is_new = |number| ends.iter().all(|end| end.heading.number != number);
        if let Some(heading) = heading.filter(|heading| is_new(heading.number)) {
            ends.push(FlowEnd::new(heading, stream, true));
        }
    }
    Ok(ends)
}

/// Waits until all flows are done; ends those that take too long, or all when told to stop.
pub(super) fn watch(ends: &[FlowEnd], clock: &FlowClock, stop: &Stop) {
    while ends.iter().any(|end| !end.is_done()) {
        if stop.is_set() || Instant::now() > clock.deadline() {
            clock.stop.store(true, Ordering::Relaxed);
            for end in ends.iter().filter(|end| !end.is_done()) {
                end.abort();
            }
        }
        std::thread::sleep(LOOK);
    }
}
