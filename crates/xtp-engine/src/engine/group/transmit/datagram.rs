//! A datagram to a group: one FIRST that holds it all (specification 17.9).

use super::Transmitter;
use crate::engine::group::GroupEnv;
use crate::time::Time;
use crate::transmit::{Datagram, TransmitBatch};
use bytes::Bytes;
use xtp_wire::Header;

/// The message, and when it leaves next.
#[derive(Debug)]
pub(super) struct Message {
    data: Bytes,
    next: Time,
}

impl Transmitter {
    pub(super) fn is_datagram(&self) -> bool {
        self.message.is_some()
    }

    pub(super) fn take_datagram_join(
        &mut self,
        _datagram: &Datagram<'_>,
        _header: &Header,
        _env: &mut GroupEnv<'_>,
    ) {
    }

    pub(super) fn message_at(&self) -> Option<Time> {
        self.message.as_ref().map(|message| message.next)
    }

    pub(super) fn say_message(&mut self, _env: &mut GroupEnv<'_>, _out: &mut TransmitBatch) {
        let _ = self.message.as_ref().map(|message| &message.data);
    }
}
