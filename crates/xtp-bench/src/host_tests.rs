//! What `perf` and `/proc` print.

use super::{Host, counted, field, kilobytes};

#[test]
fn fields_are_found() {
    let info = "processor\t: 0\nmodel name\t: Some CPU @ 2.10GHz\nmodel name\t: Other\n";
    assert_eq!(field(info, "model name").as_deref(), Some("Some CPU @ 2.10GHz"));
    assert_eq!(field(info, "flags"), None);
    assert_eq!(kilobytes("MemTotal:        8025276 kB\n", "MemTotal"), 8_025_276);
    assert_eq!(kilobytes("", "MemTotal"), 0);
}

#[test]
fn counters_are_there_or_not() {
    assert_eq!(
        counted("123456,,instructions:u,601234,100.00,,\n"),
        "instructions"
    );
    assert_eq!(
        counted("<not supported>,,instructions:u,0,100.00,,\n"),
        "not supported"
    );
    assert_eq!(
        counted("Access to performance monitoring is limited\n"),
        "not supported"
    );
}

#[test]
fn this_host_has_a_kernel_and_cores() {
    let host = Host::look();
    assert!(host.kernel.starts_with("Linux "), "{host:?}");
    assert!(
        host.cores >= 1 && host.loopback_mtu > 0 && !host.counters.is_empty(),
        "{host:?}"
    );
    let text = serde_json::to_string(&host).expect("serialises");
    assert_eq!(serde_json::from_str::<Host>(&text).expect("reads"), host);
}
