//! What must be true of messages and receives, whatever happens to hosts and links.
//!
//! The rules are MPI's: messages of one sender do not overtake each other where a receive could have taken either, and a message goes to the receive
//! posted first of those for it. When a message met its receive is not seen from outside; which receive each of them got in the
//! end is, and that says enough.

use std::collections::BTreeSet;

use xtp_mesh::{LossReason, MeshCompletion};

use super::plan::{MeshPlan, Mishap, Moment};
use super::world::Done;

/// Ends of messages and receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It was not begun: its host's program was not there.
    Never,
    Open,
    /// Of a message: sent. Of a receive: with this message.
    Done(usize),
    /// Of a peer that was lost, or of a program that was killed.
    Lost,
    Cancelled,
}

pub(super) struct Oracle {
    plan: MeshPlan,
    sends: Vec<End>,
    receives: Vec<End>,
    /// The receive of each message.
    got: Vec<Option<usize>>,
    /// Messages in the order in which they were sent, and receives as they were posted.
    send_order: Vec<usize>,
    post_order: Vec<usize>,
    /// Pairs of hosts one of which lost the other, or was killed.
    broken: BTreeSet<(usize, usize)>,
    /// Hosts whose programs were killed: what is not confirmed goes to the next one again.
    killed: BTreeSet<usize>,
    /// Hosts whose programs leave, or left, in order.
    leaving: BTreeSet<usize>,
    /// Messages that come although their sender leaves.
    promised: BTreeSet<usize>,
    pub(super) octets: u64,
    pub(super) losses: u64,
}

impl Oracle {
    pub(super) fn new(plan: &MeshPlan) -> Self {
        Self {
            plan: plan.clone(),
            sends: vec![End::Never; plan.sends.len()],
            receives: vec![End::Never; plan.receives.len()],
            got: vec![None; plan.sends.len()],
            send_order: Vec::new(),
            post_order: Vec::new(),
            broken: BTreeSet::new(),
            killed: BTreeSet::new(),
            leaving: BTreeSet::new(),
            promised: BTreeSet::new(),
            octets: 0,
            losses: 0,
        }
    }

    /// A message's octets.
    pub(super) fn content(&self, number: usize) -> Vec<u8> {
        let octet = |at: usize| (at ^ (at >> 8) ^ number.wrapping_mul(151)) as u8;
        (0..self.plan.sends[number].length).map(octet).collect()
    }

    pub(super) fn sent(&mut self, number: usize) {
        self.sends[number] = End::Open;
        self.send_order.push(number);
    }

    pub(super) fn posted(&mut self, number: usize) {
        self.receives[number] = End::Open;
        self.post_order.push(number);
    }

    pub(super) fn cancelled(&mut self, number: usize) {
        self.receives[number] = End::Cancelled;
    }

    /// The program of a host is gone, and what it waited for.
    pub(super) fn killed(&mut self, host: usize) {
        self.lose_open(host);
        let ends = |number: usize| [self.plan.sends[number].from, self.plan.sends[number].to];
        self.promised.retain(|number| !ends(*number).contains(&host));
        (0..self.plan.hosts).for_each(|other| self.broke(host, other));
        self.killed.insert(host);
    }

    /// A host waits for nothing more.
    fn lose_open(&mut self, host: usize) {
        for (number, send) in self.plan.sends.iter().enumerate() {
            if send.from == host && self.sends[number] == End::Open {
                self.sends[number] = End::Lost;
            }
        }
        for (number, receive) in self.plan.receives.iter().enumerate() {
            if receive.host == host && self.receives[number] == End::Open {
                self.receives[number] = End::Lost;
            }
        }
    }

    /// The program of a host leaves: the others may be told so, and get what it was told is sent, if nothing else happens to them.
    pub(super) fn leaves(&mut self, host: usize) {
        self.leaving.insert(host);
        let is_alone = |host: usize| {
            let mut mishaps = self.plan.mishaps.iter().filter(|mishap| mishap.host == host);
            mishaps.next().is_none_or(|first| first.what == Mishap::Leaves) && mishaps.next().is_none()
        };
        for (number, send) in self.plan.sends.iter().enumerate() {
            let was_told = matches!(self.sends[number], End::Done(_));
            let is_first = !self.leaving.contains(&send.to);
            if send.from == host && was_told && is_first && is_alone(host) && is_alone(send.to) {
                self.promised.insert(number);
            }
        }
    }

    /// A program that left is not there any more.
    pub(super) fn gone(&mut self, host: usize) {
        self.lose_open(host);
        self.killed.insert(host);
    }

    fn broke(&mut self, one: usize, two: usize) {
        self.broken.extend([(one, two), (two, one)]);
    }

    /// Octets that a host may have sent to itself.
    pub(super) fn own_octets(&self, host: usize) -> u64 {
        let own = self
            .plan
            .sends
            .iter()
            .filter(|send| send.from == host && send.to == host);
        own.map(|send| send.length as u64).sum()
    }

    /// Whether every message and receive that was begun has an end, or waits for one that is not there.
    pub(super) fn is_settled(&self) -> bool {
        self.waiting_pair().is_none() && self.unsent().is_none()
    }

