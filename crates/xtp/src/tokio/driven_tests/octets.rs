//! Octet streams: writes of every kind, reads of every kind, several readers, ends of every kind.

use std::cell::Cell;
use std::rc::Rc;

use ::tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::world::{World, giving_up};
use super::{Rng, content, octet};
use crate::Chunk;
use crate::error::Error;
use crate::tokio::{Listener, Stream};
use xtp_engine::paradigm;

/// After that nothing of an abort is under way, ns.
const UNHEARD: u64 = 30_000_000_000;

/// One direction of a stream.
pub(super) struct Octets {
    number: u64,
    sent: Cell<u64>,
    read: Cell<u64>,
    /// Its writer has closed it.
    closed: Cell<bool>,
    /// Either end gave it up: the rest may be missing.
    cut: Rc<Cell<bool>>,
}

impl Octets {
    pub(super) fn new(number: u64, cut: &Rc<Cell<bool>>) -> Rc<Self> {
        Rc::new(Self {
            number,
            sent: Cell::new(0),
            read: Cell::new(0),
            closed: Cell::new(false),
            cut: Rc::clone(cut),
        })
    }

    /// The next octets to write.
    pub(super) fn next(&self, octets: u64) -> Vec<u8> {
        content(self.number, self.sent.get(), octets as usize)
    }

    pub(super) fn sent(&self) -> u64 {
        self.sent.get()
    }

    pub(super) fn note_sent(&self, octets: usize) {
        self.sent.set(self.sent.get() + octets as u64);
    }

    pub(super) fn close(&self) {
        self.closed.set(true);
    }

    pub(super) fn is_cut(&self) -> bool {
        self.cut.get()
    }

    /// These came.
    pub(super) fn take(&self, octets: &[u8]) {
        for (at, octet_read) in (self.read.get()..).zip(octets) {
            assert_eq!(
                *octet_read,
                octet(self.number, at),
                "octet {at} of {}",
                self.number
            );
        }
        self.read.set(self.read.get() + octets.len() as u64);
        assert!(self.read.get() <= self.sent.get(), "more than was sent");
    }

    /// The end came.
    pub(super) fn end(&self) {
        if !self.is_cut() {
            assert!(self.closed.get(), "an end that nobody sent");
            assert_eq!(self.read.get(), self.sent.get(), "the end came before octets");
        }
    }

    /// Whether it ended so because it was given up; any other failure is one.
    pub(super) fn excuse(&self, error: &dyn std::fmt::Debug) {
        assert!(self.is_cut(), "{error:?} of {}", self.number);
    }
}

/// Draws a stream from one host to the other.
pub(super) fn begin(world: &Rc<World>, rng: &mut Rng, service: u16) {
    let client = rng.range(0, 1) as usize;
    let listener = world.endpoint(1 - client).listen_streams(service);
    let listener = Rc::new(listener.expect("a free number"));
    let cut = Rc::new(Cell::new(false));
    let ways = [u64::from(service), u64::from(service) + 1_000].map(|number| Octets::new(number, &cut));
    let draws = [(); 2].map(|()| Rng::new(rng.range(0, u64::MAX - 1), 3));
    let mut options = paradigm::stream(service);
    if rng.percent(30) {
        options.tuning.send_capacity = rng.range(2_000, 20_000);
        options.tuning.recv_capacity = rng.range(4_000, 40_000);
    }
    let stream = world
        .endpoint(client)
        .open(world.address(1 - client), options)
        .expect("a context");
    let stream = Rc::new(stream);
    let total = rng.pick(&[1, 700, 20_000, 90_000]);
    let back = rng.pick(&[0, 0, 500, 40_000]);
    for _ in 0..rng.range(1, 2) {
        let found = Found {
            world: Rc::clone(world),
            listener: Rc::clone(&listener),
            ways: [Rc::clone(&ways[1]), Rc::clone(&ways[0])],
            total: back,
            seed: rng.range(0, u64::MAX - 1),
        };
        world.spawn("acceptor", found.accept());
    }
    let [mut first, second] = draws;
    if first.percent(20) {
        let after = first.range(0, 30_000_000);
        let (owned, stream) = (Rc::clone(world), Rc::clone(&stream));
        let cutter = async move {
            owned.sleep(after).await;
            cut.set(true);
            stream.as_sync().abort_shared();
            // The other host may never have heard of it.
            owned.sleep(UNHEARD).await;
            listener.close();
        };
        world.spawn("cutter", cutter);
    }
    world.spawn(
        "writer",
        writer(
            Rc::clone(world),
            Rc::clone(&stream),
            Rc::clone(&ways[0]),
            total,
            first,
        ),
    );
    readers(world, &stream, &ways[1], second);
}

