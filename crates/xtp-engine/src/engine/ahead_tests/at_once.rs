//! What a user waits for is handed to him at once in one world; in the other the general calls bring the same.

use super::World;
use crate::engine::Delivery;
use crate::{
    CloseReason, ContextId, Datagram, Ecn, Event, Expectation, OpenOptions, Read, Time, TransmitBatch,
};
use bytes::Bytes;
use std::net::SocketAddr;
use xtp_wire::{Header, Options, service};

/// Offers the one datagram that is under way to `me` to the user, who waits for the message or the answer; true if he has it, and
/// everything up to the end of the turn was done. What was taken in the general way is gone from `came` as well.
pub(super) fn take(
    world: &mut World,
    me: usize,
    now: Time,
    came: &mut Vec<Vec<u8>>,
    options: &OpenOptions,
    number: u64,
) -> bool {
    let ([octets], true) = (&came[..], world.express) else {
        return false;
    };
    let datagram = datagram(me, octets);
    // Sometimes less than it is.
    let limit = if number.is_multiple_of(29) { 10 } else { 1 << 16 };
    let waits = world.held[0].last().copied();
    let taken = match (me, waits) {
        (0, Some(id)) => answer(world, now, id, datagram, options, limit),
        (1, _) => first(world, now, datagram, limit),
        _ => return false,
    };
    if !taken {
        world.take_events(me);
        came.clear();
    }
    taken
}

fn answer(
    world: &mut World,
    now: Time,
    id: ContextId,
    datagram: Datagram<'_>,
    options: &OpenOptions,
    limit: usize,
) -> bool {
    let asks = options.service == service::TRANSACTION;
    let limit = if asks { limit } else { 0 };
    let mut out = TransmitBatch::new();
    let expected = Expectation::Answer { id, limit };
    let message = match world.ends[0].receive_expected(now, expected, datagram, &mut out) {
        Some(Delivery::Answer(message)) => message,
        None => return false,
        Some(other) => panic!("{other:?} to whoever waits for an answer"),
    };
    world.at_once[0] += 1;
    world.events.push(format!("0 {id:?} {:?}", Event::Heard));
    world.events.push(format!("0 {id:?} {:?}", Event::Readable));
    let closed = format!("0 {id:?} {:?}", Event::Closed(CloseReason::Normal));
    // An answer that is the end tells so before it is read.
    let ends = Header::parse(datagram.data).is_ok_and(|header| header.options.contains(Options::END));
    if ends {
        assert!(out.is_empty());
        world.events.push(closed.clone());
    }
    if asks {
        world.events.push(format!("0 {:?}", data(&message)));
    }
    leaves(world, 0, &out);
    if !world.idle {
        world.ends[0].catch_up();
    }
    if !ends {
        world.events.push(closed);
    }
    world.take_events(0);
    true
}

fn first(world: &mut World, now: Time, datagram: Datagram<'_>, limit: usize) -> bool {
    let mut out = TransmitBatch::new();
    let listener = world.listener;
    let expected = Expectation::Message { listener, limit };
    let welcomed = match world.ends[1].receive_expected(now, expected, datagram, &mut out) {
        Some(Delivery::Message(welcomed)) => welcomed,
        None => return false,
        Some(other) => panic!("{other:?} to whoever waits for a message"),
    };
    world.at_once[1] += 1;
    let id = welcomed.id;
    let accepted = Event::Accepted {
        listener,
        peer: datagram.src,
        service: welcomed.service,
        port: welcomed.port,
    };
    world.held[1].push(id);
    world.events.push(format!("1 {id:?} {accepted:?}"));
    world.events.push(format!("1 {id:?} {:?}", Event::Readable));
    let taken: Result<(), crate::Error> = Ok(());
    world.events.push(format!("1 accepted {taken:?}"));
    world.events.push(format!("1 {:?}", data(&welcomed.message)));
    leaves(world, 1, &out);
    if !out.is_empty() {
        world.ends[1].catch_up();
    }
    world.take_events(1);
    true
}

fn data(message: &Bytes) -> Result<Read, crate::Error> {
    Ok(Read::Data {
        offset: 0,
        bytes: message.clone(),
        eom: true,
    })
}

fn leaves(world: &mut World, me: usize, out: &TransmitBatch) {
    let peer: SocketAddr = super::address(1 - me);
    out.for_each_datagram(|train, octets| {
        assert_eq!(train.dst, peer);
        world.wire[1 - me].push(octets.to_vec());
    });
}

/// The user answers the request he took last; true if that took one step.
pub(super) fn respond(world: &mut World, now: Time, id: ContextId, data: &Bytes, unconfirmed: bool) -> bool {
    let (mut out, mut rest) = (TransmitBatch::new(), data.clone());
    if !world.express || !world.ends[1].respond_at_once(now, id, &mut rest, unconfirmed, &mut out) {
        return false;
    }
    assert!(rest.is_empty() && !out.is_empty());
    world.at_once[2] += 1;
    if unconfirmed {
        let set: Result<(), crate::Error> = Ok(());
        world.events.push(format!("1 unconfirmed: {set:?}"));
    }
    let (sent, closed): (Result<usize, crate::Error>, Result<(), crate::Error>) = (Ok(data.len()), Ok(()));
    world.events.push(format!("1 {sent:?} {closed:?}"));
    leaves(world, 1, &out);
    true
}

/// The END of an association its user has let go of, while he waits for the next one; true if that was all. What was taken in the
/// general way is gone from `came` as well.
pub(super) fn end(world: &mut World, now: Time, came: &mut Vec<Vec<u8>>) -> bool {
    let ([octets], true) = (&came[..], world.express) else {
        return false;
    };
    let expected = Expectation::Message {
        listener: world.listener,
        // No message is as short as what he takes.
        limit: 0,
    };
    let mut out = TransmitBatch::new();
    let delivery = world.ends[1].receive_expected(now, expected, datagram(1, octets), &mut out);
    match delivery {
        None => {
            world.take_events(1);
            came.clear();
            false
        }
        Some(Delivery::Ended(_)) => {
            world.at_once[3] += 1;
            world.unmade += 1;
            true
        }
        Some(other) => panic!("{other:?} to who takes nothing"),
    }
}

/// The user lets go of one that is over.
pub(super) fn release(world: &mut World, me: usize, now: Time, id: ContextId) -> Result<(), crate::Error> {
    if world.express && world.ends[me].release_at_once(now, id) {
        world.at_once[4] += 1;
        return Ok(());
    }
    world.ends[me].release(now, id)
}

fn datagram(me: usize, data: &[u8]) -> Datagram<'_> {
    Datagram {
        src: super::address(1 - me),
        dst: None,
        ecn: Ecn::NotEct,
        data,
        backing: None,
    }
}
