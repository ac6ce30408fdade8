//! PATH packets: probing sizes, challenging addresses, moving (§5.5, §7.6, §1.10).

use super::input::Input;
use super::packets::{Draft, Travel};
use super::timers::Timer;
use super::{Context, Env, State};
use crate::event::Event;
use core::net::SocketAddr;
use core::time::Duration;
use xtp_congestion::Controller;
use xtp_core::path::migration::Action;
use xtp_core::time::Time;
use xtp_core::transmit::TransmitBatch;
use xtp_wire::{Caps, Format, Options, Path, PathKind, serial_gt, size};

/// PATH packets waiting to leave.
#[derive(Debug, Default)]
pub(crate) struct PathQueue {
    challenge: Option<(SocketAddr, u64)>,
    response: Option<(SocketAddr, Path)>,
}

impl PathQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.challenge.is_none() && self.response.is_none()
    }
}

/// A search for larger datagrams begins after this many segments: short associations never probe.
const SEGMENTS_BEFORE_PROBING: u64 = 20;
/// When a FIRST that this host did not let leave is repeated.
const NOT_SENT: Duration = Duration::from_millis(100);
/// Octets of a PATH packet without padding.
const PATH_OCTETS: usize = xtp_core::path::migration::CHALLENGE_OCTETS as usize;

impl Context {
    /// A valid packet from an address outside the peer's set (§7.6). False: it is not to be used.
    pub(super) fn take_from_elsewhere(&mut self, env: &mut Env<'_>, input: &Input<'_>) -> bool {
        let header = &input.packet.header;
        if !header.key.is_returned() || self.state == State::Opening {
            return false;
        }
        let newer = self
            .reader
            .newest
            .sync()
            .is_none_or(|newest| serial_gt(header.sync, newest));
        if self.has(Caps::PATH) {
            let rtt = self.rtt.srtt().unwrap_or(Duration::from_millis(100));
            let nonce = env.nonce();
            if let Action::Challenge { to, nonce } = self
                .peer
                .paths
                .on_packet_from(input.src, newer, env.now, rtt, nonce)
            {
                self.path_queue.challenge = Some((to, nonce));
            }
        } else {
            let recent = input.packet.body.control().is_some_and(|control| {
                let sent = self.writer.ring.time_of(control.echo);
                sent.is_some_and(|at| env.now.since(at) <= 3 * self.rtt.srtt().unwrap_or_default())
            });
            if let Some(addr) = self.peer.paths.on_port_change(input.src, newer, recent) {
                self.move_to(addr, env);
                self.peer.validated = false;
                // What echoes packets to the old port was not sent by somebody who hears what goes to this one.
                self.writer.ring.renew();
            }
        }
        true
    }

    pub(super) fn take_path(&mut self, path: &Path, input: &Input<'_>, env: &mut Env<'_>) {
        match path.kind {
            PathKind::Challenge if self.only_listens() => {}
            PathKind::Challenge => {
                let answer = Path {
                    kind: PathKind::Response,
                    ..*path
                };
                self.path_queue.response = Some((input.src, answer));
            }
            PathKind::Response => self.take_path_response(path, input, env),
        }
        self.in_force |= self.offered & Caps::PATH;
    }

    fn take_path_response(&mut self, path: &Path, input: &Input<'_>, env: &mut Env<'_>) {
        let spare = self.peer.spare();
        if let Some(addr) = self.peer.paths.on_response(input.src, path.nonce, env.now) {
            if let Some(octets) = spare {
                self.peer.paths.limit_former(octets);
            }
            self.move_to(addr, env);
            self.peer.validated = true;
        } else if Some(path.nonce) == self.probe_nonce && input.src == self.peer.addr {
            self.peer.validated = true;
            if self.peer.mtu.on_response(path.size as usize, env.now) {
                self.writer.control.set_segment(self.segment_size() as u32);
                self.event(env, Event::MaxData(self.segment_size() as u32));
            }
        }
        self.schedule_path_timer();
    }

    /// The peer lives at `addr` now: window and round trip begin anew (§7.6).
    fn move_to(&mut self, addr: SocketAddr, env: &mut Env<'_>) {
        let from = self.moved.take().map_or(self.peer.addr, |moved| moved.0);
        self.moved = Some(Box::new((from, addr)));
        self.peer.addr = addr;
        self.peer.received = 0;
        self.peer.sent = 0;
        self.writer.control.on_path_change();
        self.writer.ecn.on_path_change();
        if let Some(window) = &mut self.reader.window {
            window.on_path_change();
        }
        self.reader.growth.forget_rtt();
        self.rtt.reset();
        self.writer.reordering = None;
        // A timer that doubled while the old path was dead says nothing about this one.
        self.timers.answered();
        // Whatever fitted the old path need not fit this one.
        self.peer.mtu.on_black_hole(env.now);
        self.writer.control.set_segment(self.segment_size() as u32);
        self.event(env, Event::Moved(addr));
    }

    pub(super) fn path_timer_expired(&mut self, env: &mut Env<'_>) {
        self.peer.mtu.on_timeout(env.now);
        let fresh = env.nonce();
        // At most one challenge leaves in a turn: another one that is due has the next turn.
        if self.path_queue.challenge.is_none()
            && let Action::Challenge { to, nonce } = self.peer.paths.on_timeout(env.now, fresh)
        {
            self.path_queue.challenge = Some((to, nonce));
        }
        self.schedule_path_timer();
    }

