//! Packets with data, by whichever way they leave: how they look, and what they change by having left.

use super::decide::Ask;
use super::packets::{COPY_LIMIT, Travel};
use super::plan::Planned;
use super::reader::Owed;
use super::{Context, Env};
use bytes::Bytes;
use smallvec::SmallVec;
use xtp_congestion::{Controller, SentPacket};
use xtp_core::transmit::{Ecn, TransmitBatch};
use xtp_wire::{
    Caps, Control, EncodeError, Format, Header, Options, PacketWriter, Protection, TAG_LEN, XDATA_LEN, size,
};

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
    /// Option bits of a packet of ours with these data that asks so much (§1.2, §6.1, §6.2).
    #[inline]
    pub(super) fn data_options(&self, segment: &Planned, xdata: bool, ask: Options) -> Options {
        let mut options = self.writer.bits(&self.tuning) | ask;
        if self.writer.state.final_seq() == Some(segment.end()) {
            options |= Options::WCLOSE;
        }
        let done = !self.reader.state.is_open() && self.reader.is_complete();
        let refused = self.reader.state.is_refused_on_data(xdata);
        options.set(Options::RCLOSE, done || refused);
        options.set(Options::EOM, segment.eom);
        options.set(Options::BTAG, segment.tag.is_some());
        options
    }

    /// Writes DATA or XDATA into the arena, which `payload` is to follow; where it begins, and what is to be accounted for.
    #[inline(always)]
    pub(super) fn write_data<'p, P>(
        &mut self,
        env: &Env<'_>,
        out: &mut TransmitBatch,
        segment: Planned,
        (xdata, ask): (bool, Ask),
        payload: P,
    ) -> (usize, Transmission)
    where
        P: IntoIterator<Item = &'p [u8], IntoIter: Clone>,
    {
        if ask.flip {
            self.writer.requests.flip_edge();
        }
        let mut options = self.data_options(&segment, xdata, ask.options());
        if options.contains(Options::WCLOSE) && self.close_awaits_delivery() {
            options |= Options::DREQ;
        }
        let sync = self.next_sync();
        let format = if xdata { Format::Xdata } else { Format::Data };
        let header = self.header(format, options, sync, segment.seq);
        let protection = env.config.protection();
        let status = xdata.then(|| (self.control_segment(None), self.delay_us(env.now)));
        let at = match segment.tag {
            None => write_packet(out, header, protection, status, payload),
            Some(tag) => write_tagged(out, header, protection, (status, tag), payload),
        };
        let left = Transmission {
            segment,
            sync,
            octets: out.arena.len() - at + segment.data_len(),
            options,
            xdata,
            flip: ask.flip,
        };
        (at, left)
    }

    /// Sends DATA or XDATA with octets of the queue. `alone`: see [`data_ecn`](Self::data_ecn).
    pub(super) fn send_queued(
        &mut self,
        env: &Env<'_>,
        out: &mut TransmitBatch,
        segment: Planned,
        how: (bool, Ask),
        alone: bool,
    ) -> Transmission {
        let payload = self.payload(&segment);
        let pieces = payload.iter().map(|bytes| &bytes[..]);
        let (at, left) = self.write_data(env, out, segment, how, pieces);
        let payload = self.copy_short(out, &payload, COPY_LIMIT);
        let travel = self.data_travel(alone);
        self.put_written(env, out, travel, at, payload);
        left
    }

    /// The octets of a segment that are in the queue.
    pub(super) fn payload(&self, segment: &Planned) -> SmallVec<[Bytes; 4]> {
        let mut pieces = SmallVec::new();
        if segment.len > 0 {
            self.writer.queue.payload(segment.seq, segment.len, &mut pieces);
        }
        pieces
    }

    pub(super) fn data_travel(&mut self, alone: bool) -> Travel {
        Travel {
            ecn: self.data_ecn(alone),
            ..Travel::default()
        }
    }

    /// The mark of a data packet. One that is `alone` does without: there is no window to make smaller, and a receiver of
    /// nothing else need not ask for the mark of each.
    #[inline]
    pub(super) fn data_ecn(&mut self, alone: bool) -> Ecn {
        match !alone && self.tuning.overrides.ecn && self.has(Caps::XCNTL) && self.pattern.lasting {
            true => self.writer.ecn.mark(),
            false => Ecn::NotEct,
        }
    }

    /// Does what packets with data change by having left, besides what every packet does ([`note_left`](Self::note_left)).
    /// It may be done when they are under way, as of when they left.
    pub(super) fn account_data(&mut self, left: &Transmission, env: &Env<'_>) {
        let Transmission {
            ref segment,
            sync,
            octets,
            options,
            xdata,
            flip,
        } = *left;
        let (end, count, now) = (segment.end(), segment.count, env.now);
        self.settle_owed(xdata, options);
        if xdata && options.contains(Options::RCLOSE) {
            self.reader.state.rclose_left();
        }
        if segment.again {
            self.writer.queue.sent_again(segment.seq, segment.len);
        }
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
                writer.control.on_sent(SentPacket { now, sync, idle });
            }
            if self.tuning.no_error {
                writer.unmapped_packets += count;
            } else {
                let len = segment.len as u32;
                writer.inflight.record_run(segment.seq, len, count, sync, now);
                writer.gap.open(now);
                if segment.again {
                    writer.gap.spoil();
                }
            }
        }
        let octets = octets as u64;
        writer.rates.take_run(octets, count.into());
        writer.pacer.take(octets * u64::from(count));
        if let Some(share) = &mut writer.share {
            share.take(octets * u64::from(count));
        }
        if options.contains(Options::WCLOSE) {
            writer.state.wclose_left();
        }
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

/// Status as XDATA tells it: the control segment, and how long ago the packet came that it echoes, us.
type ToldStatus = Option<(Control, u32)>;

/// Lets the status write itself.
#[inline]
fn tell(status: ToldStatus, packet: &mut PacketWriter<'_>) -> Result<(), EncodeError> {
    status.map_or(Ok(()), |(control, delay)| {
        packet.segment(|rest| control.encode_xdata(delay, rest))
    })
}

/// A packet without a tag, which `payload` is to follow; where it begins.
#[inline]
pub(crate) fn write_packet<'p, P>(
    out: &mut TransmitBatch,
    header: Header,
    protection: Protection,
    status: ToldStatus,
    payload: P,
) -> usize
where
    P: IntoIterator<Item = &'p [u8], IntoIter: Clone>,
{
    let body = |packet: &mut PacketWriter<'_>| tell(status, packet);
    match status {
        None => out.write_exactly::<{ size::packet(0) }, _>(header, protection, body, payload),
        Some(_) => out.write_exactly::<{ size::packet(XDATA_LEN) }, _>(header, protection, body, payload),
    }
}

/// The same of one whose body ends with a tag; out of line, so that packets without a tag stay in one piece.
#[inline(never)]
fn write_tagged<'p, P>(
    out: &mut TransmitBatch,
    header: Header,
    protection: Protection,
    (status, tag): (ToldStatus, u64),
    payload: P,
) -> usize
where
    P: IntoIterator<Item = &'p [u8], IntoIter: Clone>,
{
    let body = |packet: &mut PacketWriter<'_>| tell(status, packet).and_then(|()| packet.tag(tag));
    match status {
        None => out.write_exactly::<{ size::packet(TAG_LEN) }, _>(header, protection, body, payload),
        Some(_) => {
            out.write_exactly::<{ size::packet(XDATA_LEN + TAG_LEN) }, _>(header, protection, body, payload)
        }
    }
}
