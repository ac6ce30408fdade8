//! One step of two users, a network and an attacker, as the input chooses.

use std::net::SocketAddr;
use std::time::Duration;

use xtp_engine::{
    Confirm, CongestionKind, ContextId, Ecn, ErrorControl, Expectation, Failure, MarkAt, Match, OpenOptions,
    Rate, Read, Setting, Source, Tags, Unit, paradigm,
};

use crate::{Choices, Flight, PORT, Pair, mend, payload};

/// Longest run of octets a user sends at once.
const LONGEST: u64 = 20_000;

/// Does what the next choices say.
pub fn step(pair: &mut Pair, choices: &mut Choices<'_>) {
    let kind = choices.octet();
    if kind < 96 {
        network(pair, kind, choices);
    } else if kind < 112 {
        open(pair, choices);
    } else if kind < 128 {
        message(pair, choices);
    } else {
        let end = usize::from(kind & 1);
        let Some(&id) = pair.known[end].get(choices.index(pair.known[end].len().max(1))) else {
            return;
        };
        if kind < 192 {
            exchange(pair, end, id, choices);
        } else {
            command(pair, end, id, choices);
        }
    }
}

fn open(pair: &mut Pair, choices: &mut Choices<'_>) {
    let mut options: OpenOptions = match choices.index(6) {
        0 => paradigm::datagram(PORT),
        1 => paradigm::acknowledged_datagram(PORT),
        2 => paradigm::one_shot(PORT),
        3 => paradigm::transaction(PORT),
        4 => paradigm::unreliable_stream(PORT),
        _ => paradigm::stream(PORT),
    };
    let bits = choices.octet();
    options.status_on_first = bits & 1 != 0;
    options.repeatable = bits & 2 != 0;
    options.tuning.fast_nak = bits & 4 != 0;
    options.tuning.reserve = bits & 8 != 0;
    if bits & 16 != 0 {
        options.confirm = Confirm::Delivered;
    }
    if bits & 32 != 0 {
        options.tuning.error_control = ErrorControl::GoBackN;
    }
    if bits & 64 != 0 {
        options.tuning.congestion = CongestionKind::Cubic;
    }
    if bits & 128 != 0 {
        let number = choices.number();
        options.tuning.recv_capacity = 1 + number % 100_000;
        options.tuning.matched = number % 4 == 1;
        options.service_number += (number % 8 / 4) as u16;
        options.tuning.overrides.max_data = u32::from(choices.word());
        options.expected_answer = u32::from(choices.word());
    }
    if let Some(id) = pair.open(options)
        && bits & 3 == 3
    {
        let _ = pair.ends[0].command().connect(pair.now, id);
    }
}

/// What whoever exchanges whole messages does, and says that it waits for.
fn message(pair: &mut Pair, choices: &mut Choices<'_>) {
    let (kind, last) = (
        choices.index(12),
        [0, 1].map(|end| pair.known[end].last().copied()),
    );
    let (now, limit) = (pair.now, 1 << 20);
    let end = usize::from(kind & 1 != 0);
    match (kind, last[end]) {
        (0 | 1, _) => {
            // Few kinds, so that one is like the last.
            let options = match choices.index(3) {
                0 => paradigm::one_shot(PORT),
                1 => paradigm::acknowledged_datagram(PORT),
                _ => paradigm::transaction(PORT),
            };
            let octets = [64, 64, 64, 1 + usize::from(choices.word()) % 3_000][choices.index(4)];
            pair.begin(options, payload(octets));
        }
        (2, Some(id)) => pair.ends[0].expect(Expectation::Answer { id, limit }),
        (3, _) => {
            let listener = pair.listener;
            pair.ends[1].expect(Expectation::Message { listener, limit });
        }
        (4 | 5, _) => pair.ends[end].expect(Expectation::OneByOne),
        (6 | 7, Some(id)) => {
            let octets = [64, 64, 64, usize::from(choices.word()) % 3_000][choices.index(4)];
            let (mut data, driver) = (payload(octets), &mut pair.ends[end]);
            let unconfirmed = choices.octet() & 3 == 0;
            let sent = match choices.octet() & 1 {
                0 => driver.hand_out(now, id, (None, &mut data), Unit::Message, &mut pair.sent[end]),
                _ => driver.respond_at_once(now, id, &mut data, unconfirmed, &mut pair.sent[end]),
            };
            if !sent {
                let _ = driver
                    .command()
                    .set(now, id, Setting::UnconfirmedResponse(unconfirmed));
                let _ = driver.command().send(now, id, data, true);
                let _ = driver.command().close_writer(now, id);
            }
            pair.leave(end);
        }
        (8 | 9, Some(id)) => pair.let_go(end, id),
        (10, _) => pair.idle = !pair.idle,
        _ => match choices.octet() & 7 {
            0 | 4 => drop(pair.ends[end].settled().stats()),
            7 => {
                let longest = (choices.octet() & 1 == 0).then_some(Duration::from_millis(1));
                pair.ends[end].defer_ends(longest);
            }
            _ => pair.ends[end].tidy(now),
        },
    }
}