/// Who waits for the stream at the listener.
struct Found {
    world: Rc<World>,
    listener: Rc<Listener>,
    ways: [Rc<Octets>; 2],
    total: u64,
    seed: u64,
}

impl Found {
    async fn accept(self) {
        let Ok(incoming) = self.listener.accept().await else {
            return;
        };
        // The other one learns that nobody comes.
        self.listener.close();
        let stream = Rc::new(incoming.into_stream());
        let [out, back] = &self.ways;
        let write = writer(
            Rc::clone(&self.world),
            Rc::clone(&stream),
            Rc::clone(out),
            self.total,
            Rng::new(self.seed, 0),
        );
        self.world.spawn("writer back", write);
        readers(&self.world, &stream, back, Rng::new(self.seed, 1));
    }
}

/// One or two tasks that read.
fn readers(world: &Rc<World>, stream: &Rc<Stream>, way: &Rc<Octets>, mut rng: Rng) {
    for _ in 0..rng.pick(&[1, 1, 2]) {
        let seed = rng.range(0, u64::MAX - 1);
        let read = reader(
            Rc::clone(world),
            Rc::clone(stream),
            Rc::clone(way),
            Rng::new(seed, 4),
        );
        world.spawn("reader", read);
    }
}

async fn writer(world: Rc<World>, stream: Rc<Stream>, way: Rc<Octets>, total: u64, mut rng: Rng) {
    while way.sent() < total {
        if let Err(error) = write_some(&world, &stream, &way, total, &mut rng).await {
            return way.excuse(&error);
        }
        world.tick();
    }
    way.close();
    let closed = match rng.range(0, 2) {
        0 => (&*stream).shutdown().await,
        1 => stream.shutdown_write().await.map_err(std::io::Error::from),
        _ => {
            world.sleep(rng.range(0, 2_000_000)).await;
            stream.shutdown_write().await.map_err(std::io::Error::from)
        }
    };
    if let Err(error) = closed {
        way.excuse(&error);
    }
}

async fn write_some(
    world: &World,
    stream: &Stream,
    way: &Octets,
    total: u64,
    rng: &mut Rng,
) -> std::io::Result<()> {
    let left = |most: u64| (total - way.sent()).min(most).max(1);
    match rng.range(0, 9) {
        0..=3 => return burst(world, stream, way, total, rng).await,
        4 => {
            let octets = way.next(left(rng.range(1, 20_000)));
            let count = octets.len();
            // Taken whole, and read before the call returns, maybe.
            way.note_sent(count);
            stream
                .send(world.lend(octets))
                .await
                .map_err(std::io::Error::from)?;
        }
        5 => {
            let mut octets = world.lend(way.next(left(rng.range(1, 5_000))));
            let taken = stream.as_sync().try_send(&mut octets);
            way.note_sent(none_is_none(taken)?);
        }
        6 => {
            let octets = way.next(left(rng.range(1, 3_000)));
            let taken = stream.as_sync().try_write(&octets);
            way.note_sent(none_is_none(taken)?);
        }
        7 => {
            let corked = stream.as_sync().tuning().cork();
            corked.map_err(std::io::Error::from)?;
            burst(world, stream, way, total, rng).await?;
            (&mut &*stream).flush().await?;
            if rng.percent(70) {
                // Not `uncork`, which waits.
                world.tick();
            }
        }
        8 => {
            let nodelay = stream.tuning().set_nodelay(rng.percent(40));
            nodelay.map_err(std::io::Error::from)?;
        }
        _ => world.sleep(rng.pick(&[1_000, 200_000, 3_000_000])).await,
    }
    Ok(())
}

