//! Control packets: which format answers what (§3.2, §3.3), and building them.

use super::packets::{Draft, Travel};
use super::reader::{Owed, PeerDreq};
use super::{Context, Env, Role};
use crate::error::CloseReason;
use crate::options::ErrorControl;
use smallvec::SmallVec;
use xtp_core::time::Time;
use xtp_core::transmit::TransmitBatch;
use xtp_wire::{
    Body, Caps, DELAY_NONE, DIAG_LEN, Diag, DiagCode, Format, Options, SPAN_LEN, Span, Spans, TCNTL_LEN,
    XCNTL_LEN, Xcntl, XcntlFlags, size,
};

/// Why a status packet leaves.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// An answer to SREQ or EDGE.
    Asked,
    /// The answer to a DREQ with this sync.
    Dreq(u32),
    /// Nobody asked: it must not become an RTT sample.
    Unasked,
    /// A request of our own, which carries status along.
    Own,
}

impl Context {
    /// `TCNTL` is due: the peer does not use our key yet, or limits changed (§3.3).
    pub(super) fn tcntl_is_due(&self) -> bool {
        let ending = !self.reader.state.is_open() && !self.writer.state.is_open();
        let exchange = self.role == Role::Responder && self.pattern.lasting && !self.peer_has_key && !ending;
        exchange || self.renegotiation.is_due()
    }

    /// Octets of the control packet that would answer now, at most.
    pub(super) fn status_size(&self) -> u64 {
        let spans = self
            .reader
            .store
            .span_count()
            .min(self.spans_that_fit(Format::Xcntl));
        size::packet(XCNTL_LEN + spans * SPAN_LEN) as u64
    }

    /// Spans a control packet of this format may carry (§1.5). An XCNTL says itself that there are more, so it takes as
    /// many as fit, once the peer is known to be where it says it is.
    fn spans_that_fit(&self, format: Format) -> usize {
        let fits = (self.segment_size().saturating_sub(56) / 16).max(1);
        match format {
            Format::Xcntl if self.peer.validated => fits,
            _ => fits.min(self.reader.max_spans),
        }
    }

    /// Sends status in the format §3.3 chooses, with `extra` options.
    pub(super) fn emit_status(
        &mut self,
        extra: Options,
        cause: Cause,
        env: &mut Env<'_>,
        out: &mut TransmitBatch,
    ) {
        let mut extra = extra;
        let waits = self.close_awaits_delivery();
        if !waits && self.close_is_untold() && !extra.contains(Options::DREQ) {
            extra |= Options::SREQ;
        }
        // The key goes with every answer until the peer uses it (§2.1); what we say by ourselves stays plain (L10).
        let due = match cause {
            Cause::Asked => self.tcntl_is_due(),
            Cause::Own => self.renegotiation.is_due(),
            _ => false,
        };
        let tcntl = due && self.state.heard();
        // A TCNTL is no evidence of loss, so one that is there for the window comes beside status (24).
        let window = cause == Cause::Asked && self.ships_window_in_terms();
        if cause == Cause::Asked && !tcntl {
            extra |= self.ask_round_trip();
        }
        if self.reader.has_holes() || !tcntl || window {
            let last = if tcntl { Options::empty() } else { extra };
            self.emit_plain(last, cause, env, out);
        }
        if tcntl {
            self.emit_tcntl(extra, env, out);
        } else if window {
            self.emit_tcntl(Options::empty(), env, out);
        }
        if cause != Cause::Unasked {
            self.reader.owed = Owed::Nothing;
        }
    }

    /// Everything is sent, the writer closes, and no packet said so (§3.3).
    pub(super) fn close_is_untold(&self) -> bool {
        self.writer.state.is_untold() && self.writer.all_sent()
    }

    /// Status is XCNTL.
    pub(super) fn speaks_extended(&self) -> bool {
        let lasting =
            self.pattern.lasting || self.reader.store.next() - self.reader.start > self.initial_allowance();
        self.has(Caps::XCNTL) && self.state.heard() && lasting
    }

