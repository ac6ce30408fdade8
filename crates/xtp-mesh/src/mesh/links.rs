//! Associations of a mesh: how they begin, which of them carries a lane, and how they end.

use super::Mesh;
use crate::inbound::Inbound;
use crate::memory::Memory;
use crate::message::{LossReason, PeerNumber};
use crate::receives::Parts;
use crate::record::{Fault, HEADER, Lane, PREFACE, Preface, Record};
use bytes::Bytes;
use core::net::SocketAddr;
use core::time::Duration;
use xtp_core::Time;
use xtp_engine::{Confirm, ContextId, Driver, MarkAt, MarkId, OpenOptions};

/// Code of a rejection for what breaks the protocol of meshes.
const REJECTED: u32 = 256;
/// Longest that a peer is tried by one association, as silence of the peer is counted: what is beyond was a pause of this end.
const LONGEST_TRY: Duration = Duration::from_secs(25);
/// The first pause before another association is opened; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// How far an association has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The peer's preface is still to come.
    Fresh,
    /// Its preface counts once the peer has confirmed that it reads this association.
    Doubted(Preface, MarkId),
    /// It belongs to the session.
    Joined,
    /// It belongs to a session that is over. Its peer learns that from this end's preface.
    Stale,
}

/// A record whose payload comes.
#[derive(Debug)]
pub(super) enum Open {
    Nothing,
    Eager {
        tag: u64,
        word: u64,
        length: u64,
        parts: Parts,
    },
    /// A piece of a pulled message: where its next octets go.
    Chunk {
        id: u64,
        at: u64,
    },
    /// It came before.
    Known,
}

#[derive(Debug)]
pub(super) struct Association {
    /// Known from the beginning where this end opened it.
    pub(super) peer: Option<PeerNumber>,
    pub(super) lane: Option<Lane>,
    pub(super) stage: Stage,
    /// The session that this end's preface named; 0 as long as none is written.
    pub(super) told: u64,
    /// The peer's session that it believed in; 0: none.
    believed: u64,
    /// It carries its lane, or did: that begins once in a stream.
    has_carried: bool,
    /// [`Record::Join`] is written behind the preface.
    has_joined_late: bool,
    /// The peer reads it: what its host acknowledges is confirmed. As long as it doubts, it may let go of it unread.
    pub(super) counts: bool,
    pub(super) inbound: Inbound,
    /// Octets that were read and not looked at.
    pub(super) rest: Bytes,
    pub(super) open: Open,
    /// The serial of that record, unless it came before.
    pub(super) serial: u64,
    /// A record that is not next: another association brings those before.
    pub(super) early: Option<(u64, Record)>,
    /// Nothing comes any more but what is here.
    pub(super) is_over: bool,
    /// The peer's stream has ended in order, and was read.
    pub(super) has_ended: bool,
}

impl Association {
    fn new(peer: Option<PeerNumber>, lane: Option<Lane>) -> Self {
        Self {
            peer,
            lane,
            stage: Stage::Fresh,
            told: 0,
            believed: 0,
            has_carried: false,
            has_joined_late: false,
            counts: false,
            inbound: Inbound::new(),
            rest: Bytes::new(),
            open: Open::Nothing,
            serial: 0,
            early: None,
            is_over: false,
            has_ended: false,
        }
    }

    /// Octets that this end wrote before any record that is counted.
    fn written(&self) -> u64 {
        match self.has_joined_late {
            true => (PREFACE + HEADER) as u64,
            false => PREFACE as u64,
        }
    }

    /// This end opened it, and has no answer.
    pub(super) fn is_unanswered(&self) -> bool {
        self.peer.is_some() && self.stage == Stage::Fresh
    }

    /// This end did not know a session of the peer's either: whichever life of it reads the records counts them.
    pub(super) fn is_open_to_any(&self) -> bool {
        self.is_unanswered() && self.believed == 0
    }

    /// Whose it is, and what it carries, if it belongs to a session.
    pub(super) fn joined(&self) -> Option<(PeerNumber, Lane)> {
        let joined = self.stage == Stage::Joined;
        self.peer.zip(self.lane).filter(|_| joined)
    }
}

impl<M: Memory> Mesh<M> {
    /// A peer opened an association: what it is for stands in its stream.
    pub(super) fn accept(&mut self, id: ContextId) {
        self.associations.insert(id, Association::new(None, None));
        self.readable.push_back(id);
    }

