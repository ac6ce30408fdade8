//! A listener of a group: it hears any number of transmitters, each by a receiver of its own, up to a limit (§9.12).
//!
//! It decides only whether a transmitter gets one of its places; everything else is the [`Receiver`]'s. A transmitter for which there is no
//! place is told so ([`Busy`]), and waits.

use super::{AnyParty, GroupEnv, GroupParties, PartyEnv, env};
use crate::GroupError;
use crate::emit;
use crate::receive::{Receiver, invitation};
use crate::{Feedback, GroupId, ReceiverOptions};
use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use smallvec::SmallVec;
use xtp_core::time::Time;
use xtp_core::transmit::{Datagram, Ecn, Route, TransmitBatch};
use xtp_wire::{Diag, DiagCode, DiagValue, GroupHeader, Header, ToGroup, ToTransmitter};

/// Most places of a listener.
const MOST_PLACES: u16 = 256;
/// Datagrams that their users have let go of and that are confirmed again when they come again; beyond, the oldest are not.
const MOST_LINGERING: usize = 256;
/// Transmitters that are told at a time that there is no place; others announce themselves again.
const MOST_BUSY: usize = 64;
/// A transmitter is told so once in this time, or in twice the time over which the receivers of its group spread what they say.
const BUSY_AGAIN: Duration = Duration::from_secs(1);

/// A transmitter for which there is no place.
#[derive(Debug)]
struct Busy {
    transmitter: SocketAddr,
    key: u64,
    /// When it is told; `None`: it was.
    at: Option<Time>,
    /// Until then it is not told again.
    until: Time,
}

/// A listener of a group, with a receiver for each transmitter.
#[derive(Debug)]
pub(crate) struct Audience {
    /// As those of its receivers, but for the capacity of all together.
    options: ReceiverOptions,
    busy: Vec<Busy>,
    sync: u32,
    released: bool,
}

/// What there is for one more transmitter.
enum Room {
    Free,
    /// The place of this receiver, whose transmitter does not answer.
    Of(usize),
    None,
}

impl Audience {
    pub(super) fn new(options: ReceiverOptions, env: &mut PartyEnv<'_>) -> Result<Self, GroupError> {
        if !(1..=MOST_PLACES).contains(&options.at_once) {
            return Err(GroupError::InvalidOption("at_once must be 1..=256"));
        }
        let audience = Self {
            options,
            busy: Vec::new(),
            sync: env.random() as u32,
            released: false,
        };
        // What a receiver refuses is refused here.
        let trial = Receiver::new(audience.share(), env)?;
        trial.forget(env);
        Ok(audience)
    }

    /// The options of one of its receivers.
    fn share(&self) -> ReceiverOptions {
        ReceiverOptions {
            capacity: self.options.capacity / u64::from(self.options.at_once),
            ..self.options.clone()
        }
    }

    /// How many transmitters of one host are heard at a time.
    fn most_of_a_host(&self) -> usize {
        usize::from(self.options.at_once).div_ceil(2)
    }

    /// There is no place for a transmitter, which is told so like all is that the receivers of its group say.
    fn refuse(&mut self, transmitter: SocketAddr, key: u64, feedback: &Feedback, env: &mut PartyEnv<'_>) {
        self.busy.retain(|busy| busy.until > env.now);
        let is_told = self
            .busy
            .iter()
            .any(|busy| busy.key == key && busy.transmitter == transmitter);
        if is_told || self.busy.len() >= MOST_BUSY {
            return;
        }
        let at = env.now + feedback.once(env.random());
        self.busy.push(Busy {
            transmitter,
            key,
            at: Some(at),
            until: env.now + BUSY_AGAIN.max(2 * feedback.spread(1)),
        });
    }

    /// It was heard after all, or is not any more: nothing is to be said.
    fn takes(&mut self, transmitter: SocketAddr, key: u64) {
        self.busy
            .retain(|busy| busy.key != key || busy.transmitter != transmitter);
    }

    pub(super) fn flush(&mut self, env: &mut PartyEnv<'_>, out: &mut TransmitBatch) {
        for busy in &mut self.busy {
            if busy.at.is_none_or(|at| at > env.now) {
                continue;
            }
            busy.at = None;
            self.sync = self.sync.wrapping_add(1);
            let diag = Diag::new(DiagCode::JoinRefused, DiagValue::NoResource, "");
            let packet = ToTransmitter::Diag(diag).packet(GroupHeader {
                key: busy.key,
                sync: self.sync,
                ..GroupHeader::default()
            });
            let route = Route {
                dst: busy.transmitter,
                src: None,
                ecn: Ecn::NotEct,
                sort: None,
            };
            emit::push(out, &[route], &packet, &[], env.host.protection);
        }
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.busy.iter().filter_map(|busy| busy.at).min()
    }

    pub(super) fn release(&mut self) {
        self.released = true;
    }

    pub(super) fn is_gone(&self) -> bool {
        self.released
    }
}

