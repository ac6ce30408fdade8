//! This host's own addresses, by which a path is known to be local, and its interfaces with link-local addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Addresses of this host as far as they can be found out without asking for rights; loopback is always known.
pub(crate) fn own() -> Vec<IpAddr> {
    let mut found = listed();
    // The address a route to the world would use. Connecting a UDP socket sends nothing.
    let far = [
        SocketAddr::from((Ipv4Addr::new(192, 0, 2, 1), 9)),
        SocketAddr::from((Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1), 9)),
    ];
    for far in far {
        if let Some(ip) = towards(far)
            && !found.contains(&ip)
        {
            found.push(ip);
        }
    }
    found
}

fn towards(far: SocketAddr) -> Option<IpAddr> {
    let any: IpAddr = if far.is_ipv4() {
        Ipv4Addr::UNSPECIFIED.into()
    } else {
        Ipv6Addr::UNSPECIFIED.into()
    };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect(far).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

/// An interface with a link-local address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) index: u32,
    pub(crate) name: String,
}

/// The interfaces that have link-local addresses; empty where the system lists none.
pub(crate) fn links() -> Vec<Link> {
    let table = std::fs::read_to_string("/proc/net/if_inet6").unwrap_or_default();
    let mut found = links_of(&table);
    found.sort_unstable_by_key(|link| link.index);
    found.dedup();
    found
}

/// What the kernel's tables list.
#[cfg(target_os = "linux")]
fn listed() -> Vec<IpAddr> {
    let mut found = Vec::new();
    if let Ok(table) = std::fs::read_to_string("/proc/net/fib_trie") {
        found.extend(ipv4_of(&table).map(IpAddr::V4));
    }
    if let Ok(table) = std::fs::read_to_string("/proc/net/if_inet6") {
        found.extend(ipv6_of(&table).map(IpAddr::V6));
    }
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(not(target_os = "linux"))]
fn listed() -> Vec<IpAddr> {
    Vec::new()
}

/// Addresses of the routing trie: a leaf `|-- a.b.c.d` followed by `/32 host LOCAL`.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
fn ipv4_of(table: &str) -> impl Iterator<Item = Ipv4Addr> + '_ {
    let mut leaf = None;
    table.lines().filter_map(move |line| {
        let line = line.trim();
        if let Some(address) = line.strip_prefix("|-- ") {
            leaf = address.parse().ok();
            return None;
        }
        if line.starts_with("/32 host LOCAL") {
            leaf.take()
        } else {
            None
        }
    })
}

/// Addresses of the interface table: 32 hexadecimal digits at the beginning of each line.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
fn ipv6_of(table: &str) -> impl Iterator<Item = Ipv6Addr> + '_ {
    table.lines().filter_map(|line| {
        let digits = line.split_whitespace().next()?;
        let value = u128::from_str_radix(digits, 16).ok()?;
        (digits.len() == 32).then(|| Ipv6Addr::from_bits(value))
    })
}

/// Links of the interface table: the address, then the interface's index in hexadecimal digits; its name at the end.
fn links_of(table: &str) -> Vec<Link> {
    let link_of = |line: &str| {
        let mut fields = line.split_whitespace();
        let address = u128::from_str_radix(fields.next()?, 16).ok()?;
        let index = u32::from_str_radix(fields.next()?, 16).ok()?;
        let name = fields.nth(3)?.to_owned();
        Ipv6Addr::from_bits(address)
            .is_unicast_link_local()
            .then_some(Link { index, name })
    };
    table.lines().filter_map(link_of).collect()
}

#[cfg(test)]
#[path = "addresses_tests.rs"]
mod tests;
