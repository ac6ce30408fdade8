//! A run of packets in: plain data in order that asks for nothing and changes nothing but how far the stream came.
//!
//! What [`receive`](super::receive) finds out for every packet it needs to find out for a run only once.

use super::{Context, Env, Role, State};
use crate::options::ErrorControl;
use xtp_core::recv::payload::{SHARE_MIN, is_worth_sharing};
use xtp_core::transmit::Datagram;
use xtp_wire::{Caps, Header, Options, Run};

/// Packets with these are taken one by one.
pub(crate) const ALONE: Options = Options::NOERR
    .union(Options::MULTI)
    .union(Options::RES)
    .union(Options::SREQ)
    .union(Options::DREQ)
    .union(Options::RCLOSE)
    .union(Options::WCLOSE)
    .union(Options::EOM)
    .union(Options::END)
    .union(Options::BTAG);

impl Context {
    /// Takes the packets of `run`, the first of which [is in stride](Self::is_in_stride), as far as there is room; says
    /// how many. The others go through `receive`.
    pub(crate) fn receive_run(&mut self, env: &mut Env<'_>, run: &Run<'_>, datagram: &Datagram<'_>) -> usize {
        let Some(backing) = datagram.backing else {
            return 0;
        };
        let len = run.data_len() as u64;
        let room = self.reader_room().saturating_sub(run.header.seq);
        let count = run.count().min(usize::try_from(room / len).unwrap_or(usize::MAX));
        if count == 0 || !is_worth_sharing(backing, run.header.packet_len() * count) {
            return 0;
        }
        self.note_run(env, run, datagram, count);
        let octets = backing.slice_ref(&datagram.data[..run.header.packet_len() * count]);
        self.reader
            .store
            .append_run(octets, run.head_len(), run.data_len());
        self.stats.octets_received = self.reader.store.next() - self.reader.start;
        self.grow_reader(env.now, self.reader.kept());
        self.announce_readable(env);
        count
    }

    /// Nothing is to be decided about a packet with this header: it is the next one of a stream that goes on.
    pub(crate) fn is_in_stride(&self, header: &Header, datagram: &Datagram<'_>) -> bool {
        let reader = &self.reader;
        let expected = self.state == State::Active
            && self.closed.is_none()
            && self.doubt.is_settled()
            && self.peer.validated
            && (self.peer_has_key || self.role == Role::Initiator)
            && !self.pattern.one_way
            && datagram.src == self.peer.addr;
        let in_order = reader.state.is_endless()
            && reader.window.is_none()
            && reader.error_control.in_force() == ErrorControl::Selective
            && header.seq == reader.store.next()
            && !reader.store.has_holes();
        let newest = reader.newest.is_before(header.sync)
            && header.options.contains(Options::EDGE) == reader.newest.edge();
        // Else every one of them closes a gap and opens the next (§3.6).
        let one_gap = self.has(Caps::XDATA) || self.writer.inflight.is_empty();
        expected && in_order && newest && one_gap && header.dlen as usize >= SHARE_MIN
    }

    /// Whatever packets change by having come.
    fn note_run(&mut self, env: &mut Env<'_>, run: &Run<'_>, datagram: &Datagram<'_>, count: usize) {
        let header = &run.header;
        let packets = count as u32;
        let newest = header.sync.wrapping_add(packets - 1);
        self.stats.packets_received += u64::from(packets);
        self.peer.received += (run.header.packet_len() * count) as u64;
        self.peer.local = datagram.dst.or(self.peer.local);
        self.peer_is_there(env.now);
        self.reader.ecn.record_many(datagram.ecn, packets);
        self.reader.newest.note_run(newest, env.now);
        self.learn_modes(header);
        self.note_reply(env);
    }
}
