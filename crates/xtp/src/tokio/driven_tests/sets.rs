//! Poll sets with many members: one of a server that takes what they tell, one of a client that writes where they tell of room.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use xtp_engine::paradigm;

use super::Rng;
use super::octets::Octets;
use super::world::World;
use crate::error::Error;
use crate::tokio::Stream;
use crate::{Listener, PollSet};

/// The key of the listener.
const LISTENER: u64 = u64::MAX;
/// How often in a row a set may tell of a stream with nothing to read although nothing has arrived.
const IN_VAIN: u32 = 2;

pub(super) fn begin(world: &Rc<World>, rng: &mut Rng, service: u16) {
    let count = rng.pick(&[1, 4, 12]);
    let client = rng.range(0, 1) as usize;
    let listener = world.endpoint(1 - client).inner().listen_streams(service);
    let cut = Rc::new(Cell::new(false));
    let ways: Vec<_> = (0..count)
        .map(|number| Octets::new(u64::from(service) * 50 + number, &cut))
        .collect();
    let server = Server {
        set: world.endpoint(1 - client).inner().poll_set(),
        listener: listener.expect("a free number"),
        members: HashMap::new(),
        ways: ways.clone(),
        left: count,
        next: 0,
        rng: Rng::new(rng.range(0, u64::MAX - 1), 9),
        world: Rc::clone(world),
    };
    world.spawn("set that reads", server.serve());
    let mut options = paradigm::stream(service);
    options.tuning.send_capacity = rng.pick(&[3_000, 20_000, 4 << 20]);
    let streams = ways.into_iter().map(|way| {
        let peer = world.address(1 - client);
        let stream = world.endpoint(client).open(peer, options.clone());
        (stream.expect("a context"), way, false)
    });
    let client = Client {
        set: world.endpoint(client).inner().poll_set(),
        streams: streams.collect(),
        total: rng.pick(&[10, 5_000, 25_000]),
        rng: Rng::new(rng.range(0, u64::MAX - 1), 9),
        world: Rc::clone(world),
    };
    world.spawn("set that writes", client.write());
}

struct Member {
    stream: crate::Stream,
    /// Known when its first octets came.
    way: Option<Rc<Octets>>,
    head: Vec<u8>,
    in_vain: u32,
    seen: u64,
}

struct Server {
    world: Rc<World>,
    rng: Rng,
    set: PollSet,
    listener: Listener,
    members: HashMap<u64, Member>,
    ways: Vec<Rc<Octets>>,
    /// Streams that have not ended.
    left: u64,
    next: u64,
}

impl Server {
    async fn serve(mut self) {
        self.set.add_listener(&self.listener, LISTENER).expect("its own");
        let mut keys = Vec::new();
        while self.left > 0 {
            let nap = self.rng.pick(&[3_000, 100_000, 4_000_000]);
            self.world.sleep(nap).await;
            let readable: Vec<u64> = self.readable().collect();
            keys.clear();
            match self.set.try_wait(&mut keys) {
                Ok(()) => {}
                Err(Error::WouldBlock) => assert!(readable.is_empty(), "{readable:?} can be read"),
                Err(error) => panic!("{error:?}"),
            }
            for key in readable {
                assert!(keys.contains(&key), "{key} can be read and was not told");
            }
            let told = keys.len();
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), told, "a key twice");
            for key in &keys {
                match *key {
                    LISTENER => self.accept(),
                    key => self.read(key),
                }
            }
        }
    }

    fn readable(&self) -> impl Iterator<Item = u64> {
        let readable = |member: &Member| member.stream.tuning().readable().is_ok_and(|octets| octets > 0);
        let members = self.members.iter();
        members
            .filter(move |(_, member)| readable(member))
            .map(|(key, _)| *key)
    }

    fn accept(&mut self) {
        // Not all of them: the set tells of the others again.
        for _ in 0..self.rng.range(1, 3) {
            let Ok(incoming) = self.listener.try_accept() else {
                return;
            };
            let stream = incoming.into_stream();
            self.set.add(&stream, self.next).expect("its own");
            let member = Member {
                stream,
                way: None,
                head: Vec::new(),
                in_vain: 0,
                seen: 0,
            };
            self.members.insert(self.next, member);
            self.next += 1;
        }
    }

    fn read(&mut self, key: u64) {
        let member = self.members.get_mut(&key).expect("a member");
        let delivered = self.world.delivered();
        for time in 0..self.rng.range(1, 5) {
            self.world.tick();
            let mut buffer = vec![0; self.rng.pick(&[1, 100, 3_000])];
            match member.stream.try_read(&mut buffer) {
                Ok(0) => {
                    member.way.as_ref().expect("its first octet").end();
                    self.left -= 1;
                    self.members.remove(&key);
                    return;
                }
                Ok(count) => {
                    member.in_vain = 0;
                    take(member, &self.ways, &buffer[..count]);
                }
                Err(Error::WouldBlock) => {
                    let same = std::mem::replace(&mut member.seen, delivered) == delivered;
                    member.in_vain = if same && time == 0 { member.in_vain + 1 } else { 0 };
                    assert!(member.in_vain <= IN_VAIN, "{key} is told for ever");
                    return;
                }
                Err(error) => panic!("{error:?}"),
            }
        }
    }
}

/// The first octet of a stream says which it is.
fn take(member: &mut Member, ways: &[Rc<Octets>], octets: &[u8]) {
    if let Some(way) = &member.way {
        return way.take(octets);
    }
    let [which, octets @ ..] = octets else { return };
    let way = Rc::clone(&ways[usize::from(*which)]);
    way.take(octets);
    member.way = Some(way);
    member.head.clear();
}

struct Client {
    world: Rc<World>,
    rng: Rng,
    set: PollSet,
    /// Whether each was refused octets and not told of room since.
    streams: Vec<(Stream, Rc<Octets>, bool)>,
    total: u64,
}

impl Client {
    async fn write(mut self) {
        for (key, (stream, _, _)) in self.streams.iter().enumerate() {
            self.set.add(stream.as_sync(), key as u64).expect("its own");
            stream.send(vec![key as u8]).await.expect("room for an octet");
        }
        let mut keys = Vec::new();
        let mut open: Vec<usize> = (0..self.streams.len()).collect();
        while !open.is_empty() {
            let place = self.rng.range(0, open.len() as u64 - 1) as usize;
            if self.streams[open[place]].1.sent() == self.total {
                let (stream, way, _) = &self.streams[open.swap_remove(place)];
                way.close();
                stream.shutdown_write().await.expect("nobody ended it");
                continue;
            }
            self.write_to(open[place]);
            self.world.tick();
            if open.iter().all(|key| self.streams[*key].2) {
                self.world.sleep(self.rng.pick(&[20_000, 3_000_000])).await;
            }
            keys.clear();
            match self.set.try_wait(&mut keys) {
                Ok(()) | Err(Error::WouldBlock) => {}
                Err(error) => panic!("{error:?}"),
            }
            for key in &keys {
                self.streams[*key as usize].2 = false;
            }
        }
        // Whoever lets go of a stream does not cut what is under way.
    }

    fn write_to(&mut self, key: usize) {
        let (stream, way, refused) = &mut self.streams[key];
        if *refused {
            return;
        }
        let octets = (self.total - way.sent()).min(self.rng.range(1, 4_000));
        match stream.as_sync().try_write(&way.next(octets)) {
            Ok(taken @ 1..) => way.note_sent(taken),
            Ok(0) | Err(Error::WouldBlock) => *refused = true,
            Err(error) => panic!("{error:?}"),
        }
    }
}
