//! Sockets of groups: one that only receives what is sent to a group, and how another sends there.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::Ordering;

use socket2::SockRef;

use crate::address::canonical;
use crate::error::IoError;
use crate::options::SocketOptions;
use crate::socket::UdpSocket;
use crate::sys;

/// The interface that carries a group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Interface {
    /// The one to which the route to the group leads; without a route the system's choice.
    #[default]
    Route,
    /// By its index.
    Index(u32),
    /// By its name.
    Name(String),
    /// The one that has this address.
    Address(IpAddr),
}

impl Interface {
    /// Its index; 0 for [`Interface::Route`].
    ///
    /// # Errors
    /// [`IoError::NoInterface`] if this host has none of that name or address. An index is not looked up.
    pub fn index(&self) -> Result<u32, IoError> {
        let (found, shown) = match self {
            Self::Route => return Ok(0),
            Self::Index(index) => return Ok(*index),
            Self::Name(name) => (sys::interface_named(name), name.clone()),
            Self::Address(address) => (sys::interface_with(*address), address.to_string()),
        };
        found.ok_or_else(|| IoError::NoInterface {
            interface: shown,
            source: io::ErrorKind::NotFound.into(),
        })
    }

    /// The interface for `group` where none is named: that of the route; where there is no route, the one that has `own`, the
    /// address an endpoint is bound to; else the only one that carries groups.
    ///
    /// # Errors
    /// [`IoError::NoWayToGroup`], with the interfaces there are.
    pub fn towards(group: SocketAddr, own: Option<IpAddr>) -> Result<Self, IoError> {
        let group = canonical(group);
        match sys::leads_to(group) {
            Err(reason) if lacks_a_route(&reason) => choose(group, own, &sys::up(), reason),
            // What else keeps packets from leaving is for those who send them.
            _ => Ok(Self::Route),
        }
    }
}

/// Whether the error says that no route leads to a group, or none to a group of one link's scope without an interface.
fn lacks_a_route(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::ENETUNREACH | libc::EINVAL | libc::ENODEV)
    )
}

/// The interface for a group to which no route leads, of those that are up.
fn choose(
    group: SocketAddr,
    own: Option<IpAddr>,
    up: &[sys::Up],
    source: io::Error,
) -> Result<Interface, IoError> {
    let own = own.filter(|own| !own.is_unspecified() && own.is_ipv4() == group.is_ipv4());
    if let Some(own) = own {
        return Ok(Interface::Address(own));
    }
    let (mut usable, mut others): (Vec<&sys::Up>, Vec<&sys::Up>) = up
        .iter()
        .filter(|one| one.address.is_ipv4() == group.is_ipv4())
        .partition(|one| one.carries_groups);
    for list in [&mut usable, &mut others] {
        list.sort_by_key(|one| one.index);
        list.dedup_by_key(|one| one.index);
    }
    let shown = |list: &[&sys::Up]| -> Vec<String> {
        list.iter()
            .map(|one| format!("{} ({})", one.name, one.address))
            .collect()
    };
    match usable[..] {
        [one] => Ok(Interface::Index(one.index)),
        _ => Err(IoError::NoWayToGroup {
            group,
            usable: shown(&usable),
            others: shown(&others),
            source,
        }),
    }
}

fn require_groups(addr: SocketAddr) -> Result<(), IoError> {
    match sys::HAS_GROUPS {
        true => Ok(()),
        false => Err(IoError::NoGroups {
            addr,
            source: io::ErrorKind::Unsupported.into(),
        }),
    }
}

/// Choices for [`UdpSocket::join`].
#[derive(Clone, Debug, Default)]
pub struct MembershipOptions {
    /// Where the group is listened to.
    pub interface: Interface,
    /// Take only what this sender sends (source-specific); `None`: what anybody sends.
    pub source: Option<IpAddr>,
    /// As of any socket. Any number of sockets of this host may join a group.
    pub socket: SocketOptions,
}

