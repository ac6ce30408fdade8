//! What keeps packets to a peer from leaving, as the associations with it are told; and what is done about errors of the
//! socket that go on.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use xtp_engine::{LEAST_DATAGRAM, Time};
use xtp_io::verdict::{Call, ErrorVerdict};

use crate::error::{Error, Result};

/// A refusal that goes on for so long, and so many times, is told: a rule that lets some packets through has let one through by then.
const GOES_ON: Duration = Duration::from_millis(300);
const TIMES: u32 = 3;
/// Peers whose refusals are counted; beyond it all counts begin anew.
const MOST: usize = 4_096;
/// How long receiving may fail before the endpoint is over.
const PATIENCE: Duration = Duration::from_secs(3);
/// Pause before a call that failed is made again.
const PAUSE: Duration = Duration::from_millis(1);

/// Why packets to a peer do not leave this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// No route leads there.
    NoRoute(io::ErrorKind),
    /// The own interface carries datagrams of so many octets at most.
    Narrow(u16),
    /// The system refuses, with this error number.
    Refused(i32),
}

impl Fault {
    /// What a caller is told.
    pub(crate) fn error(self, peer: SocketAddr) -> Error {
        match self {
            Self::NoRoute(kind) => Error::NoRoute {
                peer,
                source: kind.into(),
            },
            Self::Narrow(octets) => Error::Narrow {
                peer,
                octets: octets.into(),
                least: LEAST_DATAGRAM,
            },
            Self::Refused(code) => Error::NotPermitted {
                peer,
                source: io::Error::from_raw_os_error(code),
            },
        }
    }
}

/// What keeps packets to a peer from leaving, as it was found out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerFault {
    pub(crate) peer: SocketAddr,
    pub(crate) fault: Fault,
    /// It goes on: repeating is of no use. Otherwise it is one packet's.
    pub(crate) lasts: bool,
}

/// Refusals to send, by peer, since the last packet that left.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    since: HashMap<SocketAddr, (Time, u32)>,
}

impl Refusals {
    /// One more; whether it has gone on for long enough to be told.
    pub(super) fn note(&mut self, now: Time, peer: SocketAddr) -> bool {
        if self.since.len() >= MOST {
            self.since.clear();
        }
        let (first, times) = self.since.entry(peer).or_insert((now, 0));
        *times += 1;
        *times >= TIMES && now.since(*first) >= GOES_ON
    }

    /// Whether the last packet to it did not leave.
    pub(super) fn is_refused(&self, peer: SocketAddr) -> bool {
        self.since.contains_key(&peer)
    }

    /// A packet left.
    #[inline]
    pub(super) fn left(&mut self, peer: SocketAddr) {
        if !self.since.is_empty() {
            self.since.remove(&peer);
        }
    }
}

/// Whether receiving works.
#[derive(Debug, Default)]
pub(super) struct Reception {
    failing: Option<Instant>,
    /// Calls that failed.
    pub(super) errors: u64,
}

impl Reception {
    /// Datagrams a receive call brought. One that fails is made again; only an unusable socket, or one that fails for seconds, is an
    /// error.
    #[inline]
    pub(super) fn counted(&mut self, outcome: io::Result<usize>) -> Result<usize> {
        match outcome {
            Ok(count) => {
                if self.failing.is_some() {
                    self.failing = None;
                }
                Ok(count)
            }
            Err(error) => self.judge(error),
        }
    }

    #[cold]
    fn judge(&mut self, source: io::Error) -> Result<usize> {
        let over = match ErrorVerdict::of(Call::Receive, &source) {
            ErrorVerdict::Again | ErrorVerdict::Full => return Ok(0),
            ErrorVerdict::Broken => true,
            _ => {
                self.errors += 1;
                let since = *self.failing.get_or_insert_with(|| {
                    tracing::warn!(error = %source, "receiving fails");
                    Instant::now()
                });
                since.elapsed() >= PATIENCE
            }
        };
        if over {
            return Err(Error::Carrier {
                doing: "receiving",
                source,
            });
        }
        std::thread::sleep(PAUSE);
        Ok(0)
    }
}

#[cfg(test)]
#[path = "fault_tests.rs"]
mod tests;
