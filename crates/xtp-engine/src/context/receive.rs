//! A packet in: plausibility, data, control, closing, requests; in this order.

use super::delivery::asks_for_delivery;
use super::input::Input;
use super::reader::{Owed, PeerDreq, PeerModes};
use super::timers::Timer;
use super::{Context, Env, FirstFormat, Role, State, Transition};
use crate::error::CloseReason;
use crate::event::Event;
use crate::plausible::{ECHO_AGE, WIDE, status_is_possible};
use core::time::Duration;
use xtp_core::recv::{Assembly, Payload};
use xtp_core::time::Time;
use xtp_wire::{Body, Control, DataSegment, Format, Header, Options, Traffic, serial_gt};

/// Lower bound of W (§2.9).
const MIN_WINDOW: u64 = 1 << 20;

/// Life of an incomplete datagram (§4.8).
const ASSEMBLY_LIFE: Duration = Duration::from_secs(2);

impl Context {
    /// Takes one packet of this association. Answers are sent by the next `flush`.
    pub(crate) fn receive(&mut self, env: &mut Env<'_>, input: &Input<'_>) {
        let header = &input.packet.header;
        if !self.is_plausible(&input.packet.header, &input.packet.body) {
            self.stats.implausible += 1;
            return;
        }
        if let Body::Diag(diag) = &input.packet.body {
            self.take_diag(diag.code, diag.val, diag.text, header, env);
            return;
        }
        if input.src != self.peer.addr && !self.take_from_elsewhere(env, input) {
            return;
        }
        self.note_arrival(env, input);
        if self.reader.modes.reserve && !self.tuning.posts {
            self.abort_for("it reserves buffers (RES), and none are posted here", env);
            return;
        }
        if let Body::Path(path) = &input.packet.body {
            self.take_path(path, input, env);
            return;
        }
        let echo = || input.packet.body.control().map(|control| control.echo);
        let was_open = self.reader.state.is_open();
        let asked = self.asks_for_the_end();
        if self.take_contents(env, input).is_err() {
            self.abort_for("octets beyond the announced end of the stream", env);
            return;
        }
        self.complete_reader();
        if was_open && !self.reader.state.is_open() {
            self.reader_is_done(echo(), env);
        }
        let hole = self.reader.state.is_open();
        if self.pattern.one_way {
            // Whole or not at all, whatever the order: END says nothing that WCLOSE did not.
            return;
        }
        if header.options.contains(Options::END) {
            if is_data(header.format) && hole && !self.tuning_of_peer_is_unreliable() {
                // §6.5: END that leaves a hole is no END; FIRST is repeated until the response is whole.
                // A responder has no FIRST to repeat: to it such a packet is data without END.
                if self.role == Role::Initiator {
                    self.reader.state.end_early();
                }
            } else {
                self.take_end(header, echo(), env);
                return;
            }
        }
        if asked && self.closes_cross(header) {
            self.finish(CloseReason::Normal, env);
            return;
        }
        self.take_requests(header, &input.packet.body);
        if self.reader.state.has_stopped() {
            self.give_up_delivery(env);
        }
        // After the requests: a DREQ on this very packet holds the close back (§6.3.1).
        self.apply_auto_close();
        self.announce_readable(env);
    }

    /// §2.9, all differences modulo 2^64 read as signed. A repeated FIRST has the sequence number of the first one (§2.4.2).
    pub(crate) fn is_plausible(&self, header: &Header, body: &Body<'_>) -> bool {
        if header.format == Format::First {
            return header.seq == self.reader.start;
        }
        let of_groups = matches!(header.format, Format::Jcntl | Format::Parity | Format::Gnack);
        if of_groups || !self.seq_is_plausible(header, body) {
            return false;
        }
        match body.control() {
            Some(control) => {
                status_is_possible(body, *control, self.writer.nxt)
                    && self.echo_is_plausible(control.echo, header)
                    && !self.takes_back(control, header)
            }
            None => true,
        }
    }

