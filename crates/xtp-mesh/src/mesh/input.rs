//! What associations bring, record by record.

use super::Mesh;
use super::links::{Association, Open, Stage};
use crate::inbound::Item;
use crate::memory::Memory;
use crate::message::{Label, MeshCompletion, PeerNumber, Placed};
use crate::receives::{Body, Message, Parts};
use crate::record::{Fault, Lane, Record};
use bytes::Bytes;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use xtp_core::Time;
use xtp_engine::{ContextId, Driver, Read};

/// Most octets that are taken from one association in one turn.
const SHARE: usize = 1 << 20;
/// Most octets of one piece.
const PIECE: usize = 256 << 10;

/// How reading goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    More,
    /// Until something happens.
    Wait,
}

impl<M: Memory> Mesh<M> {
    /// Takes what came on an association, and lets go of it if it is over.
    pub(super) fn read(&mut self, now: Time, driver: &mut Driver, id: ContextId) {
        let mut taken = 0;
        loop {
            let Some(association) = self.associations.get_mut(&id) else {
                return;
            };
            let next = match association.early.take() {
                Some((serial, record)) => self.take_record(id, serial, record),
                None if !association.rest.is_empty() => self.take_next(now, driver, id),
                None if taken >= SHARE => {
                    self.readable.push_back(id);
                    return;
                }
                None => match driver.command().read(now, id, PIECE) {
                    Ok(Read::Data { bytes, .. }) => {
                        taken += bytes.len();
                        association.rest = bytes;
                        Ok(Next::More)
                    }
                    Ok(Read::End) => return self.stream_ended(now, driver, id),
                    Ok(Read::Tag { .. } | Read::Gap { .. }) => Err(Fault::Place),
                    Ok(Read::Pending) | Err(_) => {
                        if association.is_over {
                            self.remove(now, driver, id);
                        }
                        return;
                    }
                },
            };
            match next {
                Ok(Next::More) => {}
                Ok(Next::Wait) => return,
                Err(fault) => return self.break_off(now, driver, id, fault),
            }
        }
    }

    /// Takes one item of what was read.
    fn take_next(&mut self, now: Time, driver: &mut Driver, id: ContextId) -> Result<Next, Fault> {
        let Some(association) = self.associations.get_mut(&id) else {
            return Ok(Next::Wait);
        };
        match association.stage {
            // It says no more that counts; the peer is about to learn that.
            Stage::Stale => association.rest.clear(),
            Stage::Doubted(..) if association.is_over => return Err(Fault::Preface),
            Stage::Doubted(..) => return Ok(Next::Wait),
            Stage::Fresh | Stage::Joined => {}
        }
        match association.inbound.next(&mut association.rest)? {
            None => {}
            Some(Item::Preface(preface)) => self.introduced(now, driver, id, preface)?,
            Some(Item::Join) => self.counts(driver, id),
            Some(Item::Record(serial, record)) => return self.take_record(id, serial, record),
            Some(Item::Payload { octets, left }) => self.take_payload(id, octets, left)?,
        }
        Ok(Next::More)
    }

    /// A record's turn: it is the next one of its lane, was seen before, or is too early.
    fn take_record(&mut self, id: ContextId, serial: u64, record: Record) -> Result<Next, Fault> {
        let Some((association, (number, lane))) = joined(&mut self.associations, id) else {
            return Ok(Next::Wait);
        };
        let expected = *self.peers[number.0 as usize]
            .lane_mut(lane)
            .expected
            .get_or_insert(serial);
        if serial > expected {
            association.early = Some((serial, record));
            // Another association brings those before, if there is one.
            let brings = |(other, found): (&ContextId, &Association)| {
                *other != id
                    && (found.peer, found.lane) == (Some(number), Some(lane))
                    && found.early.is_none()
            };
            if !self.associations.iter().any(brings) {
                return Err(Fault::Missing);
            }
            self.peers[number.0 as usize].lane_mut(lane).early.push(id);
            return Ok(Next::Wait);
        }
        if serial < expected {
            association.open = Open::Known;
            return Ok(Next::More);
        }
        association.serial = serial;
        self.begin(id, number, record)
    }