    /// The association that carries a lane from now on: one there is, or another one that is opened.
    pub(super) fn connect(&mut self, now: Time, driver: &mut Driver, number: PeerNumber, lane: Lane) {
        let of_it = |association: &&Association| {
            (association.peer, association.lane, association.stage)
                == (Some(number), Some(lane), Stage::Joined)
                && !association.has_carried
        };
        let mut all = self.associations.iter();
        if let Some((id, _)) = all.find(|(_, association)| of_it(association)) {
            return self.carry(*id, number, lane);
        }
        let peer = &mut self.peers[number.0 as usize];
        let mut options = OpenOptions::new(self.options.service_number);
        options.wait_for_listener = true;
        let opened = driver.command().open(now, peer.address, options);
        let preface = peer.preface(lane);
        let introduced = opened.map_err(drop).and_then(|id| {
            let written = write_preface(now, driver, id, &preface);
            written.inspect_err(|()| driver.release(now, id)).map(|()| id)
        });
        match introduced {
            Ok(id) => {
                let mut association = Association::new(Some(number), Some(lane));
                (association.told, association.believed) = (preface.session, preface.believed);
                self.associations.insert(id, association);
                peer.lane_mut(lane).opened_at = now;
                self.carry(id, number, lane);
            }
            // Too many are open: later perhaps not.
            Err(()) => self.pause(now, number, lane),
        }
    }

    /// An association carries a lane from now on.
    fn carry(&mut self, id: ContextId, number: PeerNumber, lane: Lane) {
        if let Some(association) = self.associations.get_mut(&id) {
            association.has_carried = true;
            let written = association.written();
            self.peers[number.0 as usize].lane_mut(lane).carry(id, written);
        }
    }

    /// The peer's preface came.
    pub(super) fn introduced(
        &mut self,
        now: Time,
        driver: &mut Driver,
        id: ContextId,
        preface: Preface,
    ) -> Result<(), Fault> {
        let lane = self
            .associations
            .get(&id)
            .and_then(|association| association.lane);
        if lane.is_some_and(|lane| lane != preface.lane) {
            return Err(Fault::Preface);
        }
        self.believe(now, driver, id, preface, false)
    }

    /// Decides what an association is by its peer's preface. `confirmed`: the peer has confirmed this end's.
    fn believe(
        &mut self,
        now: Time,
        driver: &mut Driver,
        id: ContextId,
        preface: Preface,
        confirmed: bool,
    ) -> Result<(), Fault> {
        let (Some(association), Ok(view)) = (self.associations.get(&id), driver.view().context(id)) else {
            return Ok(());
        };
        let (address, told, association_believed) = (view.peer(), association.told, association.believed);
        let is_proved = confirmed || view.is_proved();
        // It answers what this end opened: it is no older.
        let is_answer = association.peer.is_some();
        let known = association
            .peer
            .or_else(|| self.by_address.get(&address).copied());
        let number = match known {
            Some(number) => number,
            None if is_proved => self.peer(address).map_err(|_| Fault::Credit)?,
            // A stranger costs nothing before it is seen that it is there.
            None => {
                let own = self.first_session(address);
                return self.doubt(now, driver, id, own, preface);
            }
        };
        let was_wrong = association_believed != 0 && association_believed != preface.session;
        if is_answer && was_wrong {
            // The peer has begun anew since this association was opened, for which it has no use.
            self.adopt(now, driver, number, preface.session, None);
            self.drop_association(now, driver, id);
            self.look_at(number);
            return Ok(());
        }
        let peer = &self.peers[number.0 as usize];
        let same = match peer.theirs {
            Some(theirs) => theirs == preface.session,
            None => peer.former != Some(preface.session),
        };
        let speaks_to_us = preface.believed == 0 || preface.believed == peer.own;
        if !speaks_to_us || (told != 0 && told != peer.own) {
            return self.turn_back(now, driver, id, number, preface.lane);
        }
        if is_answer || confirmed || same {
            return self.join(now, driver, id, number, preface);
        }
        let own = peer.own;
        self.doubt(now, driver, id, own, preface)
    }

    /// Whether a preface is of a session that lives, and from its address, is seen by whether this end's is confirmed.
    fn doubt(
        &mut self,
        now: Time,
        driver: &mut Driver,
        id: ContextId,
        own: u64,
        preface: Preface,
    ) -> Result<(), Fault> {
        // Which session of the peer's to believe is what is in doubt.
        let said = Preface {
            lane: preface.lane,
            session: own,
            believed: 0,
            next: 0,
        };
        let mark = write_preface(now, driver, id, &said).and_then(|()| {
            let mark = driver.command().mark(now, id, MarkAt::Queued, Confirm::Received);
            mark.map_err(drop)
        });
        if let (Ok(mark), Some(association)) = (mark, self.associations.get_mut(&id)) {
            association.told = own;
            association.stage = Stage::Doubted(preface, mark);
            return Ok(());
        }
        Err(Fault::Preface)
    }

