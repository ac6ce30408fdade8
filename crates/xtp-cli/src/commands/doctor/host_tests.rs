//! Figures out of the kernel's words.

use super::{Host, open_files};

#[test]
fn limits_are_found_in_their_line() {
    let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                  Max open files            1024                 524288               files\n\
                  Max processes             unlimited            unlimited            processes\n";
    assert_eq!(open_files(limits), Some((1_024, 524_288)));
    let unlimited = "Max open files            unlimited            unlimited            files\n";
    assert_eq!(open_files(unlimited), Some((u64::MAX, u64::MAX)));
    assert_eq!(open_files("Max open files            many\n"), None);
    assert_eq!(open_files(""), None);
}

#[test]
fn every_host_has_a_name_and_a_core() {
    let host = Host::look();
    assert!(host.cores >= 1);
    assert!(!host.name.is_empty());
}
