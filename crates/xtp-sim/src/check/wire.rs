//! Rules of the packets themselves, checked for each end of every association as its packets leave.

use core::net::SocketAddr;
use std::collections::{BTreeMap, BTreeSet};

use xtp_wire::{Format, Key, Options, serial_gt};

use crate::check::amplification::{AmplificationCheck, Arrived};
use crate::check::growth::GrowthCheck;
use crate::check::pacing::PacingCheck;
use crate::check::rate::RateCheck;
use crate::check::silence;
use crate::packet::{Seen, Statement};
use crate::trace::{Fate, Side};

/// What one end has sent.
#[derive(Clone, Debug, Default)]
pub struct End {
    /// Packets of any format.
    pub packets: u64,
    /// Of these without stream octets.
    pub control_packets: u64,
    /// Of these lost on the way.
    pub lost_packets: u64,
    /// Of these damaged on the way, so that nobody took them.
    pub damaged_packets: u64,
    /// Octets of sequence space in data packets.
    pub data_octets: u64,
    /// Of these in packets lost on the way.
    pub lost_octets: u64,
    /// Octets of sequence space sent a second time or more often.
    pub repeated_octets: u64,
    /// UDP payload octets of all packets.
    pub octets: u64,
    /// One past the last octet sent.
    pub highest: u64,
    /// When its last packet left, nanoseconds of world time.
    pub sent_at: u64,
    /// When the last packet reached it.
    pub arrived_at: u64,
    /// Anything did.
    pub heard: bool,
    /// The longest time nothing reached it of late, and when it ended.
    pub quiet: (u64, u64),
    /// How long after FIRST anything reached it, and when that was.
    pub first: (u64, u64),
    /// Its oldest question that nothing has answered: the sync, and when it left.
    pub asked: Option<(u32, u64)>,
    /// The first DIAG 3 that was injected since a packet reached it last, and the longest time until one did.
    doubted: Option<u64>,
    longest_doubt: u64,
    /// Octets of the other end's stream it has reported.
    acknowledged: u64,
    growth: GrowthCheck,
    pacing: PacingCheck,
    sync: Option<u32>,
    /// The key that it has offered.
    offered: Option<u64>,
    first_seq: Option<u64>,
    final_seq: Option<u64>,
    granted: u64,
    rseq: u64,
    alloc: u64,
    echo: Option<u32>,
    edge: bool,
    flip: Option<u32>,
    over: bool,
    rate: RateCheck,
}

/// Both ends.
#[derive(Clone, Debug, Default)]
pub struct Association {
    /// Host that sent FIRST.
    pub initiator: usize,
    /// Its key.
    key: u64,
    /// Service number FIRST named.
    pub port: Option<u16>,
    /// The first octets of its stream, if FIRST carried so many.
    pub begins: Option<[u8; 16]>,
    /// What each end sent, by [`Side::index`].
    pub ends: [End; 2],
    /// UTC time its FIRST states.
    pub time: u32,
    /// Its first FIRST carries neither time nor client identity.
    pub nameless: bool,
    /// One of its FIRSTs does not.
    pub was_nameless: bool,
    /// A specifier of its responder has tformat 0x80.
    pub extended: bool,
    /// Its FIRST ends its initiator's stream: such an association is not a lasting one.
    pub closed_at_once: bool,
    /// A packet with the responder's key has reached it: from then on addresses may change.
    pub exchanged: bool,
    /// When a refusal reached its initiator, if one has since the last FIRST left.
    pub refused: Option<u64>,
    /// How often its FIRST left.
    pub firsts: u32,
    /// The longest any of its packets took, nanoseconds.
    pub slowest: u64,
    /// The shortest any of its packets took.
    pub fastest: Option<u64>,
    /// Where its first FIRST came from.
    first_from: Option<SocketAddr>,
    /// Another one came from elsewhere.
    moved: bool,
    /// It was accepted twice.
    pub doubled: bool,
}

