//! An END that may wait: behind what it leaves, when without, and what its server makes of it.

use super::*;
use xtp_wire::{Format, Packet};

/// How long END may wait here.
const LONGEST: Duration = Duration::from_millis(1);

fn format(octets: &[u8]) -> Format {
    Packet::parse(octets).expect("one of ours").header.format
}

impl Pair {
    /// A client whose exchanges are known, and whose ENDs may wait.
    fn calling() -> Self {
        let mut pair = Self::new();
        (0..3).for_each(|_| pair.transact());
        pair.ends[0].defer_ends(Some(LONGEST));
        pair
    }

    fn expect_message(&mut self) {
        let (listener, limit) = (self.listener, LIMIT);
        self.ends[1].expect(Expectation::Message { listener, limit });
    }

    /// Both ends of a transaction that is answered as its server and client expect it.
    fn call(&mut self) -> (ContextId, ContextId) {
        let id = self.begin(&paradigm::transaction(PORT));
        self.turn(0);
        self.expect_message();
        let reply = self.arrive(1).1;
        (id, self.answer(id, reply))
    }

    /// The request that began so is answered; the association at the server.
    fn answer(&mut self, id: ContextId, reply: Reply) -> ContextId {
        let Reply::Began(asked, _) = reply else {
            panic!("{reply:?}");
        };
        self.ends[1].take_message().expect("it came");
        let mut answer = Bytes::from_static(b"answer");
        let (now, end, link) = (self.now, &mut self.ends[1], &mut self.links[1]);
        assert!(end.respond_at_once(now, asked, &mut answer, false, link));
        let parted = self.ends[1].close(self.now, asked, 6);
        assert!(matches!(parted, Parting::Awaits(Some(_))), "{parted:?}");
        self.ends[0].expect(Expectation::Answer { id, limit: LIMIT });
        assert_eq!(self.arrive(0).1, Reply::Answered(id));
        assert_eq!(self.ends[0].take_answer(id).as_deref(), Some(&b"answer"[..]));
        self.ends[0].detach_ended(id);
        asked
    }
}

#[test]
fn an_end_that_may_wait_leaves_behind_the_next_request() {
    let mut pair = Pair::calling();
    let (_, asked) = pair.call();
    assert!(pair.ends[0].end_due().is_some() && pair.links[0].sent.is_empty());
    assert!(!pair.ends[0].is_pressing(pair.now), "nobody waits for it");
    let id = pair.begin(&paradigm::transaction(PORT));
    pair.links[0].offered = 0;
    pair.turn(0);
    assert_eq!(pair.links[0].offered, 2, "nothing keeps FIRST waiting");
    assert!(pair.ends[0].end_due().is_none());
    let formats: Vec<Format> = pair.links[0].sent.iter().map(|octets| format(octets)).collect();
    assert_eq!(formats, [Format::First, Format::Cntl]);
    // The request is answered before END is taken.
    pair.turn(1);
    pair.expect_message();
    let sent = core::mem::take(&mut pair.links[0].sent);
    let reply = pair.arrive_with(1, &sent[..1]).1;
    pair.answer(id, reply);
    pair.turn(1);
    pair.expect_message();
    assert_eq!(pair.arrive_with(1, &sent[1..]).1, Reply::Ended(asked));
    assert!(pair.ends[1].poll_event().is_none());
}

#[test]
fn an_end_that_waited_long_enough_leaves_alone() {
    let mut pair = Pair::calling();
    let (_, asked) = pair.call();
    let until = pair.now + LONGEST;
    assert_eq!(pair.ends[0].deadline(), Some(until));
    assert_eq!(pair.ends[0].patient_deadline(), Some(until));
    pair.now = until;
    pair.turn(0);
    assert_eq!(pair.links[0].sent.len(), 1);
    assert_ne!(pair.ends[0].deadline(), Some(until));
    pair.turn(1);
    pair.expect_message();
    assert_eq!(pair.arrive(1).1, Reply::Ended(asked));
}

#[test]
fn an_end_leaves_at_once_where_nobody_said_that_it_may_wait() {
    let mut pair = Pair::calling();
    pair.ends[0].defer_ends(None);
    pair.call();
    assert!(pair.ends[0].end_due().is_none());
    assert_eq!(pair.links[0].sent.len(), 1);
}

#[test]
fn an_end_goes_to_its_own_peer_whoever_is_called_next() {
    let mut pair = Pair::calling();
    pair.call();
    let mut data = Bytes::from_static(b"request");
    let (other, options) = (address(7), paradigm::transaction(PORT));
    pair.ends[0]
        .begin_message(pair.now, other, options, &mut data)
        .expect("room for one more");
    pair.links[0].to.clear();
    pair.turn(0);
    assert_eq!(pair.links[0].to, [7, 1].map(address));
}

#[test]
fn an_end_that_waits_while_there_is_no_room_follows_what_does() {
    let mut pair = Pair::calling();
    pair.call();
    pair.begin(&paradigm::transaction(PORT));
    pair.links[0].full = true;
    pair.turn(0);
    assert!(pair.ends[0].is_stalled() && pair.ends[0].end_due().is_none());
    pair.links[0].full = false;
    pair.turn(0);
    let formats: Vec<Format> = pair.links[0].sent.iter().map(|octets| format(octets)).collect();
    assert_eq!(formats, [Format::First, Format::Cntl]);
}

#[test]
fn one_end_waits_at_a_time() {
    let mut pair = Pair::calling();
    pair.call();
    // Its FIRST leaves without a turn of the driver, as if it was sent again.
    let id = pair.begin(&paradigm::transaction(PORT));
    let mut out = TransmitBatch::new();
    pair.ends[0].engine.flush(pair.now, &mut out);
    let mut sent = Vec::new();
    out.for_each_datagram(|_, octets| sent.push(octets.to_vec()));
    pair.turn(1);
    pair.expect_message();
    let (_, reply) = pair.arrive_with(1, &sent);
    pair.answer(id, reply);
    assert!(pair.ends[0].end_due().is_some());
    assert_eq!(pair.links[0].sent.len(), 1, "the second left at once");
}
