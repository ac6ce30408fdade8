//! A library that is built without captures.

use std::io::IoSlice;
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;

/// There is none.
#[derive(Clone, Debug)]
pub(crate) enum Trace {}

impl Trace {
    pub(crate) fn received(&self, _: SocketAddr, _: Option<IpAddr>, _: SocketAddr, _: &[u8]) {
        match *self {}
    }

    pub(crate) fn sent(&self, _: &xtp_engine::Train, _: &[IoSlice<'_>], _: Range<usize>, _: SocketAddr) {
        match *self {}
    }
}