/// All associations seen, found by the keys packets carry.
#[derive(Debug, Default)]
pub struct WireCheck {
    /// Associations in the order of their first FIRST.
    pub associations: Vec<Association>,
    /// Hosts that started again, and know nothing of what they sent before.
    pub restarted: BTreeSet<usize>,
    /// Hosts that remember so few associations and clients that they may forget both while FIRST is still repeated.
    pub forgetful: BTreeSet<usize>,
    /// Addresses that have not shown that they receive.
    pub amplification: AmplificationCheck,
    /// Service numbers and ends whose writers have a congestion window.
    pub windowed: BTreeSet<(u16, usize)>,
    owners: BTreeMap<u64, (usize, Side)>,
}

/// What an observer knows of one end of an association.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// Which association.
    pub(crate) number: usize,
    /// Which end.
    pub(crate) side: Side,
    /// Service number FIRST named.
    pub(crate) port: Option<u16>,
    /// The initiator's key, given back.
    pub(crate) target: Key,
    /// Its newest sync.
    pub(crate) sync: Option<u32>,
    /// One past the last octet it sent.
    pub(crate) sent: u64,
    /// How far its peer may send.
    pub(crate) allowed: u64,
    /// Its peer has said where its stream ends.
    pub(crate) ended: bool,
    /// The responder has answered, and not by a refusal.
    pub(crate) accepted: bool,
    /// It may be known to its responder by address, port and key alone.
    pub(crate) nameless: bool,
}

/// Initial allowance of §2.4 for a stated maxdata.
pub fn initial_allowance(maxdata: u32) -> u64 {
    let m = if maxdata == 0 { 1168 } else { u64::from(maxdata) };
    (10 * m).min((2 * m).max(14_600))
}

impl WireCheck {
    /// A packet leaves `from` at `at` of the sender's clock; says whose it is.
    ///
    /// # Errors
    /// The rule it breaks.
    pub fn packet(
        &mut self,
        at: u64,
        from: usize,
        to: SocketAddr,
        seen: &Seen,
        fate: Fate,
    ) -> Result<Option<(usize, Side)>, String> {
        let unmeant = seen.options - Options::meaningful_on(seen.format);
        if !unmeant.is_empty() {
            return Err(format!("options {unmeant:?} mean nothing on {:?}", seen.format));
        }
        let Some((number, side)) = self.identify(from, seen) else {
            return Ok(None);
        };
        if side == Side::Responder && from != self.associations[number].initiator {
            self.amplification.sent(number, to, seen.size as u64, seen.sync)?;
        }
        let association = &mut self.associations[number];
        let port = association.port.unwrap_or(0);
        let round = association.fastest.map_or(0, |fastest| 2 * fastest);
        let windowed =
            !seen.has(Options::NOFLOW) && seen.is_data() && self.windowed.contains(&(port, side.index()));
        let (one, two) = association.ends.split_at_mut(1);
        let (mine, other) = match side {
            Side::Initiator => (&mut one[0], &mut two[0]),
            Side::Responder => (&mut two[0], &mut one[0]),
        };
        // A FIRST without time or client made a second context after the first was forgotten (§6.9), or one from
        // another address did after both records were, or a responder whose clock was set back took an old one for
        // younger than itself: two ends speak with one voice, and only the counts still mean something. How often a
        // FIRST may be accepted is judged elsewhere.
        let basic = seen.format == Format::First && !seen.states_extended();
        association.was_nameless |= basic;
        if seen.format == Format::First {
            association.refused = None;
        }
        association.firsts += u32::from(seen.format == Format::First);
        association.extended |= side == Side::Responder && seen.states_extended();
        let forgets = association.was_nameless
            || self.restarted.contains(&from)
            || association.moved && self.forgetful.contains(&from);
        association.doubled |= forgets && side == Side::Responder && mine.is_another(seen);
        mine.count(seen, fate);
        // A late FIRST of an initiator that began again under another key is told how that one ended (§6.9).
        let of_another = association.refused.is_some() && side == Side::Responder && seen.has(Options::END);
        if association.doubled || of_another || matches!(seen.format, Format::Cookie | Format::Diag) {
            return Ok(Some((number, side)));
        }
        mine.numbers(seen)?;
        mine.closing(seen)?;
        mine.status(seen, other)?;
        if windowed && seen.end() > mine.highest {
            let fresh = seen.end() - mine.highest.max(seen.seq);
            let gone = other.acknowledged + mine.lost_octets;
            mine.growth.sent(at, fresh, gone, round)?;
            mine.pacing.sent(at, fresh, gone, round)?;
        }
        mine.data(at, seen, other)?;
        if let Some(statement) = &seen.statement {
            mine.state(statement, other);
        }
        Ok(Some((number, side)))
    }

