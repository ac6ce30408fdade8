//! Files in memory, compared.

use std::fs;

use super::{Disk, NAME, PREFIX, discard_abandoned};

#[test]
fn a_copy_is_whole_and_one_octet_makes_the_difference() {
    let disk = Disk::new(3 << 20).expect("memory");
    let folder = disk.receiver(1).expect("a directory");
    let copy = folder.join(NAME);
    assert!(!disk.is_whole(&copy), "there is none");
    fs::copy(disk.sent(), &copy).expect("copied");
    assert!(disk.is_whole(&copy));
    let mut octets = fs::read(&copy).expect("read");
    assert_eq!(octets.len(), 3 << 20);
    octets[2_500_000] ^= 1;
    fs::write(&copy, &octets).expect("written");
    assert!(!disk.is_whole(&copy), "an octet differs");
    octets[2_500_000] ^= 1;
    octets.pop();
    fs::write(&copy, &octets).expect("written");
    assert!(!disk.is_whole(&copy), "an octet is missing");
    assert!(
        !disk.receiver(1).expect("again").join(NAME).exists(),
        "it is empty"
    );
    let place = disk.sent();
    drop(disk);
    assert!(!place.exists());
}

#[test]
fn what_ended_processes_left_is_removed_and_nothing_else() {
    let memory = std::env::temp_dir().join(format!("xtp-disk-test-{}", std::process::id()));
    // No process has a number above the kernel's limit of 2^22.
    let abandoned = memory.join(format!("{PREFIX}99999999"));
    let own = memory.join(format!("{PREFIX}{}", std::process::id()));
    let other = memory.join("something-else");
    for folder in [&abandoned, &own, &other] {
        fs::create_dir_all(folder).expect("made");
    }
    discard_abandoned(&memory);
    assert!(!abandoned.exists() && own.exists() && other.exists());
    fs::remove_dir_all(&memory).expect("removed");
}