/// How a socket sends to groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupSending {
    /// Where its packets to groups leave.
    pub interface: Interface,
    /// How many links they may cross. Default 1: this one.
    pub hops: u8,
    /// Whether members on this host get them, too. Default true.
    pub loopback: bool,
}

impl Default for GroupSending {
    fn default() -> Self {
        Self {
            interface: Interface::Route,
            hops: 1,
            loopback: true,
        }
    }
}

impl UdpSocket {
    /// Binds the address and port of a group, IPv4 or IPv6, and joins it: the socket receives what is sent there, and
    /// nothing else, as long as it lives. It is not for sending, and its port is shared with whoever joins the same group.
    ///
    /// # Errors
    /// [`IoError::NoGroups`] where groups are not built for the system, which is everywhere but on Linux; an address that is no group's, an interface that is not there, a source of the other family, and what
    /// [`UdpSocket::bind`] says.
    pub fn join(group: SocketAddr, options: &MembershipOptions) -> Result<Self, IoError> {
        let group = canonical(group);
        require_groups(group)?;
        let other_family = options
            .source
            .is_some_and(|source| source.is_ipv4() != group.is_ipv4());
        if !group.ip().is_multicast() || other_family {
            return Err(IoError::NotAGroup {
                addr: group,
                source: io::ErrorKind::InvalidInput.into(),
            });
        }
        let interface = options.interface.index()?;
        let bound = match group {
            // A group of one link's scope is one of this interface's, and bound as such.
            SocketAddr::V6(mut six) if six.scope_id() == 0 => {
                six.set_scope_id(interface);
                SocketAddr::V6(six)
            }
            bound => bound,
        };
        Self::bind_prepared(bound, &options.socket, group.is_ipv6(), |socket| {
            let required = |option, result: io::Result<()>| {
                result.map_err(|source| IoError::Option {
                    option,
                    addr: group,
                    source,
                })
            };
            required("SO_REUSEADDR", socket.set_reuse_address(true))?;
            if group.is_ipv6() && interface > 0 {
                required("SO_BINDTOIFINDEX", sys::only_by_interface(socket, interface))?;
            }
            required("IP_MULTICAST_ALL", sys::only_own_groups(socket, group.is_ipv4()))?;
            required(
                "membership",
                sys::join_group(socket, group.ip(), interface, options.source),
            )
        })
    }

    /// Says how this socket sends to groups.
    ///
    /// # Errors
    /// [`IoError::NoGroups`] as [`join`](Self::join), [`IoError::NoInterface`], and [`IoError::Option`] where the system
    /// knows no groups of the socket's family.
    pub fn send_to_groups(&self, sending: &GroupSending) -> Result<(), IoError> {
        let addr = self.local_addr();
        require_groups(addr)?;
        let interface = sending.interface.index()?;
        let socket = SockRef::from(&self.endpoint.socket);
        let required = |option, result: io::Result<()>| {
            result.map_err(|source| IoError::Option { option, addr, source })
        };
        let hops = u32::from(sending.hops);
        self.endpoint.groups_by.store(interface, Ordering::Relaxed);
        if addr.is_ipv6() {
            required("IPV6_MULTICAST_IF", socket.set_multicast_if_v6(interface))?;
            required("IPV6_MULTICAST_HOPS", socket.set_multicast_hops_v6(hops))?;
            required(
                "IPV6_MULTICAST_LOOP",
                socket.set_multicast_loop_v6(sending.loopback),
            )?;
        }
        if addr.is_ipv4() || self.capabilities().dual_stack {
            required("IP_MULTICAST_IF", sys::send_groups_by(&socket, interface))?;
            required("IP_MULTICAST_TTL", socket.set_multicast_ttl_v4(hops))?;
            required(
                "IP_MULTICAST_LOOP",
                socket.set_multicast_loop_v4(sending.loopback),
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "group_tests.rs"]
mod tests;
