//! Systems for which groups are not built: what would be asked of them.

use std::io;
use std::net::{IpAddr, SocketAddr};

use socket2::Socket;

#[cfg(not(unix))]
use super::Up;

fn unsupported<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn join_group(_: &Socket, _: IpAddr, _: u32, _: Option<IpAddr>) -> io::Result<()> {
    unsupported()
}

pub(crate) fn only_own_groups(_: &Socket, _: bool) -> io::Result<()> {
    unsupported()
}

pub(crate) fn only_by_interface(_: &Socket, _: u32) -> io::Result<()> {
    unsupported()
}

pub(crate) fn send_groups_by(_: &Socket, _: u32) -> io::Result<()> {
    unsupported()
}

/// The routes are not asked: what follows says that groups are not built.
pub(crate) fn leads_to(_: SocketAddr) -> io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn up() -> Vec<Up> {
    Vec::new()
}

#[cfg(not(unix))]
pub(crate) fn interface_with(_: IpAddr) -> Option<u32> {
    None
}

#[cfg(not(unix))]
pub(crate) fn interface_named(_: &str) -> Option<u32> {
    None
}
