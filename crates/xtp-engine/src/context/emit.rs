//! Carrying out an intent: octets into the batch, book-keeping into the parts. Decides nothing.

use super::data::Transmission;
use super::decide::{Ask, Intent};
use super::packets::{Draft, Travel};
use super::plan::{Plan, Planned, Stop};
use super::reader::Owed;
use super::requests::OpenDreq;
use super::timers::Timer;
use super::writer::{Blocked, WriterBlock};
use super::{Context, Env, State, Transition};
use crate::error::CloseReason;
use bytes::Bytes;
use xtp_congestion::Controller;
use xtp_core::time::Time;
use xtp_core::transmit::TransmitBatch;
use xtp_wire::{CONTROL_LEN, Format, Options, TAG_LEN, size};

impl Context {
    /// Does what `intent` says; true if something may be left to do.
    pub(super) fn emit(&mut self, intent: Intent, env: &mut Env<'_>, out: &mut TransmitBatch) -> bool {
        match intent {
            Intent::Nothing => return false,
            Intent::Train(plan) => return self.emit_train(&plan, env, out),
            Intent::First => {
                let options = match self.writer.state.final_seq() {
                    Some(_) if self.pattern.one_way => Options::END,
                    Some(_) if self.confirm == crate::Confirm::Delivered => Options::DREQ,
                    _ => Options::SREQ,
                };
                self.emit_first(None, options, env, out);
                if self.pattern.one_way {
                    self.finish(CloseReason::Normal, env);
                }
            }
            Intent::Stopped { stop, ask } => self.note_stop(stop, ask, env, out),
            Intent::Request(options) => self.emit_request(options, env, out),
            Intent::End => self.emit_end(env, out),
            Intent::Answer => self.emit_status(Options::empty(), super::status::Cause::Asked, env, out),
            Intent::AnswerDreq => self.emit_dreq_answer(env, out),
            Intent::Renegotiate => self.emit_renegotiation(env, out),
            Intent::Inform => self.emit_information(env, out),
        }
        self.state.is_live()
    }

    fn emit_train(&mut self, plan: &Plan, env: &mut Env<'_>, out: &mut TransmitBatch) -> bool {
        let answers = self.role == super::Role::Responder && self.stats.packets_sent == 0;
        for (index, segment) in plan.segments.iter().enumerate() {
            self.emit_run(segment, env, out);
            let ask = self.ask(plan, index, env.now);
            let segment = segment.last();
            if plan.first && index == 0 {
                self.emit_first(Some(segment), ask.options(), env, out);
            } else {
                self.emit_data(plan.xdata && index == 0, segment, ask, env, out);
                out.join_framed();
            }
            self.writer
                .wanted
                .asked(self.writer.nxt, segment.end(), ask.options());
            if ask.end {
                self.finish(CloseReason::Normal, env);
                return false;
            }
        }
        self.record_stop(plan.stop, env);
        if answers && self.reader.owed == Owed::Nothing && self.tcntl_is_due() && self.control_fits() {
            // FIRST did not ask, for data was to answer it: the key goes with that.
            self.emit_tcntl(Options::empty(), env, out);
        }
        true
    }

    /// Remembers why the writer stopped, without asking.
    pub(super) fn record_stop(&mut self, stop: Stop, env: &Env<'_>) {
        match stop {
            Stop::Blocked(why) => {
                let since = match self.writer.block_for(why) {
                    Some(block) => block.since,
                    None => {
                        self.timers.unblocked();
                        env.now
                    }
                };
                self.writer.block = Some(WriterBlock {
                    why,
                    since,
                    alloc: self.writer.credit.alloc,
                    nxt: self.writer.nxt,
                    is_seen: true,
                });
            }
            _ => {
                if let Some(block) = &mut self.writer.block {
                    block.is_seen = false;
                }
            }
        }
        self.timers.put(Timer::Rate, stop.until());
        self.writer.pacer.wait(stop.until());
        self.note_limit(stop, env.now);
    }

    /// Tells the controller when it is not the path that keeps more from leaving.
    fn note_limit(&mut self, stop: Stop, now: Time) {
        if !self.writer.control.is_model() {
            return;
        }
        let limited = match stop {
            Stop::Drained | Stop::Blocked(_) => true,
            Stop::Rate(_) | Stop::Pace(_) => !self.writer.rates.may_send(),
            Stop::Window | Stop::Train => false,
        };
        let flight = self.in_flight(now);
        if limited && flight < self.writer.control.window() {
            self.writer.control.on_app_limited(flight);
        }
    }

    fn note_stop(&mut self, stop: Stop, ask: bool, env: &mut Env<'_>, out: &mut TransmitBatch) {
        self.record_stop(stop, env);
        if !ask || self.pattern.no_feedback {
            return;
        }
        let options = match stop {
            Stop::Blocked(Blocked::Budget) => Options::SREQ,
            _ => Options::SREQ | Options::DREQ,
        };
        if self.control_fits() {
            self.emit_status(options, super::status::Cause::Own, env, out);
        }
    }

    fn emit_request(&mut self, options: Options, env: &mut Env<'_>, out: &mut TransmitBatch) {
        self.emit_status(options, super::status::Cause::Own, env, out);
        self.writer
            .wanted
            .asked(self.writer.nxt, self.writer.nxt, options);
    }

