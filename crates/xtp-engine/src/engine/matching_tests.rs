//! Receives that are posted for messages, over a wire between two engines.

use super::*;
use crate::config::EngineConfig;
use crate::error::CloseReason;
use crate::event::{Event, MarkAt};
use crate::options::{Confirm, ListenOptions, OpenOptions};
use crate::paradigm;
use crate::{ListenerId, Tags};
use bytes::Bytes;
use core::net::SocketAddr;
use core::time::Duration;
use xtp_congestion::CongestionKind;
use xtp_core::transmit::{Datagram, Ecn, TransmitBatch};

const PORT: u16 = 9;

fn address(end: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1 + end as u8], 36_036))
}

/// Two engines; messages to the second are matched.
struct Pair {
    ends: [Engine; 2],
    listener: ListenerId,
    now: Time,
    wire: Vec<(usize, Vec<u8>)>,
    /// Associations at the second, in the order in which they came.
    came: Vec<ContextId>,
    events: Vec<(usize, ContextId, Event)>,
}

impl Pair {
    fn new(change: impl Fn(&mut EngineConfig), tune: impl Fn(&mut ListenOptions)) -> Self {
        let mut ends = [1, 2].map(|n| {
            let mut config = EngineConfig::new([n; 32]);
            change(&mut config);
            Engine::new(config).expect("usual limits")
        });
        let mut options = ListenOptions::every_service(PORT);
        options.tuning.matched = true;
        options.tuning.congestion = CongestionKind::Fixed;
        tune(&mut options);
        let listener = ends[1].listen(options).expect("a free port");
        Self {
            ends,
            listener,
            now: Time::from_nanos(1_000_000_000),
            wire: Vec::new(),
            came: Vec::new(),
            events: Vec::new(),
        }
    }

    fn usual() -> Self {
        Self::new(|_| {}, |_| {})
    }

    fn open(&mut self) -> ContextId {
        self.open_as(paradigm::stream(PORT))
    }

    fn open_as(&mut self, mut options: OpenOptions) -> ContextId {
        // What is sent leaves at once, but for the reader's credit.
        options.tuning.congestion = CongestionKind::Fixed;
        self.ends[0].open(self.now, address(1), options).expect("room")
    }

    /// Sends a message; all of it is queued.
    fn send(&mut self, id: ContextId, tag: Option<u64>, data: &[u8]) {
        if let Some(tag) = tag {
            self.ends[0].send_tag(self.now, id, tag).expect("room");
        }
        let data = Bytes::copy_from_slice(data);
        let octets = data.len();
        assert_eq!(self.ends[0].send(self.now, id, data, true), Ok(octets));
    }

    fn turn(&mut self, end: usize) {
        let mut out = TransmitBatch::new();
        self.ends[end].flush(self.now, &mut out);
        out.for_each_datagram(|train, octets| {
            assert_eq!(train.dst, address(1 - end));
            self.wire.push((1 - end, octets.to_vec()));
        });
        while let Some((id, event)) = self.ends[end].poll_event() {
            if let Event::Accepted { .. } = event {
                self.came.push(id);
            }
            self.events.push((end, id, event));
        }
    }

    fn deliver(&mut self, to: usize, data: &[u8]) {
        let datagram = Datagram {
            src: address(1 - to),
            dst: None,
            ecn: Ecn::NotEct,
            data,
            backing: None,
        };
        self.ends[to].receive(self.now, datagram);
    }

    /// Lets pass what is under way until nothing is.
    fn settle(&mut self) {
        for _ in 0..400 {
            self.turn(0);
            self.turn(1);
            if self.wire.is_empty() {
                return;
            }
            self.now = self.now + Duration::from_micros(50);
            for (to, data) in std::mem::take(&mut self.wire) {
                self.deliver(to, &data);
            }
        }
    }

    /// Sleeps until something is due, at most for `longest`.
    fn sleep(&mut self, longest: Duration) {
        let due = self.ends.iter().filter_map(Engine::deadline).min();
        let latest = self.now + longest;
        self.now = due.map_or(latest, |due| due.clamp(self.now, latest));
    }

