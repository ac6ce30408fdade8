//! Two engines, a wire that is perfect but for what a test takes away, and a place for forged datagrams.
//!
//! What goes ahead of the deferred bookkeeping goes by the driver's turns, everything else by the engine's own calls.

use bytes::Bytes;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use xtp_engine::{
    Arrivals, Arrived, ContextId, Datagram, Driver, Ecn, Engine, EngineConfig, Event, ListenOptions,
    ListenerId, OpenOptions, Outlet, Read, Time, TransmitBatch,
};
use xtp_wire::{Body, Packet};

pub(crate) const PORT: u16 = 9;
/// From one end to the other.
pub(crate) const DELAY: Duration = Duration::from_millis(1);
pub(crate) const MS: Duration = Duration::from_millis(1);

/// A datagram that left an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) at: Time,
    pub(crate) by: usize,
    pub(crate) dst: SocketAddr,
    pub(crate) octets: Vec<u8>,
}

/// What an end's driver sends with one call.
#[derive(Default)]
pub(crate) struct Link(TransmitBatch);

impl Outlet for Link {
    fn send(&mut self, _: Time, _: &mut Engine, out: &mut TransmitBatch) {
        assert!(self.0.is_empty(), "one call sends once");
        std::mem::swap(&mut self.0, out);
    }
}

/// A datagram, and what came joined to it.
pub(crate) struct Joined<'a> {
    rest: Option<Datagram<'a>>,
    stride: usize,
    /// The first of them were taken as a run of so many.
    pub(crate) first_run: usize,
    asked: usize,
}

impl<'a> Joined<'a> {
    pub(crate) fn new(datagram: Datagram<'a>, stride: usize) -> Self {
        Self {
            rest: Some(datagram),
            stride,
            first_run: 0,
            asked: 0,
        }
    }

    fn pass(&mut self, octets: usize) {
        self.rest = self.rest.and_then(|datagram| {
            let data = datagram.data.get(octets..).filter(|data| !data.is_empty())?;
            Some(Datagram { data, ..datagram })
        });
    }
}

impl<'a> Arrivals<'a> for Joined<'a> {
    fn only(&self) -> Option<Arrived<'a>> {
        let (joined, stride) = (self.rest?, self.stride);
        Some(Arrived { joined, stride })
    }

    fn next(&mut self) -> Option<Arrived<'a>> {
        let joined = self.rest?;
        self.asked += 1;
        self.pass(self.stride);
        let stride = self.stride.min(joined.data.len());
        Some(Arrived { joined, stride })
    }

    fn skip_joined(&mut self, count: usize) {
        if self.asked == 1 {
            self.first_run = 1 + count;
        }
        self.pass(count * self.stride);
    }
}

pub(crate) struct World {
    pub(crate) now: Time,
    pub(crate) ends: [Driver; 2],
    pub(crate) listener: ListenerId,
    pub(crate) events: [Vec<(ContextId, Event)>; 2],
    /// Everything that left, in order.
    pub(crate) sent: Vec<Sent>,
    /// What of that is under way.
    flying: Vec<(Time, usize, SocketAddr, Vec<u8>)>,
    /// Datagrams to an end that are lost, from the next on.
    pub(crate) lose: [usize; 2],
    /// Of ten datagrams either way three are lost, by this state of chance.
    pub(crate) chance: Option<u64>,
    /// Datagrams of more octets are lost.
    pub(crate) carries: usize,
    /// Packets are handled ahead of the bookkeeping.
    ahead: bool,
}

pub(crate) fn address(end: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1 + end as u8], 36_036))
}

impl World {
    pub(crate) fn new(ahead: bool) -> Self {
        Self::with(ahead, |_| {}, |_| {})
    }

    /// Two engines whose configurations and whose listener are changed by the test.
    pub(crate) fn with(
        ahead: bool,
        change: impl Fn(&mut EngineConfig),
        listen: impl Fn(&mut ListenOptions),
    ) -> Self {
        let engine = |n| {
            let mut config = EngineConfig::new([n; 32]);
            config.overrides.express = ahead;
            change(&mut config);
            Driver::new(Engine::new(config).unwrap())
        };
        let mut ends = [engine(1), engine(2)];
        let mut options = ListenOptions::every_service(PORT);
        listen(&mut options);
        let listener = ends[1].command().listen(options).unwrap();
        Self {
            now: Time::from_nanos(1_000_000_000),
            ends,
            listener,
            events: [Vec::new(), Vec::new()],
            sent: Vec::new(),
            flying: Vec::new(),
            lose: [0; 2],
            chance: None,
            carries: usize::MAX,
            ahead,
        }
    }

    pub(crate) fn open(&mut self, options: OpenOptions) -> ContextId {
        self.ends[0]
            .command()
            .open(self.now, address(1), options)
            .unwrap()
    }

    /// What the responder accepted last.
    pub(crate) fn accepted(&mut self) -> ContextId {
        let accepted = |(id, event): &(ContextId, Event)| match event {
            Event::Accepted { .. } => Some(*id),
            _ => None,
        };
        let found = self.events[1].iter().rev().find_map(accepted);
        found.expect("the responder accepted")
    }