    /// The peer speaks to a session that is over: it is told which one there is.
    fn turn_back(
        &mut self,
        now: Time,
        driver: &mut Driver,
        id: ContextId,
        number: PeerNumber,
        lane: Lane,
    ) -> Result<(), Fault> {
        let own = self.peers[number.0 as usize].preface(lane);
        let Some(association) = self.associations.get_mut(&id) else {
            return Ok(());
        };
        association.stage = Stage::Stale;
        if association.told == 0 {
            association.told = own.session;
            return write_preface(now, driver, id, &own).map_err(|()| Fault::Preface);
        }
        Ok(())
    }

    /// An association belongs to the peer's session, which may be another than before.
    fn join(
        &mut self,
        now: Time,
        driver: &mut Driver,
        id: ContextId,
        number: PeerNumber,
        preface: Preface,
    ) -> Result<(), Fault> {
        let before = self.peers[number.0 as usize].theirs;
        if before != Some(preface.session) && !self.adopt(now, driver, number, preface.session, Some(id)) {
            self.drop_association(now, driver, id);
            self.look_at(number);
            return Ok(());
        }
        let peer = &mut self.peers[number.0 as usize];
        peer.silent = Duration::ZERO;
        let own = peer.preface(preface.lane);
        let state = peer.lane_mut(preface.lane);
        state.failures = 0;
        let confirmed: Option<Vec<_>> = state.out.confirm_below(preface.next).map(Iterator::collect);
        match confirmed {
            Some(notes) => self.confirmed(notes),
            None if before == Some(preface.session) => return Err(Fault::Missing),
            None => {}
        }
        let Some(association) = self.associations.get_mut(&id) else {
            return Ok(());
        };
        // An end that opened it reads it.
        association.counts = association.peer.is_none() || preface.believed == own.session;
        if association.peer.is_none() {
            let _ = driver.command().accepted(id);
            if association.told != 0 {
                let join = Bytes::copy_from_slice(&Record::Join.encode());
                association.has_joined_late = driver.command().send(now, id, join, false).is_ok();
            }
        }
        (association.peer, association.lane) = (Some(number), Some(preface.lane));
        association.stage = Stage::Joined;
        if association.told == 0 {
            association.told = own.session;
            // It fails where the peer has ended the association, which an event tells.
            let _ = write_preface(now, driver, id, &own);
        }
        if !association.has_carried && self.should_carry(number, &preface) {
            self.carry(id, number, preface.lane);
        }
        self.look_at(number);
        Ok(())
    }

    /// Whether an association that joins carries its lane from now on. Of two that were opened at the same time both ends choose the same:
    /// one that is used both ways needs half the packets.
    fn should_carry(&self, number: PeerNumber, preface: &Preface) -> bool {
        let peer = &self.peers[number.0 as usize];
        let is_open_to_any = |via| {
            let association: Option<&Association> = self.associations.get(&via);
            association.is_some_and(Association::is_open_to_any)
        };
        match peer.lane(preface.lane).via {
            None => true,
            Some(via) => preface.session < peer.own && is_open_to_any(via),
        }
    }

    /// The peer's session is this one from now on. If it had another one that is over, with all its associations but `by`. False if
    /// this end begins anew, too: then that one is of no use either.
    fn adopt(
        &mut self,
        now: Time,
        driver: &mut Driver,
        number: PeerNumber,
        session: u64,
        by: Option<ContextId>,
    ) -> bool {
        let mut own_goes_on = true;
        if self.peers[number.0 as usize]
            .theirs
            .is_some_and(|theirs| theirs != session)
        {
            let own = self.peers[number.0 as usize].own;
            // The life of the peer that begins may have counted records that are given up now: a gap to it.
            own_goes_on = !self.is_open_to_any(number);
            self.drop_associations(now, driver, number, by.filter(|_| own_goes_on));
            self.lose(number, LossReason::Restarted);
            // Only the peer begins anew: it may have been told of this end's session.
            if own_goes_on {
                self.peers[number.0 as usize].own = own;
            }
        }
        let peer = &mut self.peers[number.0 as usize];
        if peer.theirs.is_none() && peer.begin(session) {
            self.receives.forget_all(number);
        }
        own_goes_on
    }