    /// The end of what it carries, or of what its sender has sent.
    fn seq_is_plausible(&self, header: &Header, body: &Body<'_>) -> bool {
        let len = match body.data() {
            Some(data) => data.sequence_len() as u64,
            None if body.control().is_some() => 0,
            None => return true,
        };
        let Some(end) = header.seq.checked_add(len) else {
            return false;
        };
        let next = self.reader.store.next();
        let width = self.reader.widest.max(MIN_WINDOW);
        let room = self.reader.alloc.saturating_sub(next).max(width);
        let unlimited = header.options.intersects(Options::NOFLOW | Options::NOERR);
        let upper = if unlimited { WIDE.max(room) } else { room };
        // Of control packets even the oldest tell facts.
        let lower = if body.data().is_some() { width } else { u64::MAX };
        end <= next.saturating_add(upper) && end >= next.saturating_sub(lower)
    }

    fn echo_is_plausible(&self, echo: u32, header: &Header) -> bool {
        let out = self.writer.sync_out;
        let before_first = self.writer.first_sync.wrapping_sub(1);
        if echo == 0 && header.options.contains(Options::END) && !self.peer.validated {
            return true;
        }
        !serial_gt(echo, out)
            && !serial_gt(self.writer.first_sync, echo)
            && echo != before_first
            && out.wrapping_sub(echo) < ECHO_AGE
    }

    /// What was received once is not taken back (§3.8), and this left after all that came. A second context of the same FIRST says
    /// so, to which what the first one has will never be sent.
    fn takes_back(&self, control: &Control, header: &Header) -> bool {
        control.rseq < self.writer.una
            && self.reader.newest.is_before(header.sync)
            && self.state.is_live()
            && !self.pattern.no_feedback
    }

    pub(super) fn note_arrival(&mut self, env: &mut Env<'_>, input: &Input<'_>) {
        let header = &input.packet.header;
        self.note_sleep(env.now);
        self.stats.packets_received += 1;
        if input.src == self.peer.addr {
            self.peer.received += input.octets as u64;
            self.validate(header, &input.packet.body);
            self.peer.local = input.dst.or(self.peer.local);
        }
        if self.transition(Transition::PeerHeard) {
            self.timers.answered();
            // It was taken after all, whatever a DIAG before this said: what is acknowledged now is not sent afresh.
            self.restart = None;
            self.event(env, Event::Heard);
        }
        if let Body::First(first) = &input.packet.body
            && matches!(first.traffic, Traffic::Basic(_))
            && self.first.is_extended()
        {
            self.first = FirstFormat::FellBack;
        }
        self.reader.ecn.record(input.ecn);
        let newest = self
            .reader
            .newest
            .note(header.sync, header.options.contains(Options::EDGE), env.now);
        // Somebody who sends old packets again does not show that the peer is there (§3.7).
        if newest {
            self.peer_is_there(env.now);
        }
        if newest && !matches!(header.format, Format::Path | Format::Diag | Format::Cookie) {
            self.learn_modes(header);
        }
        if header.key.is_returned() && self.role == Role::Responder && !self.peer_has_key {
            self.peer_has_key = true;
            self.note_use_of_key(env.now);
        }
    }

    /// A packet newer than all before came.
    pub(super) fn peer_is_there(&mut self, now: Time) {
        if self.timers.heard(now) {
            self.rtt.silence_ended(self.writer.sync_out);
        }
        if self.doubt.heard() {
            self.timers.stop(Timer::Doubt);
        }
    }

    /// §7.3: an echo that EQUALS a sync of ours, or the use of a key disclosed to this address. Where a port has changed, only
    /// what was sent there counts (§7.6).
    fn validate(&mut self, header: &Header, body: &Body<'_>) {
        if self.peer.validated {
            return;
        }
        let exact = body
            .control()
            .is_some_and(|control| self.writer.ring.time_of(control.echo).is_some());
        let disclosed = header.key.is_returned() && self.peer.is_where_it_began();
        if exact || disclosed {
            self.peer.validated = true;
        }
    }

