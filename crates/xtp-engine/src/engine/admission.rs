//! FIRST without a context: tombstone, listener, age, pressure, and a new context or record (§2.3, §6.9, §7.4).

use super::Engine;
use super::peers::Knowledge;
use crate::admit::{Credentials, Decision, IncomingPacket, TombstoneRef, Verdict, is_pure_datagram};
use crate::context::delivery::asks_for_delivery;
use crate::context::{Acceptance, Env, FirstFormat, Identity, Transition};
use crate::event::{Event, ListenerId};
use core::net::IpAddr;
use rand_core::Rng;
use xtp_core::transmit::Datagram;
use xtp_wire::{Address, Caps, ClientId, DiagValue, First, GroupPoint, Header, Packet, Tlv, Token, Traffic};

/// Sequence numbers from here on are refused on FIRST: those of the octets that follow never wrap.
const SEQUENCE_LIMIT: u64 = 1 << 62;

/// What the specifier of a FIRST says about its identity.
pub(super) struct Claim {
    extended: bool,
    time: Option<u32>,
    client: Option<ClientId>,
    token: Option<Token>,
    instance: Option<u64>,
    /// It is a group's member that fetches what it lacks (§9.7).
    point: Option<GroupPoint>,
    pub(super) takes_cookie: bool,
    /// It says more than short associations need.
    pub(super) is_special: bool,
}

impl Claim {
    pub(super) fn of(traffic: &Traffic<'_>) -> Self {
        let mut claim = Self {
            extended: false,
            time: None,
            client: None,
            token: None,
            instance: None,
            point: None,
            takes_cookie: false,
            is_special: false,
        };
        if let Traffic::Extended(terms) = traffic {
            claim.extended = true;
            claim.time = (terms.time != 0).then_some(terms.time);
            claim.takes_cookie = terms.caps.contains(Caps::COOKIE);
            for tlv in terms.tlvs.iter() {
                match tlv {
                    Tlv::Client(client) => claim.client = Some(client),
                    Tlv::Token(token) => claim.token = Some(token),
                    Tlv::Instance(name) => {
                        claim.instance = Some(name);
                        claim.is_special = true;
                    }
                    Tlv::Catchup(point) => {
                        claim.point = Some(point);
                        claim.is_special = true;
                    }
                    Tlv::Pad(_) => {}
                    _ => claim.is_special = true,
                }
            }
        }
        claim
    }

    /// Time of creation and client.
    pub(super) fn identity(&self) -> (Option<u32>, Option<ClientId>) {
        (self.time, self.client)
    }
}

/// What admission asks of a FIRST.
pub(super) struct Request<'a> {
    pub(super) header: &'a Header,
    pub(super) service: u8,
    pub(super) address: Address,
    pub(super) claim: Claim,
}

/// Why no context is made of a FIRST, and what is said about it.
enum Rejection {
    /// Nothing more.
    Silent,
    /// What the tombstone there says.
    Replay(TombstoneRef),
    /// It may have been meant for an instance before this one.
    Start,
    /// A DIAG with this value.
    Diag(DiagValue),
}

impl Engine {
    pub(super) fn take_first(&mut self, packet: &Packet<'_>, first: &First<'_>, datagram: &Datagram<'_>) {
        let service = first.traffic.service();
        if is_pure_datagram(packet.header.options, service) && self.sheds(datagram.src.ip()) {
            return;
        }
        let request = Request {
            header: &packet.header,
            service,
            address: first.address,
            claim: Claim::of(&first.traffic),
        };
        let Request { header, claim, .. } = &request;
        let pure = is_pure_datagram(header.options, service);
        if claim.token.is_none()
            && self.pressure.ignores(self.now, datagram.src)
            && !self.validated.contains(self.now, datagram.src.ip())
        {
            self.stats.ignored += 1;
            return;
        }
        let admitted = self.judge(&request, datagram).and_then(|listener| {
            let validated = self.admit(&request, (listener, pure), datagram)?;
            Ok((listener, validated, pure))
        });
        match admitted {
            Ok(facts) => self.accept(&request, (packet, first), facts, datagram),
            Err(Rejection::Replay(at)) => self.replay(at, datagram),
            Err(Rejection::Silent) => {}
            // Be it of one packet or of several.
            Err(Rejection::Diag(DiagValue::NoResource)) if pure => self.stats.ignored += 1,
            Err(_) if pure => {}
            Err(Rejection::Start) => self.refuse_for_start(header, datagram),
            Err(Rejection::Diag(value)) => self.refuse(header, value, datagram),
        }
    }

