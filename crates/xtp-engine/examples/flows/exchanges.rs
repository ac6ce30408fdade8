//! Associations of one message, as the facade's calls go: what is waited for is handed over as it comes, each packet leaves
//! before the bookkeeping, and what an association leaves behind is put away while the next one's first packet is under way.
//!
//! Programs vary what a loop of equal calls does not: lengths, peers and the time their answers take.

use super::{PORT, Pair, Waiting};
use bytes::Bytes;
use std::time::Duration;
use xtp_engine::{ContextId, OpenOptions, paradigm};

/// Octets of a message, where all are alike the length of each.
const SHORTEST: usize = 64;
/// Lengths that are used in turn.
const LENGTHS: usize = 16;
/// An answer that takes so long is no quick one.
const SLOW: Duration = Duration::from_millis(6);

/// A series of them. What there is one of does not vary.
pub(super) struct Exchanges {
    options: OpenOptions,
    answered: bool,
    /// Lengths of requests and of answers.
    requests: usize,
    answers: usize,
    /// Addresses in turn.
    servers: u16,
    clients: u16,
    /// How long the server's program thinks.
    thinks: Duration,
}

impl Exchanges {
    /// The flow of this name.
    pub(super) fn named(flow: &str) -> Option<Self> {
        let (paradigm, variety) = flow.split_once('-').unwrap_or((flow, ""));
        let (options, answered) = match paradigm {
            "oneshot" => (paradigm::one_shot(PORT), false),
            "acknowledged" => (paradigm::acknowledged_datagram(PORT), false),
            "transaction" => (paradigm::transaction(PORT), true),
            _ => return None,
        };
        let alike = Self {
            options,
            answered,
            requests: 1,
            answers: 1,
            servers: 1,
            clients: 1,
            thinks: Duration::ZERO,
        };
        Some(match variety {
            "" => alike,
            "sizes" => Self {
                requests: LENGTHS,
                answers: LENGTHS,
                ..alike
            },
            "servers" => Self { servers: 2, ..alike },
            "clients" => Self { clients: 64, ..alike },
            "answers" if answered => Self {
                answers: LENGTHS,
                ..alike
            },
            "slow" if answered => Self {
                thinks: SLOW,
                ..alike
            },
            _ => return None,
        })
    }

    /// Runs `count` of them.
    pub(super) fn run(&self, pair: &mut Pair, count: usize) {
        let octets = Bytes::from(vec![7; SHORTEST + LENGTHS]);
        let [client, server] = pair.addrs.map(|address| address.port());
        for number in 0..count {
            let turn = |of: u16| u16::try_from(number % usize::from(of)).unwrap_or(0);
            pair.addrs[0].set_port(client - turn(self.clients));
            pair.addrs[1].set_port(server + turn(self.servers));
            let request = octets.slice(..SHORTEST + number % self.requests);
            // In another order.
            let answer = octets.slice(..SHORTEST + 5 * number % self.answers);
            self.exchange(pair, request, &answer);
        }
        pair.ends[0].tidy(pair.now);
    }

    fn exchange(&self, pair: &mut Pair, mut request: Bytes, answer: &Bytes) {
        let (peer, first) = (pair.addrs[1], Waiting::First(pair.listener));
        let (length, asked) = (request.len(), if self.answered { answer.len() } else { 0 });
        let here = pair.ends[0]
            .begin_message(pair.now, peer, self.options.clone(), &mut request)
            .expect("room for it");
        let (there, came) = received(pair, first);
        assert_eq!(came + pair.read_rest(1, there, length - came), length);
        if !self.thinks.is_zero() {
            pair.now = pair.now + self.thinks;
            pair.turn(1);
            pair.turn(0);
        }
        if self.answered {
            pair.respond(there, answer);
        }
        pair.answered = false;
        let came = pair.turn_to(1, Waiting::Answer(here));
        assert_eq!(came + pair.read_rest(0, here, asked - came), asked);
        pair.part(there, asked as u64);
        pair.turn_to(0, first);
        // The first of all is met with a question, for its source is not known yet.
        while !pair.answered
            && pair.ends[0]
                .view()
                .context(here)
                .ok()
                .and_then(|context| context.close_reason())
                .is_none()
        {
            pair.turn(1);
            pair.turn(0);
        }
        while pair.ends[0].poll_event().is_some() {}
        pair.ends[0].detach_ended(here);
        if !pair.ended {
            pair.forget(there);
            pair.turn(1);
        }
    }
}

/// The association that the server's program gets, and octets of its message that came with it.
fn received(pair: &mut Pair, first: Waiting) -> (ContextId, usize) {
    let mut came = pair.turn_to(0, first);
    pair.ends[0].tidy(pair.now);
    loop {
        if let Some(there) = pair.welcome.take().or_else(|| pair.accepted()) {
            return (there, came);
        }
        // A source that proved nothing in 256 datagrams is asked to.
        pair.turn(1);
        came = pair.turn_to(0, first);
    }
}