    /// FIRST, with the given segment of data if there is one (§2.4, §2.4.2).
    pub(super) fn emit_first(
        &mut self,
        segment: Option<Planned>,
        ask: Options,
        env: &mut Env<'_>,
        out: &mut TransmitBatch,
    ) {
        let segment = segment.unwrap_or(Planned {
            seq: 0,
            len: 0,
            tag: None,
            eom: false,
            again: false,
            count: 1,
        });
        let options = self.data_options(&segment, false, ask) - Options::EDGE;
        if self.state == State::Quiescent && !self.begins_again() {
            // The user may have opened it long before.
            self.timers.begin(env.now);
        }
        self.transition(Transition::UserOpens);
        let sync = self.next_sync();
        let payload = self.payload(&segment);
        let draft = Draft {
            format: Format::First,
            options,
            sync,
            seq: segment.seq,
            travel: Travel::default(),
        };
        let mut head = [0; 1400];
        let before = self.encode_first(&mut head);
        let octets = self.put(
            env,
            out,
            &draft,
            before + TAG_LEN,
            |packet| {
                packet.octets(&head[..before])?;
                segment.tag.map_or(Ok(()), |tag| packet.tag(tag))
            },
            &payload,
        );
        self.timers.first_left();
        if let Some(opening) = &mut self.opening
            && self.timers.firsts() == 1
        {
            opening.first_len = segment.len as u32;
        }
        let left = Transmission {
            segment,
            sync,
            octets,
            options,
            xdata: false,
            flip: false,
        };
        self.account_data(&left, env);
    }

    /// DATA or XDATA.
    pub(super) fn emit_data(
        &mut self,
        xdata: bool,
        segment: Planned,
        ask: Ask,
        env: &Env<'_>,
        out: &mut TransmitBatch,
    ) {
        let alone = self.leaves_alone(&segment);
        let left = self.send_queued(env, out, segment, (xdata, ask), alone);
        if ask.end {
            self.keep_for_replay(out, left.octets, &self.payload(&segment));
        }
        self.account_data(&left, env);
    }

    /// Whether nothing else is under way or waits: a window of one packet, however full the path is.
    fn leaves_alone(&self, segment: &Planned) -> bool {
        let writer = &self.writer;
        !self.tuning.no_error
            && !segment.again
            && writer.inflight.is_empty()
            && segment.end() == writer.queue.end()
    }

    /// The unconfirmed response as sent, for repeats of FIRST (§6.5).
    pub(super) fn keep_for_replay(&mut self, out: &TransmitBatch, octets: usize, payload: &[Bytes]) {
        let by_reference: usize = match payload.iter().map(Bytes::len).sum() {
            small if small <= super::packets::COPY_LIMIT => 0,
            large => large,
        };
        let head = octets - by_reference;
        let mut packet = out.arena[out.arena.len() - head..].to_vec();
        if by_reference > 0 {
            payload.iter().for_each(|bytes| packet.extend_from_slice(bytes));
        }
        self.cached = Some(packet.into());
    }

    /// A packet that is a request stops LSTIMER and starts WTIMER if it does not run (§3.5).
    pub(super) fn note_request(&mut self, sync: u32, options: Options, flip: bool, seq: u64, env: &Env<'_>) {
        let unheard = self.state == State::Opening && !self.pattern.one_way;
        if flip {
            self.writer.requests.edge_left(sync);
        }
        if options.contains(Options::DREQ) {
            // A repeated FIRST asks for less than the DREQ on the closing packet did.
            let old = self.writer.requests.dreq_for_delivery();
            let seq = old.map_or(seq, |dreq| dreq.seq.max(seq));
            let same = old.filter(|dreq| dreq.seq == seq);
            let for_delivery = !options.contains(Options::SREQ)
                || options.contains(Options::WCLOSE) && self.close_awaits_delivery()
                || self.writer.wanted_by(seq).contains(Options::DREQ)
                || old.is_some();
            self.writer.requests.dreq_left(OpenDreq {
                sync,
                since: same.map_or(sync, |dreq| dreq.since),
                seq,
                for_delivery,
                alone: !options.contains(Options::SREQ) && !flip && self.writer.requests.is_empty(),
            });
        }
        if flip || unheard || options.intersects(Options::SREQ | Options::DREQ) {
            if flip || options.contains(Options::SREQ) || unheard {
                self.writer.requests.sent(sync);
            }
            self.writer.unmapped_packets = 0;
            self.timers.stop(Timer::LazyStatus);
            // It never pushes the timer ahead; but one that runs for a poll of §3.7.3 would make it wait too long.
            let due = env.now + self.wtimer_period(env.now);
            if self.timers.get(Timer::Wait).is_none_or(|at| at > due) {
                self.timers.set(Timer::Wait, due);
            }
        }
    }

    /// CNTL {RCLOSE WCLOSE END}, and the context is inactive (§6.4).
    fn emit_end(&mut self, env: &mut Env<'_>, out: &mut TransmitBatch) {
        if self.role == super::Role::Responder && !self.peer.allows_control(size::packet(CONTROL_LEN) as u64)
        {
            return;
        }
        self.emit_final(env, out);
        self.finish(CloseReason::Normal, env);
    }
}