    /// A packet of `src` that left at `left` reaches the socket of a host at `at`, both of world time.
    pub fn arrived(&mut self, src: SocketAddr, left: u64, at: u64, seen: &Seen) {
        let Some(&(number, owner)) = self.owners.get(&seen.key.value()) else {
            return;
        };
        let association = &mut self.associations[number];
        let returned = seen.key.is_returned();
        association.exchanged |= returned && owner == Side::Responder;
        let took = at.saturating_sub(left);
        association.slowest = association.slowest.max(took);
        association.fastest = Some(association.fastest.map_or(took, |fastest| fastest.min(took)));
        let to = if returned { owner } else { owner.other() };
        let echo = seen.control.map(|control| control.echo);
        association.ends[to.index()].hear(at, echo);
        if to == Side::Initiator && seen.format == Format::Diag {
            association.refused.get_or_insert(at);
        }
        if seen.format == Format::First {
            association.moved |= *association.first_from.get_or_insert(src) != src;
        }
        if to == Side::Responder {
            let token = seen.statement.is_some_and(|statement| statement.token);
            let packet = Arrived {
                from: src,
                octets: seen.size as u64,
                early: association.first_from.is_none(),
                proves: returned || seen.answers_challenge,
                claims: token,
                echo,
            };
            self.amplification.arrived(number, packet);
        }
    }

    /// What the links have shown of the association a key belongs to, as it concerns the end at host `to`; nothing if
    /// two ends speak with one voice.
    pub(crate) fn facts(&self, key: Key, to: usize) -> Option<Facts> {
        let (number, _) = *self.owners.get(&key.value())?;
        let association = self.associations.get(number).filter(|one| !one.doubled)?;
        let side = match to == association.initiator {
            true => Side::Initiator,
            false => Side::Responder,
        };
        let (own, peer) = (
            &association.ends[side.index()],
            &association.ends[side.other().index()],
        );
        Some(Facts {
            number,
            side,
            port: association.port,
            target: Key::returned(association.key),
            sync: own.sync,
            sent: own.highest,
            allowed: peer.granted.max(own.alloc),
            ended: peer.final_seq.is_some(),
            accepted: association.ends[1].sync.is_some(),
            nameless: association.is_nameless(),
        })
    }

    /// A packet that left as `seen` arrives damaged: to its receiver it is lost.
    pub fn damaged(&mut self, seen: &Seen) {
        let Some(&(number, owner)) = self.owners.get(&seen.key.value()) else {
            return;
        };
        let sender = if seen.key.is_returned() {
            owner.other()
        } else {
            owner
        };
        self.associations[number].ends[sender.index()].damaged_packets += 1;
    }

    /// Keys are 63 random bits: no two associations of a world share one.
    fn identify(&mut self, from: usize, seen: &Seen) -> Option<(usize, Side)> {
        let key = seen.key.value();
        if !seen.key.is_returned() {
            if seen.format == Format::First && !self.owners.contains_key(&key) {
                let number = self.associations.len();
                let time = seen.statement.map_or(0, |statement| statement.time);
                let mut association = Association {
                    initiator: from,
                    key,
                    port: seen.port,
                    begins: seen.begins,
                    time,
                    ..Default::default()
                };
                association.nameless = !seen.states_extended();
                association.closed_at_once = seen.has(Options::WCLOSE);
                association.grant(seen);
                self.associations.push(association);
                self.owners.insert(key, (number, Side::Initiator));
            }
            return self.owners.get(&key).copied();
        }
        let (number, owner) = *self.owners.get(&key)?;
        if let (Side::Initiator, Some(xkey)) = (owner, seen.xkey) {
            self.owners.insert(xkey, (number, Side::Responder));
        }
        Some((number, owner.other()))
    }
}