    pub(super) fn schedule_path_timer(&mut self) {
        let at = [self.peer.paths.deadline(), self.peer.mtu.probe_deadline()]
            .into_iter()
            .flatten()
            .min();
        // A probe that was under way at the end is nobody's business any more.
        self.timers.put(Timer::Path, at.filter(|_| self.state.is_live()));
    }

    /// Sends what waits, and a size probe where a bulk transfer would profit.
    pub(super) fn probe_paths(&mut self, env: &mut Env<'_>, out: &mut TransmitBatch) {
        if let Some((to, answer)) = self.path_queue.response.take() {
            self.emit_path(answer, PATH_OCTETS, Some(to), false, env, out);
        }
        if let Some((to, nonce)) = self.path_queue.challenge.take() {
            let path = Path {
                kind: PathKind::Challenge,
                size: PATH_OCTETS as u32,
                nonce,
            };
            self.emit_path(path, PATH_OCTETS, Some(to), false, env, out);
        }
        if self.probing_pays()
            && let Some(size) = self.peer.mtu.next_probe(env.now)
        {
            let nonce = env.nonce();
            self.probe_nonce = Some(nonce);
            let path = Path {
                kind: PathKind::Challenge,
                size: size as u32,
                nonce,
            };
            self.emit_path(path, size, None, true, env, out);
        }
        self.schedule_path_timer();
    }

    /// Whether a turn until `now` might probe, if it pays: false only if it surely does not.
    pub(super) fn could_probe(&self, now: Time) -> bool {
        self.tuning.overrides.probe_mtu
            && self.peer.mtu.current() < size::packet(self.writer.max_data as usize)
            && self.peer.mtu.would_probe(now)
    }

    /// Octets that may still be sent before probing might pay.
    pub(super) fn before_probing(&self) -> u64 {
        let threshold = SEGMENTS_BEFORE_PROBING * self.segment_size() as u64;
        threshold.saturating_sub(self.stats.octets_sent)
    }

    /// Only established bulk senders probe: one-shots and ping-pongs pay nothing.
    pub(super) fn probing_pays(&self) -> bool {
        let bulk = self.stats.octets_sent > SEGMENTS_BEFORE_PROBING * self.segment_size() as u64;
        let busy = self.writer.nxt < self.writer.queue.end() || !self.writer.inflight.is_empty();
        self.tuning.overrides.probe_mtu
            && self.has(Caps::PATH)
            && self.pattern.lasting
            && self.state == State::Active
            && self.peer.validated
            && bulk
            && busy
            && self.peer.mtu.current() < size::packet(self.writer.max_data as usize)
            && self.peer.mtu.probe_deadline().is_none()
    }

    fn emit_path(
        &mut self,
        path: Path,
        octets: usize,
        to: Option<SocketAddr>,
        probe: bool,
        env: &mut Env<'_>,
        out: &mut TransmitBatch,
    ) {
        if !self.peer.validated
            && to.is_none_or(|to| to == self.peer.addr)
            && !self.peer.allows_control(octets as u64)
        {
            return;
        }
        let sync = self.next_sync();
        let mut options = Options::empty();
        options.set(Options::SORT, self.tuning.sort.is_some());
        let draft = Draft {
            format: Format::Path,
            options,
            sync,
            seq: self.writer.nxt,
            travel: Travel {
                probe,
                to,
                ..Travel::default()
            },
        };
        let room = size::payload(octets);
        self.put(
            env,
            out,
            &draft,
            room,
            |packet| {
                packet.segment(|rest| path.encode(rest))?;
                // Room in the arena is made of zeros.
                packet.standing(room.saturating_sub(path.encoded_len()))
            },
            &[],
        );
        self.stats.control_sent += 1;
        self.writer.ring.record(sync, env.now);
    }

    /// The carrier says that datagrams of the present size do not fit (§5.5).
    pub(crate) fn too_big(&mut self, limit: Option<usize>, env: &mut Env<'_>) {
        if !self.state.is_live() {
            return;
        }
        let before = self.peer.mtu.current();
        self.peer.mtu.on_too_big(limit);
        self.shorten_first(env.now);
        let segment = self.segment_size() as u32;
        if self.peer.mtu.current() < before && !self.tuning.no_error {
            // What is longer has not arrived. It leaves again at once, cut to the new size; of congestion that says nothing.
            self.writer.inflight.mark_longer_lost(segment);
        }
        self.writer.control.set_segment(segment);
        self.event(env, Event::MaxData(self.segment_size() as u32));
        self.schedule_path_timer();
    }

    /// A FIRST that did not leave was no attempt: it is repeated long before its answer would count as late.
    pub(crate) fn repeat_first_soon(&mut self, now: Time) {
        if self.state == State::Opening {
            self.timers.repeat_first_at(now + NOT_SENT);
        }
    }

    /// A FIRST that did not leave for its size leaves again at once, with what fits.
    fn shorten_first(&mut self, now: Time) {
        let room = self.room_of_first(self.first_overhead()) as u32;
        if self.state == State::Opening
            && let Some(opening) = &mut self.opening
            && opening.first_len > room
        {
            opening.first_len = room;
            self.writer.inflight.mark_all_lost_from(room.into());
            self.timers.repeat_first_at(now);
        }
    }
}
