//! What an end states of itself in FIRST and TCNTL (§1.7), as plain values: a context has them in its parts, an exchange
//! without one in its options.

use super::{Opening, setup::DEFAULT_SPANS};
use core::num::NonZeroU64;
use xtp_core::Rate;
use xtp_wire::{
    BasicTraffic, Caps, ClientId, ExtendedTraffic, ExtendedTrafficBuilder, GroupPoint, Tlv, Tlvs, Token,
    Traffic,
};

/// A traffic specifier before it is encoded.
pub(crate) struct Stated<'a> {
    pub(crate) service: u8,
    pub(crate) max_data: u32,
    pub(crate) in_rate: Rate,
    pub(crate) out_rate: Rate,
    /// Credit for the stream towards this end.
    pub(crate) credit: u64,
    pub(crate) caps: Caps,
    /// Creation time of the association; 0 states none.
    pub(crate) time: u32,
    pub(crate) token: Option<Token>,
    pub(crate) client: Option<ClientId>,
    pub(crate) instance: Option<NonZeroU64>,
    pub(crate) point: Option<&'a GroupPoint>,
    /// TLV 8 and 9.
    pub(crate) app_buf: Option<u32>,
    pub(crate) sock_buf: Option<u32>,
    /// Spans that one control packet may have.
    pub(crate) spans: usize,
}

impl Default for Stated<'_> {
    fn default() -> Self {
        Self {
            service: 0,
            max_data: 0,
            in_rate: Rate::default(),
            out_rate: Rate::default(),
            credit: 0,
            caps: Caps::empty(),
            time: 0,
            token: None,
            client: None,
            instance: None,
            point: None,
            app_buf: None,
            sock_buf: None,
            spans: DEFAULT_SPANS,
        }
    }
}

impl<'a> Stated<'a> {
    /// The same with what an initiator adds.
    pub(crate) fn of_opening(self, opening: &'a Opening) -> Self {
        Self {
            time: opening.time,
            token: opening.token,
            client: opening.client,
            instance: opening.instance,
            point: opening.point.as_deref(),
            ..self
        }
    }

    /// Writes the specifier of traffic format 0x80; returns its length. `pad_to`: wished length in all.
    pub(crate) fn encode(&self, out: &mut [u8], pad_to: usize) -> usize {
        let mut builder = self.builder();
        builder.pad_to(pad_to);
        let length = builder.encoded_len();
        builder.encode(out).unwrap_or(length)
    }

    /// The same of a peer that knows traffic format 1 only.
    pub(super) fn encode_basic(&self, out: &mut [u8]) -> usize {
        let narrow = |rate: Rate| u32::try_from(rate.octets_per_second).unwrap_or(u32::MAX);
        let basic = BasicTraffic {
            service: self.service,
            maxdata: self.max_data,
            inrate: narrow(self.in_rate),
            inburst: self.in_rate.burst,
            outrate: narrow(self.out_rate),
            outburst: self.out_rate.burst,
        };
        Traffic::Basic(basic).encode(out).unwrap_or(24)
    }

    /// Octets of [`encode`](Self::encode) without padding.
    pub(crate) fn encoded_len(&self) -> usize {
        self.builder().encoded_len()
    }

    fn builder(&self) -> ExtendedTrafficBuilder<'_> {
        let mut builder = ExtendedTrafficBuilder::new(ExtendedTraffic {
            service: self.service,
            maxdata: self.max_data,
            inrate: self.in_rate.octets_per_second,
            outrate: self.out_rate.octets_per_second,
            inburst: self.in_rate.burst,
            outburst: self.out_rate.burst,
            credit: self.credit,
            caps: self.caps,
            time: self.time,
            tlvs: Tlvs::default(),
        });
        // A specifier with one of these too many cannot be built; the limit is far above what is added here.
        let mut add = |tlv: Tlv<'static>| drop(builder.tlv(&tlv));
        if let Some(token) = self.token {
            add(Tlv::Token(token));
        }
        if let Some(client) = self.client {
            add(Tlv::Client(client));
        }
        if let Some(name) = self.instance {
            add(Tlv::Instance(name.get()));
        }
        if let Some(point) = self.point {
            add(Tlv::Catchup(*point));
        }
        if let Some(octets) = self.app_buf {
            add(Tlv::AppBuf(octets));
        }
        if let Some(octets) = self.sock_buf {
            add(Tlv::SockBuf(octets));
        }
        if self.spans != DEFAULT_SPANS {
            add(Tlv::EcntlMax(u16::try_from(self.spans).unwrap_or(u16::MAX)));
        }
        builder
    }
}