    /// Whether records of this session stand, or stood, where another life of the peer could count them.
    fn is_open_to_any(&self, number: PeerNumber) -> bool {
        let mut all = self.associations.values();
        self.peers[number.0 as usize].was_open_to_any
            || all.any(|association| association.peer == Some(number) && association.is_open_to_any())
    }

    /// A mark was reached.
    pub(super) fn marked(&mut self, now: Time, driver: &mut Driver, id: ContextId, mark: MarkId) {
        let Some(association) = self.associations.get(&id) else {
            return;
        };
        if let Stage::Doubted(preface, doubted) = association.stage
            && doubted == mark
        {
            if let Err(fault) = self.believe(now, driver, id, preface, true) {
                self.break_off(now, driver, id, fault);
            }
            self.readable.push_back(id);
            return;
        }
        if let (Some(number), Some(lane)) = (association.peer, association.lane) {
            let has_ended = association.has_ended;
            self.lane_marked(number, lane, mark);
            self.confirm_acknowledged(driver, id, number, lane);
            if has_ended {
                self.finish(now, driver, id);
            }
        }
    }

    /// The peer has moved.
    pub(super) fn moved(&mut self, id: ContextId, address: SocketAddr) {
        let association = self.associations.get(&id);
        let Some(number) = association.and_then(|association| association.peer) else {
            return;
        };
        // An address that another peer has is left to it.
        if !self.by_address.contains_key(&address) {
            let peer = &mut self.peers[number.0 as usize];
            self.by_address.remove(&peer.address);
            peer.address = address;
            self.by_address.insert(address, number);
        }
    }

    /// An association is over. What it brought is taken first.
    pub(super) fn ended(&mut self, now: Time, driver: &mut Driver, id: ContextId) {
        if let Some(association) = self.associations.get_mut(&id) {
            association.is_over = true;
            self.read(now, driver, id);
        }
    }

    /// Nothing comes on this association any more. It is let go of once the peer's host has what was written to it, or can not have it.
    pub(super) fn finish(&mut self, now: Time, driver: &mut Driver, id: ContextId) {
        let found = self
            .associations
            .get(&id)
            .filter(|association| !association.is_over);
        if let Some((number, lane)) = found.and_then(Association::joined) {
            self.confirm_acknowledged(driver, id, number, lane);
            let state = self.peers[number.0 as usize].lane_mut(lane);
            if state.via == Some(id) && state.out.is_written_and_unconfirmed() {
                if state.mark.is_none() {
                    let mark = driver.command().mark(now, id, MarkAt::Queued, Confirm::Received);
                    state.mark = mark.ok();
                }
                if state.mark.is_some() {
                    return;
                }
            }
        }
        self.remove(now, driver, id);
    }

    /// The peer has joined an association of which it was in doubt.
    pub(super) fn counts(&mut self, driver: &Driver, id: ContextId) {
        if let Some(association) = self.associations.get_mut(&id) {
            association.counts = true;
            if let Some((number, lane)) = association.joined() {
                self.confirm_acknowledged(driver, id, number, lane);
                self.look_at(number);
            }
        }
    }

    /// What the peer's host has acknowledged of a lane's association is confirmed.
    fn confirm_acknowledged(&mut self, driver: &Driver, id: ContextId, number: PeerNumber, lane: Lane) {
        let counts = self
            .associations
            .get(&id)
            .is_some_and(|association| association.counts);
        let state = self.peers[number.0 as usize].lane_mut(lane);
        let view = driver.view().context(id).ok();
        if let Some(view) = view.filter(|_| counts && state.via == Some(id)) {
            let notes: Vec<_> = state.out.confirm(view.confirmed()).collect();
            self.confirmed(notes);
        }
    }

    /// The peer has left: when the last association of the session is over, so is that.
    fn take_leave(&mut self, now: Time, driver: &mut Driver, number: PeerNumber) {
        let is_of_it = |association: &Association| association.joined().is_some_and(|(of, _)| of == number);
        if !self.associations.values().any(is_of_it) {
            self.drop_associations(now, driver, number, None);
            self.lose(number, LossReason::Left);
        }
    }