    /// Something is over at a host.
    pub(super) fn note(&mut self, _now: Moment, host: usize, done: Done) -> Result<(), String> {
        match done {
            MeshCompletion::Sent { token, outcome } => {
                let number = token as usize;
                let send = self.plan.sends.get(number).filter(|send| send.from == host);
                let send = send.ok_or(format!(
                    "host {host} was told of a message {number} that it did not send"
                ))?;
                if self.sends[number] != End::Open {
                    return Err(format!("message {number} ended twice"));
                }
                let to = send.to;
                self.sends[number] = match outcome {
                    Ok(()) => End::Done(number),
                    Err(_) => End::Lost,
                };
                if outcome.is_err() {
                    self.broke(host, to);
                }
                Ok(())
            }
            MeshCompletion::Received {
                token,
                memory,
                outcome,
            } => {
                let number = token as usize;
                let receive = self
                    .plan
                    .receives
                    .get(number)
                    .filter(|receive| receive.host == host);
                if receive.is_none() || self.receives[number] != End::Open {
                    return Err(format!(
                        "receive {number} of host {host} ended, which was not open"
                    ));
                }
                let Ok(placed) = outcome else {
                    self.receives[number] = End::Lost;
                    return Ok(());
                };
                let message = placed.label.word as usize;
                self.receives[number] = End::Done(message);
                self.taken(number, message, placed.taken, &memory)
            }
            MeshCompletion::Lost { peer, reason, .. } => {
                self.losses += 1;
                // Peers have the numbers of hosts, one higher; the liar is lost as often as it likes.
                let other = peer.as_u32() as usize - 1;
                if other < self.plan.hosts {
                    let kept_rules = !matches!(reason, LossReason::Broken(_));
                    let has_left = self.leaving.contains(&other);
                    if !(self.broken.contains(&(host, other)) || has_left) || !kept_rules {
                        return Err(format!(
                            "host {host} lost host {other}, which did nothing: {reason}"
                        ));
                    }
                    self.broke(host, other);
                }
                Ok(())
            }
        }
    }

    /// A receive has a message: the right one for it, once, and its octets.
    fn taken(&mut self, number: usize, message: usize, taken: u64, memory: &[u8]) -> Result<(), String> {
        let receive = &self.plan.receives[number];
        let Some(send) = self.plan.sends.get(message) else {
            return Err(format!("receive {number} got what nobody sent"));
        };
        if !self.fits(number, message) {
            return Err(format!(
                "receive {number} got message {message}, which it is not for"
            ));
        }
        if let Some(before) = self.got[message].replace(number)
            && !self.killed.contains(&send.to)
        {
            return Err(format!(
                "message {message} came twice, to receives {before} and {number}"
            ));
        }
        let expected = send.length.min(receive.room);
        if taken != expected as u64 || memory[..expected] != self.content(message)[..expected] {
            return Err(format!(
                "receive {number} got {taken} octets of message {message}, or wrong ones"
            ));
        }
        self.octets += taken;
        Ok(())
    }

    /// Whether a receive is for a message.
    fn fits(&self, receive: usize, message: usize) -> bool {
        let (receive, send) = (&self.plan.receives[receive], &self.plan.sends[message]);
        send.to == receive.host
            && receive.from.is_none_or(|from| from == send.from)
            && (send.tag ^ receive.tag) & receive.mask == 0
    }

    fn is_broken(&self, message: usize) -> bool {
        let send = &self.plan.sends[message];
        let has_left = self.leaving.contains(&send.to);
        let is_broken = self.broken.contains(&(send.from, send.to)) && !self.promised.contains(&message);
        is_broken || has_left
    }

    /// A message that was sent and a receive for it that both wait.
    fn waiting_pair(&self) -> Option<(usize, usize)> {
        let waits = |message: &&usize| {
            let was_sent = matches!(self.sends[**message], End::Open | End::Done(_));
            was_sent && self.got[**message].is_none() && !self.is_broken(**message)
        };
        self.send_order.iter().filter(waits).find_map(|message| {
            let open =
                |receive: &&usize| self.receives[**receive] == End::Open && self.fits(**receive, *message);
            self.post_order
                .iter()
                .find(open)
                .map(|receive| (*message, *receive))
        })
    }

    /// A message that was received, and whose sender was not told so.
    fn unsent(&self) -> Option<usize> {
        let mut all = self.send_order.iter().copied();
        all.find(|message| {
            self.got[*message].is_some() && self.sends[*message] == End::Open && !self.is_broken(*message)
        })
    }

    /// When nothing more will happen.
    pub(super) fn judge(&self) -> Result<(), String> {
        if let Some((message, receive)) = self.waiting_pair() {
            return Err(format!(
                "message {message} and receive {receive} wait for each other"
            ));
        }
        if let Some(message) = self.unsent() {
            return Err(format!(
                "message {message} came, and its sender does not know that it is sent"
            ));
        }
        let place = |receive: usize| self.post_order.iter().position(|posted| *posted == receive);
        for (at, later) in self.send_order.iter().enumerate() {
            let Some(receive) = self.got[*later] else { continue };
            for earlier in &self.send_order[..at] {
                let same = self.plan.sends[*earlier].from == self.plan.sends[*later].from;
                if !same || !self.fits(receive, *earlier) || self.is_broken(*earlier) {
                    continue;
                }
                let before = self.got[*earlier].and_then(place);
                if before.is_none_or(|before| Some(before) > place(receive)) {
                    return Err(format!(
                        "message {later} overtook message {earlier} to receive {receive}"
                    ));
                }
            }
            for first in &self.post_order {
                if place(*first) < place(receive)
                    && self.receives[*first] == End::Open
                    && self.fits(*first, *later)
                {
                    return Err(format!(
                        "message {later} passed over receive {first} for receive {receive}"
                    ));
                }
            }
        }
        Ok(())
    }
}