    /// The next record of a lane.
    fn begin(&mut self, id: ContextId, number: PeerNumber, record: Record) -> Result<Next, Fault> {
        let peer = &mut self.peers[number.0 as usize];
        let mut open = Open::Nothing;
        match record {
            Record::Start { .. } | Record::Join => return Err(Fault::Place),
            Record::Eager { length, tag, word } => {
                peer.grant.admit(length)?;
                if length > 0 {
                    let parts = Parts::new();
                    open = Open::Eager {
                        tag,
                        word,
                        length,
                        parts,
                    };
                } else {
                    self.message(number, tag, word, 0, Body::Whole(SmallVec::new()));
                }
            }
            Record::Announce { length, tag, word } => {
                peer.grant.admit(0)?;
                let serial = peer.lane(Lane::Express).expected.unwrap_or_default();
                self.message(number, tag, word, length, Body::Announced(serial));
            }
            Record::Pull { id, octets } => {
                let done = peer.serve(id, octets).ok_or(Fault::Pull)?;
                if let Some(token) = done {
                    self.done.push_back(MeshCompletion::Sent {
                        token,
                        outcome: Ok(()),
                    });
                }
                self.look_at(number);
            }
            Record::Credit { octets, messages } => {
                peer.allowance.grant(octets, messages)?;
                self.look_at(number);
            }
            Record::Chunk { id, offset, length } => {
                let pull = peer.pulls.get(&id).ok_or(Fault::Chunk)?;
                if offset != pull.received || length > pull.wanted - pull.received {
                    return Err(Fault::Chunk);
                }
                open = Open::Chunk { id, at: offset };
            }
        }
        if matches!(open, Open::Nothing) {
            self.record_ended(number, record);
        } else if let Some(association) = self.associations.get_mut(&id) {
            association.open = open;
        }
        Ok(Next::More)
    }

    /// Octets of a record.
    fn take_payload(&mut self, id: ContextId, octets: Bytes, left: u64) -> Result<(), Fault> {
        let Some((association, (number, lane))) = joined(&mut self.associations, id) else {
            return Ok(());
        };
        let peer = &mut self.peers[number.0 as usize];
        if peer.lane(lane).expected != Some(association.serial) {
            // Another association has brought it meanwhile.
            association.open = Open::Known;
        }
        match &mut association.open {
            Open::Nothing | Open::Known => return Ok(()),
            Open::Eager { parts, .. } => parts.push(octets),
            Open::Chunk { id, at } => {
                let pull = peer.pulls.get_mut(id).ok_or(Fault::Chunk)?;
                // A place in memory that there is: its length was that of a receive.
                pull.memory.put(*at as usize, &octets);
                *at += octets.len() as u64;
            }
        }
        if left > 0 {
            return Ok(());
        }
        match core::mem::replace(&mut association.open, Open::Nothing) {
            Open::Nothing | Open::Known => {}
            Open::Eager {
                tag,
                word,
                length,
                parts,
            } => {
                self.message(number, tag, word, length, Body::Whole(parts));
                self.advance(number, Lane::Express);
            }
            Open::Chunk { id, at } => {
                self.chunk_ended(number, id, at);
                self.advance(number, Lane::Bulk);
            }
        }
        Ok(())
    }

    fn record_ended(&mut self, number: PeerNumber, record: Record) {
        let lane = match record.is_of(Lane::Express) {
            true => Lane::Express,
            false => Lane::Bulk,
        };
        self.advance(number, lane);
    }

    /// The next record of a lane is expected.
    fn advance(&mut self, number: PeerNumber, lane: Lane) {
        let expected = &mut self.peers[number.0 as usize].lane_mut(lane).expected;
        *expected = expected.map(|serial| serial + 1);
        self.retry_early(number, lane);
    }

    /// Records that came too early are looked at again.
    pub(super) fn retry_early(&mut self, number: PeerNumber, lane: Lane) {
        let early = &mut self.peers[number.0 as usize].lane_mut(lane).early;
        if !early.is_empty() {
            self.readable.extend(early.drain(..));
        }
    }

    fn message(&mut self, peer: PeerNumber, tag: u64, word: u64, length: u64, body: Body) {
        let label = Label {
            peer,
            tag,
            word,
            length,
        };
        let known = &mut self.peers[peer.0 as usize];
        let epoch = known.epoch();
        let message = Message { label, epoch, body };
        known.grant.receive(message.held());
        self.match_message(message);
    }

    /// A piece of a pulled message is here.
    fn chunk_ended(&mut self, number: PeerNumber, id: u64, at: u64) {
        let pulls = &mut self.peers[number.0 as usize].pulls;
        let Some(pull) = pulls.get_mut(&id) else {
            return;
        };
        pull.received = at;
        if pull.received == pull.wanted
            && let Some(pull) = pulls.remove(&id)
        {
            let (label, taken) = (pull.label, pull.wanted);
            self.received(pull.token, pull.memory, Ok(Placed { label, taken }));
        }
    }

    /// The peer says no more on an association: it leaves, if that was of the session.
    fn stream_ended(&mut self, now: Time, driver: &mut Driver, id: ContextId) {
        match joined(&mut self.associations, id) {
            Some((association, (number, _))) => {
                association.has_ended = true;
                self.peers[number.0 as usize].has_left = true;
                self.finish(now, driver, id);
            }
            None => self.remove(now, driver, id),
        }
    }
}

/// The association with its peer and lane, if it is of a session.
fn joined(
    associations: &mut BTreeMap<ContextId, Association>,
    id: ContextId,
) -> Option<(&mut Association, (PeerNumber, Lane))> {
    let association = associations.get_mut(&id)?;
    let place = association.joined()?;
    Some((association, place))
}