impl GroupParties {
    /// A transmitter announces itself, or sends a datagram: the first receiver that waits for one takes it, and one for each listener.
    /// Receivers of one name are one to a transmitter, so it is heard by one of them; `hearers` are those that hear it already.
    pub(super) fn offer(
        &mut self,
        host: &GroupEnv<'_>,
        group: Option<SocketAddr>,
        header: &Header,
        said: &ToGroup<'_>,
        datagram: &Datagram<'_>,
        mut hearers: SmallVec<[usize; 4]>,
    ) -> bool {
        let mut taken = false;
        for slot in 0..self.parties.len() {
            let Some((_, party)) = &self.parties[slot] else {
                continue;
            };
            let (is_of_group, name) = match party {
                AnyParty::Receiver(receiver) => (receiver.group() == group, receiver.name()),
                AnyParty::Audience(audience) => (audience.options.group == group, &*audience.options.name),
                AnyParty::Transmitter(_) => continue,
            };
            if !is_of_group || self.is_heard_as(name, &hearers) {
                continue;
            }
            if let Some((id, AnyParty::Receiver(receiver))) = &mut self.parties[slot] {
                let mut env = env!(self, host, slot as u32, *id);
                if receiver.hear_stranger(datagram, header, said, &mut env) {
                    taken = true;
                    hearers.push(slot);
                }
            } else if let Some(hearer) = self.offer_to_audience(host, slot, header, said, datagram) {
                taken = true;
                hearers.extend(hearer);
            }
        }
        taken
    }

    /// Whether a receiver of that name is among them.
    fn is_heard_as(&self, name: &str, hearers: &[usize]) -> bool {
        hearers.iter().any(|slot| match &self.parties[*slot] {
            Some((_, AnyParty::Receiver(receiver))) => receiver.name() == name,
            _ => false,
        })
    }

    /// `None`: it is not for that listener. Else which receiver hears it, if there is a place.
    fn offer_to_audience(
        &mut self,
        host: &GroupEnv<'_>,
        slot: usize,
        header: &Header,
        said: &ToGroup<'_>,
        datagram: &Datagram<'_>,
    ) -> Option<Option<usize>> {
        let Some((id, AnyParty::Audience(audience))) = &self.parties[slot] else {
            return None;
        };
        let (listener, options) = (*id, audience.share());
        let (places, of_host) = (usize::from(options.at_once), audience.most_of_a_host());
        let mut its = env!(self, host, slot as u32, listener);
        let terms = invitation(&options, datagram, header, said, &mut its)?;
        let theirs = datagram.src.ip().to_canonical();
        let has_place = match self.room(listener, theirs, (places, of_host), host.now) {
            Room::Free => true,
            Room::Of(other) => {
                if let Some((_, AnyParty::Receiver(receiver))) = &mut self.parties[other] {
                    receiver.give_up();
                }
                true
            }
            Room::None => false,
        };
        self.limit_lingering();
        let made = has_place.then(|| {
            self.add_party(host, |env| {
                let mut receiver = Receiver::of_listener(options, listener, env)?;
                receiver.hear_stranger(datagram, header, said, env);
                Ok(AnyParty::Receiver(Box::new(receiver)))
            })
        });
        let hearer = made.and_then(Result::ok).and_then(|made| self.slot_of(made));
        if let Some((id, AnyParty::Audience(audience))) = &mut self.parties[slot] {
            let (transmitter, key) = (datagram.src, header.key.value());
            let mut env = env!(self, host, slot as u32, *id);
            match hearer {
                Some(_) => audience.takes(transmitter, key),
                None => audience.refuse(transmitter, key, &terms.feedback, &mut env),
            }
        }
        Some(hearer)
    }

    /// Whether a listener has a place for a transmitter of `host`, where there are so many, and so many for a host.
    fn room(&self, listener: GroupId, host: IpAddr, (places, of_host): (usize, usize), now: Time) -> Room {
        let (mut taken, mut theirs) = (0, 0);
        // Those that do not answer, and since when they are asked.
        let mut silent: Option<(Time, usize)> = None;
        let mut silent_theirs = silent;
        let earlier =
            |old: Option<(Time, usize)>, new: (Time, usize)| Some(old.map_or(new, |old| new.min(old)));
        for (slot, entry) in self.parties.iter().enumerate() {
            let Some((_, AnyParty::Receiver(receiver))) = entry else {
                continue;
            };
            let Some((_, its)) = receiver.place().filter(|(its, _)| *its == listener) else {
                continue;
            };
            if !receiver.takes_place() {
                continue;
            }
            taken += 1;
            theirs += usize::from(its == host);
            if receiver.is_unanswered(now) {
                let one = (receiver.asked_since(), slot);
                silent = earlier(silent, one);
                if its == host {
                    silent_theirs = earlier(silent_theirs, one);
                }
            }
        }
        let of = |silent: Option<(Time, usize)>| silent.map_or(Room::None, |(_, slot)| Room::Of(slot));
        match () {
            () if theirs >= of_host => of(silent_theirs),
            () if taken >= places => of(silent),
            () => Room::Free,
        }
    }

    /// Datagrams without an END are confirmed up to a limit; the oldest beyond it are over as if their END had come.
    fn limit_lingering(&mut self) {
        let mut lingering: SmallVec<[(GroupId, usize); 8]> = SmallVec::new();
        for (slot, entry) in self.parties.iter().enumerate() {
            if let Some((id, AnyParty::Receiver(receiver))) = entry
                && receiver.lingers()
            {
                lingering.push((*id, slot));
            }
        }
        if lingering.len() > MOST_LINGERING
            && let Some((_, slot)) = lingering.iter().min()
            && let Some((_, AnyParty::Receiver(receiver))) = &mut self.parties[*slot]
        {
            receiver.give_up();
        }
    }

    fn slot_of(&self, id: GroupId) -> Option<usize> {
        let mut parties = self.parties.iter();
        parties.position(|entry| matches!(entry, Some((its, _)) if *its == id))
    }

    /// If it was a listener, the receivers that its user does not know go with it.
    pub(super) fn leave_audience(&mut self, id: GroupId) {
        for entry in &mut self.parties {
            if let Some((_, AnyParty::Receiver(receiver))) = entry {
                receiver.listener_left(id);
            }
        }
    }
}
