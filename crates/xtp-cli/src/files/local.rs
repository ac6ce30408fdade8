//! Paths of this machine as `cp` understands them: sources, and the target.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::links::Links;
use super::location::{last_name, local};
use super::names::{RelPath, shown};
use super::pattern::Excludes;
use super::place::Target;
use super::problem::Problem;
use super::record::CopyOptions;
use super::root::Root;
use super::session::source_name;
use super::walk::Source;

/// A source on this machine. A path that ends with a slash or a dot stands for the directory itself, even behind a
/// link.
pub(super) fn local_source(path: &OsStr, links: Links) -> Result<Source, Problem> {
    let octets = path.as_bytes();
    let label = match octets.strip_suffix(b"/.") {
        Some(folder) if !folder.is_empty() => shown(folder),
        _ => shown(octets),
    };
    let failed = |error: std::io::Error| Problem::io(&label, &error);
    let follow = links == Links::Follow;
    let open = |path: &Path| match follow {
        true => Root::open_anywhere(path),
        false => Root::open(path),
    };
    let name = last_name(octets);
    let whole = name.is_none() || octets.ends_with(b"/") || octets.ends_with(b"/.");
    if whole {
        // `dir/.` is the content of dir, `dir/` is dir.
        let name = match name {
            Some(name) if octets.ends_with(b"/") => name.to_vec(),
            _ => Vec::new(),
        };
        return Ok(Source {
            root: Arc::new(open(Path::new(path)).map_err(failed)?),
            follow,
            start: RelPath::default(),
            name,
            label,
        });
    }
    let name = name.unwrap_or_default();
    Ok(Source {
        root: Arc::new(open(&parent_of(octets)).map_err(failed)?),
        follow,
        start: RelPath::default().join(name)?,
        name: name.to_vec(),
        label,
    })
}

/// The directory a path with a name at its end is in.
fn parent_of(octets: &[u8]) -> PathBuf {
    let end = octets
        .iter()
        .rposition(|octet| *octet != b'/')
        .map_or(0, |last| last + 1);
    match octets[..end].iter().rposition(|octet| *octet == b'/') {
        Some(0) => PathBuf::from("/"),
        Some(slash) => PathBuf::from(local(&octets[..slash])),
        None => PathBuf::from("."),
    }
}

/// The target on this machine: a directory that is there, or a name in one.
pub(super) fn local_target(
    path: &OsStr,
    sources: &[Vec<u8>],
    options: CopyOptions,
    excludes: Excludes,
) -> Result<Target, Problem> {
    let octets = path.as_bytes();
    let failed = |error: std::io::Error| Problem::io(shown(octets), &error);
    let (top, below) = match (last_name(octets), Path::new(path).is_dir()) {
        (Some(name), false) => (parent_of(octets), RelPath::default().join(name)?),
        _ => (PathBuf::from(path), RelPath::default()),
    };
    let mut prefix = shown(top.as_os_str().as_bytes());
    if prefix == "." {
        prefix.clear();
    } else if !prefix.ends_with('/') {
        prefix.push('/');
    }
    Ok(Target {
        root: Arc::new(Root::open(&top).map_err(failed)?),
        path: below,
        several: sources.len() > 1,
        slash: octets.ends_with(b"/"),
        prefix,
        names: Some(sources.iter().map(|source| source_name(source)).collect()),
        options,
        excludes,
    })
}

#[cfg(test)]
#[path = "local_tests.rs"]
mod tests;