impl Association {
    /// Whether its responder may have taken a FIRST without time and client identity: its first one, or one after silence
    /// that no specifier of the responder shows to have been a repetition (§2.7). Such a record holds for its source alone.
    pub(crate) const fn is_nameless(&self) -> bool {
        self.nameless || self.was_nameless && !self.extended
    }

    /// Both readers start with the initial allowance (§2.4).
    fn grant(&mut self, first: &Seen) {
        let stated = first.statement.map_or(0, |statement| statement.maxdata);
        for end in &mut self.ends {
            end.granted = initial_allowance(stated);
        }
        self.ends[0].granted += first.seq;
    }
}

impl End {
    /// A packet of it left at this moment of the world.
    pub(crate) fn has_sent(&mut self, at: u64, seen: &Seen) {
        self.sent_at = at;
        if seen.has(Options::SREQ) {
            self.asked.get_or_insert((seen.sync, at));
        }
    }

    /// A DIAG 3 is injected.
    pub(crate) fn doubt(&mut self, at: u64) {
        self.doubted.get_or_insert(at);
    }

    /// The longest time between an injected DIAG 3 and the next packet, or `until` where none came.
    pub(crate) fn longest_doubt(&self, until: u64) -> u64 {
        let open = self.doubted.map_or(0, |at| until.saturating_sub(at));
        self.longest_doubt.max(open)
    }

    fn hear(&mut self, at: u64, echo: Option<u32>) {
        if let Some(doubted) = self.doubted.take() {
            self.longest_doubt = self.longest_doubt.max(at.saturating_sub(doubted));
        }
        let is_answer = |(sync, _): &(u32, u64)| echo.is_some_and(|echo| !serial_gt(*sync, echo));
        self.asked = self.asked.filter(|asked| !is_answer(asked));
        let gap = at.saturating_sub(self.arrived_at);
        if gap >= self.quiet.0 || at.saturating_sub(self.quiet.1) > silence::MEMORY {
            self.quiet = (gap, at);
        }
        if !self.heard {
            self.first = (gap, at);
        }
        self.arrived_at = at;
        self.heard = true;
    }

    fn count(&mut self, seen: &Seen, fate: Fate) {
        self.packets += 1;
        self.octets += seen.size as u64;
        self.control_packets += u64::from(seen.len == 0);
        self.data_octets += seen.len;
        self.repeated_octets += seen.len.min(self.highest.saturating_sub(seen.seq));
        if fate.is_lost() {
            self.lost_packets += 1;
            self.lost_octets += seen.len;
        }
    }

    fn ran_back(&self, seen: &Seen) -> bool {
        self.sync.is_some_and(|last| !serial_gt(seen.sync, last))
    }

    /// Too far from the last sync to belong to the same context, or with a key of its own.
    fn is_another(&self, seen: &Seen) -> bool {
        let other = |key: u64| seen.xkey.is_some_and(|offered| offered != key);
        self.ran_back(seen)
            || self.offered.is_some_and(other)
            || self
                .sync
                .is_some_and(|last| seen.sync.wrapping_sub(last) > 1 << 20)
    }

    fn numbers(&mut self, seen: &Seen) -> Result<(), String> {
        if self.ran_back(seen) {
            return Err(format!("sync {} after {:?}", seen.sync, self.sync));
        }
        self.sync = Some(seen.sync);
        self.offered = self.offered.or(seen.xkey);
        if seen.format == Format::First && *self.first_seq.get_or_insert(seen.seq) != seen.seq {
            return Err(format!("FIRST repeated with seq {}", seen.seq));
        }
        Ok(())
    }