fn none_is_none(taken: crate::Result<usize>) -> std::io::Result<usize> {
    match taken {
        Err(Error::WouldBlock) => Ok(0),
        other => other.map_err(std::io::Error::from),
    }
}

/// Short writes one after the other, quick enough to be gathered.
async fn burst(
    world: &World,
    stream: &Stream,
    way: &Octets,
    total: u64,
    rng: &mut Rng,
) -> std::io::Result<()> {
    let (count, most) = (rng.range(1, 120), rng.pick(&[1, 60, 900]));
    for _ in 0..count {
        let octets = (total - way.sent()).min(rng.range(1, most));
        if octets == 0 {
            return Ok(());
        }
        let octets = way.next(octets);
        // They may be read before it is known that they were taken.
        let mut stream = stream;
        let before = way.sent();
        way.note_sent(octets.len());
        let taken = stream.write(&octets).await?;
        way.sent.set(before + taken as u64);
        world.tick();
    }
    Ok(())
}

async fn reader(world: Rc<World>, stream: Rc<Stream>, way: Rc<Octets>, mut rng: Rng) {
    loop {
        match read_some(&world, &stream, &way, &mut rng).await {
            Ok(true) => {}
            Ok(false) => return way.end(),
            Err(error) => return way.excuse(&error),
        }
        if rng.percent(10) {
            world.sleep(rng.pick(&[5_000, 500_000, 20_000_000])).await;
        }
    }
}

/// Reads once; false at the end.
async fn read_some(world: &World, stream: &Stream, way: &Octets, rng: &mut Rng) -> std::io::Result<bool> {
    let patience = rng.pick(&[0, 1, 3, 1_000]);
    let most = rng.pick(&[1, 7, 500, 4_096, 40_000]);
    let mut chunks = Vec::new();
    let count = match rng.range(0, 4) {
        0 | 1 => {
            let mut buffer = vec![0; most];
            let mut stream = stream;
            let Some(read) = giving_up(patience, stream.read(&mut buffer)).await else {
                return Ok(true);
            };
            let count = read?;
            way.take(&buffer[..count]);
            return Ok(count > 0);
        }
        2 => match giving_up(patience, stream.recv_chunk()).await {
            Some(chunk) => {
                chunks.extend(chunk.map_err(std::io::Error::from)?);
                chunks.len()
            }
            None => return Ok(true),
        },
        3 => match giving_up(patience, stream.recv_chunks(&mut chunks, most)).await {
            Some(count) => count.map_err(std::io::Error::from)?,
            None => return Ok(true),
        },
        _ => match giving_up(patience, stream.tuning().recv_trains(&mut chunks, most)).await {
            Some(count) => count.map_err(std::io::Error::from)?,
            None => return Ok(true),
        },
    };
    world.tick();
    take_chunks(way, &chunks);
    Ok(count > 0)
}

fn take_chunks(way: &Octets, chunks: &[Chunk]) {
    for chunk in chunks {
        match chunk {
            Chunk::Data { offset, bytes, .. } => {
                assert_eq!(*offset, way.read.get(), "a chunk in another place");
                way.take(bytes);
            }
            Chunk::Train { offset, octets } => {
                assert_eq!(*offset, way.read.get(), "a train in another place");
                for part in octets.parts() {
                    way.take(part);
                }
            }
            other => panic!("{other:?} in a stream of octets"),
        }
    }
}
