//! `address[:port][%interface]`, or a list of addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use xtp::{Interface, Target, UDP_PORT};

use crate::args::CastCommon;
use crate::common::{Address, Failure, host_and_port};

/// Receivers a list may name.
const MOST: usize = 1_024;

/// A group as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) target: Target,
    pub(super) interface: Interface,
}

impl Group {
    /// Understands a group; what `--interface` says goes before what stands behind `%`.
    ///
    /// # Errors
    /// A usage error that says what is wrong.
    pub(super) fn parse(text: &str, both: &CastCommon) -> Result<Self, Failure> {
        let mut interface = both.interface.clone();
        let mut addresses = Vec::new();
        for part in text.split(',') {
            let (address, its) = one(part)?;
            interface = interface.or(its);
            addresses.push(address);
        }
        let target = match addresses[..] {
            [group] if group.ip().is_multicast() => Target::Group(group),
            _ if addresses.iter().any(|address| address.ip().is_multicast()) => {
                return Err(Failure::usage(format!(
                    "'{text}': a group stands alone; a list names the addresses of receivers"
                )));
            }
            _ if addresses.len() > MOST => {
                return Err(Failure::usage(format!("a list names at most {MOST} receivers")));
            }
            _ => Target::Each(addresses),
        };
        Ok(Self {
            target,
            interface: interface.map_or(Interface::Route, |text| interface_of(&text)),
        })
    }

    /// Where an endpoint for it is bound: every address of its family, unless `source` or the interface's names one.
    pub(super) fn bind(&self, source: Option<IpAddr>) -> SocketAddr {
        let six = match &self.target {
            Target::Group(group) => group.is_ipv6(),
            Target::Each(each) => each.iter().any(SocketAddr::is_ipv6),
        };
        let any = match six {
            true => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
            false => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        };
        let its = match self.interface {
            Interface::Address(address) if address.is_ipv6() == six => Some(address),
            _ => None,
        };
        SocketAddr::new(source.or(its).unwrap_or(any), 0)
    }
}

/// By its name, or by one of its addresses.
fn interface_of(text: &str) -> Interface {
    match text.parse() {
        Ok(address) => Interface::Address(IpAddr::to_canonical(&address)),
        Err(_) => Interface::Name(text.to_owned()),
    }
}

/// One address, with its port, and the interface of a group behind `%`.
fn one(text: &str) -> Result<(SocketAddr, Option<String>), Failure> {
    let wrong = |what: &str| {
        Failure::usage(format!(
            "'{text}' is no group: {what}; write address[:port][%interface] or a comma-separated list of addresses, IPv6 \
             with a port in brackets"
        ))
    };
    // `[ff15::1%eth0]:5000` and `[ff15::1]:5000%eth0` are the same, and so they are without a port.
    let (place, behind) = match text.rsplit_once('%') {
        Some((place, interface))
            if place.ends_with(']') || place.rsplit_once(':').is_some_and(is_port_of_address) =>
        {
            (place, Some(interface))
        }
        _ => (text, None),
    };
    let (host, port) = host_and_port(place).map_err(wrong)?;
    let (bare, within) = host
        .split_once('%')
        .map_or((host, None), |(bare, its)| (bare, Some(its)));
    let interface = within.or(behind);
    if interface == Some("") {
        return Err(wrong("behind the percent sign stands an interface"));
    }
    let ip: IpAddr = bare.parse().map_err(|_| wrong("it has no address"))?;
    let ip = ip.to_canonical();
    let port = port.unwrap_or(UDP_PORT);
    if port == 0 {
        return Err(wrong("UDP port 0 receives nothing"));
    }
    if ip.is_unspecified() {
        return Err(wrong("the unspecified address is no receiver's"));
    }
    match interface {
        Some(interface) if !ip.is_multicast() => {
            let address = Address::parse(&format!("[{bare}%{interface}]:{port}"), 0)?;
            let found = address.resolve()?;
            found
                .first()
                .map(|address| (*address, None))
                .ok_or_else(|| wrong("it has no address"))
        }
        interface => Ok((SocketAddr::new(ip, port), interface.map(str::to_owned))),
    }
}

/// Whether a port stands behind the colon, and not the end of an IPv6 address.
fn is_port_of_address((host, _): (&str, &str)) -> bool {
    host.ends_with(']') || !host.contains(':')
}

#[cfg(test)]
#[path = "group_tests.rs"]
mod tests;