    fn closing(&mut self, seen: &Seen) -> Result<(), String> {
        if self.over && !seen.has(Options::END) {
            return Err(format!("{:?} without END after END", seen.format));
        }
        self.over |= seen.has(Options::END);
        if seen.format == Format::Path {
            return Ok(());
        }
        if seen.has(Options::WCLOSE) && *self.final_seq.get_or_insert(seen.end()) != seen.end() {
            return Err(format!("final moved from {:?} to {}", self.final_seq, seen.end()));
        }
        if seen.is_data() && self.final_seq.is_some_and(|last| seen.end() > last) {
            return Err(format!(
                "data up to {} beyond the final {:?}",
                seen.end(),
                self.final_seq
            ));
        }
        Ok(())
    }

    fn status(&mut self, seen: &Seen, other: &End) -> Result<(), String> {
        let Some(control) = seen.control else {
            return self.edge_rule(seen, other);
        };
        if control.alloc < control.rseq {
            return Err(format!("alloc {} below rseq {}", control.alloc, control.rseq));
        }
        if control.rseq < self.rseq || control.alloc < self.alloc {
            let (rseq, alloc) = (control.rseq, control.alloc);
            return Err(format!(
                "status ran back: rseq {rseq} after {}, alloc {alloc} after {}",
                self.rseq, self.alloc
            ));
        }
        self.rseq = control.rseq;
        self.alloc = control.alloc;
        let held = seen.spans.iter().map(|span| span.1 - span.0).sum::<u64>();
        self.acknowledged = self.acknowledged.max(control.rseq + held);
        let told = seen.spans.last().map_or(control.rseq, |span| span.1);
        if told > other.highest {
            return Err(format!("acknowledges {told}, sent were {}", other.highest));
        }
        if other.sync.is_none_or(|sync| serial_gt(control.echo, sync)) && control.echo != 0 {
            return Err(format!("echoes {}, sent was {:?}", control.echo, other.sync));
        }
        if control.echo != 0 && self.echo.is_none_or(|old| serial_gt(control.echo, old)) {
            self.echo = Some(control.echo);
        }
        self.edge_rule(seen, other)
    }

    /// A writer never flips EDGE again while the last flip is unanswered (§3.2).
    fn edge_rule(&mut self, seen: &Seen, other: &End) -> Result<(), String> {
        // A repeated FIRST has level 0 whatever came between.
        let first = seen.format == Format::First;
        if !Options::meaningful_on(seen.format).contains(Options::EDGE) || seen.has(Options::END) || first {
            return Ok(());
        }
        let level = seen.has(Options::EDGE);
        if level == self.edge {
            return Ok(());
        }
        self.edge = level;
        let answered = |flip: u32| other.echo.is_some_and(|echo| !serial_gt(flip, echo));
        if self.flip.is_some_and(|flip| !answered(flip)) {
            return Err("EDGE flipped again while the last flip is unanswered".to_owned());
        }
        self.flip = Some(seen.sync);
        Ok(())
    }

    fn data(&mut self, at: u64, seen: &Seen, other: &End) -> Result<(), String> {
        if !seen.is_data() {
            return Ok(());
        }
        let allowed = self.granted.max(other.alloc);
        if !seen.has(Options::NOFLOW) && seen.end() > allowed {
            return Err(format!("data up to {} beyond alloc {allowed}", seen.end()));
        }
        self.highest = self.highest.max(seen.end());
        self.rate.packet(at, seen.packet_len as u64)
    }

    /// The sender of a specifier states the limits of its own writer, and what it grants.
    fn state(&mut self, statement: &Statement, other: &mut End) {
        if statement.format == 0x80 {
            other.granted = other.granted.max(statement.credit);
        }
        if self.packets == 1 {
            self.rate = RateCheck::new(statement.outrate.0, statement.outrate.1);
        }
    }
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