    /// CNTL, ECNTL or XCNTL.
    fn emit_plain(&mut self, extra: Options, cause: Cause, env: &mut Env<'_>, out: &mut TransmitBatch) {
        let extended = self.speaks_extended();
        let echo = match cause {
            Cause::Dreq(sync) => Some(sync),
            // A plain packet that echoes a DREQ answers it (§3.2), so no other may.
            _ if !extended => self.echo_below_dreq(),
            _ => None,
        };
        let format = match (extended, self.reader.has_holes()) {
            (true, _) => Format::Xcntl,
            (false, true) => Format::Ecntl,
            (false, false) => Format::Cntl,
        };
        self.emit_control(format, extra, echo, cause, env, out);
    }

    /// The greatest sync, but for that of a DREQ which came alone and waits for the user.
    fn echo_below_dreq(&self) -> Option<u32> {
        let waiting = self
            .reader
            .dreq
            .filter(|dreq| dreq.alone && dreq.sync == self.reader.newest.echo());
        waiting.map(|dreq| dreq.sync.wrapping_sub(1))
    }

    fn emit_control(
        &mut self,
        format: Format,
        extra: Options,
        echo: Option<u32>,
        cause: Cause,
        env: &mut Env<'_>,
        out: &mut TransmitBatch,
    ) {
        let (draft, control) = self.control_draft(format, extra, echo);
        if format == Format::Cntl {
            self.put_whole(env, out, &draft, &Body::Cntl(control));
            return self.account_control(&draft, env);
        }
        let (held, partial) = self.held_spans(format);
        let spans = Spans::new(control.rseq, &held).unwrap_or_default();
        let mut status = self.extended_status(control, cause, env.now);
        status.flags |= partial;
        if format == Format::Xcntl {
            self.tell_window(&mut status);
        }
        let body = match format {
            Format::Ecntl => Body::Ecntl { control, spans },
            _ => Body::Xcntl(Xcntl { spans, ..status }),
        };
        self.put_whole(env, out, &draft, &body);
        self.account_control(&draft, env);
    }

    /// What is held beyond rseq, as much as the packet may carry: the lowest ranges [D-13], or, in every other XCNTL
    /// of those that can not carry all, the newest.
    fn held_spans(&mut self, format: Format) -> (SmallVec<[Span; 8]>, XcntlFlags) {
        let mut ranges: SmallVec<[(u64, u64); 8]> = SmallVec::new();
        let mut partial = XcntlFlags::empty();
        if self.reader.has_holes() {
            let fits = self.spans_that_fit(format);
            let all = self.reader.store.span_count() <= fits;
            let newest = !all && format == Format::Xcntl && self.reader.newest_next;
            if newest {
                self.reader.store.newest_spans(fits, &mut ranges);
                partial = XcntlFlags::EARLIER_SPANS;
            } else {
                self.reader.store.spans(fits, &mut ranges);
                partial.set(XcntlFlags::LATER_SPANS, !all);
            }
            self.reader.newest_next = !newest;
        }
        let spans = ranges
            .iter()
            .map(|(left, right)| Span::new(*left, *right))
            .collect();
        (spans, partial)
    }

