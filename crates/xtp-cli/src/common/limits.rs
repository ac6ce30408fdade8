//! What the system allows this process: open files, and how long they may be.

use super::Outcome;

/// More than any server here needs.
#[cfg(unix)]
const MOST: u64 = 65_536;

/// Descriptors this process may have, as many as it can be given. (Not for one that starts other programs: they inherit it.)
#[cfg(unix)]
pub(crate) fn descriptors() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let (current, most) = (
        limit.current.unwrap_or(MOST),
        limit.maximum.unwrap_or(MOST).min(MOST),
    );
    let raised = Rlimit {
        current: Some(most),
        ..limit
    };
    let allowed = match current < most && setrlimit(Resource::Nofile, raised).is_ok() {
        true => most,
        false => current,
    };
    usize::try_from(allowed).unwrap_or(usize::MAX)
}

/// As many as there are.
#[cfg(not(unix))]
pub(crate) fn descriptors() -> usize {
    usize::MAX
}

/// A file that outgrows the limit of the process is an error like others; by default it would end the process.
///
/// # Errors
/// If the system does not allow it.
#[cfg(unix)]
pub(crate) fn survive_size_limits() -> Outcome {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    let unread = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, unread)
        .map(drop)
        .map_err(|error| super::Failure::io("cannot catch signals", &error))
}

/// There are no such limits.
#[cfg(not(unix))]
pub(crate) fn survive_size_limits() -> Outcome {
    Ok(())
}
