//! What this host calls itself.

use std::fs;

/// `host (Linux 6.18.5, x86_64)`.
pub(crate) fn host_name() -> String {
    let host = system_text("/proc/sys/kernel/hostname").unwrap_or_else(|| "this host".to_owned());
    let system = system_text("/proc/sys/kernel/ostype").unwrap_or_else(|| std::env::consts::OS.to_owned());
    let release =
        system_text("/proc/sys/kernel/osrelease").map_or_else(String::new, |release| format!(" {release}"));
    format!("{host} ({system}{release}, {})", std::env::consts::ARCH)
}

/// What the system says in a file, without the newline.
pub(crate) fn system_text(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
