//! The receiver's window of KDD's profile (§5.3.1): how the receiver computes it, how it travels, how the sender obeys it.
//!
//! A writer that wants it states its application buffers (TLV 8). A reader that hears so ships the window: in XCNTL,
//! or, where that is not in force, as the limits of a TCNTL that states its buffer (TLV 9).

use super::input::Input;
use super::{Context, Env};
use crate::options::ErrorControl;
use xtp_congestion::CongestionControl;
use xtp_core::Rate;
use xtp_core::recv::ReceivedSegment;
use xtp_core::transmit::Ecn;
use xtp_wire::{Caps, Options, Xcntl, XcntlFlags};

/// Octets as the u32 of a TLV.
fn narrow(octets: u64) -> u32 {
    u32::try_from(octets).unwrap_or(u32::MAX)
}

impl Context {
    /// What our half of the profile adds to a specifier: the buffers of TLV 8 and 9.
    pub(super) fn stated_buffers(&self) -> (Option<u32>, Option<u32>) {
        let obeys = matches!(self.writer.control, CongestionControl::Kdd(_));
        let ships = self.ships_window_in_terms();
        (
            obeys.then(|| narrow(self.tuning.send_capacity)),
            ships.then(|| narrow(self.reader.credit.capacity())),
        )
    }

    /// The peer's writer wants a window.
    pub(super) fn begin_window(&mut self) {
        self.reader.window.get_or_insert_default();
    }

    /// A packet with data was stored, or found no place; `before`: one past the last octet in order before.
    pub(super) fn watch_window(&mut self, env: &Env<'_>, input: &Input<'_>, end: u64, before: u64) {
        if self.reader.window.is_none() {
            return;
        }
        self.want_round_trip();
        let reader = &mut self.reader;
        let Some(window) = &mut reader.window else {
            return;
        };
        if let Some(rtt) = self.rtt.srtt() {
            reader.growth.set_rtt(rtt);
        }
        let header = &input.packet.header;
        window.arrived(&ReceivedSegment {
            now: env.now,
            sync: header.sync,
            seq: header.seq,
            end,
            before,
            next: reader.store.next(),
            no_error: header.options.contains(Options::NOERR),
            go_back_n: reader.error_control.in_force() == ErrorControl::GoBackN,
            marked: input.ecn == Ecn::Ce,
            rtt: reader.growth.rtt(),
            capacity: reader.credit.capacity(),
        });
    }

    /// The window for an XCNTL that leaves now.
    pub(super) fn tell_window(&mut self, status: &mut Xcntl<'_>) {
        let told = self.reader.window.as_mut();
        if let Some(window) = told.and_then(|window| window.tell(status.control.rseq)) {
            status.flags |= XcntlFlags::WINDOW;
            status.rxrate = window;
        }
    }

    /// The peer waits for a window other than it knows, which an XDATA cannot carry.
    pub(super) fn window_is_untold(&self) -> bool {
        let untold = self
            .reader
            .window
            .as_ref()
            .is_some_and(|window| window.is_untold());
        untold && (self.speaks_extended() || self.ships_window_in_terms())
    }

    /// No XCNTL: status goes with a TCNTL whose limits are the window. Not where the user has limits of its own.
    pub(super) fn ships_window_in_terms(&self) -> bool {
        let known = self.reader.window.as_ref().and_then(|window| window.window());
        known.is_some()
            && !self.has(Caps::XCNTL)
            && !self.offered.is_empty()
            && self.peer.validated
            && self.tuning.in_rate == Rate::default()
    }

    /// The inward limits as a specifier states them.
    pub(super) fn stated_in_rate(&self) -> Rate {
        let window = self.reader.window.as_ref();
        let Some(octets) = window.and_then(|window| window.window()) else {
            return self.tuning.in_rate;
        };
        if !self.ships_window_in_terms() {
            return self.tuning.in_rate;
        }
        // Only of what was measured: a bound that is too large makes a rate that nothing would ever correct.
        let rate = self.rtt.srtt().map_or(0, |rtt| {
            u128::from(octets) * 1_000_000_000 / rtt.as_nanos().max(1)
        });
        Rate {
            octets_per_second: u64::try_from(rate).unwrap_or(u64::MAX),
            burst: narrow(octets),
        }
    }

    /// A TCNTL with those limits leaves.
    pub(super) fn window_went_with_terms(&mut self) {
        if self.ships_window_in_terms() {
            let rseq = self.reader.store.next();
            self.reader.window.as_mut().and_then(|window| window.tell(rseq));
        }
    }

    /// The peer's reader stated these limits, with its buffer beside them or not.
    pub(super) fn take_window_of_terms(&mut self, rate: Rate, sockbuf: bool) {
        let shipped = sockbuf && rate.burst > 0;
        if let (CongestionControl::Kdd(kdd), false) =
            (&mut self.writer.control, self.in_force.contains(Caps::XCNTL))
        {
            match shipped {
                true => kdd.set_window(rate.burst.into()),
                false => kdd.unship(),
            }
        }
    }

    /// The peer's reader shipped its window.
    pub(super) fn take_window(&mut self, status: &Xcntl<'_>) {
        if let CongestionControl::Kdd(kdd) = &mut self.writer.control
            && status.flags.contains(XcntlFlags::WINDOW)
        {
            kdd.set_window(status.rxrate);
        }
    }
}
