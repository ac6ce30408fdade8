//! The sender's side of each paradigm.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use xtp::{CallOptions, Endpoint, Error, OpenOptions, Stream, paradigm};

use super::paradigms::{Kind, MESSAGES, Paradigm, TAG};
use super::payload;
use crate::common::Common;

/// Longest exchange: on loopback nothing takes this long.
const PATIENCE: Duration = Duration::from_secs(10);

/// The demo's endpoint and whom it talks to.
pub(super) struct Sender<'a> {
    pub(super) endpoint: &'a Endpoint,
    pub(super) peer: SocketAddr,
    pub(super) common: &'a Common,
}

impl Sender<'_> {
    /// One exchange; how long it took until this side knew as much as the paradigm lets it know.
    ///
    /// # Errors
    /// As the endpoint says; also if an answer is not what was sent.
    pub(super) fn exchange(&self, paradigm: &Paradigm) -> xtp::Result<Duration> {
        let payload = Bytes::from(payload::make(paradigm.size));
        let begin = Instant::now();
        match paradigm.kind {
            Kind::Datagram => self.deliver(paradigm::datagram(paradigm.port), payload)?,
            Kind::Acknowledged => self.deliver(paradigm::acknowledged_datagram(paradigm.port), payload)?,
            Kind::OneShot => self.deliver(paradigm::one_shot(paradigm.port), payload)?,
            Kind::Transaction | Kind::Unconfirmed | Kind::Slow => self.transaction(paradigm, payload)?,
            Kind::ByteStream => self.octets(paradigm.port, payload, None)?,
            Kind::Tags => self.octets(paradigm.port, payload, Some(TAG))?,
            Kind::MessageStream => self.messages(paradigm.port, &payload)?,
            Kind::UnreliableStream => self.burst(paradigm.port, &payload)?,
        }
        Ok(begin.elapsed())
    }

    fn tuned(&self, mut options: OpenOptions) -> OpenOptions {
        self.common.tune(&mut options.tuning);
        options
    }

    fn deliver(&self, options: OpenOptions, payload: Bytes) -> xtp::Result<()> {
        self.endpoint
            .deliver(self.peer, self.tuned(options), payload, Some(PATIENCE))
            .map(drop)
    }

    fn transaction(&self, paradigm: &Paradigm, payload: Bytes) -> xtp::Result<()> {
        let mut options = CallOptions::within(PATIENCE);
        options.slow_server = paradigm.kind == Kind::Slow;
        self.common.tune(&mut options.tuning);
        let answer = self
            .endpoint
            .call(self.peer, paradigm.port, payload.clone(), &options)?;
        same(&answer, &payload)
    }

    fn open(&self, options: OpenOptions) -> xtp::Result<Stream> {
        let stream = self.endpoint.open(self.peer, self.tuned(options))?;
        stream.set_read_timeout(Some(PATIENCE));
        stream.set_write_timeout(Some(PATIENCE));
        Ok(stream)
    }

    /// Open, write, be sure that it arrived, close.
    fn octets(&self, port: u16, payload: Bytes, tag: Option<u64>) -> xtp::Result<()> {
        let stream = self.open(paradigm::stream(port))?;
        if let Some(tag) = tag {
            stream.send_tag(tag)?;
        }
        stream.send(payload)?;
        stream.flush_acknowledged()?;
        stream.close_timeout(PATIENCE)
    }

    /// Open, messages one after the other, each answered, close.
    fn messages(&self, port: u16, payload: &Bytes) -> xtp::Result<()> {
        let stream = self.open(paradigm::stream(port))?;
        for _ in 0..MESSAGES {
            stream.send_message(payload.clone())?;
            let answer = stream.recv_message()?.unwrap_or_default();
            same(&answer, payload)?;
        }
        stream.close_timeout(PATIENCE)
    }

    /// Open without retransmission, messages one after the other, close.
    fn burst(&self, port: u16, payload: &Bytes) -> xtp::Result<()> {
        let stream = self.open(paradigm::unreliable_stream(port))?;
        for _ in 0..MESSAGES {
            stream.send_message(payload.clone())?;
        }
        stream.close_timeout(PATIENCE)
    }
}

fn same(answer: &Bytes, payload: &Bytes) -> xtp::Result<()> {
    if answer == payload {
        return Ok(());
    }
    Err(Error::Incomplete {
        octets: answer.len() as u64,
    })
}
