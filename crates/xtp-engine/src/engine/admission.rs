//! FIRST without a context: tombstone, listener, age, pressure, and a new context (§2.3, §6.9, §7.4).

use super::Engine;
use crate::admit::{Credentials, Decision, Incoming, Verdict};
use crate::context::{Acceptance, Env, Identity, Transition};
use crate::event::{Event, ListenerId};
use crate::transmit::Datagram;
use core::time::Duration;
use rand_core::Rng;
use xtp_wire::{Caps, ClientId, DiagValue, First, Header, Options, Packet, Tlv, Token, Traffic, service};

/// Sequence numbers from here on are refused on FIRST: those of the octets that follow never wrap.
const SEQUENCE_LIMIT: u64 = 1 << 62;

/// What the specifier of a FIRST says about its identity.
pub(super) struct Claim {
    extended: bool,
    time: Option<u32>,
    client: Option<ClientId>,
    token: Option<Token>,
    instance: Option<u64>,
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
                    Tlv::Pad(_) => {}
                    _ => claim.is_special = true,
                }
            }
        }
        claim
    }

    /// It was told a token.
    pub(super) fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Time of creation and client.
    pub(super) fn identity(&self) -> (Option<u32>, Option<ClientId>) {
        (self.time, self.client)
    }
}

impl Engine {
    pub(super) fn take_first(&mut self, packet: &Packet<'_>, first: &First<'_>, datagram: &Datagram<'_>) {
        let header = &packet.header;
        let claim = Claim::of(&first.traffic);
        // Nothing ever answers a pure datagram, be it of one packet or of several [D-19].
        let pure = header.options.contains(Options::NOERR)
            && (header.options.contains(Options::END) || first.traffic.service() == service::DATAGRAM);
        if !claim.has_token()
            && self.pressure.ignores(self.now, datagram.src)
            && !self.validated.contains(self.now, datagram.src.ip())
        {
            self.stats.ignored += 1;
            return;
        }
        let key = header.key.value();
        let utc = self.utc_ms();
        let verdict = self.at_most_once.judge_first(
            self.now,
            utc,
            datagram.src,
            key,
            claim.extended,
            claim.time,
            claim.client,
        );
        match verdict {
            Verdict::New if self.is_for_another_instance(&claim, datagram.src) => {
                self.stats.refused_age += 1;
                return self.refuse_for_start(header, datagram);
            }
            // Who knows our name is not too old, whatever became of the clocks.
            Verdict::RefuseStart if self.instance.is_called(claim.instance) => {}
            Verdict::New => {}
            Verdict::Replay(at) if !self.at_most_once.allows(at, packet) => {
                self.stats.unmatched += 1;
                return;
            }
            Verdict::Replay(at) => {
                let incoming = Incoming {
                    first: Some(key),
                    sync: header.sync,
                    octets: datagram.data.len(),
                };
                let answer = self.at_most_once.answer(self.now, at, incoming);
                return self.send_answer(answer, datagram);
            }
            Verdict::DropSilently => return,
            Verdict::RefuseAge => {
                self.stats.refused_age += 1;
                return self.refuse(header, DiagValue::ImproperState, datagram);
            }
            Verdict::RefuseStart => {
                self.stats.refused_age += 1;
                return self.refuse_for_start(header, datagram);
            }
            Verdict::RefuseResource => return self.refuse(header, DiagValue::NoResource, datagram),
        }
        if header.seq >= SEQUENCE_LIMIT {
            return self.refuse(header, DiagValue::Unspecified, datagram);
        }
        let wanted = first.traffic.service();
        let found = self
            .listeners
            .find(first.address.domain(), first.address.port(), wanted)
            .and_then(|id| self.listeners.check(id, header.options).map(|()| id));
        let listener = match found {
            Ok(listener) => listener,
            Err(refusal) => {
                let value = DiagValue::try_from(refusal.diag_value()).unwrap_or(DiagValue::Unspecified);
                return self.refuse(header, value, datagram);
            }
        };
        if let Some(validated) = self.admit(header, first, &claim, (listener, pure), datagram) {
            self.accept(packet, first, &claim, listener, validated, pure, datagram);
        }
    }

    /// What has no memory of its past may be an old copy. One without a time never was protected, and cannot name anybody.
    fn is_for_another_instance(&self, claim: &Claim, src: core::net::SocketAddr) -> bool {
        (claim.time.is_some() || claim.instance.is_some())
            && self
                .instance
                .refuses(self.now, claim.instance, self.is_local(src))
    }

    /// §7.4: whether a context may be made, and whether its source is validated from the start.
    fn admit(
        &mut self,
        header: &Header,
        first: &First<'_>,
        claim: &Claim,
        (listener, pure): (ListenerId, bool),
        datagram: &Datagram<'_>,
    ) -> Option<bool> {
        let (domain, port) = (first.address.domain(), first.address.port().unwrap_or(0));
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
                Some(fits)
            }
            Decision::Cookie => {
                self.pressure.asks(self.now, datagram.src);
                let token = self.mint.cookie(seconds, datagram.src, key, domain, port);
                self.send_cookie(header, token, datagram);
                None
            }
            Decision::Displace | Decision::Refuse => {
                self.refuse(header, DiagValue::NoResource, datagram);
                None
            }
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "everything admission found out, used once"
    )]
    fn accept(
        &mut self,
        packet: &Packet<'_>,
        first: &First<'_>,
        claim: &Claim,
        listener: ListenerId,
        validated: bool,
        pure: bool,
        datagram: &Datagram<'_>,
    ) {
        if !pure && self.welcome(packet, first, claim, listener, validated, datagram) {
            return;
        }
        let seconds = self.utc_ms() / 1_000;
        let source_token = claim
            .takes_cookie
            .then(|| self.mint.source_token(seconds, datagram.src));
        let identity = self.identity(datagram.src);
        let facts = (listener, validated, pure);
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
        context.extended_first = claim.extended;
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
        let source = (!validated).then(|| datagram.src.ip());
        context.place = self.listeners.accepted(listener, id, source);
        if !self.stay.remembered {
            self.remember_first(header, claim, pure, datagram);
        }
        if !validated && !pure {
            self.pressure.half_open_begins();
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
        self.at_most_once.accept(
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
        self.identity_knowing(peer, known.rtt)
    }

    /// The same where the round trip to `peer` was looked up.
    pub(super) fn identity_knowing(
        &mut self,
        peer: core::net::SocketAddr,
        initial_rtt: Option<Duration>,
    ) -> Identity {
        let key = self.fresh_key();
        let sync = self.rng.next_u32();
        let id = self.contexts.reserve();
        Identity {
            id,
            key,
            sync,
            is_local: self.is_local(peer),
            initial_rtt,
        }
    }
}
