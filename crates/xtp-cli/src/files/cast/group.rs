//! `address[:port][%interface]`, or a list of addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use xtp::{Interface, Target, UDP_PORT};

use crate::args::CastCommon;
use crate::common::Failure;

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
        Ok(address) => Interface::Address(address),
        Err(_) => Interface::Name(text.to_owned()),
    }
}

/// One address, with its port, and the interface behind `%`.
fn one(text: &str) -> Result<(SocketAddr, Option<String>), Failure> {
    let wrong = || {
        Failure::usage(format!(
            "'{text}' is no group; write address[:port][%interface] or a comma-separated list of addresses, IPv6 with a \
             port in brackets"
        ))
    };
    let (mut bare, mut interface) = (text.to_owned(), None);
    if let Some(at) = text.find('%') {
        // `[ff15::1%eth0]:5000` and `[ff15::1]:5000%eth0` are the same.
        let end = text[at..].find(']').map_or(text.len(), |end| at + end);
        interface = Some(text[at + 1..end].to_owned()).filter(|name| !name.is_empty());
        if interface.is_none() {
            return Err(wrong());
        }
        bare = format!("{}{}", &text[..at], &text[end..]);
    }
    let unbracketed = bare.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let address = match (unbracketed.unwrap_or(&bare).parse::<IpAddr>(), bare.parse()) {
        (Ok(address), _) => SocketAddr::new(address, UDP_PORT),
        (_, Ok(address)) => address,
        _ => return Err(wrong()),
    };
    if address.port() == 0 || address.ip().is_unspecified() {
        return Err(wrong());
    }
    Ok((address, interface))
}

#[cfg(test)]
#[path = "group_tests.rs"]
mod tests;
