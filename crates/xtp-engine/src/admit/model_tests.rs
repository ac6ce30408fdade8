//! [`AtMostOnce`] against §6.9 written down naively: vectors, searched from end to end.

use core::net::SocketAddr;
use core::time::Duration;
use std::collections::BTreeMap;

use proptest::prelude::*;
use xtp_wire::ClientId;

use super::{AtMostOnce, IncomingPacket, Tombstone, TombstoneAnswer, Verdict};
use crate::config::{EngineConfig, Started};
use crate::time_wait::TimeWait;
use xtp_core::time::Time;

const UTC: u64 = 1_790_000_000_000;
const START: u64 = UTC - 1_000;
/// Each partition holds this many.
const PARTITION: usize = 2;
const CLIENTS: usize = 2;
const SPOTS: usize = 4;

/// What a FIRST states.
#[derive(Copy, Clone, Debug)]
struct First {
    src: SocketAddr,
    key: u64,
    extended: bool,
    time: Option<u32>,
    client: Option<ClientId>,
}

struct Record {
    first: First,
    bucket: u16,
    /// Incarnation of the client's record it belongs to.
    held_by: Option<u64>,
    grave: Option<Grave>,
}

#[derive(Copy, Clone)]
struct Grave {
    since: u64,
    order: u64,
    validated: bool,
    ended: bool,
    answered: bool,
}

impl Grave {
    fn over(&self, ms: u64) -> bool {
        ms >= self.since + if self.ended { 30_000 } else { 60_000 }
    }
}

struct Client {
    id: u64,
    incarnation: u64,
    low: u64,
    created: u64,
    evicted: u64,
    sure_from: u64,
    last: u64,
    order: u64,
    spots: Vec<(u16, i64)>,
}

#[derive(Default)]
struct Naive {
    ms: u64,
    counter: u64,
    records: Vec<Record>,
    clients: Vec<Client>,
    datagrams: Vec<(SocketAddr, u64, u64)>,
    evicted: BTreeMap<u16, i64>,
    evicted_at: Option<u64>,
    /// Until when times far ahead are refused.
    strange: BTreeMap<u16, u64>,
}

/// A verdict without the place of the tombstone.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Plain {
    New,
    Replay,
    Drop,
    Age,
    Resource,
}

fn plain(verdict: Verdict) -> Plain {
    match verdict {
        Verdict::New => Plain::New,
        Verdict::Replay(_) => Plain::Replay,
        Verdict::DropSilently => Plain::Drop,
        Verdict::RefuseAge | Verdict::RefuseStart => Plain::Age,
        Verdict::RefuseResource => Plain::Resource,
    }
}

/// Times of the test lie within days of each other, so the upper bits are those of the nearest.
fn full(time: u32) -> i64 {
    UTC.cast_signed() + i64::from(time.wrapping_sub(UTC as u32).cast_signed())
}

impl First {
    fn same(&self, other: &Self) -> bool {
        self.key == other.key && self.extended == other.extended && (self.extended || self.src == other.src)
    }

    /// It states in the other format what this one states.
    fn falls_back_from(&self, other: &Self) -> bool {
        let known = other.extended || self.src == other.src;
        self.key == other.key && self.extended != other.extended && known
    }
}