    fn post(&mut self, source: Source, tags: Tags, length: usize) -> PostedId {
        let wanted = Match { source, tags, length };
        self.ends[1].post_receive(self.now, wanted).expect("room")
    }

    fn received(&mut self) -> Vec<Received> {
        std::iter::from_fn(|| self.ends[1].poll_received()).collect()
    }

    /// What came of the receives that ended, as text.
    fn texts(&mut self) -> Vec<(PostedId, String)> {
        let text = |received: Received| {
            let text = match received.outcome {
                Ok(message) => {
                    let tag = message.tag.map_or("-".to_owned(), |tag| tag.to_string());
                    format!("{tag} {}", String::from_utf8_lossy(&message.into_bytes()))
                }
                Err(error) => format!("{error:?}"),
            };
            (received.posted, text)
        };
        self.received().into_iter().map(text).collect()
    }
}

fn expected(list: &[(PostedId, &str)]) -> Vec<(PostedId, String)> {
    list.iter().map(|(id, text)| (*id, (*text).to_owned())).collect()
}

#[test]
fn messages_are_received_by_tag_whatever_their_order_before_and_after_they_came() {
    let mut pair = Pair::usual();
    let here = pair.open();
    pair.send(here, Some(1), b"one");
    pair.send(here, Some(2), b"two");
    pair.send(here, None, b"none");
    pair.send(here, Some(2), b"two again");
    pair.settle();
    assert_eq!(pair.texts(), []);
    let there = Source::Association(pair.came[0]);
    let second = pair.post(there, Tags::exact(2), 100);
    let without = pair.post(there, Tags::Without, 100);
    let next = pair.post(there, Tags::exact(2), 100);
    let third = pair.post(there, Tags::exact(2), 100);
    let any = pair.post(there, Tags::Any, 100);
    let more = pair.post(there, Tags::Any, 100);
    assert_eq!(
        pair.texts(),
        expected(&[
            (second, "2 two"),
            (without, "- none"),
            (next, "2 two again"),
            (any, "1 one")
        ])
    );
    pair.send(here, Some(7), b"seven");
    pair.send(here, Some(2), b"two, the last");
    pair.settle();
    assert_eq!(
        pair.texts(),
        expected(&[(more, "7 seven"), (third, "2 two, the last")])
    );
    assert!(pair.events.iter().all(|(_, _, event)| *event != Event::Readable));
    assert!(
        pair.ends[1].read(pair.now, pair.came[0], 100).is_err(),
        "a stream that is not read"
    );
}

#[test]
fn whichever_association_it_comes_from_the_receive_posted_first_gets_it() {
    let mut pair = Pair::usual();
    let ids = [pair.open(), pair.open()];
    pair.send(ids[0], None, b"hello");
    pair.settle();
    pair.send(ids[1], None, b"hello");
    pair.settle();
    let at_listener = Source::Listener(pair.listener);
    let (one, other) = (
        pair.post(Source::Any, Tags::Any, 9),
        pair.post(at_listener, Tags::Any, 9),
    );
    let from = |received: &Received| received.outcome.clone().map(|message| message.association);
    let came = pair.received();
    assert_eq!(
        came.iter().map(|received| received.posted).collect::<Vec<_>>(),
        [one, other]
    );
    assert_eq!(
        came.iter().map(from).collect::<Vec<_>>(),
        [Ok(pair.came[0]), Ok(pair.came[1])]
    );

    let [first, second] = [pair.came[0], pair.came[1]].map(Source::Association);
    let odd = pair.post(at_listener, Tags::Like { tag: 1, mask: 1 }, 9);
    let exact = pair.post(second, Tags::exact(3), 9);
    let elsewhere = pair.post(Source::Listener(ListenerId(99)), Tags::Any, 9);
    let any = pair.post(first, Tags::Any, 9);
    for id in [ids[1], ids[1], ids[0]] {
        pair.send(id, Some(3), b"three");
    }
    pair.settle();
    let mut came = pair.texts();
    came.sort();
    assert_eq!(
        came,
        expected(&[(odd, "3 three"), (exact, "3 three"), (any, "3 three")])
    );
    assert!(pair.ends[1].cancel_receive(elsewhere));
    assert_eq!(pair.ends[1].stats().posted, 0);
}

