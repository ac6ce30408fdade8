//! What is sent arrives, everywhere, under the sender's names.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;
use tempfile::tempdir;

use crate::support::{Running, content, recv, send};

/// One file to three receivers; each has a directory and says what it has.
fn to_three(group: &str, own: [&str; 3], how: &[&str]) {
    let dir = tempdir().expect("a directory");
    let data = content(1, 700_000);
    fs::write(dir.path().join("big.bin"), &data).expect("written");
    let hash = blake3::hash(&data).to_hex().to_string();
    let receivers: Vec<_> = ["a", "b", "c"]
        .into_iter()
        .zip(own)
        .map(|(name, own)| {
            fs::create_dir(dir.path().join(name)).expect("made");
            recv(own, name, &["--name", name], dir.path())
        })
        .collect();
    let sent = send("big.bin", group, &[&["--expect", "3"], how].concat(), dir.path())
        .end()
        .expect(0);
    let report = sent.report();
    assert_eq!(report["ok"], true, "{report}");
    assert_eq!(report["bytes"], 700_000);
    assert!(report["data_packets"].as_u64() >= Some(487), "{report}");
    assert!(report["wire_bytes"].as_u64() >= Some(700_000), "{report}");
    assert!(
        report["seconds"].is_f64()
            && report["repair_packets"].is_u64()
            && report["feedback_packets"].is_u64()
    );
    let mut names = Vec::new();
    for receiver in report["receivers"].as_array().expect("a list") {
        assert_eq!(receiver["state"], "complete", "{report}");
        assert_eq!(receiver["reason"], "");
        assert!(receiver["bytes"].as_u64() >= Some(700_000), "{report}");
        assert!(
            receiver["address"]
                .as_str()
                .is_some_and(|address| address.starts_with("127.0.0.1:"))
        );
        names.push(receiver["name"].as_str().expect("text").to_owned());
    }
    names.sort_unstable();
    assert_eq!(names, ["a", "b", "c"]);
    for (name, receiver) in ["a", "b", "c"].into_iter().zip(receivers) {
        let report = receiver.end().expect(0).report();
        assert_eq!(report["ok"], true, "{report}");
        assert_eq!(report["hash"], hash, "{report}");
        assert_eq!(
            (&report["bytes"], &report["files"]),
            (&Value::from(700_000), &Value::from(1))
        );
        assert!(
            report["sender"]
                .as_str()
                .is_some_and(|sender| sender.starts_with("127.0.0.1:"))
        );
        assert!(fs::read(dir.path().join(name).join("big.bin")).expect("there") == data);
    }
}

#[test]
fn a_file_by_multicast() {
    to_three("239.77.3.1", ["239.77.3.1"; 3], &[]);
}

#[test]
fn a_file_by_copies() {
    let own = ["127.0.0.1:36131", "127.0.0.1:36132", "127.0.0.1:36133"];
    to_three(&own.join(","), own, &[]);
}

#[test]
fn a_file_with_answers_to_the_group() {
    let group = "239.77.3.21";
    to_three(
        group,
        [group; 3],
        &["--mode", "b", "--buckets", "2", "--cycle", "message"],
    );
    to_three(
        group,
        [group; 3],
        &["--mode", "bucket", "--classic", "--limit", "100mbit"],
    );
}