impl Naive {
    fn tick(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    fn clean(&mut self) {
        let ms = self.ms;
        self.records
            .retain(|r| r.grave.is_none_or(|grave| !grave.over(ms)));
        self.clients.retain(|c| ms < c.last + 60_000);
        self.datagrams.retain(|(_, _, seen)| ms < seen + 2_000);
    }

    fn touch(&mut self, id: u64) {
        let (ms, order) = (self.ms, self.tick());
        if let Some(client) = self.clients.iter_mut().find(|c| c.id == id) {
            (client.last, client.order) = (ms, order);
        }
    }

    fn judge(&mut self, first: First, bucket: u16) -> Plain {
        self.clean();
        if self
            .datagrams
            .iter()
            .any(|(src, key, _)| (*src, *key) == (first.src, first.key))
        {
            return Plain::Drop;
        }
        if let Some(c) = first.client {
            if c.n < c.low {
                return Plain::Drop;
            }
            self.touch(c.client);
            if let Some(client) = self.clients.iter_mut().find(|client| client.id == c.client) {
                client.low = client.low.max(c.low);
                let (low, incarnation) = (client.low, client.incarnation);
                let below =
                    |r: &Record| r.held_by == Some(incarnation) && r.first.client.is_some_and(|c| c.n < low);
                self.records.retain(|r| r.grave.is_none() || !below(r));
            }
        }
        if let Some(at) = self.repeated(&first) {
            return if self.records[at].grave.is_some() {
                Plain::Replay
            } else {
                Plain::Drop
            };
        }
        if let Some(c) = first.client
            && let Some(client) = self.clients.iter().find(|client| client.id == c.client)
        {
            if c.n < client.low {
                return Plain::Drop;
            }
            // Under another key its tombstone answers; what is open cannot.
            if let Some(at) = self.held(c) {
                return match self.records[at].grave {
                    Some(_) => Plain::Replay,
                    None => Plain::Drop,
                };
            }
            if c.n <= client.evicted {
                return Plain::Age;
            }
            if c.n >= client.created && self.ms >= client.sure_from {
                return Plain::New;
            }
        }
        match first.time.map(full) {
            Some(time) if time < START.cast_signed() => Plain::Age,
            Some(time)
                if time - (UTC + self.ms).cast_signed() > 60_000
                    && self.strange.get(&bucket).is_some_and(|until| self.ms < *until) =>
            {
                Plain::Age
            }
            Some(time) if self.evicted.get(&bucket).is_some_and(|newest| time <= *newest) => Plain::Age,
            _ => Plain::New,
        }
    }

    /// The record of the FIRST that this one repeats, in whichever format.
    fn repeated(&self, first: &First) -> Option<usize> {
        let mut records = self.records.iter();
        let same = records.position(|r| r.first.same(first));
        let mut records = self.records.iter();
        same.or_else(|| records.position(|r| first.falls_back_from(&r.first)))
    }

    /// The record of this number of its client, whatever its key.
    fn held(&self, c: ClientId) -> Option<usize> {
        let client = self.clients.iter().find(|client| client.id == c.client)?;
        self.records
            .iter()
            .position(|r| r.held_by == Some(client.incarnation) && r.first.client.map(|c| c.n) == Some(c.n))
    }

    fn evict_time(&mut self, (bucket, time): (u16, i64)) {
        let clock = (UTC + self.ms).cast_signed();
        self.evicted_at = Some(self.ms);
        if time - clock > 130_000 {
            self.strange.insert(bucket, self.ms + 70_000);
        } else {
            let newest = self.evicted.entry(bucket).or_insert(time);
            *newest = time.max(*newest);
        }
    }

    fn accept(&mut self, first: First, bucket: u16) {
        let held_by = first.client.map(|c| self.client_of(c));
        if let (Some(incarnation), Some(time)) = (held_by, first.time) {
            self.remember(incarnation, (bucket, full(time)));
        }
        self.records.push(Record {
            first,
            bucket,
            held_by,
            grave: None,
        });
    }

    /// The incarnation of the client's record, made if there is none.
    fn client_of(&mut self, c: ClientId) -> u64 {
        if !self.clients.iter().any(|client| client.id == c.client) {
            let copies = self.evicted_at.is_some_and(|at| self.ms <= at + 70_000);
            let sure_from = self.ms + if copies { 70_000 } else { 0 };
            if self.clients.len() == CLIENTS {
                let oldest = (0..CLIENTS)
                    .min_by_key(|at| self.clients[*at].order)
                    .expect("not empty");
                for spot in self.clients.remove(oldest).spots {
                    self.evict_time(spot);
                }
            }
            let (incarnation, last) = (self.tick(), self.ms);
            let (id, low, created) = (c.client, c.low, c.n);
            let spots = Vec::new();
            self.clients.push(Client {
                id,
                incarnation,
                low,
                created,
                evicted: 0,
                sure_from,
                last,
                order: 0,
                spots,
            });
        }
        self.touch(c.client);
        self.clients
            .iter()
            .find(|client| client.id == c.client)
            .expect("just made")
            .incarnation
    }

    fn remember(&mut self, incarnation: u64, spot: (u16, i64)) {
        let client = self
            .clients
            .iter_mut()
            .find(|client| client.incarnation == incarnation)
            .expect("live");
        match client.spots.iter_mut().find(|(bucket, _)| *bucket == spot.0) {
            Some((_, newest)) => *newest = spot.1.max(*newest),
            None => client.spots.push(spot),
        }
        if client.spots.len() > SPOTS {
            let oldest = client.spots.remove(0);
            self.evict_time(oldest);
        }
    }

    fn end(&mut self, at: usize, validated: bool, ended: bool) {
        self.clean();
        if let Some(c) = self.records[at].first.client {
            self.touch(c.client);
            if self
                .clients
                .iter()
                .any(|client| client.id == c.client && c.n < client.low)
            {
                self.records.remove(at);
                return;
            }
        }
        let (since, order) = (self.ms, self.tick());
        self.records[at].grave = Some(Grave {
            since,
            order,
            validated,
            ended,
            answered: false,
        });
        let age = |r: &Record| {
            let grave = r.grave.filter(|grave| grave.validated == validated)?;
            Some((grave.since, !grave.ended, grave.order))
        };
        if self.records.iter().filter_map(age).count() > PARTITION {
            let oldest = self.records.iter().filter_map(age).min().expect("not empty");
            let at = self
                .records
                .iter()
                .position(|r| age(r) == Some(oldest))
                .expect("found");
            self.evict(at);
        }
    }

    fn evict(&mut self, at: usize) {
        let gone = self.records.remove(at);
        if let Some(time) = gone.first.time {
            self.evict_time((gone.bucket, full(time)));
        }
        if let Some(c) = gone.first.client
            && let Some(client) = self.clients.iter_mut().find(|client| client.id == c.client)
        {
            client.evicted = client.evicted.max(c.n);
        }
    }

    /// Whether the record answers a FIRST.
    fn answer(&mut self, first: First) -> bool {
        let (ms, order) = (self.ms, self.tick());
        let at = self.repeated(&first).or_else(|| self.held(first.client?));
        let at = at.expect("replayed");
        let record = &mut self.records[at];
        let client = record.first.client;
        let grave = record.grave.as_mut().expect("replayed");
        let quiet = grave.answered && ms < grave.since + 5;
        if !quiet {
            (grave.since, grave.order, grave.answered) = (ms, order, true);
        }
        if let Some(c) = client {
            self.touch(c.client);
        }
        !quiet
    }
}

/// One step of a history. Numbers choose among few values, so that everything meets everything.
#[derive(Clone, Debug)]
enum Step {
    Wait(u64),
    /// A FIRST, its creation time so many ms ago.
    First {
        host: u8,
        key: u64,
        extended: bool,
        age: Option<i64>,
        client: Option<(u64, u64, u64)>,
    },
    /// An earlier FIRST once more, perhaps from another source.
    Again {
        which: usize,
        host: Option<u8>,
    },
    Datagram {
        host: u8,
        key: u64,
    },
    End {
        which: usize,
        validated: bool,
        ended: bool,
    },
    PeerEnd {
        which: usize,
    },
    Expire,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let age = prop_oneof![4 => 0..3_000_i64, 1 => -70_000..70_000_i64, 1 => Just(-31_536_000_i64)];
    let wait = prop_oneof![6 => 0..10_u64, 3 => 0..3_000_u64, 2 => 0..40_000_u64];
    let client = (1..5_u64, 1..12_u64, 0..4_u64);
    let first = (
        0..7_u8,
        1..30_u64,
        any::<bool>(),
        prop::option::weighted(0.9, age),
        prop::option::of(client),
    );
    let step = prop_oneof![
        3 => wait.prop_map(Step::Wait),
        6 => first.prop_map(|(host, key, extended, age, client)| Step::First { host, key, extended, age, client }),
        4 => (any::<usize>(), prop::option::weighted(0.2, 0..7_u8)).prop_map(|(which, host)| Step::Again { which, host }),
        1 => (0..7_u8, 1..30_u64).prop_map(|(host, key)| Step::Datagram { host, key }),
        6 => (any::<usize>(), any::<bool>(), any::<bool>())
            .prop_map(|(which, validated, ended)| Step::End { which, validated, ended }),
        1 => any::<usize>().prop_map(|which| Step::PeerEnd { which }),
        1 => Just(Step::Expire),
    ];
    prop::collection::vec(step, 1..120)
}

fn host(n: u8) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, n], 40_000))
}