    pub(super) fn learn_modes(&mut self, header: &Header) {
        let options = header.options;
        self.reader.modes = PeerModes {
            no_error: options.contains(Options::NOERR),
            no_flow: options.contains(Options::NOFLOW),
            fast_nak: options.contains(Options::FASTNAK),
            reserve: options.contains(Options::RES),
            sort: options.contains(Options::SORT).then_some(header.sort),
        };
        if self.reader.modes.reserve && self.tuning.posts {
            self.reader.credit.reserve(self.reader.start);
        }
    }

    /// The peer's writer sends what is not repeated.
    fn tuning_of_peer_is_unreliable(&self) -> bool {
        self.reader.modes.no_error
    }

    fn take_contents(&mut self, env: &mut Env<'_>, input: &Input<'_>) -> Result<(), ()> {
        let header = &input.packet.header;
        let body = &input.packet.body;
        if let Some(data) = body.data() {
            let end = header.seq.wrapping_add(data.sequence_len() as u64);
            self.announce_final(header, end)?;
            self.take_data(env, input, header, data)?;
        } else if body.control().is_some() {
            if header.options.contains(Options::WCLOSE) {
                self.announce_final(header, header.seq)?;
            }
            if header.options.contains(Options::NOERR) && self.reader.state.is_open() {
                // §4.7: what the writer has sent counts as seen, or the loss below alloc would stop it for ever.
                self.reader.store.skip_to(header.seq);
            }
            if header.seq > self.reader.store.next() {
                self.writer.gap.spoil();
            }
        }
        if body.control().is_some() {
            self.take_control(header, body, env);
        }
        if header.options.contains(Options::RCLOSE) {
            self.take_rclose(header, body, env);
        }
        Ok(())
    }

    /// WCLOSE names the end; octets beyond it are a protocol error (§6.1).
    fn announce_final(&mut self, header: &Header, end: u64) -> Result<(), ()> {
        if let Some(known) = self.reader.state.final_seq() {
            return if end > known { Err(()) } else { Ok(()) };
        }
        if header.options.contains(Options::WCLOSE) {
            if self.reader.store.highest() > end {
                return Err(());
            }
            self.reader.state.name_end(end);
        }
        Ok(())
    }

    fn take_data(
        &mut self,
        env: &mut Env<'_>,
        input: &Input<'_>,
        header: &Header,
        data: &DataSegment<'_>,
    ) -> Result<(), ()> {
        if data.sequence_len() == 0 {
            self.take_empty_datagram(env);
            return Ok(());
        }
        self.note_reply(env);
        if !self.reader.state.is_open() {
            return Ok(());
        }
        let eom = header.options.contains(Options::EOM);
        let before = self.reader.store.next();
        if self.pattern.one_way {
            self.assemble(env, input, header, data);
        } else if header.options.contains(Options::NOERR) {
            let held = self.reader.kept() + data.sequence_len() as u64;
            let room = self.reader.credit.capacity().max(self.initial_allowance());
            if held > room.min(self.reader.credit.share()) {
                self.stats.overrun += data.sequence_len() as u64;
                return Ok(());
            }
            let payload = self.kept(input, data.data);
            self.reader
                .store
                .insert_unreliable(header.seq, data.tag, payload, eom);
        } else {
            self.store(input, header, data, eom);
        }
        let end = header.seq.wrapping_add(data.sequence_len() as u64);
        self.watch_window(env, input, end, before);
        self.stats.octets_received = self.reader.store.next() - self.reader.start;
        self.grow_reader(env.now, self.reader.kept());
        Ok(())
    }

    /// Lets the capacity follow what the path delivers in a round trip.
    #[inline]
    pub(super) fn grow_reader(&mut self, now: Time, waiting: u64) {
        // Most have grown as far as they may.
        if self.reader.credit.capacity() < self.reader.growth.limit() {
            self.grow_reader_to(now, self.reader.store.highest(), waiting);
        }
    }