/// A whole exchange as two callers make it who wait for nothing else; `number` says what differs.
pub fn exchange_messages(pair: &mut Pair, kind: u8, number: usize) {
    let (limit, listener) = (1 << 20, pair.listener);
    let asks = kind & 1 == 0;
    let options = match asks {
        true => paradigm::transaction(PORT),
        false => paradigm::one_shot(PORT),
    };
    let Some(here) = pair.begin(options, payload(64)) else {
        return;
    };
    pair.flush(0);
    for step in 0..4 {
        pair.now = pair.now + Duration::from_micros(50);
        pair.ends[0].expect(Expectation::Answer { id: here, limit });
        pair.ends[1].expect(Expectation::Message { listener, limit });
        for flight in std::mem::take(&mut pair.wire) {
            pair.deliver(&flight);
        }
        if step == 0
            && let Some(&there) = pair.known[1].last()
        {
            let _ = pair.ends[1].command().read(pair.now, there, limit);
            let (now, unconfirmed) = (pair.now, kind & 2 != 0);
            let (mut data, driver) = (payload(64), &mut pair.ends[1]);
            if asks && !driver.respond_at_once(now, there, &mut data, unconfirmed, &mut pair.sent[1]) {
                let _ = driver
                    .command()
                    .set(now, there, Setting::UnconfirmedResponse(unconfirmed));
                let _ = driver.command().send(now, there, data, true);
                let _ = driver.command().close_writer(now, there);
                pair.flush(1);
            }
            pair.leave(1);
            if number > 2 || !asks {
                pair.let_go(1, there);
            }
        }
        if pair.known[0].contains(&here) {
            let _ = pair.ends[0].command().read(pair.now, here, limit);
        }
        pair.flush(0);
        pair.flush(1);
    }
    pair.let_go(0, here);
}

/// What most users do most of the time.
fn exchange(pair: &mut Pair, end: usize, id: ContextId, choices: &mut Choices<'_>) {
    let (engine, now) = (&mut pair.ends[end], pair.now);
    match choices.index(4) {
        0 | 1 => {
            let len = (choices.number() % LONGEST) as usize;
            let _ = engine
                .command()
                .send(now, id, payload(len), choices.octet() & 1 != 0);
        }
        2 => {
            let max = 1 + choices.number() as usize % 100_000;
            for _ in 0..100 {
                if !matches!(
                    engine.command().read(now, id, max),
                    Ok(Read::Data { .. } | Read::Tag { .. } | Read::Gap { .. })
                ) {
                    break;
                }
            }
        }
        _ => {
            let _ = engine.command().send_tag(now, id, choices.number());
        }
    }
}

