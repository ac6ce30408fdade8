//! What this transmitter says of its group in the specifiers of announcements and answers (§9.3).

use crate::Feedback;
use xtp_wire::{
    Caps, EXTENDED_TRAFFIC_LEN, ExtendedTraffic, ExtendedTrafficBuilder, FecAgreement, GroupBuckets,
    GroupPoint, GroupTerms, Tlvs, Traffic,
};

/// What does not change while the group lives.
#[derive(Debug)]
pub(super) struct TransmitterTerms {
    pub(super) service: u8,
    pub(super) maxdata: u32,
    pub(super) rate: u64,
    pub(super) fec: Option<FecAgreement>,
    /// Whether members that fell behind may fetch what they lack.
    pub(super) supplies: bool,
    /// UTC milliseconds of the beginning; 0 in answers to nobody.
    pub(super) time: u32,
}

impl TransmitterTerms {
    /// The specifier, in `room`: at least so many octets where that is asked for.
    pub(super) fn specifier<'a>(
        &self,
        feedback: &Feedback,
        (point, buckets): (Option<GroupPoint>, Option<GroupBuckets>),
        at_least: usize,
        room: &'a mut Vec<u8>,
    ) -> Option<Traffic<'a>> {
        let terms = GroupTerms {
            size: Some(feedback.size),
            feedback_rate: Some(feedback.rate),
            grtt_us: Some(u32::try_from(feedback.round_trip.as_micros()).unwrap_or(u32::MAX)),
            fec: self.fec,
            point,
            buckets,
            ..GroupTerms::default()
        };
        let mut caps = Caps::XCNTL;
        caps.set(Caps::CATCHUP, self.supplies);
        caps.set(Caps::FEC, self.fec.is_some());
        caps.set(Caps::MB, buckets.is_some());
        let fixed = ExtendedTraffic {
            service: self.service,
            maxdata: self.maxdata,
            outrate: self.rate,
            caps,
            time: self.time,
            ..ExtendedTraffic::default()
        };
        let mut builder = ExtendedTrafficBuilder::new(fixed);
        terms.add_to(&mut builder).ok()?;
        builder.pad_to(at_least);
        room.resize(builder.encoded_len(), 0);
        builder.encode(room).ok()?;
        let tlvs = Tlvs::new(room.get(EXTENDED_TRAFFIC_LEN..)?)?;
        Some(Traffic::Extended(ExtendedTraffic { tlvs, ..fixed }))
    }
}