    /// The same, of what came up to `highest`.
    pub(super) fn grow_reader_to(&mut self, now: Time, highest: u64, waiting: u64) {
        let reader = &mut self.reader;
        let capacity = reader.credit.capacity();
        if capacity >= reader.growth.limit() {
            return;
        }
        if let Some(rtt) = self.rtt.srtt() {
            reader.growth.set_rtt(rtt);
        }
        let came = highest - reader.start;
        let wanted = reader.growth.capacity(capacity, came, waiting, now);
        if wanted == capacity {
            return;
        }
        self.want_round_trip();
        if self.has_measured() {
            self.reader.credit.grow(wanted);
        }
    }

    /// The payload of a packet that is about to be stored, which copies it unless its memory is shared.
    fn kept<'a>(&mut self, input: &Input<'a>, data: &'a [u8]) -> Payload<'a> {
        let payload = input.payload(data);
        if !matches!(payload, Payload::Shared(_)) {
            self.stats.octets_copied += data.len() as u64;
        }
        payload
    }

    /// Nothing is kept from this position on.
    pub(super) fn reader_room(&self) -> u64 {
        let reader = &self.reader;
        let room = match reader.modes.no_flow {
            true => reader.alloc.max(reader.freed() + reader.credit.granted_at_most()),
            false => reader.alloc,
        };
        room.min(self.unasked_room())
    }

    fn store(&mut self, input: &Input<'_>, header: &Header, data: &DataSegment<'_>, eom: bool) {
        let end = header.seq.wrapping_add(data.sequence_len() as u64);
        if end > self.reader_room() {
            self.stats.overrun += data.sequence_len() as u64;
            return;
        }
        let payload = self.kept(input, data.data);
        let inserted = match self.reader.error_control.in_force() {
            crate::ErrorControl::Selective => self.reader.store.insert(header.seq, data.tag, payload, eom),
            crate::ErrorControl::GoBackN => {
                let before = self.reader.store.next();
                let inserted = self
                    .reader
                    .store
                    .insert_in_order_only(header.seq, data.tag, payload, eom);
                self.reader.nak.stored(header.seq > before);
                inserted
            }
        };
        self.reader.nak.stored(inserted.hole_new);
        self.stats.overrun += inserted.dropped;
    }

    /// A data-bearing packet of the peer closes the reply gap (§3.6).
    pub(super) fn note_reply(&mut self, env: &Env<'_>) {
        let unacknowledged = !self.writer.inflight.is_empty();
        if !self.writer.gap.close(env.now) {
            return;
        }
        if !self.has(xtp_wire::Caps::XDATA) {
            if self.writer.requests.is_empty() {
                self.timers.stop(Timer::LazyStatus);
            }
            if unacknowledged {
                self.writer.gap.open(env.now);
            }
        }
    }

    /// Datagrams of several packets: whole or not at all (§4.8).
    fn assemble(&mut self, env: &mut Env<'_>, input: &Input<'_>, header: &Header, data: &DataSegment<'_>) {
        let start = self.reader.start;
        if self.reader.assembly.is_none() {
            self.timers.set(Timer::Zombie, env.now + ASSEMBLY_LIFE);
        }
        let payload = self.kept(input, data.data);
        let assembly = self
            .reader
            .assembly
            .get_or_insert_with(|| Box::new(Assembly::new(start)));
        let end = self.reader.state.final_seq();
        if assembly.insert(header.seq, payload, end).is_err() {
            self.drop_assembly(env);
            return;
        }
        if assembly.is_complete()
            && let Some(assembly) = self.reader.assembly.take()
        {
            self.timers.stop(Timer::Zombie);
            let whole = assembly.into_bytes();
            self.reader
                .store
                .insert_unreliable(start, None, xtp_core::recv::Payload::Shared(whole), true);
            self.reader.state.complete();
            self.announce_readable(env);
            self.finish(CloseReason::Normal, env);
        }
    }

