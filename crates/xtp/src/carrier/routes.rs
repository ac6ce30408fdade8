//! How long a datagram may be that leaves this host towards a peer: the MTU of the route and its interface, asked of the
//! kernel for datagrams longer than every path carries, and remembered for a second.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use xtp_engine::{BASE_DATAGRAM, LEAST_DATAGRAM, Time};
use xtp_io::UdpSocket;

/// How long an answer of the kernel is believed: a route may change without a word. An interface that shrinks shows at once, by
/// `EMSGSIZE`.
const BELIEVED: Duration = Duration::from_secs(1);
/// Peers remembered; beyond it all are forgotten, and asked about again.
const MOST: usize = 4_096;
/// Octets a datagram loses to IP and UDP headers, by family of the peer.
const OVERHEAD_V4: usize = 28;
const OVERHEAD_V6: usize = 48;

/// What the kernel answered about one peer, octets of UDP payload.
#[derive(Clone, Copy, Debug)]
struct RouteMtu {
    /// `usize::MAX` where the kernel does not tell.
    carries: usize,
    until: Time,
}

/// The answers.
#[derive(Debug, Default)]
pub(super) struct RouteMtus {
    known: HashMap<IpAddr, RouteMtu>,
    /// The one that was looked up last: mostly the next one, too.
    last: Option<(IpAddr, RouteMtu)>,
}

/// What becomes of a datagram that the kernel refused for its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OversizeOutcome {
    /// Datagrams of so many octets leave; `None`: shorter ones than before, it is not known how much shorter.
    Fits(Option<usize>),
    /// Not even those leave that every path carries; at most so many octets do.
    Narrow(usize),
}

impl RouteMtus {
    /// Whether a datagram of `octets` to `dst` is known to fit; false if the kernel is to be asked.
    #[inline]
    pub(super) fn fits(&self, now: Time, dst: SocketAddr, octets: usize) -> bool {
        octets <= LEAST_DATAGRAM
            || self
                .last
                .is_some_and(|(ip, route)| ip == dst.ip() && octets <= route.carries && now < route.until)
    }

    /// Whether the last answer was about `dst`, and is believed still.
    #[inline]
    pub(super) fn is_fresh(&self, now: Time, dst: SocketAddr) -> bool {
        self.last
            .is_some_and(|(ip, route)| ip == dst.ip() && now < route.until)
    }

    /// Most octets of a datagram to `dst` as the kernel knows it, and whether it was asked now.
    pub(super) fn carries(
        &mut self,
        now: Time,
        socket: &UdpSocket,
        dst: SocketAddr,
        src: Option<IpAddr>,
    ) -> (usize, bool) {
        let ip = dst.ip();
        let known = self.known.get(&ip).filter(|route| now < route.until).copied();
        let route = known.unwrap_or_else(|| self.ask(now, socket, dst, src));
        self.last = Some((ip, route));
        (route.carries, known.is_none())
    }

    /// The kernel refused a datagram of `octets` to `dst`: what it was told may be true no more.
    pub(super) fn refused(
        &mut self,
        now: Time,
        socket: &UdpSocket,
        dst: SocketAddr,
        src: Option<IpAddr>,
        octets: usize,
    ) -> OversizeOutcome {
        let route = self.ask(now, socket, dst, src);
        self.last = Some((dst.ip(), route));
        judge(octets, route.carries)
    }

    fn ask(&mut self, now: Time, socket: &UdpSocket, dst: SocketAddr, src: Option<IpAddr>) -> RouteMtu {
        let told = socket.path_mtu(dst, src).ok();
        let carries = told.and_then(|mtu| payload_of(mtu, dst.ip()));
        let route = RouteMtu {
            carries: carries.unwrap_or(usize::MAX),
            until: now + BELIEVED,
        };
        if self.known.len() >= MOST {
            self.known.clear();
        }
        self.known.insert(dst.ip(), route);
        route
    }
}

/// What to make of a refusal of `octets` where the kernel says that the way carries `carries`. It need not tell the truth (a
/// route's MTU may exceed its interface's), or anything.
fn judge(octets: usize, carries: usize) -> OversizeOutcome {
    match () {
        () if octets <= LEAST_DATAGRAM => OversizeOutcome::Narrow(carries.min(octets.saturating_sub(1))),
        () if carries < octets => OversizeOutcome::Fits(Some(carries.max(LEAST_DATAGRAM))),
        () if octets > BASE_DATAGRAM => OversizeOutcome::Fits(None),
        () => OversizeOutcome::Fits(Some(LEAST_DATAGRAM)),
    }
}

/// UDP payload that fits a link of `mtu` octets towards `peer`; `None` if the report is too vague.
pub(super) fn payload_of(mtu: u32, peer: IpAddr) -> Option<usize> {
    let overhead = if peer.is_ipv4() { OVERHEAD_V4 } else { OVERHEAD_V6 };
    usize::try_from(mtu)
        .ok()?
        .checked_sub(overhead)
        .filter(|octets| *octets > 0)
}

#[cfg(test)]
#[path = "routes_tests.rs"]
mod tests;
