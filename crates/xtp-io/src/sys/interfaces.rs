//! The addresses of this host's interfaces (`getifaddrs`), and their numbers.

use std::ffi::{CStr, CString};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ptr;

use super::Up;

/// Every address of the interfaces that are up; empty if they cannot be listed.
pub(crate) fn up() -> Vec<Up> {
    let mut all = Vec::new();
    find(|address, name, flags| {
        if flags & libc::IFF_UP != 0 {
            let carries = libc::IFF_MULTICAST | libc::IFF_RUNNING;
            all.push(Up {
                name: name.to_string_lossy().into_owned(),
                index: number_of(name).unwrap_or(0),
                address,
                carries_groups: flags & (carries | libc::IFF_LOOPBACK) == carries,
            });
        }
        None::<()>
    });
    all
}

/// The number of the interface that has the address.
pub(crate) fn interface_with(ip: IpAddr) -> Option<u32> {
    find(|found, name, _| (found == ip).then(|| number_of(name)))??
}

/// The number of the interface of this name.
pub(crate) fn interface_named(name: &str) -> Option<u32> {
    number_of(&CString::new(name).ok()?)
}

fn number_of(name: &CStr) -> Option<u32> {
    // SAFETY: the name ends with a zero and outlives the call.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => None,
        number => Some(number),
    }
}

/// What `look` says first of an address, the name of its interface and that one's flags; `None` if they cannot be listed.
fn find<T>(mut look: impl FnMut(IpAddr, &CStr, i32) -> Option<T>) -> Option<Option<T>> {
    let mut head: *mut libc::ifaddrs = ptr::null_mut();
    // SAFETY: `head` is a valid place for the list's address; the list is freed below.
    if unsafe { libc::getifaddrs(&raw mut head) } != 0 {
        return None;
    }
    let mut found = None;
    let mut node = head;
    while !node.is_null() && found.is_none() {
        // SAFETY: `node` is a non-null element of the list that is not freed yet.
        let (address, name, next) = unsafe { ((*node).ifa_addr, (*node).ifa_name, (*node).ifa_next) };
        // SAFETY: as above.
        let flags = unsafe { (*node).ifa_flags }.cast_signed();
        // SAFETY: an element's address is null or a socket address of its family, valid like the list.
        if let Some(address) = unsafe { address_of(address) } {
            // SAFETY: an element's name ends with a zero and is valid like the list.
            found = look(address, unsafe { CStr::from_ptr(name) }, flags);
        }
        node = next;
    }
    // SAFETY: `head` came from getifaddrs and is freed once; nothing refers to the list any more.
    unsafe { libc::freeifaddrs(head) };
    Some(found)
}

/// The IP address behind a socket address, if it is one.
///
/// # Safety
/// `address` is null or points to a socket address as long as its family says.
unsafe fn address_of(address: *const libc::sockaddr) -> Option<IpAddr> {
    if address.is_null() {
        return None;
    }
    // SAFETY: not null, and every socket address begins with its family.
    match i32::from(unsafe { (*address).sa_family }) {
        libc::AF_INET => {
            // SAFETY: the family says that this is a `sockaddr_in`; read without assuming alignment.
            let four = unsafe { ptr::read_unaligned(address.cast::<libc::sockaddr_in>()) };
            Some(IpAddr::V4(Ipv4Addr::from(four.sin_addr.s_addr.to_ne_bytes())))
        }
        libc::AF_INET6 => {
            // SAFETY: the family says that this is a `sockaddr_in6`; read without assuming alignment.
            let six = unsafe { ptr::read_unaligned(address.cast::<libc::sockaddr_in6>()) };
            Some(IpAddr::V6(Ipv6Addr::from(six.sin6_addr.s6_addr)))
        }
        _ => None,
    }
}
