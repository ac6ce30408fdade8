//! What a user waits for is handed to him at once in one world; in the other the general calls bring the same.

use super::World;
use crate::{CloseReason, ContextId, Datagram, Ecn, Event, OpenOptions, Read, Time, TransmitBatch};
use bytes::Bytes;
use std::net::SocketAddr;
use xtp_wire::{Header, Options, service};

/// Takes the one datagram that is under way to `me`, whose user waits for the message or the answer; true if that was
/// all, and everything up to the end of the turn was done.
pub(super) fn take(
    world: &mut World,
    me: usize,
    now: Time,
    octets: &[u8],
    options: &OpenOptions,
    number: u64,
) -> bool {
    let datagram = datagram(me, octets);
    // Sometimes less than it is.
    let limit = if number.is_multiple_of(29) { 10 } else { 1 << 16 };
    let waits = world.held[0].last().copied();
    match (me, waits) {
        (0, Some(id)) => answer(world, now, id, &datagram, options, limit),
        (1, _) => first(world, now, &datagram, limit),
        _ => false,
    }
}

fn answer(
    world: &mut World,
    now: Time,
    id: ContextId,
    datagram: &Datagram<'_>,
    options: &OpenOptions,
    limit: usize,
) -> bool {
    let asks = options.service == service::TRANSACTION;
    let limit = if asks { limit } else { 0 };
    let mut out = TransmitBatch::new();
    let taken = match world.express {
        true => world.ends[0].receive_answer(now, id, datagram, limit, &mut out),
        false => None,
    };
    let Some(message) = taken else {
        return false;
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

fn first(world: &mut World, now: Time, datagram: &Datagram<'_>, limit: usize) -> bool {
    let mut out = TransmitBatch::new();
    let taken = match world.express {
        true => world.ends[1].receive_first(now, world.listener, datagram, limit, &mut out),
        false => None,
    };
    let Some(welcomed) = taken else {
        return false;
    };
    world.at_once[1] += 1;
    let (listener, id) = (world.listener, welcomed.id);
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

/// The END of an association its user has let go of, or lets go of now; true if that took one step.
pub(super) fn end(world: &mut World, now: Time, octets: &[u8], releases: bool) -> bool {
    let datagram = datagram(1, octets);
    let last = world.held[1].last().copied();
    let last = last.filter(|_| releases);
    let Some(id) = last.or(world.released).filter(|_| world.express) else {
        return false;
    };
    if !world.ends[1].receive_end(now, id, &datagram) {
        return false;
    }
    world.at_once[3] += 1;
    world.unmade += 1;
    if world.released != Some(id) {
        if let Some((_, mark)) = world.mark.filter(|(marked, _)| *marked == id) {
            world.events.push(format!("1 {id:?} {:?}", Event::Marked(mark)));
        }
        let closed = Event::Closed(CloseReason::Normal);
        world.events.push(format!("1 {id:?} {closed:?}"));
    }
    if releases {
        let released: Option<Result<(), crate::Error>> = last.map(|_| Ok(()));
        world.events.push(format!("1 {released:?}"));
        world.held[1].pop();
    }
    true
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
