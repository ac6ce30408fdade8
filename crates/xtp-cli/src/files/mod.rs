//! `xtp serve`, `xtp cp` and `xtp ls`: a directory behind an XTP endpoint, and copies to and from it; `xtp cast`: to many
//! at once.
//!
//! The protocol is in docs/protocol/files.md. [`session`] is a server's side, [`copy`] a client's, which comes back
//! through [`client`] after an outage; both play one of two roles, [`sender`] or [`receiver`] with its [`disk`] half,
//! which are the same in both directions. Below them: [`walk`] through sources, [`place`] of targets, [`partial`] files,
//! and [`root`], out of which no path leads.

#[cfg(unix)]
mod cast;
#[cfg(unix)]
mod channel;
#[cfg(unix)]
mod client;
#[cfg(unix)]
mod codec;
#[cfg(unix)]
mod content_hash;
#[cfg(unix)]
mod copy;
#[cfg(unix)]
mod disk;
#[cfg(unix)]
mod extras;
#[cfg(unix)]
mod install;
#[cfg(unix)]
mod links;
#[cfg(unix)]
mod list;
#[cfg(unix)]
mod listing;
#[cfg(unix)]
mod local;
#[cfg(unix)]
mod location;
#[cfg(unix)]
pub(crate) mod names;
#[cfg(unix)]
mod partial;
#[cfg(unix)]
mod pattern;
#[cfg(unix)]
mod place;
#[cfg(unix)]
#[cfg(unix)]
mod problem;
#[cfg(unix)]
mod receiver;
#[cfg(unix)]
mod record;
#[cfg(unix)]
mod report;
#[cfg(unix)]
mod root;
#[cfg(unix)]
mod seen;
#[cfg(unix)]
mod sender;
#[cfg(unix)]
mod serve;
#[cfg(unix)]
mod session;
#[cfg(unix)]
mod sparse;
#[cfg(unix)]
mod stdin;
#[cfg(unix)]
mod stdout;
#[cfg(unix)]
mod tally;
#[cfg(unix)]
mod walk;
#[cfg(unix)]
mod watch;
#[cfg(unix)]
mod way;

#[cfg(not(unix))]
mod elsewhere;

#[cfg(unix)]
pub(crate) use cast::cast;
#[cfg(unix)]
pub(crate) use copy::cp;
#[cfg(not(unix))]
pub(crate) use elsewhere::{cast, cp, ls, serve};
#[cfg(unix)]
pub(crate) use listing::ls;
#[cfg(unix)]
pub(crate) use location::Plan;
#[cfg(unix)]
pub(crate) use record::Record;
#[cfg(unix)]
pub(crate) use serve::serve;
