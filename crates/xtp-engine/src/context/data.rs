//! Packets with data, by whichever way they leave: what they change by having left.

use super::plan::Planned;
use super::reader::Owed;
use super::{Context, Env};
use crate::congestion::{Controller, Sent};
use xtp_wire::Options;

/// Packets with data that left and are not accounted for yet: one, or a run of equal ones.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Transmission {
    pub(super) segment: Planned,
    /// That of the first packet; those behind it have the next ones.
    pub(super) sync: u32,
    /// Octets of each packet.
    pub(super) octets: usize,
    /// Option bits of each packet.
    pub(super) options: Options,
    pub(super) xdata: bool,
    /// EDGE is another one than before.
    pub(super) flip: bool,
}

impl Context {
    /// Does what packets with data change by having left, besides what every packet does ([`note_left`](Self::note_left)).
    /// It may be done when they are under way, as of when they left.
    pub(super) fn account_data(&mut self, left: &Transmission, env: &Env<'_>) {
        let Transmission {
            segment,
            sync,
            octets,
            options,
            xdata,
            flip,
        } = *left;
        let (end, count, now) = (segment.end(), segment.count, env.now);
        self.settle_owed(xdata, options);
        self.reader.refusal_told |= xdata && options.contains(Options::RCLOSE);
        let user = segment.data_len() as u64 * u64::from(count);
        let writer = &mut self.writer;
        match end <= writer.nxt && segment.len > 0 {
            true => self.stats.octets_retransmitted += user,
            false => self.stats.octets_sent += user,
        }
        writer.nxt = writer.nxt.max(end);
        writer.ring.record_run(sync, count, now);
        if segment.len > 0 {
            if writer.control.is_model() {
                let idle = writer.inflight.is_empty();
                writer.control.on_sent(Sent { now, sync, idle });
            }
            if self.tuning.no_error {
                writer.unmapped_packets += count;
            } else {
                let len = segment.len as u32;
                writer.inflight.record_run(segment.seq, len, count, sync, now);
                writer.gap.open_since.get_or_insert(now);
            }
        }
        let octets = octets as u64;
        writer.peer_bucket.take_run(octets, count.into());
        writer.own_bucket.take_run(octets, count.into());
        writer.pacer.take(octets * u64::from(count));
        writer.wclose_sent |= options.contains(Options::WCLOSE);
        self.note_request(sync, options, flip, end, env);
    }

    /// XDATA satisfies owed status unless TCNTL is due; a DATA with RCLOSE says everything (§3.3).
    fn settle_owed(&mut self, xdata: bool, options: Options) {
        let tells_all = options.contains(Options::RCLOSE) && self.reader.is_complete();
        if (xdata && !self.tcntl_is_due() && !self.window_is_untold()) || tells_all {
            self.reader.owed = Owed::Nothing;
        }
    }
}
