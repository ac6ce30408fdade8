//! What the system lets this process use.

use std::fs;
#[cfg(unix)]
use std::io;
#[cfg(unix)]
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::Duration;

/// Octets of memory this process may use beyond what it has: the least of what is left of its address space
/// (RLIMIT_AS) and of its data (RLIMIT_DATA), of the limit of its control group, and of the machine's memory. `None`
/// where the system tells nothing of it.
pub fn memory() -> Option<u64> {
    let machine = read("/proc/meminfo").and_then(|text| field(&text, "MemTotal:"));
    [address_space(), data(), group(), machine]
        .into_iter()
        .flatten()
        .min()
}

/// Octets of address space left to this process; `None` if there is no limit.
pub fn address_space() -> Option<u64> {
    left("Max address space", "VmSize:")
}

fn data() -> Option<u64> {
    left("Max data size", "VmData:")
}

/// Whether standard output was closed when the process began: the standard library has put `/dev/null` in its place since. False
/// where that is not known, elsewhere than on Linux.
#[cfg(feature = "standard-streams")]
pub fn output_was_closed() -> bool {
    #[cfg(target_os = "linux")]
    return crate::sys::output_was_closed();
    #[cfg(not(target_os = "linux"))]
    false
}

/// Spares address space where it is limited: the C library's allocator gives threads no arenas of their own from here
/// on, each of which would reserve 64 MiB. Does nothing elsewhere.
pub fn spare_address_space() {
    if address_space().is_some() {
        crate::sys::share_arenas();
    }
}

/// Gives the system what the C library's allocator keeps of memory that was freed, which may be most of it: for the moment after
/// something large is over, as it takes some milliseconds and the next use of the memory costs again. Does nothing elsewhere.
pub fn give_back_memory() {
    crate::sys::give_back_memory();
}

/// Lets octets be sent over a stream socket from where they lie (`MSG_ZEROCOPY`), for who measures beside it.
///
/// # Errors
///
/// Where the system cannot do that.
#[cfg(unix)]
pub fn let_lend(socket: BorrowedFd<'_>) -> io::Result<()> {
    crate::sys::let_lend(socket)
}

/// How long this thread was ready to run and had no core, since it began; `None` where the system does not tell. Takes some
/// microseconds.
#[must_use]
pub fn delayed() -> Option<Duration> {
    delay_of(&read("/proc/thread-self/schedstat")?)
}

/// Time on a core, time waiting for one, both ns, and slices.
fn delay_of(text: &str) -> Option<Duration> {
    let nanos = text.split_whitespace().nth(1)?;
    nanos.parse().ok().map(Duration::from_nanos)
}

/// A limit of this process, less what it uses of it.
fn left(limit: &str, used: &str) -> Option<u64> {
    let most = soft_limit(&read("/proc/self/limits")?, limit)?;
    let used = read("/proc/self/status").and_then(|text| field(&text, used));
    Some(most.saturating_sub(used.unwrap_or(0)))
}

/// The least limit of the control groups this process is in, from its own up to the root.
fn group() -> Option<u64> {
    let own = read("/proc/self/cgroup")?;
    let (root, path, file) = group_of(&own)?;
    let root = Path::new(root);
    let own = root.join(path.trim_start_matches('/'));
    own.ancestors()
        .take_while(|place| place.starts_with(root))
        .filter_map(|place| fs::read_to_string(place.join(file)).ok()?.trim().parse().ok())
        .min()
}

/// Where the memory of a process is limited whose `/proc/self/cgroup` says `text`: the mount, the path below it, the file.
fn group_of(text: &str) -> Option<(&'static str, &str, &'static str)> {
    for line in text.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (names, path) = (parts.next()?, parts.next()?);
        if names.split(',').any(|name| name == "memory") {
            return Some(("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes"));
        }
    }
    let path = text.lines().find_map(|line| line.strip_prefix("0::"))?;
    Some(("/sys/fs/cgroup", path, "memory.max"))
}

/// The soft limit of that name in `/proc/self/limits`; `None` if there is none.
fn soft_limit(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// A field of `/proc/self/status` or `/proc/meminfo`, which count in KiB.
fn field(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibi: u64 = value.split_whitespace().next()?.parse().ok()?;
    kibi.checked_mul(1_024)
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
