//! Holes stay holes, whatever their size.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use tempfile::tempdir;

use crate::support::{Server, begin, content, cp, grown, text};

const MIB: u64 = 1 << 20;
const SIZE: u64 = 4_096 * MIB;

/// A file of 4 GiB: something at its beginning, in its middle and near its end.
fn plant(path: &Path) {
    let file = File::create(path).expect("made");
    file.set_len(SIZE).expect("made longer");
    for (seed, place) in [(1, 0), (2, 2_000 * MIB + 777), (3, SIZE - 2 * MIB)] {
        file.write_all_at(&content(seed, 1 << 20), place)
            .expect("written");
    }
}

/// Whether it is that file; and octets it takes of the disk.
fn examine(path: &Path) -> u64 {
    let file = File::open(path).expect("there");
    let seen = file.metadata().expect("there");
    assert_eq!(seen.len(), SIZE);
    let mut part = vec![0; 1 << 20];
    for (seed, place) in [(1, 0), (2, 2_000 * MIB + 777), (3, SIZE - 2 * MIB)] {
        file.read_exact_at(&mut part, place).expect("readable");
        assert!(part == content(seed, 1 << 20), "{place}");
    }
    file.read_exact_at(&mut part, SIZE - MIB).expect("readable");
    assert!(part.iter().all(|octet| *octet == 0));
    seen.blocks() * 512
}

#[test]
fn four_gibibytes_of_nothing_are_neither_sent_nor_stored() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("sparse"), dir.path().join("served"));
    fs::create_dir(&served).expect("made");
    plant(&local);
    let stored = examine(&local);
    assert!(
        stored < 8 * MIB,
        "this test needs a file system with holes, as everybody has"
    );
    let server = Server::start(&served, &[]);
    let up = cp(&[text(&local), server.url("")]).expect_ok();
    assert!(up.number("sent_bytes") <= stored, "{}", up.number("sent_bytes"));
    assert_eq!(up.number("bytes"), SIZE);
    assert!(examine(&served.join("sparse")) <= stored + MIB);
    let back = dir.path().join("back");
    let down = cp(&[server.url("sparse"), text(&back)]).expect_ok();
    assert!(down.number("sent_bytes") <= stored);
    assert!(examine(&back) <= stored + MIB);
}

#[test]
fn an_interrupted_copy_of_a_file_with_holes_continues() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("sparse"), dir.path().join("served"));
    fs::create_dir(&served).expect("made");
    plant(&local);
    let more = File::options().write(true).open(&local).expect("ours");
    more.write_all_at(&content(4, 24 << 20), 3_000 * MIB)
        .expect("written");
    let server = Server::start(&served, &[]);
    let mut first = begin(&["--limit", "8MiB", &text(&local), &server.url("")]);
    // It is among the octets of the middle.
    grown(&served.join(".sparse.xtp-part"), 3_008 * MIB);
    first.kill().expect("it runs");
    first.wait().expect("it ends");
    let second = cp(&[text(&local), server.url("")]).expect_ok();
    assert!(second.number("resumed_from") >= 3_008 * MIB);
    assert!(second.number("sent_bytes") < 24 * MIB);
    assert!(examine(&served.join("sparse")) < 40 * MIB);
}

#[test]
fn zeros_become_holes_where_that_is_asked_for() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("zeros"), dir.path().join("served"));
    fs::create_dir(&served).expect("made");
    let mut octets = vec![0; 16 << 20];
    octets[5 << 20..][..1_000].copy_from_slice(&content(1, 1_000));
    fs::write(&local, &octets).expect("written");
    let server = Server::start(&served, &[]);
    let plain = cp(&[text(&local), server.url("plain")]).expect_ok();
    assert_eq!(plain.number("sent_bytes"), 16 * MIB);
    let sparse = cp(&["--sparse", &text(&local), &server.url("sparse")]).expect_ok();
    assert_eq!(sparse.number("sent_bytes"), 64 << 10, "one piece of 64 KiB");
    assert!(fs::read(served.join("sparse")).expect("there") == octets);
    let stored = fs::metadata(served.join("sparse")).expect("there").blocks() * 512;
    assert!(stored <= MIB, "{stored}");
    // From there as well.
    let back = dir.path().join("back");
    let down = cp(&["--sparse", &server.url("plain"), &text(&back)]).expect_ok();
    assert_eq!(down.number("sent_bytes"), 64 << 10);
    assert!(fs::read(&back).expect("there") == octets);
}
