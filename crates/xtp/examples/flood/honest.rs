//! Those who mean well: what a message or a call takes them.

use std::fmt;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use xtp::{CallOptions, Endpoint, paradigm, service_numbers};

use crate::plain;

/// How long one may take before it is given up.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A request and its answer.
    Call,
    /// A message and its confirmation.
    Send,
    /// A datagram of bare UDP and its echo.
    Echo,
}

pub(crate) fn what(name: &str) -> Result<What, String> {
    match name {
        "call" => Ok(What::Call),
        "send" => Ok(What::Send),
        "echo" => Ok(What::Echo),
        other => Err(format!("{other}: call, send or echo")),
    }
}

/// How long each took, in order.
pub(crate) struct Times(Vec<Duration>);

impl Times {
    /// What a share of them, in hundredths, stayed below.
    pub(crate) fn below(&self, share: usize) -> Duration {
        let place = (self.0.len() * share / 100).min(self.0.len().saturating_sub(1));
        self.0.get(place).copied().unwrap_or_default()
    }

    pub(crate) fn mean(&self) -> Duration {
        self.0.iter().sum::<Duration>() / (self.0.len().max(1) as u32)
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [median, most, longest] = [50, 99, 100].map(|share| self.below(share));
        let (count, mean) = (self.count(), self.mean());
        write!(
            f,
            "{count}: median {median:?}, mean {mean:?}, 99 % {most:?}, longest {longest:?}"
        )
    }
}

/// So many one after the other or for so long, at least one, each from an endpoint of its own: what begins with the first
/// packet that the server sees of it.
pub(crate) fn repeat(
    what: What,
    server: SocketAddr,
    count: usize,
    within: Duration,
) -> Result<Times, Box<dyn std::error::Error>> {
    let (mut times, begin) = (Vec::new(), Instant::now());
    while times.is_empty() || times.len() < count && begin.elapsed() < within {
        times.push(once(what, server)?);
    }
    times.sort();
    Ok(Times(times))
}

fn once(what: What, server: SocketAddr) -> Result<Duration, Box<dyn std::error::Error>> {
    if what == What::Echo {
        return plain::once(server);
    }
    let endpoint = Endpoint::client()?;
    let begin = Instant::now();
    match what {
        What::Echo => {}
        What::Call => {
            let options = CallOptions::within(PATIENCE);
            endpoint.call(server, service_numbers::CALL, "an honest request", &options)?;
        }
        What::Send => {
            let options = paradigm::one_shot(service_numbers::MESSAGE);
            endpoint.deliver(server, options, "an honest message", Some(PATIENCE))?;
        }
    }
    Ok(begin.elapsed())
}