    fn extended_status(&self, control: xtp_wire::Control, cause: Cause, now: Time) -> Xcntl<'static> {
        let mut flags = XcntlFlags::empty();
        flags.set(
            XcntlFlags::GO_BACK_N,
            self.reader.error_control.in_force() == ErrorControl::GoBackN,
        );
        let silent = matches!(cause, Cause::Dreq(_) | Cause::Unasked);
        flags.set(XcntlFlags::DREQ_OR_UNSOLICITED, silent);
        // Whoever refuses says what was taken before.
        let tells = matches!(cause, Cause::Dreq(_)) || self.reader.state.is_refused_later();
        let delivered = tells.then(|| self.reader.taken());
        flags.set(XcntlFlags::DELIVERED, delivered.is_some());
        let counts = self.reader.ecn;
        Xcntl {
            control,
            flags,
            delay_us: if silent { DELAY_NONE } else { self.delay_us(now) },
            ect0: counts.ect0,
            ect1: counts.ect1,
            ce: counts.ce,
            rxrate: 0,
            spans: Spans::default(),
            delivered,
            poll: None,
        }
    }

    /// TCNTL: key exchange and limits (§2.4.3, §2.5).
    pub(super) fn emit_tcntl(&mut self, extra: Options, env: &mut Env<'_>, out: &mut TransmitBatch) {
        let mut extra = extra;
        if self.renegotiation.asks() {
            extra |= Options::SREQ;
        }
        let (draft, control) = self.control_draft(Format::Tcntl, extra, None);
        let key = self.key;
        let mut specifier = [0; 256];
        let length = self.specifier(&mut specifier, 0);
        self.put(
            env,
            out,
            &draft,
            TCNTL_LEN + length,
            |packet| {
                packet.segment(|rest| control.encode_tcntl(key, rest))?;
                packet.octets(&specifier[..length])
            },
            &[],
        );
        self.renegotiation.left(draft.sync);
        self.window_went_with_terms();
        self.account_control(&draft, env);
    }

    pub(super) fn emit_renegotiation(&mut self, env: &mut Env<'_>, out: &mut TransmitBatch) {
        if self.reader.has_holes() {
            self.emit_plain(Options::empty(), Cause::Unasked, env, out);
        }
        self.emit_tcntl(Options::empty(), env, out);
        self.reader.owed = Owed::Nothing;
    }

    /// The packet that says END (§6.4); always CNTL.
    pub(super) fn emit_final(&mut self, env: &mut Env<'_>, out: &mut TransmitBatch) {
        // RCLOSE and WCLOSE as far as they are true: a context that failed must not claim a complete stream.
        self.emit_control(Format::Cntl, Options::END, None, Cause::Asked, env, out);
    }

    /// RCLOSE and WCLOSE as far as they are true now.
    pub(crate) fn closing_bits(&self) -> Options {
        let mut bits = Options::empty();
        let end = self.writer.state.final_seq();
        bits.set(Options::WCLOSE, end.is_some_and(|end| self.writer.nxt >= end));
        let done = !self.reader.state.is_open();
        bits.set(Options::RCLOSE, done);
        bits
    }

    /// CNTL {END} without RCLOSE: forced close (§6.6).
    pub(super) fn emit_abort(&mut self, env: &mut Env<'_>, out: &mut TransmitBatch) {
        if self.emit_rejection(env, out) {
            return;
        }
        let control = self.control_segment(None);
        let sync = self.next_sync();
        let seq = self.writer.nxt;
        let draft = Draft {
            format: Format::Cntl,
            options: Options::END,
            sync,
            seq,
            travel: Travel::default(),
        };
        self.put_whole(env, out, &draft, &Body::Cntl(control));
        self.stats.control_sent += 1;
    }

    /// The abort of a user who says why: DIAG(2) with END, as much of its words as the 3x limit lets out (§7.3). It is kept
    /// for those who did not get it. False if there is no reason to tell, or no room for any.
    fn emit_rejection(&mut self, env: &mut Env<'_>, out: &mut TransmitBatch) -> bool {
        let Some(CloseReason::Rejected { code, text }) = self.closed.clone() else {
            return false;
        };
        // A least peer knows DIAG as an answer to its FIRST only (docs/protocol/10-least-peer.md).
        if !self.first.is_extended() {
            return false;
        }
        let bare = size::packet(DIAG_LEN) as u64;
        let Some(room) = (0..=text.len())
            .rev()
            .find(|room| text.is_char_boundary(*room) && self.peer.allows_control(bare + *room as u64))
        else {
            return false;
        };
        let diag = Diag {
            code: DiagCode::ContextAbandoned.to_wire(),
            val: code,
            text: &text[..room],
        };
        let draft = Draft {
            format: Format::Diag,
            options: Options::END,
            sync: 0,
            seq: 0,
            travel: Travel::default(),
        };
        let octets = self.put_whole(env, out, &draft, &Body::Diag(diag));
        self.keep_for_replay(out, octets, &[]);
        self.stats.control_sent += 1;
        true
    }

    fn control_draft(
        &mut self,
        format: Format,
        extra: Options,
        echo: Option<u32>,
    ) -> (Draft, xtp_wire::Control) {
        let mut options = self.writer.bits(&self.tuning) | extra | self.closing_bits();
        if options.contains(Options::WCLOSE) && self.close_awaits_delivery() {
            // A question asks for all it waits for, and what is no question leaves WCLOSE out.
            match options.intersects(Options::SREQ | Options::DREQ) {
                true => options |= Options::DREQ,
                false => options -= Options::WCLOSE,
            }
        }
        if options.contains(Options::RCLOSE) {
            self.reader.state.rclose_left();
        }
        let sync = self.next_sync();
        let control = self.control_segment(echo);
        (
            Draft {
                format,
                options,
                sync,
                seq: self.writer.nxt,
                travel: Travel::default(),
            },
            control,
        )
    }

    fn account_control(&mut self, draft: &Draft, env: &Env<'_>) {
        self.stats.control_sent += 1;
        self.writer.ring.record(draft.sync, env.now);
        if draft.options.contains(Options::WCLOSE) {
            self.writer.state.wclose_left();
        }
        self.note_request(draft.sync, draft.options, false, draft.seq, env);
    }

    /// Time since the echoed packet came, microseconds (§1.5.1, §3.4).
    pub(super) fn delay_us(&self, now: Time) -> u32 {
        let micros = now.as_nanos().saturating_sub(self.reader.newest.at().as_nanos()) / 1_000;
        u32::try_from(micros).unwrap_or(DELAY_NONE).min(DELAY_NONE - 1)
    }

    /// The user has consumed what the DREQ is about, or half a capacity since (§3.2, §5.1).
    pub(super) fn dreq_is_satisfied(&self, dreq: PeerDreq) -> bool {
        let freed = self.reader.freed();
        if self.reader.taken() >= dreq.seq {
            return true;
        }
        // Who takes no more has thrown away what is asked for, and answers that never.
        freed < dreq.seq
            && self
                .reader
                .credit
                .dreq_report(dreq.seq, dreq.delivered_then, freed)
                .is_some()
    }

    pub(super) fn emit_dreq_answer(&mut self, env: &mut Env<'_>, out: &mut TransmitBatch) {
        let Some(dreq) = self.reader.dreq else { return };
        if self.reader.taken() < dreq.seq {
            // Credit for a reader whose DREQ reaches beyond what the user will take soon.
            self.reader.dreq = Some(PeerDreq {
                delivered_then: self.reader.freed(),
                ..dreq
            });
            self.emit_status(Options::empty(), Cause::Unasked, env, out);
            return;
        }
        self.reader.dreq = None;
        self.apply_auto_close();
        if self.decide_end().is_some() || self.close_is_untold() {
            // END, or the WCLOSE that was withheld until now, is the answer.
            return;
        }
        let owed = self.reader.owed;
        self.emit_status(Options::empty(), Cause::Dreq(dreq.sync), env, out);
        self.reader.owed = owed;
    }

    /// Window update or FASTNAK.
    pub(super) fn emit_information(&mut self, env: &mut Env<'_>, out: &mut TransmitBatch) {
        let reader = &mut self.reader;
        if reader.nak_is_due(env.now) {
            reader
                .nak
                .reported(reader.store.next(), reader.newest.echo(), env.now);
        }
        reader.nak.told();
        reader.update_due = false;
        self.emit_status(Options::empty(), Cause::Unasked, env, out);
    }
}