/// The thing tested and its model, side by side.
struct Pair {
    memory: AtMostOnce,
    naive: Naive,
    history: Vec<First>,
}

impl Pair {
    fn new() -> Self {
        let mut config = EngineConfig::new([7; 32]);
        config.started = Some(Started {
            utc_ms: START,
            at: Time::ZERO,
        });
        config.overrides.max_tombstones = 2 * PARTITION;
        config.overrides.max_clients = CLIENTS;
        let memory = AtMostOnce::new(&config, [1; 16]);
        Self {
            memory,
            naive: Naive::default(),
            history: Vec::new(),
        }
    }

    fn now(&self) -> Time {
        Time::ZERO + Duration::from_millis(self.naive.ms)
    }

    /// A driver comes four times a second, and whenever something is to be forgotten: of one that sleeps the model knows nothing.
    fn wait(&mut self, until: u64) {
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        while self.naive.ms < until {
            self.naive.ms = until.min(self.naive.ms + 250);
            let end = at(self.naive.ms);
            while let Some(due) = self.memory.deadline().filter(|due| *due <= end) {
                self.memory.expire(due);
            }
            self.memory.find(end, SocketAddr::from(([192, 0, 2, 1], 1)), 0);
        }
    }

    fn step(&mut self, step: Step) -> Result<(), TestCaseError> {
        let ms = self.naive.ms;
        match step {
            Step::Wait(wait) => self.wait(ms + wait),
            Step::First {
                host: from,
                key,
                extended,
                age,
                client,
            } => {
                let time = age.map(|age| (UTC + ms).wrapping_add_signed(-age) as u32);
                let client = client.map(|(client, n, back)| ClientId {
                    client,
                    n,
                    low: n.saturating_sub(back).max(1),
                });
                let first = First {
                    src: host(from),
                    key,
                    extended,
                    time,
                    client,
                };
                self.history.push(first);
                self.first(first)?;
            }
            Step::Again { which, host: from } if !self.history.is_empty() => {
                let first = self.history[which % self.history.len()];
                self.first(First {
                    src: from.map_or(first.src, host),
                    ..first
                })?;
            }
            Step::Datagram { host: from, key } => {
                self.memory.insert_datagram(self.now(), host(from), key);
                self.naive.clean();
                let its = |r: &Record| (r.first.src, r.first.key) == (host(from), key);
                self.naive.records.retain(|r| r.grave.is_some() || !its(r));
                self.naive
                    .datagrams
                    .retain(|(src, known, _)| (*src, *known) != (host(from), key));
                self.naive.datagrams.push((host(from), key, ms));
            }
            Step::End {
                which,
                validated,
                ended,
            } => self.end(which, validated, ended),
            Step::PeerEnd { which } => self.peer_end(which)?,
            Step::Again { .. } => {}
            Step::Expire => {
                self.memory.expire(self.now());
                self.naive.clean();
                prop_assert_eq!(self.memory.clients(), self.naive.clients.len());
                let graves = self.naive.records.iter().filter(|r| r.grave.is_some()).count();
                prop_assert_eq!(self.memory.tombstones(), graves);
                prop_assert!(
                    self.memory
                        .deadline()
                        .is_none_or(|deadline| deadline > self.now())
                );
            }
        }
        Ok(())
    }