    /// Answers a FIRST whose association has ended, if its numbers are possible for that.
    #[inline(never)]
    fn replay(&mut self, at: TombstoneRef, datagram: &Datagram<'_>) {
        let packet = Packet::parse(datagram.data);
        let Some(packet) = packet.ok().filter(|packet| self.at_most_once.allows(at, packet)) else {
            self.stats.unmatched += 1;
            return;
        };
        let header = packet.header;
        let incoming = IncomingPacket {
            first: Some(header.key.value()),
            asks_delivery: asks_for_delivery(header.options),
            sync: header.sync,
            octets: datagram.data.len(),
        };
        let answer = self.at_most_once.answer(self.now, at, incoming);
        self.send_answer(answer, datagram);
    }

    /// Whether a datagram from `source` is dropped, for there is a flood of them: before anything is looked up for it.
    fn sheds(&mut self, source: IpAddr) -> bool {
        let sheds = self.shedding.is_too_much(self.now, source) && !self.validated.contains(self.now, source);
        if sheds {
            self.shedding.dropped(self.now);
            self.stats.ignored += 1;
        }
        sheds
    }

    /// Whether a FIRST is new and young enough, and who takes it.
    fn judge(&mut self, request: &Request<'_>, datagram: &Datagram<'_>) -> Result<ListenerId, Rejection> {
        let Request {
            header,
            claim,
            address,
            ..
        } = request;
        let utc = self.utc_ms();
        let verdict = self.at_most_once.judge_first(
            self.now,
            utc,
            datagram.src,
            header.key.value(),
            claim.extended,
            claim.time,
            claim.client,
        );
        match verdict {
            Verdict::New if self.is_for_another_instance(claim, datagram.src) => {
                self.stats.refused_age += 1;
                return Err(Rejection::Start);
            }
            // Who knows our name is not too old, whatever became of the clocks.
            Verdict::RefuseStart if self.instance.is_called(claim.instance) => {}
            Verdict::New => {}
            Verdict::Replay(at) => return Err(Rejection::Replay(at)),
            Verdict::DropSilently => return Err(Rejection::Silent),
            Verdict::RefuseAge => {
                self.stats.refused_age += 1;
                return Err(Rejection::Diag(DiagValue::ImproperState));
            }
            Verdict::RefuseStart => {
                self.stats.refused_age += 1;
                return Err(Rejection::Start);
            }
            Verdict::RefuseResource => return Err(Rejection::Diag(DiagValue::NoResource)),
        }
        if header.seq >= SEQUENCE_LIMIT {
            return Err(Rejection::Diag(DiagValue::Unspecified));
        }
        if let Some(point) = claim.point {
            return self
                .catch_up_listener(point, datagram.src)
                .map_err(Rejection::Diag);
        }
        self.listeners
            .find(address.domain(), address.port(), request.service)
            .and_then(|id| self.listeners.check(id, header.options).map(|()| id))
            .map_err(|refusal| {
                let value = DiagValue::try_from(refusal.diag_value());
                Rejection::Diag(value.unwrap_or(DiagValue::Unspecified))
            })
    }

    /// What has no memory of its past may be an old copy. One without a time never was protected, and cannot name anybody.
    fn is_for_another_instance(&self, claim: &Claim, src: core::net::SocketAddr) -> bool {
        (claim.time.is_some() || claim.instance.is_some())
            && self
                .instance
                .refuses(self.at_most_once.came_since(), claim.instance, self.is_local(src))
    }

    /// §7.4: whether a context may be made, and whether its source is validated from the start.
    fn admit(
        &mut self,
        request: &Request<'_>,
        (listener, pure): (ListenerId, bool),
        datagram: &Datagram<'_>,
    ) -> Result<bool, Rejection> {
        let Request {
            header,
            claim,
            address,
            ..
        } = request;
        let (domain, port) = (address.domain(), address.port().unwrap_or(0));
        let seconds = self.utc_ms() / 1_000;
        let key = header.key.value();
        self.mint.advance(seconds);
        let fits = claim.token.is_some_and(|token| {
            self.mint
                .check(&token, seconds, datagram.src, key, domain, port)
                .is_some()
        });
        let credentials = Credentials {
            token: fits,
            listed: self.validated.contains(self.now, datagram.src.ip()),
            takes_cookie: claim.takes_cookie && claim.extended,
        };
        match self.decide(listener, datagram.src.ip(), credentials, pure) {
            Decision::Accept => {
                // A client whose answers need no confirmation is never told a source token: without this every one of
                // its requests would have to fetch a cookie.
                if fits && !credentials.listed && !pure {
                    self.validated.insert(self.now, datagram.src.ip());
                }
                Ok(fits)
            }
            Decision::Cookie => {
                self.pressure.asks(self.now, datagram.src);
                let token = self.mint.cookie(seconds, datagram.src, key, domain, port);
                self.send_cookie(header, token, datagram);
                Err(Rejection::Silent)
            }
            Decision::Displace | Decision::Refuse => Err(Rejection::Diag(DiagValue::NoResource)),
        }
    }

