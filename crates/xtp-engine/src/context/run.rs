//! Sending a run: equal packets of plain new data that ask for nothing. What they have in common is done once.

use super::data::Transmission;
use super::plan::Planned;
use super::{Context, Env};
use smallvec::SmallVec;
use xtp_core::transmit::TransmitBatch;
use xtp_wire::{Format, Header, Options, size};

impl Context {
    /// Sends all packets of `run` but the last, which may ask for something and is sent like any other.
    pub(super) fn emit_run(&mut self, run: &Planned, env: &Env<'_>, out: &mut TransmitBatch) {
        let count = run.count - 1;
        if count == 0 {
            return;
        }
        let (len, packets) = (run.len, count as usize);
        let sync = self.writer.sync_out.wrapping_add(1);
        self.writer.sync_out = self.writer.sync_out.wrapping_add(count);
        let segment = Planned { count, ..*run };
        let options = self.data_options(&segment, false, Options::empty());
        let header = Header {
            dlen: len as u32,
            ..self.header(Format::Data, options, sync, run.seq)
        };
        let protection = env.config.protection();
        let ecn = self.data_ecn(false);
        let route = self.route(ecn);
        match self.writer.queue.frames_at(run.seq) {
            Some((frames, from)) => {
                let frame = |index| std::iter::once(frames.frame(from + index));
                let heads_at = out.write_run(header, protection, packets, frame);
                let retained = self.pattern.lasting && !self.tuning.no_error;
                out.push_framed(route, heads_at, packets, (frames, from), retained);
            }
            None => {
                let mut payload = SmallVec::new();
                self.writer.queue.payload(run.seq, len * packets, &mut payload);
                let cut = |index| Cut::new(&payload, index * len, len);
                let heads_at = out.write_run(header, protection, packets, cut);
                out.push_run(route, heads_at, packets, len, &mut payload);
            }
        }
        let octets = size::packet(len);
        self.note_left(octets * packets, count, env);
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
}

/// A stretch of octets that lie in several pieces.
struct Cut<'a> {
    pieces: &'a [bytes::Bytes],
    from: usize,
    left: usize,
}

impl<'a> Cut<'a> {
    fn new(pieces: &'a [bytes::Bytes], from: usize, len: usize) -> Self {
        Self {
            pieces,
            from,
            left: len,
        }
    }
}

impl<'a> Iterator for Cut<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        while self.left > 0 {
            let (first, rest) = self.pieces.split_first()?;
            self.pieces = rest;
            let Some(octets) = first.get(self.from..) else {
                self.from -= first.len();
                continue;
            };
            self.from = 0;
            let octets = &octets[..octets.len().min(self.left)];
            self.left -= octets.len();
            if !octets.is_empty() {
                return Some(octets);
            }
        }
        None
    }
}
