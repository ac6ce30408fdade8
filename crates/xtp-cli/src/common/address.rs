//! `host[:udpport][/service]`.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use xtp::{Error, UDP_PORT};

use super::{Failure, Status};

/// Where a service is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// A name or an address, IPv6 without brackets; empty where none was given.
    pub(crate) host: String,
    /// The UDP port.
    pub(crate) udp_port: u16,
    /// The service number.
    pub(crate) service: u16,
}

impl Address {
    /// Understands `host[:udpport][/service]`; what is missing is UDP port 36036 and `service`.
    ///
    /// # Errors
    /// A usage error that says what is wrong.
    pub(crate) fn parse(text: &str, service: u16) -> Result<Self, Failure> {
        Self::with_port(text, service, UDP_PORT)
    }

    /// As [`parse`](Self::parse), with another UDP port where none is given.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn with_port(text: &str, service: u16, default: u16) -> Result<Self, Failure> {
        let wrong = |what: &str| {
            Failure::usage(format!(
                "'{text}' is no address: {what}; write host[:udpport][/service], IPv6 in brackets"
            ))
        };
        let with_scheme = text
            .split_once("://")
            .map(|(scheme, rest)| (format!("{scheme}://"), rest));
        let with_scheme = with_scheme.or_else(|| Some(("xtp:/".to_owned(), text.strip_prefix("xtp:/")?)));
        if let Some((scheme, rest)) = with_scheme {
            return Err(wrong(&format!(
                "{scheme} has no place in it (only `xtp cp` and `xtp ls` take xtp://); perhaps '{rest}'"
            )));
        }
        if let Some((user, rest)) = text.split_once('@') {
            return Err(wrong(&format!(
                "xtp knows no users; leave '{user}@' out, as in '{rest}'"
            )));
        }
        let (place, service) = match text.split_once('/') {
            None => (text, service),
            Some((place, number)) => {
                let number = number
                    .parse()
                    .map_err(|_| wrong("the service must be a number up to 65535"))?;
                (place, number)
            }
        };
        let (host, port) = host_and_port(place).map_err(wrong)?;
        Ok(Self {
            host: host.to_owned(),
            udp_port: port.unwrap_or(default),
            service,
        })
    }

    /// Understands the address of somebody to talk to: there must be a host and a UDP port.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub(crate) fn peer(text: &str, service: u16) -> Result<Self, Failure> {
        Self::peer_at(text, service, UDP_PORT)
    }

    /// As [`peer`](Self::peer), with another UDP port where none is given.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub(crate) fn peer_at(text: &str, service: u16, default: u16) -> Result<Self, Failure> {
        let address = Self::with_port(text, service, default)?;
        if address.host.is_empty() {
            return Err(Failure::usage(format!(
                "'{text}' names no host; write host[:udpport][/service]"
            )));
        }
        if address.udp_port == 0 {
            return Err(Failure::usage(format!(
                "'{text}' has UDP port 0, which nobody can listen on"
            )));
        }
        Ok(address)
    }

    /// The addresses of the host. On this machine IPv4 comes first, because that is where listeners are by default.
    ///
    /// # Errors
    /// Status 3 if the name has none.
    pub(crate) fn resolve(&self) -> Result<Vec<SocketAddr>, Failure> {
        let mut found = xtp::resolve(&self.host, self.udp_port).map_err(|error| match error {
            Error::Resolve { source, .. } if source.kind() == io::ErrorKind::InvalidInput => {
                Failure::usage(format!("'{}' is no address: {source}", self.host))
            }
            Error::Resolve { source, .. } => Failure::new(
                Status::Unreachable,
                format!(
                    "cannot find {}: {source}; check the name or write an address",
                    self.host
                ),
            ),
            other => Failure::of(&format!("cannot find {}", self.host), &other),
        })?;
        if found.iter().all(|addr| addr.ip().is_loopback()) {
            found.sort_by_key(SocketAddr::is_ipv6);
        }
        Ok(found)
    }

    /// The address to bind to. Without a host it is every address of this machine.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve).
    pub(crate) fn bind(&self) -> Result<SocketAddr, Failure> {
        if self.host.is_empty() || self.host == "*" {
            return Ok(SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), self.udp_port));
        }
        let found = self.resolve()?;
        found.first().copied().ok_or_else(|| {
            Failure::new(
                Status::Unreachable,
                format!("cannot find {}: no address", self.host),
            )
        })
    }
}

/// Understands `host[:udpport]`: a name, or an address, of IPv6 in brackets where a port follows, with `%interface` if it is link-local.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn host_and_port(place: &str) -> Result<(&str, Option<u16>), &'static str> {
    let is_ipv6 = |host: &str| {
        let bare = host.split_once('%').map_or(host, |(bare, _)| bare);
        bare.parse::<Ipv6Addr>().is_ok()
    };
    let (host, port) = if let Some(rest) = place.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or("the bracket is not closed")?;
        if !is_ipv6(host) {
            return Err("in brackets stands an IPv6 address");
        }
        match rest {
            "" => (host, None),
            _ => (
                host,
                Some(
                    rest.strip_prefix(':')
                        .ok_or("a colon and the UDP port are missing")?,
                ),
            ),
        }
    } else if is_ipv6(place) {
        (place, None)
    } else {
        match place.split_once(':') {
            None => (place, None),
            Some((host, port)) => (host, Some(port)),
        }
    };
    if host.contains(char::is_whitespace) {
        return Err("a host has no spaces");
    }
    match host.split_once('%') {
        Some((_, "")) => return Err("behind the percent sign stands an interface"),
        // No interface has a colon in its name.
        Some((_, interface)) if interface.contains(':') => {
            return Err("an IPv6 address stands in brackets where a UDP port follows");
        }
        _ => {}
    }
    let udp_port = |port: &str| {
        port.parse()
            .map_err(|_| "the UDP port must be a number up to 65535")
    };
    Ok((host, port.map(udp_port).transpose()?))
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}/{}", self.host, self.udp_port, self.service)
        } else {
            write!(f, "{}:{}/{}", self.host, self.udp_port, self.service)
        }
    }
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