    fn first(&mut self, first: First) -> Result<(), TestCaseError> {
        let now = self.now();
        let utc_ms = UTC + self.naive.ms;
        let First {
            src,
            key,
            extended,
            time,
            client,
        } = first;
        let bucket = self.memory.ages.bucket(src.ip());
        let verdict = self
            .memory
            .judge_first(now, utc_ms, src, key, extended, time, client);
        prop_assert_eq!(plain(verdict), self.naive.judge(first, bucket));
        match verdict {
            Verdict::New => {
                self.memory.accept(now, utc_ms, src, key, extended, time, client);
                self.naive.accept(first, bucket);
            }
            Verdict::Replay(found) => {
                let packet = IncomingPacket {
                    first: Some(key),
                    asks_delivery: false,
                    sync: 1,
                    octets: 100,
                };
                let answered = self.memory.answer(now, found, packet) != TombstoneAnswer::Silence;
                prop_assert_eq!(answered, self.naive.answer(first));
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, which: usize, validated: bool, peer_ended: bool) {
        self.naive.clean();
        let open: Vec<_> = (0..self.naive.records.len())
            .filter(|at| self.naive.records[*at].grave.is_none())
            .collect();
        if open.is_empty() {
            return;
        }
        let at = open[which % open.len()];
        let First {
            src, key, extended, ..
        } = self.naive.records[at].first;
        let end = Tombstone {
            src,
            wait: TimeWait::sample(key, 0),
            extended,
            fell_back: false,
            peer_ended,
            untaken: false,
            lasting: false,
            validated,
            received: 1_000,
            sent: 0,
            cached: None,
        };
        // Whatever place is named: it is only where to look first.
        let hint = which.is_multiple_of(2).then_some(which as u32 / 2 % 16);
        self.memory.insert(self.now(), UTC + self.naive.ms, end, hint);
        self.naive.end(at, validated, peer_ended);
    }

    fn peer_end(&mut self, which: usize) -> Result<(), TestCaseError> {
        self.naive.clean();
        let (ms, order) = (self.naive.ms, self.naive.tick());
        let mut graves: Vec<_> = self
            .naive
            .records
            .iter_mut()
            .filter(|r| r.grave.is_some())
            .collect();
        if graves.is_empty() {
            return Ok(());
        }
        let at = which % graves.len();
        let record = &mut graves[at];
        let found = self.memory.table.find_first(
            Time::ZERO + Duration::from_millis(ms),
            record.first.src,
            record.first.key,
            record.first.extended,
        );
        prop_assert!(found.is_some());
        let grave = record.grave.as_mut().expect("filtered");
        (grave.ended, grave.since, grave.order) = (true, ms, order);
        let now = self.now();
        self.memory.end_received(now, found.expect("checked"));
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn agrees_with_the_naive_model(steps in steps()) {
        let mut pair = Pair::new();
        for step in steps {
            pair.step(step)?;
        }
        // Emptied in the end: nothing is kept for ever but what is still open.
        pair.wait(pair.naive.ms + 100_000);
        pair.step(Step::Expire)?;
        let open = pair.naive.records.len();
        prop_assert_eq!(pair.memory.tombstones(), 0);
        prop_assert_eq!(pair.memory.table.records(), open);
    }
}