#[test]
fn a_cancelled_receive_gets_nothing_and_looking_takes_nothing() {
    let mut pair = Pair::usual();
    let here = pair.open();
    let cancelled = pair.post(Source::Any, Tags::exact(5), 10);
    let kept = pair.post(Source::Any, Tags::exact(6), 10);
    assert!(pair.ends[1].cancel_receive(cancelled));
    assert!(!pair.ends[1].cancel_receive(cancelled));
    pair.send(here, Some(5), b"five");
    pair.send(here, Some(6), b"six");
    pair.settle();
    assert_eq!(pair.texts(), expected(&[(kept, "6 six")]));
    assert!(!pair.ends[1].cancel_receive(kept));
    let there = pair.came[0];
    let envelope = Envelope {
        association: there,
        tag: Some(5),
        octets: 4,
        whole: true,
    };
    for source in [
        Source::Any,
        Source::Association(there),
        Source::Listener(pair.listener),
    ] {
        assert_eq!(pair.ends[1].peek(source, Tags::exact(5)), Some(envelope));
        assert_eq!(pair.ends[1].peek(source, Tags::exact(6)), None);
        assert_eq!(pair.ends[1].peek(source, Tags::Without), None);
    }
    let taken = pair.post(Source::Any, Tags::Like { tag: 0, mask: 0 }, 10);
    assert_eq!(pair.texts(), expected(&[(taken, "5 five")]));
    assert_eq!(pair.ends[1].peek(Source::Any, Tags::Any), None);
}

#[test]
fn a_message_longer_than_its_receive_ends_it_and_only_it() {
    let mut pair = Pair::usual();
    let here = pair.open();
    let short = pair.post(Source::Any, Tags::Any, 3);
    let long = pair.post(Source::Any, Tags::Any, 100_000);
    let short_too = pair.post(Source::Any, Tags::Any, 20_000);
    let exact = pair.post(Source::Any, Tags::Any, 4);
    let (whole, more) = (vec![b'a'; 100_000], vec![b'b'; 100_000]);
    pair.send(here, Some(1), b"four");
    pair.send(here, Some(2), &whole);
    pair.send(here, Some(3), &more);
    pair.send(here, Some(4), b"four");
    pair.settle();
    let came = pair.received();
    assert_eq!(
        came.iter().map(|received| received.posted).collect::<Vec<_>>(),
        [short, long, short_too, exact]
    );
    assert_eq!(came[0].outcome, Err(ReceiveError::TooLong { octets: 4 }));
    let message = came[1].outcome.clone().expect("room for it");
    assert_eq!((message.tag, message.len()), (Some(2), 100_000));
    assert_eq!(message.into_bytes(), whole);
    let Err(ReceiveError::TooLong { octets }) = came[2].outcome else {
        panic!("too long: {:?}", came[2]);
    };
    assert!((20_001..=100_000).contains(&octets), "{octets}");
    assert_eq!(
        came[3].outcome.clone().map(Matched::into_bytes),
        Ok(Bytes::from_static(b"four"))
    );
    // The same of those that wait.
    pair.send(here, None, b"four");
    pair.settle();
    let late = pair.post(Source::Any, Tags::Any, 3);
    assert_eq!(pair.texts(), expected(&[(late, "TooLong { octets: 4 }")]));
    assert_eq!(pair.ends[1].peek(Source::Any, Tags::Any), None);
}