    /// `facts`: its listener, whether its source is validated, whether it is a pure datagram.
    fn accept(
        &mut self,
        request: &Request<'_>,
        (packet, first): (&Packet<'_>, &First<'_>),
        facts: (ListenerId, bool, bool),
        datagram: &Datagram<'_>,
    ) {
        let (listener, validated, pure) = facts;
        if !pure && self.take_whole(request, first, (listener, validated), datagram) {
            return;
        }
        let claim = &request.claim;
        let seconds = self.utc_ms() / 1_000;
        let source_token = claim
            .takes_cookie
            .then(|| self.mint.source_token(seconds, datagram.src));
        let identity = self.identity(datagram.src);
        self.remember_first(&packet.header, claim, pure, datagram);
        self.admit_as(identity, source_token, (packet, first, claim), facts, datagram);
    }

    /// Makes the context; `facts`: its listener, whether its source is validated, whether it is a pure datagram.
    pub(super) fn admit_as(
        &mut self,
        identity: Identity,
        source_token: Option<Token>,
        (packet, first, claim): (&Packet<'_>, &First<'_>, &Claim),
        (listener, validated, pure): (ListenerId, bool, bool),
        datagram: &Datagram<'_>,
    ) -> Option<u32> {
        let header = &packet.header;
        let (tuning, unconfirmed_response) = self
            .listeners
            .get(listener)
            .map(|entry| (entry.options.tuning.clone(), entry.options.unconfirmed_response))?;
        let acceptance = Acceptance {
            header,
            first,
            src: datagram.src,
            dst: datagram.dst,
            listener,
            tuning,
            unconfirmed_response,
            validated,
            source_token,
        };
        let (id, key) = (identity.id, identity.key);
        let slot = self.contexts.insert();
        let context = self.contexts.at(slot)?;
        let mut env = Env {
            now: self.now,
            config: &self.config,
            events: &mut self.events,
            rng: &mut self.rng,
        };
        context.begin_responder(identity, &acceptance, &mut env);
        context.transition(Transition::FirstAccepted);
        context.half_open = !validated && !pure;
        if claim.extended {
            context.first = FirstFormat::Extended;
        }
        let accepted = Event::Accepted {
            listener,
            peer: datagram.src,
            service: first.traffic.service(),
            port: first.address.port().unwrap_or(0),
        };
        self.events.push_back((id, accepted));
        self.demux.insert_own(key, slot);
        self.demux.insert_foreign(datagram.src, header.key.value(), slot);
        self.demux.insert_peer(datagram.src, slot);
        let source = datagram.src.ip();
        let place = self.listeners.accepted(listener, id, source, validated);
        if let Some(backlog) = &mut context.backlog {
            backlog.set_place(place);
        }
        if !validated && !pure {
            self.pressure.half_open_begins();
        }
        if let Some(point) = claim.point {
            self.note_catch_up(id, point);
        }
        self.deliver(slot, packet, datagram);
        Some(slot)
    }

    fn remember_first(&mut self, header: &Header, claim: &Claim, pure: bool, datagram: &Datagram<'_>) {
        let key = header.key.value();
        if pure {
            self.at_most_once.insert_datagram(self.now, datagram.src, key);
            return;
        }
        let utc = self.utc_ms();
        let _ = self.at_most_once.accept(
            self.now,
            utc,
            datagram.src,
            key,
            claim.extended,
            claim.time,
            claim.client,
        );
    }

    /// Names, key and first sync of a new context.
    pub(super) fn identity(&mut self, peer: core::net::SocketAddr) -> Identity {
        let known = self.peers.get(peer.ip(), self.now);
        self.identity_knowing(peer, &known)
    }

    /// The same where what is remembered of `peer` was looked up.
    pub(super) fn identity_knowing(&mut self, peer: core::net::SocketAddr, known: &Knowledge) -> Identity {
        let id = self.contexts.reserve();
        self.identity_of(id, peer, known)
    }

    /// Another key and sync for an association.
    pub(super) fn identity_of(
        &mut self,
        id: crate::event::ContextId,
        peer: core::net::SocketAddr,
        known: &Knowledge,
    ) -> Identity {
        Identity {
            id,
            key: self.fresh_key(),
            sync: self.rng.next_u32(),
            is_local: self.is_local(peer),
            initial_rtt: known.rtt,
            path_limit: known.path_limit.map(usize::from),
        }
    }
}