    /// Lets go of an association that is of no use any more.
    pub(super) fn remove(&mut self, now: Time, driver: &mut Driver, id: ContextId) {
        let joined = self.associations.get(&id).and_then(Association::joined);
        if let Some((number, lane)) = joined {
            self.confirm_acknowledged(driver, id, number, lane);
        }
        let Some(association) = self.associations.remove(&id) else {
            return;
        };
        driver.release(now, id);
        let (Some(number), Some(lane)) = (association.peer, association.lane) else {
            return;
        };
        self.peers[number.0 as usize].was_open_to_any |= association.is_open_to_any();
        if self.peers[number.0 as usize].has_left {
            self.peers[number.0 as usize].lane_mut(lane).leave(id);
            self.take_leave(now, driver, number);
            return;
        }
        let state = self.peers[number.0 as usize].lane_mut(lane);
        if state.leave(id) {
            let waited = now.since(state.opened_at).min(LONGEST_TRY);
            self.retry(now, number, lane, waited, association.stage == Stage::Joined);
        }
        self.retry_early(number, lane);
    }

    /// The association that carried a lane is over: another one is needed if something waits.
    fn retry(&mut self, now: Time, number: PeerNumber, lane: Lane, waited: Duration, was_joined: bool) {
        let is_wanted = self.wants(number, lane);
        let peer = &mut self.peers[number.0 as usize];
        if !was_joined {
            peer.silent += waited;
        }
        if !is_wanted {
            return;
        }
        if peer.silent >= self.options.patience {
            self.lose(number, LossReason::Silent);
            return;
        }
        self.pause(now, number, lane);
    }

    /// Whether an association is needed for a lane: something is to be said, or to come from this peer.
    pub(super) fn wants(&self, number: PeerNumber, lane: Lane) -> bool {
        let peer = &self.peers[number.0 as usize];
        if self.is_leaving {
            return peer.lane(lane).out.unconfirmed() > 0;
        }
        peer.wants(lane) || (lane == Lane::Express && self.receives.waits_for(number))
    }

    /// Another association is opened after a while, which grows.
    fn pause(&mut self, now: Time, number: PeerNumber, lane: Lane) {
        let peer = &mut self.peers[number.0 as usize];
        let state = peer.lane_mut(lane);
        let pause = FIRST_PAUSE
            .saturating_mul(1 << state.failures.min(16))
            .min(LONGEST_PAUSE);
        state.failures += 1;
        let at = now + pause;
        state.retry_at = Some(at);
        // Of silence it is a part, too: a peer's host may refuse at once.
        peer.silent += pause;
        self.timers.insert((at, number, lane));
    }

    /// A peer broke the protocol on this association.
    pub(super) fn break_off(&mut self, now: Time, driver: &mut Driver, id: ContextId, fault: Fault) {
        let Some(association) = self.associations.get(&id) else {
            return;
        };
        let (peer, stage) = (association.peer, association.stage);
        let _ = driver.command().reject(now, id, REJECTED, &fault.to_string());
        match (peer, stage) {
            (Some(number), Stage::Joined) => {
                self.drop_associations(now, driver, number, None);
                self.lose(number, LossReason::Broken(fault));
            }
            // An association of no session costs no session.
            _ => self.remove(now, driver, id),
        }
    }

    /// Aborts the associations of a peer, but for one.
    pub(super) fn drop_associations(
        &mut self,
        now: Time,
        driver: &mut Driver,
        number: PeerNumber,
        but: Option<ContextId>,
    ) {
        let of_it = |(id, association): &(&ContextId, &Association)| {
            association.peer == Some(number) && Some(**id) != but
        };
        let ids: Vec<ContextId> = self
            .associations
            .iter()
            .filter(of_it)
            .map(|(id, _)| *id)
            .collect();
        for id in ids {
            self.drop_association(now, driver, id);
        }
    }

    /// Aborts an association, which carries its lane no more.
    pub(super) fn drop_association(&mut self, now: Time, driver: &mut Driver, id: ContextId) {
        let Some(association) = self.associations.remove(&id) else {
            return;
        };
        let _ = driver.command().abort(now, id);
        driver.release(now, id);
        if let Some((number, lane)) = association.peer.zip(association.lane) {
            let peer = &mut self.peers[number.0 as usize];
            peer.was_open_to_any |= association.is_open_to_any();
            peer.lane_mut(lane).leave(id);
        }
    }
}

/// Writes this end's preface: there is always room for it in an association that begins.
fn write_preface(now: Time, driver: &mut Driver, id: ContextId, preface: &Preface) -> Result<(), ()> {
    let octets = Bytes::copy_from_slice(&preface.encode());
    match driver.command().send(now, id, octets, false) {
        Ok(PREFACE) => Ok(()),
        _ => Err(()),
    }
}
