//! Requests and messages at one listener: several tasks that serve, callers that give up, a listener with little room.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use xtp_engine::{Confirm, ListenOptions, OpenOptions, paradigm};

use super::world::{World, giving_up};
use super::{Rng, content};
use crate::CallOptions;
use crate::error::Error;
use crate::tokio::{Incoming, Listener};

/// Octets that say which request it is.
const HEAD: usize = 4;
/// Service of a request, as [`Incoming::service`] tells it.
const REQUEST: u8 = xtp_wire::service::TRANSACTION;

/// What came of each request and message.
#[derive(Default)]
struct Book {
    /// How often each was taken.
    taken: HashMap<u32, u32>,
    next: u32,
    /// Callers that are not done.
    callers: u64,
}

struct Place {
    world: Rc<World>,
    service: u16,
    server: usize,
    listener: Rc<Listener>,
    book: RefCell<Book>,
    closed: Cell<bool>,
}

fn make(number: u32, octets: u64) -> Vec<u8> {
    let mut message = number.to_le_bytes().to_vec();
    message.extend(content(u64::from(number), 7, octets as usize));
    message
}

fn answer(number: u32, octets: usize) -> Vec<u8> {
    content(u64::from(number) + 77, 3, 1 + octets / 2)
}

pub(super) fn begin(world: &Rc<World>, rng: &mut Rng, service: u16) {
    let client = rng.range(0, 1) as usize;
    let options = ListenOptions::new(service);
    let listener = world.endpoint(1 - client).listen_with(options);
    let place = Rc::new(Place {
        world: Rc::clone(world),
        service,
        server: 1 - client,
        listener: Rc::new(listener.expect("a free number")),
        book: RefCell::default(),
        closed: Cell::new(false),
    });
    for _ in 0..rng.range(1, 3) {
        let rng = Rng::new(rng.range(0, u64::MAX - 1), 7);
        world.spawn("server", Rc::clone(&place).serve(rng));
    }
    let callers = rng.pick(&[1, 3, 12]);
    place.book.borrow_mut().callers = callers;
    for _ in 0..callers {
        let rng = Rng::new(rng.range(0, u64::MAX - 1), 8);
        world.spawn("caller", Rc::clone(&place).ask(client, rng));
    }
}

impl Place {
    async fn serve(self: Rc<Self>, mut rng: Rng) {
        loop {
            let received = giving_up(rng.pick(&[0, 1, 1_000]), self.listener.recv_message()).await;
            let (message, incoming) = match received {
                None => continue,
                Some(Ok(received)) => received,
                Some(Err(error)) => {
                    assert!(self.closed.get(), "{error:?}");
                    return;
                }
            };
            self.world.tick();
            let number = u32::from_le_bytes(message[..HEAD].try_into().expect("a head"));
            let octets = message.len() - HEAD;
            assert!(message == make(number, octets as u64), "content of {number}");
            let taken = {
                let mut book = self.book.borrow_mut();
                let taken = book.taken.entry(number).or_default();
                *taken += 1;
                *taken
            };
            assert_eq!(taken, 1, "{number} was taken again");
            if rng.percent(30) {
                self.world.sleep(rng.pick(&[20_000, 6_000_000, 40_000_000])).await;
            }
            if incoming.service() == REQUEST {
                Self::respond(incoming, answer(number, octets), &mut rng).await;
            }
        }
    }

    async fn respond(incoming: Incoming, response: Vec<u8>, rng: &mut Rng) {
        let responded = match rng.percent(40) {
            true => incoming.respond_unconfirmed(response).await,
            false => incoming.respond(response).await,
        };
        match responded {
            Ok(()) | Err(Error::CallerGone(_)) => {}
            Err(error) => panic!("{error:?}"),
        }
    }

    async fn ask(self: Rc<Self>, client: usize, mut rng: Rng) {
        let endpoint = self.world.endpoint(client);
        let peer = self.world.address(self.server);
        for _ in 0..rng.range(1, 8) {
            let number = {
                let mut book = self.book.borrow_mut();
                book.next += 1;
                book.next
            };
            let octets = rng.pick(&[0, 30, 900, 6_000, 25_000]);
            let message = self.world.lend(make(number, octets));
            let patience = rng.pick(&[0, 3, 1_000_000, 1_000_000, 1_000_000]);
            if rng.percent(60) {
                let options = CallOptions {
                    timeout: None,
                    ..CallOptions::default()
                };
                let called = endpoint.call(peer, self.service, message, &options);
                if let Some(answered) = giving_up(patience, called).await {
                    let answered = answered.expect("a server");
                    assert!(answered == answer(number, octets as usize), "answer to {number}");
                    assert_eq!(self.book.borrow().taken.get(&number), Some(&1));
                }
            } else {
                let options = self.message_options(&mut rng);
                let delivered = endpoint.deliver(peer, options, message, None);
                if let Some(delivered) = giving_up(patience, delivered).await {
                    delivered.expect("a server");
                }
            }
            self.world.tick();
            if rng.percent(30) {
                self.world.sleep(rng.pick(&[3_000, 900_000, 30_000_000])).await;
            }
        }
        let left = {
            let mut book = self.book.borrow_mut();
            book.callers -= 1;
            book.callers
        };
        if left == 0 {
            // Messages that were confirmed and not taken yet are taken.
            self.world.sleep(60_000_000_000).await;
            let server = self.world.endpoint(self.server);
            let left = server
                .inner()
                .shared
                .look(|core| core.left_at(self.listener.inner.id()));
            assert_eq!(left, [0; 3], "nobody is left, no octets, and none held back");
            self.closed.set(true);
            self.listener.close();
        }
    }

    fn message_options(&self, rng: &mut Rng) -> OpenOptions {
        let mut options = match rng.percent(50) {
            true => paradigm::acknowledged_datagram(self.service),
            false => paradigm::one_shot(self.service),
        };
        if rng.percent(50) {
            options.confirm = Confirm::Delivered;
        }
        options
    }
}
