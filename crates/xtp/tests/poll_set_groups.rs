//! One thread that waits for a transmitter, a receiver and whatever else together.

mod common;

use std::net::SocketAddr;
use std::time::Duration;

use common::{LONG, endpoint};
use xtp::{
    Cast, CastOptions, Endpoint, Error, GroupClose, GroupEvent, Interface, JoinOptions, PollSet, Subscription,
};

const CAST: u64 = 1;
const SUBSCRIPTION: u64 = 2;

/// What is ready, each once.
fn wait(set: &PollSet) -> Vec<u64> {
    let mut ready = Vec::new();
    set.wait(&mut ready, Some(LONG)).expect("something is ready");
    let all = ready.len();
    ready.sort_unstable();
    ready.dedup();
    assert_eq!(ready.len(), all, "nothing is told twice");
    ready
}

/// Whether nothing is ready, and nothing becomes so for a moment.
fn is_quiet(set: &PollSet) -> bool {
    let mut ready = Vec::new();
    let outcome = set.wait(&mut ready, Some(Duration::from_millis(20)));
    outcome.is_err_and(|error| error.is_timeout()) && ready.is_empty()
}

/// A transmitter, a receiver of the same group, and a set that watches both.
struct Both {
    endpoint: Endpoint,
    set: PollSet,
    cast: Cast,
    subscription: Subscription,
    /// What the transmitter was told, and the receiver.
    sent: Vec<GroupEvent>,
    received: Vec<GroupEvent>,
}

impl Both {
    fn new(group: &str) -> Self {
        let group: SocketAddr = group.parse().unwrap();
        let loopback = Interface::Address("127.0.0.1".parse().unwrap());
        let endpoint = endpoint();
        // What its own endpoint transmits a receiver hears only if it names it.
        let here = "127.0.0.1".parse().unwrap();
        let join = JoinOptions::new().interface(loopback.clone()).source(here);
        let subscription = endpoint.join(group, join).expect("joined");
        let options = CastOptions::new().interface(loopback).expect(1);
        let cast = endpoint.cast(group, options).expect("cast");
        let set = endpoint.poll_set();
        set.add_cast(&cast, CAST).expect("its own");
        set.add_subscription(&subscription, SUBSCRIPTION)
            .expect("its own");
        Self {
            endpoint,
            set,
            cast,
            subscription,
            sent: Vec::new(),
            received: Vec::new(),
        }
    }

    /// Takes what is told until `done` of what is ready says that it is enough.
    fn until(&mut self, mut done: impl FnMut(&mut Self, u64) -> bool) {
        loop {
            let ready = wait(&self.set);
            while let Ok(Some(event)) = self.cast.try_event() {
                self.sent.push(event);
            }
            while let Ok(Some(event)) = self.subscription.try_event() {
                self.received.push(event);
            }
            if ready.into_iter().any(|key| done(self, key)) {
                return;
            }
        }
    }

    /// Reads what is there; true at the end.
    fn read(&self) -> bool {
        loop {
            match self.subscription.try_recv_chunk(1 << 20) {
                Ok(Some(_)) => {}
                Ok(None) => return true,
                Err(error) if error.is_would_block() => return false,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn one_thread_transmits_and_receives() {
    let mut both = Both::new("239.77.7.1:36036");
    both.until(|both, _| both.sent.contains(&GroupEvent::Started));
    assert!(
        both.sent
            .iter()
            .any(|event| matches!(event, GroupEvent::Joined(_)))
    );
    both.cast.send_message("one").expect("room");
    both.until(|_, key| key == SUBSCRIPTION);
    assert!(
        both.received
            .iter()
            .any(|event| matches!(event, GroupEvent::Found(_)))
    );
    assert_eq!(wait(&both.set), [SUBSCRIPTION], "told again until it was read");
    let message = both.subscription.try_recv_message().expect("it is there");
    assert_eq!(message.as_deref(), Some(&b"one"[..]));
    assert!(is_quiet(&both.set));

    // As much as there is room for, and then some.
    while both.cast.try_send(vec![0; 1 << 20]).is_ok() {}
    both.until(|both, key| {
        both.read();
        key == CAST && both.cast.try_send("more").is_ok()
    });

    both.cast.begin_finish().expect("not over");
    both.until(|both, key| key == SUBSCRIPTION && both.read());
    both.subscription.close().expect("the transmitter knows");
    both.until(|both, key| key == CAST && both.sent.contains(&GroupEvent::Closed(GroupClose::Normal)));
    assert_eq!(
        wait(&both.set),
        [CAST, SUBSCRIPTION],
        "whatever is over is told again"
    );
    both.set.remove_cast(&both.cast);
    assert_eq!(wait(&both.set), [SUBSCRIPTION]);
    both.set.remove_subscription(&both.subscription);
    assert!(is_quiet(&both.set));
}

/// A listener and a receiver of a group in one set; who is dropped has left it.
#[test]
fn groups_beside_listeners() {
    const LISTENER: u64 = 3;
    let both = Both::new("239.77.7.2:36036");
    let listener = both.endpoint.listen_streams(common::PORT).expect("a free number");
    both.set.add_listener(&listener, LISTENER).expect("its own");
    drop(both.cast);
    drop(both.subscription);
    assert!(is_quiet(&both.set));
    let client = endpoint();
    let to = both.endpoint.local_addr();
    let stream = client
        .open(to, xtp::paradigm::stream(common::PORT))
        .expect("options in range");
    stream.send_message("hello").expect("room");
    assert_eq!(wait(&both.set), [LISTENER]);
}

#[test]
fn those_of_another_endpoint_are_refused() {
    let both = Both::new("239.77.7.3:36036");
    let other = endpoint().poll_set();
    assert!(matches!(other.add_cast(&both.cast, 1), Err(Error::Command(_))));
    let refused = other.add_subscription(&both.subscription, 2);
    assert!(matches!(refused, Err(Error::Command(_))));
}
