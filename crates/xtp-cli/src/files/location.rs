//! `xtp://host[:port]/path`, and which side of a copy is which.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use xtp::service_numbers;

use super::stdout::Through;
use crate::common::{Address, Failure};

const SCHEME: &[u8] = b"xtp://";

/// A path on this machine or on a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    Here(OsString),
    There {
        /// As it was written, without the path.
        authority: String,
        /// Below the server's directory, as it was written.
        path: Vec<u8>,
    },
}

/// What is copied in which direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Files of this machine to a path of a server.
    Put {
        sources: Vec<OsString>,
        authority: String,
        target: Vec<u8>,
    },
    /// Paths of a server to this machine.
    Get {
        authority: String,
        sources: Vec<Vec<u8>>,
        target: OsString,
    },
}

impl Location {
    pub(crate) fn parse(text: &OsStr) -> Result<Self, Failure> {
        let octets = text.as_bytes();
        if octets.len() < SCHEME.len() || !octets[..SCHEME.len()].eq_ignore_ascii_case(SCHEME) {
            return Ok(Self::Here(text.to_owned()));
        }
        let rest = &octets[SCHEME.len()..];
        let slash = rest.iter().position(|octet| *octet == b'/');
        let (authority, path) = rest.split_at(slash.unwrap_or(rest.len()));
        let authority = String::from_utf8(authority.to_vec()).map_err(|_| {
            Failure::usage("the host of an xtp:// address is no text; write xtp://host[:port]/path")
        })?;
        if let Some((user, host)) = authority.split_once('@') {
            return Err(Failure::usage(format!(
                "xtp knows no users; leave '{user}@' out, as in xtp://{host}/path"
            )));
        }
        Ok(Self::There {
            authority,
            path: path.to_vec(),
        })
    }
}

/// The address of a server in the form of scp, rsync or a URL: what to write instead.
fn meant_as(path: &OsStr) -> Option<String> {
    let text = path.to_str()?;
    let (before, behind) = text.split_once(':')?;
    let host = |place: &str| -> String {
        let place = place.trim_start_matches('/');
        let place = place.split_once('@').map_or(place, |(_, host)| host);
        let (host, path) = place.split_once('/').unwrap_or((place, ""));
        format!("xtp://{host}/{path}")
    };
    match before {
        "xtp" => Some(format!("'{text}' lacks a slash; write {}", host(behind))),
        "http" | "https" | "ftp" | "ftps" | "sftp" | "scp" | "ssh" | "rsync" | "file" => Some(format!(
            "xtp does not speak {before}; a server that runs `xtp serve` is {}",
            host(behind)
        )),
        // A path of this machine has its colon behind a slash, or is there.
        _ if before.contains('/') || before.is_empty() || std::path::Path::new(text).exists() => None,
        _ => {
            let place = before.split_once('@').map_or(before, |(_, host)| host);
            let path = behind.trim_start_matches([':', '/']);
            Some(format!(
                "'{text}' is how scp and rsync write it; write xtp://{place}/{path}, a path below the directory that is served"
            ))
        }
    }
}

impl Plan {
    /// Understands the arguments of `xtp cp`.
    ///
    /// # Errors
    /// A usage error that says what would be right.
    pub(crate) fn of(arguments: &[OsString]) -> Result<Self, Failure> {
        let Some((last, first)) = arguments.split_last().filter(|(_, first)| !first.is_empty()) else {
            return Err(Failure::usage(
                "cp needs a source and a target: xtp cp SRC... DST",
            ));
        };
        if arguments.iter().any(|argument| argument.is_empty()) {
            return Err(Failure::usage(
                "a path is empty; write '.' for the current directory",
            ));
        }
        let first: Vec<_> = first
            .iter()
            .map(|text| Location::parse(text))
            .collect::<Result<_, _>>()?;
        match Location::parse(last)? {
            Location::There { authority, path } => {
                let sources = first.into_iter().map(|source| match source {
                    Location::Here(path) => Ok(path),
                    Location::There { .. } => Err(Failure::usage(
                        "both sides are xtp:// addresses; copy to this machine first, then on",
                    )),
                });
                let sources: Vec<_> = sources.collect::<Result<_, _>>()?;
                if sources.len() > 1 && sources.iter().any(|source| source == "-") {
                    return Err(Failure::usage(
                        "standard input (-) is copied alone; a file of that name is written ./-",
                    ));
                }
                Ok(Self::Put {
                    sources,
                    authority,
                    target: path,
                })
            }
            Location::Here(target) => Self::get(first, target),
        }
    }

    fn get(sources: Vec<Location>, target: OsString) -> Result<Self, Failure> {
        let mut host = None;
        let mut paths = Vec::new();
        for source in sources {
            let (authority, path) = match source {
                Location::There { authority, path } => (authority, path),
                Location::Here(path) => {
                    let meant = meant_as(&path).or_else(|| meant_as(&target));
                    return Err(Failure::usage(meant.unwrap_or_else(|| {
                        "no side is an xtp:// address, or some sources are and some are not; \
                         write xtp://host[:port]/path for all sources or for the target"
                            .to_owned()
                    })));
                }
            };
            match &host {
                Some(known) if *known != authority => {
                    return Err(Failure::usage(
                        "the sources are on different servers; copy from one at a time",
                    ));
                }
                _ => host = Some(authority),
            }
            paths.push(path);
        }
        Ok(Self::Get {
            authority: host.unwrap_or_default(),
            sources: paths,
            target,
        })
    }

    /// Number of sources.
    pub(crate) fn sources(&self) -> usize {
        match self {
            Self::Put { sources, .. } => sources.len(),
            Self::Get { sources, .. } => sources.len(),
        }
    }

    /// Sources stand for what is in them: that goes right into the target.
    pub(crate) fn means_content(&mut self) {
        match self {
            Self::Put { sources, .. } => sources.iter_mut().for_each(|source| source.push("/.")),
            Self::Get { sources, .. } => sources.iter_mut().for_each(|source| source.extend(b"/.")),
        }
    }

    /// Whether standard input is copied.
    pub(crate) fn is_from_stdin(&self) -> bool {
        matches!(self, Self::Put { sources, .. } if sources.iter().any(|source| source == "-"))
    }

    /// What it is written through, if the target is standard output or, for one source, a device or the like.
    pub(crate) fn through(&self) -> Option<Through> {
        match self {
            Self::Get { sources, target, .. } if sources.len() == 1 || target == "-" => Through::of(target),
            _ => None,
        }
    }

    /// Where the server is.
    ///
    /// # Errors
    /// A usage error if it is not written well.
    pub(crate) fn address(&self) -> Result<Address, Failure> {
        let (Self::Put { authority, .. } | Self::Get { authority, .. }) = self;
        Address::peer(authority, service_numbers::FILES)
    }

    /// How messages call the server's directory.
    pub(crate) fn remote(&self) -> String {
        let (Self::Put { authority, .. } | Self::Get { authority, .. }) = self;
        format!("xtp://{authority}/")
    }
}

/// The name a path ends with, as `cp` sees it: none for `.`, `..`, and the root.
pub(crate) fn last_name(path: &[u8]) -> Option<&[u8]> {
    let last = path
        .split(|octet| *octet == b'/')
        .rfind(|part| !part.is_empty())?;
    (!matches!(last, b"." | b"..")).then_some(last)
}

/// Octets as a path of this machine.
pub(crate) fn local(octets: &[u8]) -> OsString {
    OsString::from_vec(octets.to_vec())
}

#[cfg(test)]
#[path = "location_tests.rs"]
mod tests;
