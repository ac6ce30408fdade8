//! Message streams: several readers, tags, calls that are given up, gaps.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use xtp_engine::{TaggedMessage, paradigm};

use super::world::{World, giving_up};
use super::{Rng, content};
use crate::tokio::Stream;

/// Octets of a message that say which it is.
const HEAD: usize = 4;

/// Messages of one stream.
struct Records {
    number: u64,
    /// Of each that was given to the stream: its octets, its tag, and whether it was surely taken.
    sent: RefCell<Vec<(usize, Option<u64>, bool)>>,
    /// Those before this one were read or will not come.
    next: Cell<usize>,
    /// Nothing is repeated.
    lossy: bool,
    closed: Cell<bool>,
}

impl Records {
    fn make(&self, index: usize, octets: usize) -> Vec<u8> {
        let mut message = u32::try_from(index).expect("few").to_le_bytes().to_vec();
        message.extend(content(
            self.number + index as u64,
            0,
            octets.saturating_sub(HEAD),
        ));
        message
    }

    /// None of those before `index` is missing that surely came.
    fn pass_to(&self, index: usize) {
        let sent = self.sent.borrow();
        for (missing, (_, _, sure)) in sent.iter().enumerate().take(index).skip(self.next.get()) {
            assert!(self.lossy || !sure, "message {missing} is missing");
        }
    }

    fn take(&self, message: &TaggedMessage) {
        let head = message.data[..HEAD].try_into().expect("a head");
        let index = u32::from_le_bytes(head) as usize;
        assert!(index >= self.next.get(), "message {index} again, or late");
        self.pass_to(index);
        let (octets, tag, _) = self.sent.borrow()[index];
        assert!(
            message.data == self.make(index, octets),
            "content of message {index}"
        );
        assert_eq!(message.tag, tag, "tag of message {index}");
        self.next.set(index + 1);
    }

    fn end(&self) {
        assert!(self.closed.get(), "an end that nobody sent");
        self.pass_to(self.sent.borrow().len());
    }
}

pub(super) fn begin(world: &Rc<World>, rng: &mut Rng, service: u16) {
    let lossy = rng.percent(40);
    let client = rng.range(0, 1) as usize;
    let listener = world.endpoint(1 - client).listen_streams(service);
    let listener = listener.expect("a free number");
    let mut options = match lossy {
        true => paradigm::unreliable_stream(service),
        false => paradigm::stream(service),
    };
    if rng.percent(30) {
        options.tuning.send_capacity = rng.range(2_000, 30_000);
    }
    let records = Rc::new(Records {
        number: u64::from(service) << 20,
        sent: RefCell::default(),
        next: Cell::new(0),
        lossy,
        closed: Cell::new(false),
    });
    let stream = world
        .endpoint(client)
        .open(world.address(1 - client), options)
        .expect("a context");
    let count = rng.pick(&[1, 5, 40]);
    let draws = [(); 2].map(|()| Rng::new(rng.range(0, u64::MAX - 1), 5));
    let [first, mut second] = draws;
    world.spawn(
        "sender",
        sender(Rc::clone(world), stream, Rc::clone(&records), count, first),
    );
    let (owned, takers) = (Rc::clone(world), second.range(1, 3));
    world.spawn("acceptor of messages", async move {
        let incoming = listener.accept().await.expect("it stays open");
        let stream = Rc::new(incoming.into_stream());
        for _ in 0..takers {
            let rng = Rng::new(second.range(0, u64::MAX - 1), 6);
            let take = receiver(Rc::clone(&owned), Rc::clone(&stream), Rc::clone(&records), rng);
            owned.spawn("receiver", take);
        }
    });
}

async fn sender(world: Rc<World>, stream: Stream, records: Rc<Records>, count: usize, mut rng: Rng) {
    for index in 0..count {
        let octets = rng.pick(&[HEAD, 50, 1_400, 3_000, 30_000]);
        let message = world.lend(records.make(index, octets));
        let octets = message.len();
        let tag = rng.percent(20).then(|| rng.range(0, 1_000));
        records.sent.borrow_mut().push((octets, tag, false));
        let taken = match tag {
            Some(tag) => Some(stream.send_tagged(tag, message).await),
            None => giving_up(rng.pick(&[0, 1, 1_000]), stream.send_message(message)).await,
        };
        if let Some(outcome) = taken {
            outcome.expect("nobody ended it");
            records.sent.borrow_mut()[index].2 = true;
        }
        world.tick();
        if rng.percent(20) {
            world.sleep(rng.pick(&[10_000, 2_000_000])).await;
        }
    }
    records.closed.set(true);
    stream.shutdown_write().await.expect("nobody ended it");
    // Whoever lets go of it does not cut what is under way.
}

async fn receiver(world: Rc<World>, stream: Rc<Stream>, records: Rc<Records>, mut rng: Rng) {
    loop {
        let patience = rng.pick(&[0, 2, 1_000]);
        let received = giving_up(patience, stream.recv_tagged()).await;
        match received {
            None => {}
            Some(Ok(Some(message))) => records.take(&message),
            Some(Ok(None)) => return records.end(),
            Some(Err(error)) => panic!("{error:?}"),
        }
        world.tick();
        if rng.percent(20) {
            world.sleep(rng.pick(&[10_000, 5_000_000])).await;
        }
    }
}
