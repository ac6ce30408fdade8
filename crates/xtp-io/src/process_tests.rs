//! What the system's tables say, read.

use super::*;

const LIMITS: &str = "\
Limit                     Soft Limit           Hard Limit           Units
Max data size             unlimited            unlimited            bytes
Max address space         409600000            unlimited            bytes
";

#[test]
fn limits_are_read_and_no_limit_is_none() {
    assert_eq!(soft_limit(LIMITS, "Max address space"), Some(409_600_000));
    assert_eq!(soft_limit(LIMITS, "Max data size"), None);
    assert_eq!(soft_limit(LIMITS, "Max stack size"), None);
}

#[test]
fn fields_are_counted_in_kibi_octets() {
    let status = "Name:\txtp\nVmSize:\t    2000 kB\nVmData:\tnonsense kB\n";
    assert_eq!(field(status, "VmSize:"), Some(2_048_000));
    assert_eq!(field(status, "VmData:"), None);
    assert_eq!(field("MemTotal: 18446744073709551615 kB", "MemTotal:"), None);
}

#[test]
fn the_control_group_is_found_in_both_versions() {
    let one = "5:cpu,memory:/docker/ab:cd\n0::/x\n";
    assert_eq!(
        group_of(one),
        Some(("/sys/fs/cgroup/memory", "/docker/ab:cd", "memory.limit_in_bytes"))
    );
    assert_eq!(
        group_of("0::/user.slice\n"),
        Some(("/sys/fs/cgroup", "/user.slice", "memory.max"))
    );
    assert_eq!(group_of(""), None);
}

#[cfg(target_os = "linux")]
#[test]
fn this_process_may_use_something() {
    assert!(memory().is_some_and(|octets| octets > 1 << 20));
}
