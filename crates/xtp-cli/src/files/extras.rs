//! What a file has that a copy does not keep: further names, access control lists, capabilities, extended attributes. They are
//! counted, and a list that is dropped never gives anybody more than it did.

use std::os::fd::AsFd;

#[cfg(target_os = "linux")]
use rustix::io::Errno;

/// What one thing has.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extras {
    /// Permission bits that an entry of the ACL withholds: without the ACL, no class but the owner may have them.
    denied: u32,
    lists: bool,
    capabilities: bool,
    attributes: bool,
}

impl Extras {
    /// Of something open.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_open(open: impl AsFd) -> Self {
        use rustix::fs::{fgetxattr, flistxattr};
        Self::read(
            |buffer| flistxattr(&open, buffer),
            |name, buffer| fgetxattr(&open, name, buffer),
        )
        .unwrap_or_default()
    }

    /// Of `path`, or of what it leads to; `None` if the system does not say.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_path(path: &[u8], follow: bool) -> Option<Self> {
        use rustix::fs::{getxattr, lgetxattr, listxattr, llistxattr};
        match follow {
            true => Self::read(
                |buffer| listxattr(path, buffer),
                |name, buffer| getxattr(path, name, buffer),
            ),
            false => Self::read(
                |buffer| llistxattr(path, buffer),
                |name, buffer| lgetxattr(path, name, buffer),
            ),
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn of_open(_: impl AsFd) -> Self {
        Self::default()
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn of_path(_: &[u8], _: bool) -> Option<Self> {
        Some(Self::default())
    }

    #[cfg(target_os = "linux")]
    fn read(
        list: impl Fn(&mut [u8]) -> Result<usize, Errno>,
        get: impl Fn(&str, &mut [u8]) -> Result<usize, Errno>,
    ) -> Option<Self> {
        // As long as the system lets them be.
        let mut names = vec![0; 256];
        let length = match list(&mut names) {
            Err(Errno::RANGE) => {
                names.resize(64 << 10, 0);
                list(&mut names)
            }
            outcome => outcome,
        };
        let length = match length {
            Ok(length) => length,
            Err(Errno::OPNOTSUPP) => 0,
            Err(_) => return None,
        };
        let mut extras = Self::default();
        for name in names[..length].split(|octet| *octet == 0) {
            match name {
                b"system.posix_acl_access" => {
                    let mut value = vec![0; 64 << 10];
                    let length = get("system.posix_acl_access", &mut value).unwrap_or(0);
                    extras.lists = true;
                    extras.denied = denied(&value[..length]);
                }
                b"system.posix_acl_default" => extras.lists = true,
                b"security.capability" => extras.capabilities = true,
                // Every file has them where a security module is at work, which gives new files theirs.
                name if name.is_empty() || name.starts_with(b"security.") => {}
                _ => extras.attributes = true,
            }
        }
        Some(extras)
    }

    /// The permission bits of a copy that has none of this. With a list the group's bits stand for the most that anybody named in it may.
    pub(crate) fn narrowed(self, mode: u32) -> u32 {
        mode & !self.denied
    }
}

/// Permission bits that a named entry of an ACL, or the group's, withholds: without the ACL its subject falls under group or others.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
fn denied(list: &[u8]) -> u32 {
    const GROUP: u16 = 4;
    const MASK: u16 = 16;
    const NAMED: [u16; 2] = [2, 8];
    let entries = || {
        let entries = list.get(4..).unwrap_or_default().chunks_exact(8);
        entries.map(|entry| {
            let number = |at: usize| u16::from_le_bytes([entry[at], entry[at + 1]]);
            (number(0), u32::from(number(2)) & 7)
        })
    };
    if entries().next().is_none() {
        // What cannot be read may forbid anything.
        return 0o077;
    }
    let of = |wanted: u16| {
        entries()
            .find(|(tag, _)| *tag == wanted)
            .map_or(7, |(_, bits)| bits)
    };
    let mask = of(MASK);
    let named = entries()
        .filter(|(tag, _)| NAMED.contains(tag))
        .fold(7, |all, (_, bits)| all & bits & mask);
    (!(of(GROUP) & mask & named) & 7) << 3 | (!named & 7)
}

/// How much was not kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lost {
    hard_links: u64,
    lists: u64,
    capabilities: u64,
    attributes: u64,
}

impl Lost {
    /// One thing more, which is a file of several names or not.
    pub(crate) fn add(&mut self, extras: Extras, has_names: bool) {
        self.hard_links += u64::from(has_names);
        self.lists += u64::from(extras.lists);
        self.capabilities += u64::from(extras.capabilities);
        self.attributes += u64::from(extras.attributes);
    }

    /// In words, if there is anything.
    pub(crate) fn text(&self) -> Option<String> {
        let parts = [
            (self.hard_links, "hard links (each is a file of its own)"),
            (self.lists, "access control lists (nobody may more without them)"),
            (self.capabilities, "capabilities"),
            (self.attributes, "files with extended attributes"),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<_> = parts.map(|(count, what)| format!("{count} {what}")).collect();
        (!parts.is_empty()).then(|| format!("not kept: {}", parts.join(", ")))
    }
}

#[cfg(test)]
#[path = "extras_tests.rs"]
mod tests;
