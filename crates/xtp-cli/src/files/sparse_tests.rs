//! Holes are found, and files without any are read as they are.

use std::io::Write;
use std::os::unix::fs::FileExt;

use super::*;

fn runs_of(file: &mut File, size: u64) -> Vec<Run> {
    let mut runs = Runs::of(file).expect("a file");
    let (mut at, mut found) = (0, Vec::new());
    while at < size {
        let run = runs.next(file, at, size).expect("readable");
        let (Run::Data(len) | Run::Hole(len)) = run;
        assert!(len > 0);
        if matches!(run, Run::Data(_)) {
            assert_eq!(file.stream_position().expect("a file"), at);
        }
        at += len;
        found.push(run);
    }
    assert_eq!(at, size);
    found
}

#[test]
fn a_file_without_holes_is_one_run() {
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(&[1; 200_000]).expect("written");
    file.rewind().expect("a file");
    assert_eq!(runs_of(&mut file, 200_000), [Run::Data(200_000)]);
}

#[test]
fn holes_are_found() {
    const MIB: u64 = 1 << 20;
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all_at(&[1; 1 << 20], 64 * MIB).expect("written");
    file.set_len(4_096 * MIB).expect("made longer");
    let found = runs_of(&mut file, 4_096 * MIB);
    if found == [Run::Data(4_096 * MIB)] {
        // The file system of temporary files knows no holes.
        return;
    }
    assert_eq!(
        found,
        [Run::Hole(64 * MIB), Run::Data(MIB), Run::Hole(4_031 * MIB)]
    );
    // As much as was offered, whatever has come since.
    assert_eq!(
        runs_of(&mut file, 64 * MIB + 10),
        [Run::Hole(64 * MIB), Run::Data(10)]
    );
}