#[test]
fn what_nobody_receives_counts_against_the_window_and_no_longer_than_that() {
    let mut pair = Pair::new(|_| {}, |options| options.tuning.recv_capacity = 50_000);
    let here = pair.open();
    let message = vec![b'm'; 1_000];
    for tag in 0..200 {
        pair.send(here, Some(tag), &message);
    }
    pair.settle();
    let there = Source::Association(pair.came[0]);
    let waiting = |pair: &Pair| {
        (0..200)
            .filter(|tag| pair.ends[1].peek(there, Tags::exact(*tag)).is_some())
            .count()
    };
    let came = waiting(&pair);
    assert!((40..=50).contains(&came), "{came} of 1 008 octets in 50 000");
    // The last of them first: each makes room for another, though the first one stays.
    for tag in (1..200).rev() {
        pair.post(there, Tags::exact(tag), 1_000);
    }
    for _ in 0..20 {
        pair.settle();
        pair.sleep(Duration::from_secs(2));
    }
    let received = pair.received();
    assert_eq!(received.len(), 199);
    assert!(received.iter().all(|received| received.outcome.is_ok()));
    assert_eq!(waiting(&pair), 1);
    pair.post(there, Tags::exact(0), 1_000);
    assert_eq!(pair.received().len(), 1);
    assert!(pair.ends[0].context(here).expect("alive").stats().overrun == 0);
}

#[test]
fn a_message_longer_than_the_window_waits_for_its_receive_and_then_comes() {
    let mut pair = Pair::new(|_| {}, |options| options.tuning.recv_capacity = 30_000);
    let here = pair.open();
    let message: Vec<u8> = (0..200_000_u32).map(|n| n as u8).collect();
    pair.send(here, Some(9), &message);
    pair.send(here, Some(8), b"behind it");
    for _ in 0..5 {
        pair.settle();
        pair.sleep(Duration::from_secs(1));
    }
    let found = pair.ends[1].peek(Source::Any, Tags::exact(9)).expect("it begins");
    assert!(
        !found.whole && (20_000..=30_000).contains(&found.octets),
        "{found:?}"
    );
    let posted = pair.post(Source::Any, Tags::exact(9), 200_000);
    assert!(
        !pair.ends[1].cancel_receive(posted),
        "it has the beginning of its message"
    );
    assert_eq!(pair.ends[1].peek(Source::Any, Tags::Any), None);
    for _ in 0..20 {
        pair.settle();
        pair.sleep(Duration::from_secs(1));
    }
    let came = pair.received();
    assert_eq!(came.len(), 1);
    assert_eq!(
        came[0].outcome.clone().map(Matched::into_bytes),
        Ok(Bytes::from(message))
    );
    let behind = pair.post(Source::Any, Tags::Any, 200);
    assert_eq!(pair.texts(), expected(&[(behind, "8 behind it")]));
    // One whose receive is too short when it is posted: that is known then, and the rest is passed over.
    pair.send(here, Some(9), &vec![b'x'; 100_000]);
    pair.send(here, Some(8), b"behind that");
    pair.settle();
    let short = pair.post(Source::Any, Tags::exact(9), 100);
    let behind = pair.post(Source::Any, Tags::exact(8), 100);
    for _ in 0..20 {
        pair.settle();
        pair.sleep(Duration::from_secs(1));
    }
    let came = pair.received();
    assert_eq!(
        came.iter().map(|received| received.posted).collect::<Vec<_>>(),
        [short, behind]
    );
    assert!(
        matches!(came[0].outcome, Err(ReceiveError::TooLong { .. })),
        "{:?}",
        came[0]
    );
}