    /// A datagram without an octet is complete as soon as its FIRST is there.
    fn take_empty_datagram(&mut self, env: &mut Env<'_>) {
        if self.pattern.one_way && self.reader.state.final_seq() == Some(self.reader.start) {
            self.reader.state.complete();
            self.announce_readable(env);
            self.finish(CloseReason::Normal, env);
        }
    }

    /// An incomplete datagram is too old, too long, or others need the room.
    pub(crate) fn drop_assembly(&mut self, env: &mut Env<'_>) {
        if self.reader.assembly.take().is_some() {
            let missing = self
                .reader
                .state
                .final_seq()
                .map_or(1, |end| end.saturating_sub(self.reader.start));
            self.finish(
                CloseReason::Aborted {
                    missing,
                    unconfirmed: 0,
                },
                env,
            );
        }
    }

    /// Octets of an incomplete datagram this context holds.
    pub(crate) fn held_incomplete(&self) -> usize {
        self.reader
            .assembly
            .as_ref()
            .map_or(0, |assembly| assembly.held())
    }

    fn complete_reader(&mut self) {
        if self.reader.state.is_open() && !self.pattern.one_way && self.reader.is_complete() {
            self.reader.state.complete();
        }
    }

    pub(super) fn take_requests(&mut self, header: &Header, body: &Body<'_>) {
        let edge = header.options.contains(Options::EDGE);
        let mut flip = false;
        if self.carries_edge(header) {
            flip = self.reader.newest.flips(header.sync, edge);
            if flip {
                self.reader.owed = self.reader.owed.max(Owed::TurnEnd);
            }
        }
        if header.options.contains(Options::SREQ) {
            self.reader.owed = Owed::Now;
        }
        if header.options.contains(Options::DREQ) {
            let end = header.seq + body.data().map_or(0, |data| data.sequence_len() as u64);
            // A duplicate must not bring an older sync back.
            let newer = self
                .reader
                .dreq
                .is_none_or(|dreq| end > dreq.seq || (end == dreq.seq && serial_gt(header.sync, dreq.sync)));
            if newer {
                let delivered_then = self.reader.freed();
                let sreq = header.options.contains(Options::SREQ);
                let asked = self.reader.dreq.is_some_and(|dreq| dreq.for_delivery);
                self.reader.dreq = Some(PeerDreq {
                    seq: end,
                    sync: header.sync,
                    alone: !flip && !sreq,
                    for_delivery: asked || !sreq || asks_for_delivery(header.options),
                    delivered_then,
                });
            }
        }
    }

    /// EDGE is repeated in data and control packets only; in others its absence means nothing.
    fn carries_edge(&self, header: &Header) -> bool {
        !matches!(header.format, Format::Path | Format::Diag | Format::Cookie)
    }

    /// Raises `Readable` once, until the user has found the end of what there is.
    pub(crate) fn announce_readable(&mut self, env: &mut Env<'_>) {
        let ended = !self.reader.state.is_open() && self.state.is_live();
        if !self.reader.announced && (self.reader.store.readable() > 0 || ended) {
            self.reader.announced = true;
            self.event(env, Event::Readable);
        }
    }

    /// The peer violates the protocol: forced close (§6.6).
    fn abort_for(&mut self, what: &'static str, env: &mut Env<'_>) {
        self.abort_pending = !self.only_listens();
        self.finish(CloseReason::Protocol(what), env);
    }

    /// Whether the association is still exchanging packets.
    pub(crate) fn is_live(&self) -> bool {
        matches!(
            self.state,
            State::Opening | State::Active | State::InHandshake | State::Quiescent
        )
    }
}

/// Data packets in the sense of §0.3.
fn is_data(format: Format) -> bool {
    matches!(format, Format::First | Format::Data | Format::Xdata)
}
