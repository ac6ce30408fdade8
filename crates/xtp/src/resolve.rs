//! Names to addresses, and the first address of a name that answers.

use std::io;
use std::net::{SocketAddr, SocketAddrV6, ToSocketAddrs};
use std::task::Poll;
use std::time::Duration;

use xtp_engine::OpenOptions;

use crate::canonical;
use crate::core::ops;
use crate::endpoint::Endpoint;
use crate::error::{Error, Result};
use crate::stream::Stream;

/// How long the first address has for itself before the next one is tried beside it (RFC 8305).
const HEAD_START: Duration = Duration::from_millis(250);

/// The addresses of `host` with a UDP port, IPv6 and IPv4 in turn, in the resolver's order otherwise. `host` is a
/// name or an address; IPv6 with or without brackets, link-local addresses with their interface, by its name or index
/// (`fe80::1%eth0`, in a URI `fe80::1%25eth0`). IPv4-mapped addresses are IPv4.
///
/// # Errors
/// [`Error::Resolve`] if there is none; of the kind [`InvalidInput`](io::ErrorKind::InvalidInput) if the interface is wrong.
pub fn resolve(host: &str, udp_port: u16) -> Result<Vec<SocketAddr>> {
    let failed = |source| Error::Resolve {
        name: host.to_owned(),
        source,
    };
    let bare = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(host);
    if let Some((address, interface)) = bare.split_once('%') {
        let (ip, index) = canonical::with_scope(address, interface)
            .map_err(|wrong| failed(io::Error::new(io::ErrorKind::InvalidInput, wrong)))?;
        return Ok(vec![SocketAddrV6::new(ip, udp_port, 0, index).into()]);
    }
    let found = (bare, udp_port).to_socket_addrs().map_err(failed)?;
    let found: Vec<SocketAddr> = found.map(xtp_io::canonical).collect();
    if found.is_empty() {
        return Err(failed(io::Error::new(
            io::ErrorKind::NotFound,
            "the name has no address",
        )));
    }
    Ok(interleave(found))
}

/// One address of each family in turn, beginning with the family of the first.
fn interleave(found: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let lead_v6 = found.first().is_some_and(SocketAddr::is_ipv6);
    let mut unique = Vec::with_capacity(found.len());
    for addr in found {
        if !unique.contains(&addr) {
            unique.push(addr);
        }
    }
    let (lead, other): (Vec<_>, Vec<_>) = unique.into_iter().partition(|addr| addr.is_ipv6() == lead_v6);
    let mut ordered = Vec::with_capacity(lead.len() + other.len());
    let (mut lead, mut other) = (lead.into_iter(), other.into_iter());
    loop {
        match (lead.next(), other.next()) {
            (None, None) => return ordered,
            (one, two) => ordered.extend(one.into_iter().chain(two)),
        }
    }
}

impl Endpoint {
    /// Opens a lasting association to the first of several addresses that answers, and waits for that answer: the
    /// next address is tried after 0.25 s, or at once when the one before fails. For names with addresses of both
    /// families.
    ///
    /// # Errors
    /// [`Error::Closed`] with the reason of the last address that failed, [`Error::NoRoute`], [`Error::Timeout`],
    /// [`Error::Resolve`] for an empty list.
    pub fn connect(
        &self,
        addresses: &[SocketAddr],
        options: &OpenOptions,
        timeout: Option<Duration>,
    ) -> Result<Stream> {
        let start = self.shared.look(|core| core.now());
        let mut race = Race {
            streams: Vec::new(),
            failure: None,
        };
        let mut next = addresses.iter();
        loop {
            let candidate = next.next();
            if let Some(peer) = candidate {
                race.enter(self.open(*peer, options.clone()));
            } else if race.streams.is_empty() {
                let empty = || Error::Resolve {
                    name: "an empty list of addresses".into(),
                    source: io::ErrorKind::NotFound.into(),
                };
                return Err(race.failure.take().unwrap_or_else(empty));
            }
            let passed = self.shared.look(|core| core.now()).since(start);
            let left = timeout.map(|timeout| timeout.saturating_sub(passed));
            let last = next.len() == 0;
            let patience = if last {
                left
            } else {
                Some(left.map_or(HEAD_START, |left| left.min(HEAD_START)))
            };
            match race.run(self, patience) {
                Ok(Some(stream)) => return Ok(stream),
                Ok(None) => {}
                Err(error @ Error::Timeout { .. }) if last || left == Some(Duration::ZERO) => {
                    return Err(match (error, timeout) {
                        (Error::Timeout { what, .. }, Some(after)) => Error::Timeout { what, after },
                        (error, _) => error,
                    });
                }
                Err(Error::Timeout { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Associations to several addresses of one peer, of which the first to answer wins.
struct Race {
    streams: Vec<Stream>,
    failure: Option<Error>,
}

impl Race {
    fn enter(&mut self, opened: Result<Stream>) {
        match opened.and_then(|stream| stream.start().map(|()| stream)) {
            Ok(stream) => self.streams.push(stream),
            Err(error) => self.failure = Some(error),
        }
    }

    /// The winner, or `None` when a candidate dropped out.
    fn run(&mut self, endpoint: &Endpoint, timeout: Option<Duration>) -> Result<Option<Stream>> {
        if self.streams.is_empty() {
            return Ok(None);
        }
        let ids: Vec<_> = self.streams.iter().map(Stream::id).collect();
        let (index, outcome) = endpoint.shared.wait("connecting", timeout, |core, _| {
            for (index, id) in ids.iter().enumerate() {
                if let Poll::Ready(outcome) = ops::heard(core, *id) {
                    return Poll::Ready(Ok((index, outcome)));
                }
            }
            Poll::Pending
        })?;
        let stream = self.streams.swap_remove(index);
        match outcome {
            Ok(()) => {
                for loser in self.streams.drain(..) {
                    loser.abort();
                }
                Ok(Some(stream))
            }
            Err(error) => {
                self.failure = Some(error);
                Ok(None)
            }
        }
    }
}

impl Drop for Race {
    fn drop(&mut self) {
        for stream in self.streams.drain(..) {
            stream.abort();
        }
    }
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