#[test]
fn who_waits_is_told_when_no_more_comes() {
    // The peer closes, aborts, or this end lets go, aborts.
    for how in 0..4 {
        let mut pair = Pair::usual();
        let here = pair.open();
        pair.send(here, Some(1), b"one");
        pair.settle();
        let there = pair.came[0];
        let source = Source::Association(there);
        let waiting = pair.post(source, Tags::exact(2), 10);
        let any = pair.post(Source::Any, Tags::exact(2), 10);
        let now = pair.now;
        match how {
            0 => drop(pair.ends[0].close_writer(now, here)),
            1 => drop(pair.ends[0].abort(now, here)),
            2 => drop(pair.ends[1].release(now, there)),
            _ => drop(pair.ends[1].abort(now, there)),
        }
        pair.settle();
        let reason = match how {
            0 | 2 => ReceiveError::Ended,
            1 => ReceiveError::Closed(CloseReason::Aborted {
                missing: 1,
                unconfirmed: 0,
            }),
            _ => ReceiveError::Closed(CloseReason::LocalAbort),
        };
        let ended = |posted| Received {
            posted,
            outcome: Err(reason.clone()),
        };
        assert_eq!(pair.received(), [ended(waiting)], "{how}");
        // What came before can be received as long as the association is held, and no longer.
        let wanted = Match {
            source,
            tags: Tags::exact(1),
            length: 10,
        };
        match (how, pair.ends[1].post_receive(now, wanted)) {
            (2, posted) => assert_eq!(posted, Err(Error::NoContext)),
            (_, posted) => {
                let late = pair.post(source, Tags::Any, 10);
                let came = pair.texts();
                assert_eq!(came[0], (posted.expect("held"), "1 one".to_owned()), "{how}");
                assert_eq!((came[1].0, came.len()), (late, 2), "{how}");
            }
        }
        assert_eq!(pair.ends[1].peek(Source::Any, Tags::Any), None, "{how}");
        assert!(pair.ends[1].cancel_receive(any), "{how}");
    }
}

#[test]
fn a_stream_that_ends_inside_a_message_ends_the_receive_that_has_its_beginning() {
    for posted_before in [true, false] {
        let mut pair = Pair::usual();
        let here = pair.open();
        let before = posted_before.then(|| pair.post(Source::Any, Tags::Any, 10_000));
        pair.ends[0].send_tag(pair.now, here, 4).expect("room");
        let sent = pair.ends[0].send(pair.now, here, Bytes::from_static(b"half a mess"), false);
        assert_eq!(sent, Ok(11));
        pair.settle();
        assert_eq!(
            pair.ends[1].peek(Source::Any, Tags::Any).is_some(),
            !posted_before
        );
        drop(pair.ends[0].close_writer(pair.now, here));
        pair.settle();
        let outcome = Err(ReceiveError::Incomplete { octets: 11 });
        let ended = before.map(|posted| Received { posted, outcome });
        assert_eq!(pair.received(), ended.into_iter().collect::<Vec<_>>());
        assert_eq!(pair.ends[1].peek(Source::Any, Tags::Any), None);
    }
}

#[test]
fn delivery_is_confirmed_when_the_message_was_received_and_not_before() {
    let mut pair = Pair::usual();
    let here = pair.open();
    pair.send(here, Some(1), b"one");
    pair.send(here, Some(2), b"two");
    let mark = pair.ends[0]
        .mark(pair.now, here, MarkAt::Queued, Confirm::Delivered)
        .expect("alive");
    let reached = |pair: &Pair| {
        pair.events
            .iter()
            .any(|(_, _, event)| *event == Event::Marked(mark))
    };
    pair.settle();
    pair.post(Source::Any, Tags::exact(2), 10);
    pair.settle();
    assert!(!reached(&pair), "the first one waits");
    pair.post(Source::Any, Tags::exact(1), 10);
    pair.settle();
    assert!(reached(&pair));
}

#[test]
fn receives_have_a_limit_and_sources_are_checked() {
    let mut pair = Pair::new(|config| config.max_posted = 3, |_| {});
    let here = pair.open();
    pair.send(here, Some(1), b"one");
    pair.settle();
    for _ in 0..3 {
        pair.post(Source::Any, Tags::exact(2), 10);
    }
    let any = |tags| Match {
        source: Source::Any,
        tags,
        length: 10,
    };
    let now = pair.now;
    assert!(matches!(
        pair.ends[1].post_receive(now, any(Tags::exact(2))),
        Err(Error::Limit(_))
    ));
    assert!(
        pair.ends[1].post_receive(now, any(Tags::exact(1))).is_ok(),
        "it does not wait"
    );
    // An association whose stream is read has no messages to match.
    let unmatched = Match {
        source: Source::Association(here),
        ..any(Tags::Any)
    };
    assert!(matches!(
        pair.ends[0].post_receive(now, unmatched),
        Err(Error::InvalidOption(_))
    ));
}