/// Everything else a user can do.
fn command(pair: &mut Pair, end: usize, id: ContextId, choices: &mut Choices<'_>) {
    let (engine, now) = (&mut pair.ends[end], pair.now);
    let confirm = [Confirm::Received, Confirm::Delivered];
    let rate = |choices: &mut Choices<'_>| Rate {
        octets_per_second: choices.number(),
        burst: choices.number() as u32,
    };
    // Errors are answers too: a user may ask for anything at any time.
    match choices.index(15) {
        0 => drop(engine.command().close_writer(now, id)),
        1 => drop(engine.command().close_reader(now, id)),
        2 => drop(engine.command().abort(now, id)),
        3 => {
            let _ = engine.command().release(now, id);
            pair.known[end].retain(|known| *known != id);
        }
        4 => drop(
            engine
                .command()
                .mark(now, id, MarkAt::Queued, confirm[choices.index(2)]),
        ),
        5 => drop(engine.command().mark(
            now,
            id,
            MarkAt::Offset(choices.number()),
            confirm[choices.index(2)],
        )),
        6 => drop(
            engine
                .command()
                .set(now, id, Setting::ErrorControl(ErrorControl::GoBackN)),
        ),
        7 => drop(
            engine
                .command()
                .set(now, id, Setting::ErrorControl(ErrorControl::Selective)),
        ),
        8 => drop(engine.command().set(now, id, Setting::InRate(rate(choices)))),
        9 => drop(engine.command().set(now, id, Setting::OutRate(rate(choices)))),
        10 => drop(engine.command().set(now, id, Setting::Sort(Some(choices.word())))),
        11 => {
            let number = choices.number();
            drop(engine.command().post(now, id, number));
            post(pair, end, id, number);
        }
        12 => drop(
            engine
                .command()
                .set(now, id, Setting::UnconfirmedResponse(choices.octet() & 1 != 0)),
        ),
        13 => drop(engine.view().context(id).map(|context| context.stats())),
        _ => drop(engine.command().connect(now, id)),
    }
}

/// Posts a receive for messages of one association, a listener, or all, as the number says.
fn post(pair: &mut Pair, end: usize, id: ContextId, number: u64) {
    let source = match number % 3 {
        0 => Source::Association(id),
        1 => Source::Listener(pair.listener),
        _ => Source::Any,
    };
    let tags = match number / 3 % 4 {
        0 => Tags::Any,
        1 => Tags::Without,
        2 => Tags::exact(number >> 32),
        _ => Tags::Like {
            tag: number >> 16,
            mask: number & 3,
        },
    };
    let length = (number / 12 % 30_000) as usize;
    pair.post(end, Match { source, tags, length }, number & 128 != 0);
}

/// The network, and whoever else is on it.
fn network(pair: &mut Pair, kind: u8, choices: &mut Choices<'_>) {
    let at = choices.index(pair.wire.len().max(1));
    match kind % 12 {
        0 => pair.flush(0),
        1 => pair.flush(1),
        2 => pair.settle(1 + choices.index(20)),
        3 => pair.now = pair.now + Duration::from_nanos(choices.number() % (1 << 38)),
        4 => {
            pair.sleep();
            pair.settle(4);
        }
        5 => drop(pair.wire.remove(at)),
        6 => {
            let end = choices.index(2);
            let peer = pair.addrs[1 - end];
            let failure = match choices.octet() & 1 {
                0 => Failure::PortUnreachable,
                _ => Failure::TooBig {
                    octets: Some(usize::from(choices.word())),
                },
            };
            pair.ends[end].command().failed(pair.now, peer, failure);
        }
        7 => inject(pair, choices),
        _ => {
            if let Some(flight) = pair.wire.get(at).cloned() {
                arrive(pair, flight, at, kind, choices);
            }
        }
    }
}

/// Octets of the attacker's own making.
fn inject(pair: &mut Pair, choices: &mut Choices<'_>) {
    let to = choices.index(2);
    let mut octets = choices.octets(128).to_vec();
    mend(&mut octets);
    let src = pair.addrs[1 - to];
    pair.deliver(&Flight {
        to,
        src,
        ecn: Ecn::NotEct,
        octets,
    });
}

/// A packet under way arrives, out of order, twice, marked, from elsewhere, or damaged.
fn arrive(pair: &mut Pair, mut flight: Flight, at: usize, kind: u8, choices: &mut Choices<'_>) {
    match kind % 12 {
        8 => drop(pair.wire.remove(at)),
        9 => {
            flight.ecn = Ecn::Ce;
            if choices.octet() & 1 != 0 {
                flight.src = SocketAddr::from(([10, 0, 0, 9], 36_036));
            }
        }
        10 => {
            for _ in 0..=choices.index(4) {
                let (place, value) = (usize::from(choices.octet()), choices.octet());
                // The first 96 octets hold everything but data.
                if let Some(octet) = flight.octets.get_mut(place % 96) {
                    *octet = value;
                }
            }
            mend(&mut flight.octets);
        }
        _ => {
            flight.octets.truncate(usize::from(choices.word()));
            mend(&mut flight.octets);
        }
    }
    pair.deliver(&flight);
}
