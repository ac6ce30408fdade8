//! A broken transfer is continued: the group is sent what any receiver lacks, and each receiver ends with the whole.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;
use tempfile::{TempDir, tempdir};

use crate::support::{Running, content, recv, send};

const SIZE: usize = 10_000_000;
/// Slow enough to be broken in the middle.
const SLOW: [&str; 4] = ["--expect", "1", "--limit", "40mbit"];

/// A file, and directories for what arrives.
fn place(directories: &[&str]) -> TempDir {
    let dir = tempdir().expect("a directory");
    fs::write(dir.path().join("file"), content(5, SIZE)).expect("written");
    for name in directories {
        fs::create_dir(dir.path().join(name)).expect("made");
    }
    dir
}

/// Where a broken transfer of `file` leaves its part.
fn part(dir: &TempDir, name: &str) -> PathBuf {
    dir.path().join(name).join(".file.xtp-part")
}

/// What a broken transfer leaves: a file that other users cannot open.
fn plant(path: &Path, octets: &[u8]) {
    fs::write(path, octets).expect("written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("ours");
}

fn until_there_are(path: &Path, octets: u64) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while fs::metadata(path).map_or(0, |seen| seen.len()) < octets {
        assert!(Instant::now() < deadline, "nothing arrives");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn number(report: &Value, key: &str) -> u64 {
    report[key]
        .as_u64()
        .unwrap_or_else(|| panic!("no {key} in {report}"))
}

#[track_caller]
fn assert_whole(dir: &TempDir, name: &str) {
    let read = |path: PathBuf| fs::read(path).expect("there");
    assert!(read(dir.path().join(name).join("file")) == read(dir.path().join("file")));
    let left: Vec<_> = fs::read_dir(dir.path().join(name))
        .expect("there")
        .map(|entry| entry.expect("an entry").file_name())
        .filter(|name| name != "file")
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A second transfer to one receiver that has `there` octets: what was sent, and not sent, at both ends.
#[track_caller]
fn continues(dir: &TempDir, group: &str, there: u64) {
    let receiver = recv(group, "out", &[], dir.path());
    let sent = send("file", group, &["--expect", "1"], dir.path())
        .end()
        .expect(0);
    let received = receiver.end().expect(0);
    for report in [sent.report(), received.report()] {
        assert_eq!(number(&report, "resumed_from"), there, "{report}");
        assert_eq!(number(&report, "bytes"), SIZE as u64 - there, "{report}");
    }
    assert!(number(&sent.report(), "wire_bytes") < (SIZE as u64 - there) * 5 / 4 + 100_000);
    assert!(sent.said.contains("were there already"), "{}", sent.said);
    assert!(received.said.contains("were there already"), "{}", received.said);
    let hash = blake3::hash(&content(5, SIZE)).to_hex().to_string();
    assert_eq!(received.report()["hash"], hash);
    assert_whole(dir, "out");
}

#[test]
fn a_killed_receiver_continues() {
    let (dir, group) = (place(&["out"]), "239.77.9.1");
    let receiver = recv(group, "out", &[], dir.path());
    let sender = send("file", group, &SLOW, dir.path());
    until_there_are(&part(&dir, "out"), 2_000_000);
    receiver.signal("KILL");
    sender.signal("KILL");
    receiver.end();
    sender.end();
    assert!(!dir.path().join("out/file").exists());
    let there = fs::metadata(part(&dir, "out")).expect("it stays").len();
    continues(&dir, group, there);
}

#[test]
fn a_killed_sender_continues() {
    let (dir, group) = (place(&["out"]), "239.77.9.2");
    let receiver = recv(group, "out", &[], dir.path());
    let sender = send("file", group, &SLOW, dir.path());
    until_there_are(&part(&dir, "out"), 2_000_000);
    sender.signal("KILL");
    let ended = receiver.end().expect(3);
    assert!(ended.said.contains("started again"), "{}", ended.said);
    let there = fs::metadata(part(&dir, "out")).expect("it stays").len();
    continues(&dir, group, there);
}

/// A receiver of all that comes has not noticed that the sender is gone when the next one begins.
#[test]
fn a_receiver_of_all_transfers_continues() {
    let (dir, group) = (place(&["out"]), "239.77.9.3");
    let mut receiver = recv(group, "out", &["--forever"], dir.path());
    let sender = send("file", group, &SLOW, dir.path());
    until_there_are(&part(&dir, "out"), 2_000_000);
    sender.signal("KILL");
    sender.end();
    let sent = send("file", group, &["--expect", "1"], dir.path())
        .end()
        .expect(0);
    assert!(number(&sent.report(), "resumed_from") >= 2_000_000);
    receiver.until("verified");
    assert_whole(&dir, "out");
    receiver.signal("TERM");
    receiver.end().expect(0);
}

/// Each of three receivers has another part: the group is sent what the least of them lacks.
#[test]
fn receivers_with_different_parts() {
    let (dir, group) = (place(&["a", "b", "c"]), "239.77.9.4");
    let data = content(5, SIZE);
    let parts = [("a", 4_000_000), ("b", 7_000_001), ("c", SIZE)];
    let receivers = parts.map(|(name, octets)| {
        plant(&part(&dir, name), &data[..octets]);
        recv(group, name, &[], dir.path())
    });
    let sent = send("file", group, &["--expect", "3"], dir.path())
        .end()
        .expect(0)
        .report();
    assert_eq!(number(&sent, "resumed_from"), 4_000_000, "{sent}");
    assert_eq!(number(&sent, "bytes"), 6_000_000, "{sent}");
    for (receiver, (name, _)) in receivers.into_iter().zip(parts) {
        let report = receiver.end().expect(0).report();
        assert_eq!(number(&report, "resumed_from"), 4_000_000, "{report}");
        assert_whole(&dir, name);
    }
}

/// Beside a receiver that has nothing another one checks what it has, which stays if it is broken off again.
#[test]
fn a_fresh_receiver_beside_one_with_a_part() {
    let (dir, group) = (place(&["fresh", "part"]), "239.77.9.5");
    plant(&part(&dir, "part"), &content(5, SIZE)[..8_000_000]);
    let join = |options: &[&str]| ["fresh", "part"].map(|name| recv(group, name, options, dir.path()));
    let receivers = join(&[]);
    let options = ["--expect", "2", "--limit", "40mbit"];
    let sender = send("file", group, &options, dir.path());
    until_there_are(&part(&dir, "fresh"), 2_000_000);
    sender.signal("KILL");
    for receiver in receivers {
        receiver.end().expect(3);
    }
    sender.end();
    assert_eq!(fs::metadata(part(&dir, "part")).expect("there").len(), 8_000_000);
    let receivers = join(&[]);
    let sent = send("file", group, &["--expect", "2"], dir.path())
        .end()
        .expect(0)
        .report();
    let resumed = number(&sent, "resumed_from");
    assert!((2_000_000..8_000_000).contains(&resumed), "{sent}");
    for receiver in receivers {
        receiver.end().expect(0);
    }
    assert_whole(&dir, "fresh");
    assert_whole(&dir, "part");
}

/// A part of another file, or of this one before it was changed, is no beginning of it.
#[test]
fn a_source_that_has_changed_is_sent_anew() {
    let (dir, group) = (place(&["out", "right"]), "239.77.9.6");
    let data = content(5, SIZE);
    plant(&part(&dir, "right"), &data[..5_000_000]);
    let mut wrong = data[..6_000_000].to_vec();
    wrong[3_000_000] ^= 1;
    plant(&part(&dir, "out"), &wrong);
    let receivers = ["out", "right"].map(|name| recv(group, name, &[], dir.path()));
    let sent = send("file", group, &["--expect", "2"], dir.path())
        .end()
        .expect(0)
        .report();
    assert_eq!(
        (number(&sent, "resumed_from"), number(&sent, "bytes")),
        (0, SIZE as u64),
        "{sent}"
    );
    for receiver in receivers {
        receiver.end().expect(0);
    }
    assert_whole(&dir, "out");
    assert_whole(&dir, "right");
    // A part that is longer than the file belongs to another one as well.
    fs::remove_file(dir.path().join("out/file")).expect("there");
    plant(&part(&dir, "out"), &content(5, SIZE + 1));
    let receiver = recv(group, "out", &[], dir.path());
    send("file", group, &["--expect", "1"], dir.path())
        .end()
        .expect(0);
    receiver.end().expect(0);
    assert_whole(&dir, "out");
}

/// A part that another user may have written to is neither continued nor overwritten.
#[test]
fn a_part_that_is_not_safe_is_left_alone() {
    let (dir, group) = (place(&["open", "linked", "symbolic"]), "239.77.9.7");
    let data = content(5, SIZE);
    plant(&part(&dir, "open"), &data[..1_000_000]);
    fs::set_permissions(part(&dir, "open"), fs::Permissions::from_mode(0o666)).expect("ours");
    let other = dir.path().join("other");
    plant(&other, &data[..1_000_000]);
    fs::hard_link(&other, part(&dir, "linked")).expect("linked");
    std::os::unix::fs::symlink(&other, part(&dir, "symbolic")).expect("linked");
    for name in ["open", "linked", "symbolic"] {
        let receiver = recv(group, name, &[], dir.path());
        let sent = send("file", group, &["--expect", "1"], dir.path())
            .end()
            .expect(0)
            .report();
        assert_eq!(number(&sent, "resumed_from"), 0, "{name}: {sent}");
        receiver.end().expect(0);
        assert!(fs::read(dir.path().join(name).join("file")).expect("there") == data);
        assert!(fs::read(part(&dir, name)).expect("there") == data[..1_000_000]);
    }
    assert!(fs::read(other).expect("there") == data[..1_000_000]);
}

/// Files of a tree that are there are not sent again, and one that is half there only to its end.
#[test]
fn a_tree_that_is_half_there() {
    let (dir, group) = (place(&["out"]), "239.77.9.8");
    let tree = dir.path().join("tree");
    fs::create_dir_all(tree.join("sub")).expect("made");
    for number in 0..700 {
        fs::write(tree.join(format!("small {number}")), content(number, 100)).expect("written");
    }
    for number in 0..8 {
        let name = format!("sub/large {number}");
        fs::write(tree.join(name), content(number, 200_000)).expect("written");
    }
    let transfer = || {
        let receiver = recv(group, "out", &[], dir.path());
        let sent = send("tree", group, &["--expect", "1"], dir.path())
            .end()
            .expect(0)
            .report();
        let received = receiver.end().expect(0).report();
        assert_eq!(sent["bytes"], received["bytes"], "{sent} {received}");
        (sent, received)
    };
    let (sent, _) = transfer();
    assert_eq!(
        (number(&sent, "bytes"), number(&sent, "unchanged")),
        (1_670_000, 0)
    );
    let out = dir.path().join("out/tree");
    fs::remove_file(out.join("small 3")).expect("there");
    let half = fs::read(out.join("sub/large 6")).expect("there")[..150_000].to_vec();
    fs::remove_file(out.join("sub/large 6")).expect("there");
    plant(&out.join("sub/.large 6.xtp-part"), &half);
    let (sent, received) = transfer();
    for report in [&sent, &received] {
        assert_eq!(number(report, "bytes"), 100 + 50_000, "{report}");
        assert_eq!(number(report, "resumed_from"), 150_000, "{report}");
        assert_eq!(number(report, "unchanged"), 706, "{report}");
    }
    assert!(fs::read(out.join("sub/large 6")).expect("there") == content(6, 200_000));
    assert!(fs::read(out.join("small 3")).expect("there") == content(3, 100));
}

/// A receiver that joins later gets from the sender alone what the group is not sent: into a directory, and to its output.
#[test]
fn a_late_receiver_fetches_what_is_spared() {
    let (dir, group) = (place(&["first", "late", "half"]), "239.77.9.9");
    let tree = dir.path().join("tree");
    fs::create_dir(&tree).expect("made");
    fs::rename(dir.path().join("file"), tree.join("file")).expect("moved");
    for (name, octets) in [("a small", 100), ("b large", 300_000)] {
        fs::write(tree.join(name), content(1, octets)).expect("written");
    }
    let data = content(5, SIZE);
    for (name, octets) in [("first", 5_000_000), ("half", 1_000_000)] {
        let to = dir.path().join(name).join("tree");
        fs::create_dir(&to).expect("made");
        plant(&to.join(".file.xtp-part"), &data[..octets]);
    }
    for name in ["a small", "b large"] {
        let (from, to) = (tree.join(name), dir.path().join("first/tree").join(name));
        fs::copy(&from, &to).expect("copied");
        for path in [from, to] {
            let file = File::options().write(true).open(path).expect("there");
            file.set_modified(SystemTime::UNIX_EPOCH).expect("ours");
        }
    }
    let first = recv(group, "first", &[], dir.path());
    let sender = send("tree", group, &SLOW, dir.path());
    until_there_are(&dir.path().join("first/tree/.file.xtp-part"), 5_500_000);
    let late = ["late", "half"].map(|name| recv(group, name, &[], dir.path()));
    let sent = sender.end().expect(0).report();
    assert_eq!(number(&sent, "resumed_from"), 5_000_000, "{sent}");
    assert_eq!(number(&sent, "unchanged"), 2, "{sent}");
    let first = first.end().expect(0).report();
    assert_eq!(number(&first, "bytes"), 5_000_000, "{first}");
    for (receiver, resumed) in late.into_iter().zip([0, 1_000_000]) {
        let report = receiver.end().expect(0).report();
        assert_eq!(number(&report, "resumed_from"), resumed, "{report}");
        assert_eq!(number(&report, "bytes"), 10_300_100 - resumed, "{report}");
    }
    for name in ["first", "late", "half"] {
        for file in ["a small", "b large", "file"] {
            let read = |path: PathBuf| fs::read(path.join(file)).expect("there");
            assert!(
                read(dir.path().join(name).join("tree")) == read(tree.clone()),
                "{name}/{file}"
            );
        }
    }
}

#[test]
fn a_late_receiver_writes_everything_to_its_output() {
    let (dir, group) = (place(&["first"]), "239.77.9.10");
    plant(&part(&dir, "first"), &content(5, SIZE)[..5_000_000]);
    let first = recv(group, "first", &[], dir.path());
    let sender = send("file", group, &SLOW, dir.path());
    until_there_are(&part(&dir, "first"), 5_500_000);
    let late = recv(group, "-", &[], dir.path());
    sender.end().expect(0);
    first.end().expect(0);
    assert!(late.end().expect(0).output == content(5, SIZE));
}

/// What no receiver can take is not sent, and is no file that all have.
#[test]
fn a_file_that_all_refuse() {
    let (dir, group) = (
        place(&["out", "out/file", "out/file/is a directory"]),
        "239.77.9.13",
    );
    let receiver = recv(group, "out", &[], dir.path());
    let sent = send("file", group, &["--expect", "1"], dir.path())
        .end()
        .expect(1)
        .report();
    assert_eq!(
        (number(&sent, "bytes"), number(&sent, "unchanged")),
        (0, 0),
        "{sent}"
    );
    let ended = receiver.end().expect(1);
    assert!(ended.said.contains("a directory is in the way"), "{}", ended.said);
}

#[test]
fn either_end_may_begin_anew() {
    let (dir, group) = (place(&["out"]), "239.77.9.11");
    let all = |options: [&[&str]; 2]| {
        plant(&part(&dir, "out"), &content(5, SIZE)[..5_000_000]);
        let receiver = recv(group, "out", options[0], dir.path());
        let options = [&["--expect", "1"], options[1]].concat();
        let sent = send("file", group, &options, dir.path()).end().expect(0).report();
        assert_eq!(
            (number(&sent, "resumed_from"), number(&sent, "bytes")),
            (0, SIZE as u64),
            "{sent}"
        );
        receiver.end().expect(0);
        assert_whole(&dir, "out");
    };
    all([&["--no-resume"], &[]]);
    fs::remove_file(dir.path().join("out/file")).expect("there");
    all([&[], &["--no-resume"]]);
}

/// Standard input has no second half: what a receiver has of an earlier stream is no use.
#[test]
fn standard_input_is_sent_whole() {
    let (dir, group) = (place(&["out"]), "239.77.9.12");
    plant(
        &dir.path().join("out/.stdin.xtp-part"),
        &content(5, SIZE)[..5_000_000],
    );
    let receiver = recv(group, "out", &[], dir.path());
    let arguments = [
        "send",
        "-",
        group,
        "--interface",
        "127.0.0.1",
        "--json",
        "--expect",
        "1",
    ];
    let input = File::open(dir.path().join("file")).expect("there");
    let sent = Running::start(&arguments, dir.path(), input.into())
        .end()
        .expect(0)
        .report();
    assert_eq!(number(&sent, "bytes"), SIZE as u64, "{sent}");
    receiver.end().expect(0);
    assert!(fs::read(dir.path().join("out/stdin")).expect("there") == content(5, SIZE));
}
