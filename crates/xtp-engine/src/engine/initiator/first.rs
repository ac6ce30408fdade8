//! FIRST of an association of one message, from what it was opened with.

use super::super::opening::Prepared;
use super::Initiator;
use crate::config::EngineConfig;
use crate::context::{
    COPY_LIMIT, FIRST_ROOM, Stated, allowance, first_datagram, max_data_to_state, mode_bits,
};
use crate::options::{Confirm, OpenOptions, Tuning};
use bytes::Bytes;
use core::net::SocketAddr;
use xtp_congestion::CongestionKind;
use xtp_core::Rate;
use xtp_core::transmit::{Ecn, Route, TransmitBatch};
use xtp_wire::{Caps, Format, Header, Key, Options, service, size};

/// What everything that an association of one message says follows from, beside the message and its answer.
#[derive(Clone, Copy)]
pub(super) struct Facts<'a> {
    pub(super) peer: SocketAddr,
    pub(super) options: &'a OpenOptions,
    pub(super) prepared: &'a Prepared,
    pub(super) config: &'a EngineConfig,
}

/// Whether options bring no part of a context into play that a record has no rule for.
pub(super) fn is_simple(options: &OpenOptions, config: &EngineConfig) -> bool {
    let tuning = &options.tuning;
    let one_each_way = [service::ACKNOWLEDGED, service::TRANSACTION].contains(&options.service)
        && !options.one_way
        && !options.refuse_return
        && options.catch_up.is_none()
        && options.expected_answer == 0;
    // A response says nothing of whether the request was taken.
    let confirmed = options.confirm == Confirm::Received || options.service == service::ACKNOWLEDGED;
    let usual = !tuning.no_error && !tuning.no_flow && !tuning.reserve && !tuning.matched;
    let unlimited = tuning.out_rate == Rate::default()
        // Others make more of an acknowledgement than counting it.
        && [CongestionKind::Auto, CongestionKind::Fixed].contains(&tuning.congestion);
    one_each_way && confirmed && usual && unlimited && config.overrides.caps.contains(Caps::XDATA)
}

impl Facts<'_> {
    fn tuning(&self) -> &Tuning {
        &self.options.tuning
    }

    /// Longest datagram that FIRST may be, and the longest that the way is taken to carry.
    fn datagrams(&self) -> (usize, usize) {
        first_datagram(&self.prepared.identity, self.peer, self.config)
    }

    /// Octets of user data one packet carries.
    pub(super) fn segment(&self) -> usize {
        size::payload(self.datagrams().0).max(16)
    }

    fn max_data(&self) -> u32 {
        max_data_to_state(self.datagrams().1, self.capacity(), self.tuning())
    }

    /// Octets that the reader buffers.
    pub(super) fn capacity(&self) -> u64 {
        self.tuning().bounded_capacity(self.config.memory_limit / 8)
    }

    /// Credit of the return stream, which FIRST states.
    pub(super) fn credit(&self) -> u64 {
        allowance(self.max_data()).max(self.capacity())
    }

    /// Octets that FIRST promises to keep beside those that every association may send.
    fn granted(&self) -> u64 {
        let credit = self.credit();
        if credit > allowance(self.max_data()) {
            credit
        } else {
            0
        }
    }

    /// The controller of the writer.
    pub(super) fn congestion(&self) -> CongestionKind {
        match self.tuning().congestion {
            CongestionKind::Auto if self.prepared.identity.is_local => CongestionKind::Fixed,
            CongestionKind::Auto => CongestionKind::Model,
            chosen => chosen,
        }
    }

    /// Bits of every packet of this end.
    pub(super) fn bits(&self) -> Options {
        let mut bits = mode_bits(self.tuning());
        bits.set(Options::SORT, self.tuning().sort.is_some());
        bits
    }

    pub(super) fn sort(&self) -> u16 {
        self.tuning().sort.unwrap_or(0)
    }

    /// What FIRST, which closes the stream, asks for (§3.5).
    fn asks(&self) -> Options {
        match self.options.confirm {
            Confirm::Delivered => Options::DREQ,
            // The response acknowledges it.
            _ if self.options.service == service::TRANSACTION && !self.options.status_on_first => {
                Options::empty()
            }
            Confirm::Received => Options::SREQ,
        }
    }

    fn stated(&self) -> Stated<'_> {
        let plain = Stated {
            service: self.options.service,
            max_data: self.max_data(),
            in_rate: self.tuning().in_rate,
            out_rate: self.tuning().out_rate,
            credit: self.credit(),
            caps: self.config.overrides.caps,
            ..Stated::default()
        };
        plain.of_opening(&self.prepared.opening)
    }

    /// Whether a message of so many octets leaves with FIRST as a whole.
    pub(super) fn has_room(&self, octets: usize) -> bool {
        let payload = size::payload(self.datagrams().0);
        let most = payload.min(usize::try_from(allowance(self.max_data())).unwrap_or(usize::MAX));
        if octets <= most.saturating_sub(FIRST_ROOM) {
            return true;
        }
        let ahead = self.prepared.opening.address.encoded_len() + self.stated().encoded_len();
        octets <= payload.saturating_sub(ahead).min(most)
    }

    /// FIRST with all of `message` into `out`.
    fn write_first(&self, sync: u32, message: &Bytes, out: &mut TransmitBatch) {
        let header = Header {
            key: Key::own(self.prepared.identity.key),
            options: self.bits() | self.asks() | Options::WCLOSE | Options::EOM,
            format: Format::First,
            dlen: 0,
            check: 0,
            sort: self.sort(),
            sync,
            seq: 0,
        };
        let opening = &self.prepared.opening;
        let mut head = [0; FIRST_ROOM];
        let address = opening.address.encode(&mut head).unwrap_or(0);
        let ahead = address + self.stated().encode(&mut head[address..], opening.pad_to);
        let protection = self.config.protection();
        let written = out.write(
            header,
            protection,
            ahead,
            |packet| packet.octets(&head[..ahead]),
            [&message[..]],
        );
        let route = Route {
            dst: self.peer,
            src: None,
            ecn: Ecn::NotEct,
            sort: self.tuning().sort,
        };
        if let Some(at) = written {
            out.push_message(route, at, message, message.len() <= COPY_LIMIT);
        }
    }
}

impl Initiator {
    pub(super) fn facts<'a>(&'a self, config: &'a EngineConfig) -> Facts<'a> {
        Facts {
            peer: self.peer,
            options: &self.options,
            prepared: &self.prepared,
            config,
        }
    }

    /// FIRST leaves; octets that it promises to keep.
    pub(super) fn write_first(&self, config: &EngineConfig, out: &mut TransmitBatch) -> u64 {
        let facts = self.facts(config);
        facts.write_first(self.sync(), &self.request, out);
        facts.granted()
    }
}
