//! The transmitter of a group.

use super::GroupEnv;
use crate::error::Error;
use crate::group::{CastOptions, CastStats, MemberReport, Target};
use crate::time::Time;
use crate::transmit::{Datagram, TransmitBatch};
use bytes::Bytes;
use core::net::SocketAddr;
use xtp_wire::{Header, ToTransmitter};

/// One group's transmitter.
pub(super) struct Transmitter {
    target: Target,
    options: CastOptions,
    key: u64,
    gone: bool,
}

impl Transmitter {
    pub(super) fn new(target: Target, options: CastOptions, env: &mut GroupEnv<'_>) -> Result<Self, Error> {
        Ok(Self {
            target,
            options,
            key: env.fresh_key(),
            gone: false,
        })
    }

    /// Takes what a receiver sent to this transmitter's own address.
    pub(super) fn receive(
        &mut self,
        _datagram: &Datagram<'_>,
        _header: &Header,
        _said: ToTransmitter<'_>,
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

    pub(super) fn send(&mut self, _data: Bytes, _eom: bool, _env: &mut GroupEnv<'_>) -> Result<usize, Error> {
        Ok(0)
    }

    pub(super) fn tag(&mut self, _tag: u64, _env: &mut GroupEnv<'_>) -> Result<(), Error> {
        Ok(())
    }

    pub(super) fn finish(&mut self, _env: &mut GroupEnv<'_>) {}

    pub(super) fn reports(&self, _env: &GroupEnv<'_>) -> Vec<MemberReport> {
        Vec::new()
    }

    pub(super) fn stats(&self) -> CastStats {
        CastStats::default()
    }

    pub(super) fn release(&mut self, env: &mut GroupEnv<'_>) {
        env.forget_key(self.key);
        self.gone = true;
    }
}
