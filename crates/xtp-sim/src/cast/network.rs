//! The bridge between the hosts of a group: a link from each host to it, and one to each host.

use core::net::SocketAddr;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bytes::Bytes;
use xtp_engine::Ecn;
use xtp_link::{ConfigError, Link, LinkConfig, LinkStats, Outcome};

/// What a datagram costs beside its octets: IPv4 and UDP.
pub(super) const OVERHEAD: usize = 28;

/// A datagram under way.
#[derive(Clone, Debug)]
pub struct Travelling {
    /// Source address.
    pub src: SocketAddr,
    /// Destination: a host's, or the group's.
    pub dst: SocketAddr,
    /// ECN bits.
    pub ecn: Ecn,
    /// The octets.
    pub data: Bytes,
    /// Its number among the packets to the group; 0 for others.
    pub number: u64,
    /// The carrier of its host threw it away.
    pub refused: bool,
}

/// Links of all hosts. Host 0 is the transmitter.
pub struct Bridge {
    up: Vec<Link<Travelling>>,
    down: Vec<Link<Travelling>>,
    /// When which link brings something: `up` of host h is 2 h, `down` of it 2 h + 1.
    due: BinaryHeap<Reverse<(u64, usize)>>,
    /// The earliest entry of each link there.
    noted: Vec<u64>,
    /// Datagrams that hosts sent.
    pub sent: u64,
}

impl Bridge {
    /// A bridge for hosts with these links (up, down).
    ///
    /// # Errors
    /// A setting outside its range.
    pub fn new(links: &[(LinkConfig, LinkConfig)], seed: u64) -> Result<Self, ConfigError> {
        let (mut up, mut down) = (Vec::new(), Vec::new());
        for (host, (out, into)) in links.iter().enumerate() {
            let own = seed.wrapping_add((host as u64).wrapping_mul(0x9e37_79b9));
            up.push(Link::new(out.clone(), own)?);
            down.push(Link::new(into.clone(), own ^ 0x5555_5555)?);
        }
        Ok(Self {
            noted: vec![u64::MAX; 2 * up.len()],
            up,
            down,
            due: BinaryHeap::new(),
            sent: 0,
        })
    }

    /// The link of a host to the bridge.
    pub fn up_mut(&mut self, host: usize) -> &mut Link<Travelling> {
        &mut self.up[host]
    }

    /// The link from the bridge to a host.
    pub fn down_mut(&mut self, host: usize) -> &mut Link<Travelling> {
        &mut self.down[host]
    }

    /// What happened on the link of a host to the bridge, and on the one from it.
    pub fn stats(&self, host: usize) -> (&LinkStats, &LinkStats) {
        (self.up[host].stats(), self.down[host].stats())
    }

    /// Hands a datagram of `host` to its link; whether it will arrive at the bridge.
    pub fn send(&mut self, at: u64, host: usize, datagram: Travelling) -> bool {
        self.sent += 1;
        let octets = datagram.data.len();
        let outcome = self.up[host].send(at, datagram, octets);
        self.note(2 * host);
        !matches!(outcome, Outcome::Dropped(_))
    }

    /// The bridge hands a datagram to the link to `host`; whether it will arrive.
    pub fn forward(&mut self, at: u64, host: usize, datagram: Travelling) -> bool {
        let octets = datagram.data.len();
        let outcome = self.down[host].send(at, datagram, octets);
        self.note(2 * host + 1);
        !matches!(outcome, Outcome::Dropped(_))
    }

    /// When the next datagram arrives anywhere.
    pub fn next(&self) -> Option<u64> {
        self.due.peek().map(|Reverse((at, _))| *at)
    }

    /// The next datagram that arrived by `now`: at the bridge (`None`) or at a host, and from which host's link.
    pub fn receive(&mut self, now: u64) -> Option<(Option<usize>, Travelling)> {
        loop {
            let &Reverse((at, place)) = self.due.peek()?;
            if at > now {
                return None;
            }
            let host = place / 2;
            let link = match place % 2 {
                0 => &mut self.up[host],
                _ => &mut self.down[host],
            };
            let Some(arrival) = link.receive(now) else {
                self.due.pop();
                self.noted[place] = u64::MAX;
                self.note(place);
                continue;
            };
            let to = (place % 2 == 1).then_some(host);
            return Some((to, arrival.packet));
        }
    }

    fn note(&mut self, place: usize) {
        let link = match place % 2 {
            0 => &self.up[place / 2],
            _ => &self.down[place / 2],
        };
        if let Some(next) = link.next_arrival().filter(|&next| next < self.noted[place]) {
            self.noted[place] = next;
            self.due.push(Reverse((next, place)));
        }
    }
}
