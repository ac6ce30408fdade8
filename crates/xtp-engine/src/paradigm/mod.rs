//! The paradigms as data: each constructor fills in an [`OpenOptions`], nothing else.

use crate::options::OpenOptions;
use xtp_wire::service;

/// L1: one unacknowledged datagram (several packets arrive whole or not at all). Send one message, then close.
pub fn datagram(service_number: u16) -> OpenOptions {
    let mut options = OpenOptions::new(service_number);
    options.service = service::DATAGRAM;
    options.refuse_return = true;
    options.one_way = true;
    options.tuning.no_error = true;
    options.tuning.no_flow = true;
    options
}

/// L2 (and L2d with [`Confirm::Delivered`](crate::Confirm)): an acknowledged datagram in two packets.
pub fn acknowledged_datagram(service_number: u16) -> OpenOptions {
    let mut options = OpenOptions::new(service_number);
    options.service = service::ACKNOWLEDGED;
    options.refuse_return = true;
    options
}

/// L3: a reliable one-shot message in three packets; the receiver learns that the sender knows.
pub fn one_shot(service_number: u16) -> OpenOptions {
    let mut options = OpenOptions::new(service_number);
    options.service = service::ACKNOWLEDGED;
    options
}

/// L5, L6, L7: a request and its response.
pub fn transaction(service_number: u16) -> OpenOptions {
    let mut options = OpenOptions::new(service_number);
    options.service = service::TRANSACTION;
    options
}

/// L8: a lasting, reliable, full-duplex association: octets, or messages where EOM is used.
pub fn stream(service_number: u16) -> OpenOptions {
    OpenOptions::new(service_number)
}

/// A lasting association whose octets are not sent again: the reader is shown the gaps.
pub fn unreliable_stream(service_number: u16) -> OpenOptions {
    let mut options = OpenOptions::new(service_number);
    options.tuning.no_error = true;
    options
}
