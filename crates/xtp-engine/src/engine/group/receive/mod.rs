//! A receiver of a group.

use super::GroupEnv;
use crate::engine::Read;
use crate::error::Error;
use crate::group::{JoinOptions, SubscriptionStats};
use crate::time::Time;
use crate::transmit::{Datagram, TransmitBatch};
use core::net::SocketAddr;
use xtp_wire::{Header, ToGroup, ToMember};

/// One receiver of one group: from waiting for a transmitter to the end of its stream.
pub(super) struct Receiver {
    options: JoinOptions,
    key: u64,
    gone: bool,
}

impl Receiver {
    pub(super) fn new(options: JoinOptions, env: &mut GroupEnv<'_>) -> Result<Self, Error> {
        Ok(Self {
            options,
            key: env.fresh_key(),
            gone: false,
        })
    }

    /// The group whose socket brings its packets; `None`: the endpoint's own socket.
    pub(super) fn group(&self) -> Option<SocketAddr> {
        self.options.group
    }

    /// Takes what came to the group; false if it is not from this receiver's transmitter.
    pub(super) fn from_group(
        &mut self,
        _datagram: &Datagram<'_>,
        _header: &Header,
        _said: &ToGroup<'_>,
        _env: &mut GroupEnv<'_>,
    ) -> bool {
        false
    }

    /// Takes what came to this receiver alone.
    pub(super) fn from_transmitter(
        &mut self,
        _datagram: &Datagram<'_>,
        _header: &Header,
        _said: ToMember<'_>,
        _env: &mut GroupEnv<'_>,
    ) {
    }

    pub(super) fn port_unreachable(&mut self, _peer: SocketAddr, _env: &mut GroupEnv<'_>) {}

    /// Due timers fire, and what is to be sent goes into `out`.
    pub(super) fn flush(&mut self, _env: &mut GroupEnv<'_>, _out: &mut TransmitBatch) {}

    /// When `flush` wants to be called although nothing happens.
    pub(super) fn deadline(&self) -> Option<Time> {
        None
    }

    /// Whether `flush` would send something now.
    pub(super) fn is_pressing(&self) -> bool {
        self.gone
    }

    pub(super) fn is_gone(&self) -> bool {
        self.gone
    }

    pub(super) fn read(&mut self, _max: usize, _env: &mut GroupEnv<'_>) -> Read {
        Read::Pending
    }

    pub(super) fn confirm(&mut self, _env: &mut GroupEnv<'_>) {}

    pub(super) fn reject(&mut self, _text: &str, _env: &mut GroupEnv<'_>) {}

    pub(super) fn stats(&self) -> SubscriptionStats {
        SubscriptionStats::default()
    }

    pub(super) fn release(&mut self, env: &mut GroupEnv<'_>) {
        env.forget_key(self.key);
        self.gone = true;
    }
}
