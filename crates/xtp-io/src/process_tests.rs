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

#[test]
fn what_the_system_says_of_delays_is_read() {
    assert_eq!(delay_of("7 1500 3\n"), Some(Duration::from_nanos(1_500)));
    for text in ["", "7", "7 x 3", "7 -1 3"] {
        assert_eq!(delay_of(text), None, "{text}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_thread_more_than_cores_waits_for_one() {
    // A kernel may be built without it.
    let Some(before) = delayed() else { return };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let compute = || {
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        };
        (0..cores).for_each(|_| drop(scope.spawn(compute)));
        while delayed() <= Some(before) {
            std::hint::spin_loop();
        }
        over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn this_process_may_use_something() {
    assert!(memory().is_some_and(|octets| octets > 1 << 20));
}