#[test]
fn so_many_messages_wait_at_most_and_those_behind_come_after_them() {
    let mut pair = Pair::new(|config| config.max_waiting = 3, |_| {});
    let here = pair.open();
    for tag in 0..5 {
        pair.send(here, Some(tag), b"one");
    }
    pair.settle();
    assert_eq!(pair.ends[1].peek(Source::Any, Tags::exact(3)), None);
    let unseen = pair.post(Source::Any, Tags::exact(4), 10);
    assert_eq!(pair.received(), []);
    let first = pair.post(Source::Any, Tags::exact(0), 10);
    assert!(pair.ends[1].peek(Source::Any, Tags::exact(3)).is_some());
    let second = pair.post(Source::Any, Tags::exact(1), 10);
    assert_eq!(
        pair.texts(),
        expected(&[(first, "0 one"), (second, "1 one"), (unseen, "4 one")])
    );
    // Of a stream that has ended, too, and then that is told.
    for tag in 5..9 {
        pair.send(here, Some(tag), b"one");
    }
    drop(pair.ends[0].close_writer(pair.now, here));
    pair.settle();
    let there = Source::Association(pair.came[0]);
    let unseen = pair.post(there, Tags::exact(8), 10);
    let never = pair.post(there, Tags::exact(9), 10);
    assert_eq!(pair.received(), []);
    for tag in [2, 3, 5] {
        pair.post(there, Tags::exact(tag), 10);
    }
    pair.settle();
    let mut came = pair.texts();
    assert_eq!(came.pop(), Some((never, "Ended".to_owned())));
    assert!(came.contains(&(unseen, "8 one".to_owned())), "{came:?}");
}

#[test]
fn a_parked_association_is_matched_as_before() {
    let change = |config: &mut EngineConfig| {
        config.overrides.max_whole = 0;
        config.overrides.park_after = Duration::from_millis(1);
    };
    let mut pair = Pair::new(change, |_| {});
    let here = pair.open();
    let rest = |pair: &mut Pair| {
        for _ in 0..50 {
            pair.settle();
            pair.sleep(Duration::from_millis(100));
        }
        pair.ends[1].stats().parked
    };
    pair.send(here, Some(1), b"one");
    assert_eq!(rest(&mut pair), 0, "it holds a message");
    let there = Source::Association(pair.came[0]);
    pair.post(there, Tags::exact(1), 10);
    assert_eq!(rest(&mut pair), 1);
    let posted = pair.post(there, Tags::exact(2), 10);
    assert_eq!(pair.ends[1].stats().parked, 1, "posting does not wake it");
    let _ = pair.received();
    pair.send(here, Some(2), b"two");
    pair.settle();
    assert_eq!(pair.texts(), expected(&[(posted, "2 two")]));
    drop(pair.ends[0].close_writer(pair.now, here));
    assert_eq!(rest(&mut pair), 1, "only its peer has closed");
    let late = pair.post(there, Tags::Any, 10);
    assert_eq!(pair.texts(), expected(&[(late, "Ended")]));
}

#[test]
fn a_listener_has_the_messages_of_what_its_user_accepted() {
    for park in [false, true] {
        let change = |config: &mut EngineConfig| {
            if park {
                config.overrides.max_whole = 0;
                config.overrides.park_after = Duration::from_millis(1);
            }
        };
        let mut pair = Pair::new(change, |_| {});
        let here = pair.open();
        pair.send(here, Some(1), b"one");
        pair.settle();
        let at_listener = Source::Listener(pair.listener);
        pair.ends[1].accepted(pair.came[0]).expect("it is there");
        let before = pair.post(at_listener, Tags::exact(1), 10);
        assert_eq!(pair.texts(), expected(&[(before, "1 one")]));
        for _ in 0..50 {
            pair.settle();
            pair.sleep(Duration::from_millis(100));
        }
        assert_eq!(pair.ends[1].stats().parked, usize::from(park));
        let posted = pair.post(at_listener, Tags::exact(2), 10);
        pair.send(here, Some(2), b"two");
        pair.settle();
        assert_eq!(pair.texts(), expected(&[(posted, "2 two")]), "parked: {park}");
    }
}

#[path = "matching_random_tests.rs"]
mod random;