    /// A datagram arrives now.
    pub(crate) fn inject(&mut self, to: usize, src: SocketAddr, octets: &[u8]) {
        self.receive(to, src, None, octets);
        self.flush(to);
    }

    /// The same, and more may follow in the same turn; `dst`: where it was sent to, if the carrier says.
    pub(crate) fn receive(&mut self, to: usize, src: SocketAddr, dst: Option<IpAddr>, octets: &[u8]) {
        let datagram = Datagram {
            src,
            dst,
            ecn: Ecn::NotEct,
            data: octets,
            backing: None,
        };
        self.take(to, datagram);
    }

    /// The same of a datagram as the test made it.
    pub(crate) fn take(&mut self, to: usize, datagram: Datagram<'_>) {
        self.ends[to].command().receive(self.now, datagram);
    }

    /// The same of some that came joined; how many of the first were taken as one run.
    pub(crate) fn take_joined(&mut self, to: usize, datagram: Datagram<'_>, stride: usize) -> usize {
        let mut joined = Joined::new(datagram, stride);
        self.ends[to].receive_all(self.now, &mut joined);
        joined.first_run
    }

    /// As if the peer's address had sent it.
    pub(crate) fn forge(&mut self, to: usize, octets: &[u8]) {
        self.inject(to, address(1 - to), octets);
    }

    pub(crate) fn flush(&mut self, me: usize) {
        let mut link = Link::default();
        match self.ahead {
            true => assert!(self.ends[me].turn(self.now, &mut link), "there was no room"),
            false => self.ends[me].command().flush(self.now, &mut link.0),
        }
        self.carry(me, &link);
        while let Some(event) = self.ends[me].poll_event() {
            self.events[me].push(event);
        }
    }

    /// Puts on the wire what an end said.
    pub(crate) fn carry(&mut self, me: usize, link: &Link) {
        let at = self.now + DELAY;
        link.0.for_each_datagram(|train, octets| {
            self.sent.push(Sent {
                at: self.now,
                by: me,
                dst: train.dst,
                octets: octets.to_vec(),
            });
            let to = 1 - me;
            if train.dst != address(to) || octets.len() > self.carries {
                return;
            }
            if self.lose[to] > 0 {
                self.lose[to] -= 1;
                return;
            }
            if let Some(state) = &mut self.chance {
                *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                if (*state >> 33) % 10 < 3 {
                    return;
                }
            }
            self.flying.push((at, to, address(me), octets.to_vec()));
        });
    }

    /// Everything that happens within `span`.
    pub(crate) fn run(&mut self, span: Duration) {
        let until = self.now + span;
        loop {
            self.flush(0);
            self.flush(1);
            let wire = self.flying.iter().map(|(at, ..)| *at).min();
            let deadlines = [self.ends[0].deadline(), self.ends[1].deadline()];
            let next = deadlines.into_iter().flatten().chain(wire).min();
            let Some(next) = next.filter(|next| *next <= until) else {
                break;
            };
            self.now = self.now.max(next);
            let (due, later) = std::mem::take(&mut self.flying)
                .into_iter()
                .partition(|(at, ..)| *at <= self.now);
            self.flying = later;
            for (_, to, src, octets) in due {
                self.inject(to, src, &octets);
            }
        }
        self.now = until;
    }

    pub(crate) fn send(&mut self, me: usize, id: ContextId, len: usize) {
        let sent = self.ends[me].command().send(self.now, id, payload(len), true);
        assert_eq!(sent, Ok(len));
    }

    /// All that can be read now.
    pub(crate) fn read(&mut self, me: usize, id: ContextId) -> Vec<u8> {
        let mut all = Vec::new();
        while let Ok(Read::Data { bytes, .. }) = self.ends[me].command().read(self.now, id, usize::MAX) {
            all.extend_from_slice(&bytes);
        }
        all
    }

    /// How an end's association ended, as its user was told.
    pub(crate) fn closed(&self, me: usize) -> String {
        let reason = |(_, event): &(ContextId, Event)| match event {
            Event::Closed(reason) => Some(reason.to_string()),
            _ => None,
        };
        self.events[me].iter().find_map(reason).unwrap_or_default()
    }

    /// Packets that left an end since there were `from`.
    pub(crate) fn sent_by(&self, me: usize, from: usize) -> impl Iterator<Item = Packet<'_>> {
        let mine = self.sent[from..].iter().filter(move |sent| sent.by == me);
        mine.map(|sent| Packet::parse(&sent.octets).expect("engines send well-formed packets"))
    }

    /// Octets of data that left an end since there were `from` packets.
    pub(crate) fn data_sent_by(&self, me: usize, from: usize) -> usize {
        self.sent_by(me, from)
            .filter_map(|packet| data_len(&packet))
            .sum()
    }
}

/// Octets of data of a packet that may have some.
pub(crate) fn data_len(packet: &Packet<'_>) -> Option<usize> {
    match &packet.body {
        Body::First(first) => Some(first.data.data.len()),
        body => body.data().map(|data| data.data.len()),
    }
}

pub(crate) fn payload(len: usize) -> Bytes {
    (0..len).map(|n| (n * 7 % 251) as u8).collect::<Vec<_>>().into()
}
