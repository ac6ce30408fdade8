//! Names to addresses.

use std::fmt::Debug;
use std::io;
use std::net::{SocketAddr, SocketAddrV6, ToSocketAddrs};

use crate::canonical;
use crate::error::{Error, Result};

/// Addresses of one name that are tried.
pub(crate) const MOST_ADDRESSES: usize = 8;

/// The addresses of `host` with a UDP port, IPv6 and IPv4 in turn, in the resolver's order otherwise. `host` is a
/// name or an address; IPv6 with or without brackets, link-local addresses with their interface, by its name or index
/// (`fe80::1%eth0`, in a URI `fe80::1%25eth0`). IPv4-mapped addresses are IPv4.
///
/// # Errors
/// [`Error::Resolve`] if there is none; of the kind [`InvalidInput`](io::ErrorKind::InvalidInput) if the interface is wrong.
pub fn resolve(host: &str, udp_port: u16) -> Result<Vec<SocketAddr>> {
    let failed = |source| Error::Resolve {
        name: host.to_owned(),
        source,
    };
    let bare = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(host);
    if let Some((address, interface)) = bare.split_once('%') {
        let (ip, index) = canonical::with_scope(address, interface)
            .map_err(|wrong| failed(io::Error::new(io::ErrorKind::InvalidInput, wrong)))?;
        return Ok(vec![SocketAddrV6::new(ip, udp_port, 0, index).into()]);
    }
    let found = (bare, udp_port).to_socket_addrs().map_err(failed)?;
    let found: Vec<SocketAddr> = found.map(xtp_io::canonical).collect();
    if found.is_empty() {
        return Err(failed(io::Error::new(
            io::ErrorKind::NotFound,
            "the name has no address",
        )));
    }
    Ok(interleave(found))
}

/// One address of each family in turn, beginning with the family of the first.
fn interleave(found: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let lead_v6 = found.first().is_some_and(SocketAddr::is_ipv6);
    let mut unique = Vec::with_capacity(found.len());
    for addr in found {
        if !unique.contains(&addr) {
            unique.push(addr);
        }
    }
    let (lead, other): (Vec<_>, Vec<_>) = unique.into_iter().partition(|addr| addr.is_ipv6() == lead_v6);
    let mut ordered = Vec::with_capacity(lead.len() + other.len());
    let (mut lead, mut other) = (lead.into_iter(), other.into_iter());
    loop {
        match (lead.next(), other.next()) {
            (None, None) => return ordered,
            (one, two) => ordered.extend(one.into_iter().chain(two)),
        }
    }
}

/// The addresses a peer may be reached at, in canonical form.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Destinations {
    /// There is nothing to choose.
    One(SocketAddr),
    /// In the order in which they are tried, none twice, at most [`MOST_ADDRESSES`].
    Several(Vec<SocketAddr>),
}

impl Destinations {
    /// Those of a name.
    ///
    /// # Errors
    /// [`Error::Resolve`] if it has none, [`Error::Address`] if none of them can be used.
    pub(crate) fn of_name(name: &(impl ToSocketAddrs + Debug), scope: u32) -> Result<Self> {
        let failed = |source| Error::Resolve {
            name: shown(name),
            source,
        };
        let no_address = || failed(io::Error::new(io::ErrorKind::NotFound, "it has no address"));
        let mut found = name.to_socket_addrs().map_err(failed)?;
        let first = found.next().ok_or_else(no_address)?;
        let Some(second) = found.next() else {
            return canonical::peer(first, scope).map(Self::One);
        };
        let mut failure = None;
        let all = [first, second].into_iter().chain(found);
        let usable = all.filter_map(|address| match canonical::peer(address, scope) {
            Ok(peer) => Some(peer),
            Err(error) => {
                failure = Some(error);
                None
            }
        });
        let mut ordered = interleave(usable.collect());
        ordered.truncate(MOST_ADDRESSES);
        match ordered[..] {
            [] => Err(failure.unwrap_or_else(no_address)),
            [only] => Ok(Self::One(only)),
            _ => Ok(Self::Several(ordered)),
        }
    }
}

/// A name as it was written, whatever its type: `host:80` of `"host:80"` and of `("host", 80)`.
fn shown(name: &impl Debug) -> String {
    let text = format!("{name:?}");
    let bare = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    bare.unwrap_or(&text).replace(", ", ":").replace('"', "")
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
