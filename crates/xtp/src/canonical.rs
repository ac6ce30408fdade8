//! Addresses in canonical form: a peer is remembered by the address that its packets come from, so every address that a program
//! names is turned into that form, or refused, before an association or a group begins.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use xtp_engine::group::Target;
use xtp_io::Interface;

use crate::addresses;
use crate::error::{Error, Result};

/// The destination of an association. An IPv4-mapped address is IPv4; the unspecified address is the loopback address of its
/// family; only link-local addresses have a scope, by default `scope`, that of the address the socket is bound to (0: none).
///
/// # Errors
/// [`Error::Address`]: no answer can come from there.
#[inline]
pub(crate) fn peer(address: SocketAddr, scope: u32) -> Result<SocketAddr> {
    match address {
        SocketAddr::V4(four) if four.port() != 0 && matches!(four.ip().octets()[0], 1..=223) => Ok(address),
        _ => rare_peer(address, scope),
    }
}

fn rare_peer(address: SocketAddr, scope: u32) -> Result<SocketAddr> {
    let mut canonical = xtp_io::canonical(address);
    if canonical.port() == 0 {
        return refused(address, "UDP port 0 receives nothing; name the server's port");
    }
    match canonical.ip() {
        ip if ip.is_multicast() => {
            return refused(
                address,
                "a multicast address has no single peer; transmit to its group, or name a host",
            );
        }
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => canonical.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => canonical.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    scoped(canonical, scope)
}

/// The address a socket is bound to.
///
/// # Errors
/// [`Error::Address`]: it is no address of one host.
pub(crate) fn local(address: SocketAddr) -> Result<SocketAddr> {
    if address.ip().to_canonical().is_multicast() {
        return refused(
            address,
            "a multicast address is no host's; join its group, or bind to an address of this host",
        );
    }
    scoped(xtp_io::canonical(address), 0)
}

/// The interface of the link-local address a socket is bound to; 0 for every other.
pub(crate) fn scope_of(local: SocketAddr) -> u32 {
    match local {
        SocketAddr::V6(six) => six.scope_id(),
        SocketAddr::V4(_) => 0,
    }
}

/// A scope where it belongs, and nowhere else: packets of link-local addresses alone come with one.
fn scoped(mut canonical: SocketAddr, default: u32) -> Result<SocketAddr> {
    if let SocketAddr::V6(six) = &mut canonical {
        if !six.ip().is_unicast_link_local() {
            six.set_scope_id(0);
        } else if six.scope_id() == 0 {
            six.set_scope_id(default);
            if default == 0 {
                let why = "a link-local address is one of an interface; write it behind a percent sign";
                return refused(canonical, &format!("{why}{}", interfaces_in_words()));
            }
        }
    }
    Ok(canonical)
}

/// The addresses a transmitter sends to: each of a list as [`peer`], a group as [`group`].
///
/// # Errors
/// As these.
pub(crate) fn target(target: Target, scope: u32, interface: &mut Interface) -> Result<Target> {
    match target {
        Target::Group(address) => group(address, interface).map(Target::Group),
        Target::Each(each) => match each[..] {
            // A mapped address does not look like a group's.
            [address] if address.ip().to_canonical().is_multicast() => {
                group(address, interface).map(Target::Group)
            }
            _ => {
                let peers = each.into_iter().map(|address| peer(address, scope));
                peers.collect::<Result<_>>().map(Target::Each)
            }
        },
    }
}

/// The address of a group. Its scope is the interface, unless another one is named.
///
/// # Errors
/// [`Error::Address`] for port 0.
pub(crate) fn group(address: SocketAddr, interface: &mut Interface) -> Result<SocketAddr> {
    let mut canonical = xtp_io::canonical(address);
    if canonical.port() == 0 {
        return refused(address, "UDP port 0 receives nothing; name the group's port");
    }
    if let SocketAddr::V6(six) = &mut canonical {
        if six.scope_id() != 0 && *interface == Interface::Route {
            *interface = Interface::Index(six.scope_id());
        }
        six.set_scope_id(0);
    }
    if let Interface::Address(address) = interface {
        *address = address.to_canonical();
    }
    Ok(canonical)
}

/// Members named by the text of their IP addresses are found by the canonical text.
pub(crate) fn required(list: &mut [String]) {
    for name in list {
        if let Ok(address) = name.parse::<IpAddr>() {
            *name = address.to_canonical().to_string();
        }
    }
}

/// The host that alone a group is received from.
///
/// # Errors
/// [`Error::Address`]: no packet comes from there.
pub(crate) fn source(address: IpAddr) -> Result<IpAddr> {
    let canonical = address.to_canonical();
    match canonical {
        ip if ip.is_unspecified() || ip.is_multicast() => refused(
            SocketAddr::new(address, 0),
            "no host sends from there; name the transmitter's address",
        ),
        ip => Ok(ip),
    }
}

/// `host%interface`, the interface by its name or index: the address, and the index. A URI has `%25` for the percent sign (RFC 6874).
///
/// # Errors
/// What is wrong with it.
pub(crate) fn with_scope(address: &str, interface: &str) -> std::result::Result<(Ipv6Addr, u32), String> {
    let Ok(ip) = address.parse::<Ipv6Addr>() else {
        return Err("an interface stands behind a link-local IPv6 address only".to_owned());
    };
    if !ip.is_unicast_link_local() {
        return Err(format!(
            "{ip} is not link-local and has no interface; leave %{interface} out"
        ));
    }
    let decoded = interface.strip_prefix("25").filter(|rest| !rest.is_empty());
    let known = [Some(interface), decoded]
        .into_iter()
        .flatten()
        .find_map(index_of);
    known.map(|index| (ip, index)).ok_or_else(|| {
        format!(
            "this host has no interface {}{}",
            decoded.unwrap_or(interface),
            interfaces_in_words()
        )
    })
}

/// The index of an interface, named or numbered.
fn index_of(interface: &str) -> Option<u32> {
    let Ok(index) = interface.parse::<u32>() else {
        return Interface::Name(interface.to_owned()).index().ok();
    };
    let known = addresses::links();
    // Where the system lists none, it finds out itself.
    let exists = known.is_empty() || known.iter().any(|link| link.index == index);
    (exists && index != 0).then_some(index)
}

/// The interfaces that have link-local addresses, at the end of a sentence.
fn interfaces_in_words() -> String {
    let names: Vec<String> = addresses::links().into_iter().map(|link| link.name).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(" (here: {})", names.join(", ")),
    }
}

fn refused<T>(address: SocketAddr, reason: &str) -> Result<T> {
    Err(Error::Address {
        address,
        reason: reason.to_owned(),
    })
}

#[cfg(test)]
#[path = "canonical_tests.rs"]
mod tests;