#[test]
fn a_tree_with_everything_in_it() {
    let dir = tempdir().expect("a directory");
    let tree = dir.path().join("tree");
    fs::create_dir_all(tree.join("sub/deep")).expect("made");
    for (number, (name, octets)) in [
        ("empty", 0),
        ("small", 10),
        ("inline", 64 << 10),
        ("sub/large", (64 << 10) + 1),
        ("sub/deep/larger", 600_001),
    ]
    .into_iter()
    .enumerate()
    {
        fs::write(tree.join(name), content(number as u64, octets)).expect("written");
    }
    fs::set_permissions(tree.join("small"), fs::Permissions::from_mode(0o640)).expect("ours");
    std::os::unix::fs::symlink("../small", tree.join("sub/link")).expect("linked");
    std::os::unix::fs::symlink("/nowhere/at/all", tree.join("sub/out")).expect("linked");
    // What is there already, and the same, is not sent; what is in the way is replaced.
    fs::create_dir_all(dir.path().join("out/tree")).expect("made");
    fs::write(dir.path().join("out/tree/small"), "something else").expect("written");
    fs::copy(tree.join("inline"), dir.path().join("out/tree/inline")).expect("copied");
    for path in [tree.join("inline"), dir.path().join("out/tree/inline")] {
        let file = fs::File::options().write(true).open(path).expect("there");
        file.set_modified(SystemTime::UNIX_EPOCH).expect("ours");
    }
    let receiver = recv("239.77.3.2", "out", &[], dir.path());
    let sent = send("tree", "239.77.3.2", &["--expect", "1"], dir.path())
        .end()
        .expect(0);
    let total = 10 + (64 << 10) + 1 + 600_001;
    assert_eq!(sent.report()["bytes"], total);
    let report = receiver.end().expect(0).report();
    assert_eq!(
        (&report["files"], &report["unchanged"], &report["bytes"]),
        (&Value::from(4), &Value::from(1), &Value::from(total))
    );
    let out = dir.path().join("out/tree");
    for name in ["empty", "small", "inline", "sub/large", "sub/deep/larger"] {
        assert!(
            fs::read(tree.join(name)).unwrap() == fs::read(out.join(name)).expect(name),
            "{name}"
        );
    }
    assert_eq!(
        fs::read_link(out.join("sub/out")).unwrap().to_str(),
        Some("/nowhere/at/all")
    );
    assert_eq!(
        fs::read_link(out.join("sub/link")).unwrap().to_str(),
        Some("../small")
    );
    let mode = fs::metadata(out.join("small")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    let left: Vec<_> = fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(
        left.iter()
            .all(|name| !name.to_string_lossy().ends_with(".xtp-part")),
        "{left:?}"
    );
}

#[test]
fn standard_input_to_standard_output_and_to_a_directory() {
    let dir = tempdir().expect("a directory");
    let data = content(3, 400_000);
    fs::write(dir.path().join("data"), &data).expect("written");
    fs::create_dir(dir.path().join("out")).expect("made");
    let piped = recv("239.77.3.3", "-", &[], dir.path());
    let stored = recv("239.77.3.3", "out", &[], dir.path());
    let input = fs::File::open(dir.path().join("data")).expect("there");
    let arguments = [
        "send",
        "-",
        "239.77.3.3",
        "--interface",
        "127.0.0.1",
        "--expect",
        "2",
    ];
    Running::start(&arguments, dir.path(), Stdio::from(input))
        .end()
        .expect(0);
    assert!(piped.end().expect(0).output == data);
    let hash = blake3::hash(&data).to_hex().to_string();
    assert_eq!(stored.end().expect(0).report()["hash"], hash);
    assert!(fs::read(dir.path().join("out/stdin")).expect("there") == data);
}

#[test]
fn one_receiver_takes_one_transfer_after_the_other() {
    let dir = tempdir().expect("a directory");
    fs::create_dir(dir.path().join("out")).expect("made");
    let mut receiver = recv("239.77.3.4", "out", &["--forever"], dir.path());
    for name in ["first", "second"] {
        fs::write(dir.path().join(name), name).expect("written");
        send(name, "239.77.3.4", &["--expect", "1"], dir.path())
            .end()
            .expect(0);
        receiver.until("verified");
        assert_eq!(
            fs::read_to_string(dir.path().join("out").join(name)).expect("there"),
            name
        );
    }
    receiver.signal("TERM");
    receiver.end().expect(0);
}

/// An open stream blocks no other transfer: three files arrive meanwhile, at the same time, and then the end of the stream.
#[test]
fn one_receiver_takes_several_transfers_at_once() {
    let group = "239.77.3.5";
    let dir = tempdir().expect("a directory");
    fs::create_dir(dir.path().join("out")).expect("made");
    let mut receiver = recv(group, "out", &["--forever"], dir.path());
    let (input, mut feed) = std::io::pipe().expect("a pipe");
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
    let open = Running::start(&arguments, dir.path(), Stdio::from(input));
    std::io::Write::write_all(&mut feed, b"begun ").expect("written");
    let names = ["one", "two", "three"];
    let sending: Vec<_> = names
        .into_iter()
        .map(|name| {
            fs::write(dir.path().join(name), content(7, 300_000)).expect("written");
            send(name, group, &["--expect", "1"], dir.path())
        })
        .collect();
    for sender in sending {
        sender.end().expect(0);
    }
    for _ in names {
        receiver.until("verified");
    }
    std::io::Write::write_all(&mut feed, b"and ended").expect("written");
    drop(feed);
    open.end().expect(0);
    receiver.until("verified");
    for name in names {
        assert!(fs::read(dir.path().join("out").join(name)).expect("there") == content(7, 300_000));
    }
    assert_eq!(
        fs::read(dir.path().join("out/stdin")).expect("there"),
        b"begun and ended"
    );
    receiver.signal("TERM");
    receiver.end().expect(0);
}

fn seconds(report: &Value) -> f64 {
    report["seconds"].as_f64().expect("a number")
}

/// The wait for receivers is no part of the transfer, at neither end; the sender says meanwhile how many are missing.
#[test]
fn seconds_count_from_the_first_octet() {
    let group = "239.77.3.6";
    let dir = tempdir().expect("a directory");
    fs::write(dir.path().join("file"), content(11, 20_000)).expect("written");
    for name in ["first", "second"] {
        fs::create_dir(dir.path().join(name)).expect("made");
    }
    let first = recv(group, "first", &[], dir.path());
    let mut sender = send("file", group, &["--expect", "2"], dir.path());
    sender.until("joined, waiting for 1 more");
    // No octet leaves before the second receiver is started, however fast or slow this host is.
    std::thread::sleep(Duration::from_secs(1));
    let whole = Instant::now();
    let second = recv(group, "second", &[], dir.path());
    let sent = sender.end().expect(0);
    assert!(sent.said.contains("waiting for 2 more"), "{}", sent.said);
    let (second, first) = (second.end().expect(0), first.end().expect(0));
    let whole = whole.elapsed().as_secs_f64();
    for report in [sent.report(), first.report(), second.report()] {
        assert!(seconds(&report) <= whole, "{report} of {whole} s");
    }
}

/// A file of a single message arrives at the pace of its sender: the clock starts with the first octet, not with the whole message.
#[test]
fn seconds_of_a_short_file_are_those_of_its_octets() {
    let group = "239.77.3.7";
    let dir = tempdir().expect("a directory");
    fs::write(dir.path().join("file"), content(12, 60_000)).expect("written");
    fs::create_dir(dir.path().join("out")).expect("made");
    let receiver = recv(group, "out", &[], dir.path());
    let options = ["--expect", "1", "--limit", "400kbit"];
    let sent = send("file", group, &options, dir.path()).end().expect(0);
    let received = receiver.end().expect(0);
    for report in [sent.report(), received.report()] {
        assert!(seconds(&report) > 0.4, "1.2 s at that rate: {report}");
    }
}
