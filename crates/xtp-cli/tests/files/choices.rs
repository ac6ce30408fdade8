//! What is copied and what is not, as rsync's options choose it.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use tempfile::tempdir;

use crate::support::{Server, content, cp, piped, text};

const LARGE: usize = 300_000;

fn write(path: &Path, octets: &[u8], seconds: u64) {
    fs::create_dir_all(path.parent().expect("below")).expect("made");
    fs::write(path, octets).expect("written");
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    let file = File::options().write(true).open(path).expect("ours");
    file.set_modified(time).expect("ours");
}

fn seconds(path: &Path) -> u64 {
    let modified = fs::metadata(path)
        .and_then(|seen| seen.modified())
        .expect("a time");
    modified
        .duration_since(SystemTime::UNIX_EPOCH)
        .expect("later")
        .as_secs()
}

/// Copies `file` over what is at the target with these options, there and back; says how often it was copied and what is there then.
fn over(options: &[&str], there: (&[u8], u64), here: (&[u8], u64)) -> [(u64, Vec<u8>, u64); 2] {
    let dir = tempdir().expect("a directory");
    let (local, served, back) = (
        dir.path().join("f"),
        dir.path().join("served"),
        dir.path().join("back"),
    );
    write(&local, here.0, here.1);
    write(&served.join("f"), there.0, there.1);
    write(&back.join("f"), there.0, there.1);
    let server = Server::start(&served, &[]);
    let source = Server::start(dir.path(), &[]);
    [
        ([text(&local), server.url("")], served),
        ([source.url("f"), text(&back)], back),
    ]
    .map(|(arguments, target)| {
        let arguments = arguments.each_ref().map(String::as_str);
        // One that only says what it would do says the same.
        let said = cp(&[options, &["-n"], &arguments].concat()).expect_ok();
        let copied = cp(&[options, &arguments].concat()).expect_ok();
        assert_eq!(said.number("files"), copied.number("files"));
        let path = target.join("f");
        (
            copied.number("files"),
            fs::read(&path).expect("there"),
            seconds(&path),
        )
    })
}

#[test]
fn content_decides_or_size_or_nothing() {
    for octets in [100, LARGE] {
        let (one, other) = (content(1, octets), content(2, octets));
        for (options, there, here, files, time) in [
            // Another content of the same size and time.
            (&[][..], (&other, 1_000), (&one, 1_000), 0, 1_000),
            (&["-c"], (&other, 1_000), (&one, 1_000), 1, 1_000),
            (&["-I"], (&other, 1_000), (&one, 1_000), 1, 1_000),
            // The same content of another time, which it gets.
            (&["-c"], (&one, 1_000), (&one, 2_000), 0, 2_000),
            (&["--size-only"], (&other, 1_000), (&one, 2_000), 0, 2_000),
            // What is newer, or there at all.
            (&["-u"], (&other, 3_000), (&one, 2_000), 0, 3_000),
            (&["-u"], (&other, 1_000), (&one, 2_000), 1, 2_000),
            (&["--ignore-existing"], (&other, 1_000), (&one, 2_000), 0, 1_000),
        ] {
            let expected = if files == 1 { &one } else { there.0 };
            let there = (&there.0[..], there.1);
            for (copied, octets, seconds) in over(options, there, (&here.0[..], here.1)) {
                assert!(octets == *expected, "{options:?}");
                assert_eq!((copied, seconds), (files, time), "{options:?}");
            }
        }
        // What is of another size is copied with all of them, whatever its time.
        let shorter = (&one[..octets / 2], 1_000);
        for options in [&[][..], &["-c"], &["-I"], &["--size-only"], &["-u"]] {
            for (copied, there, _) in over(options, shorter, (&one, 1_000)) {
                assert!(copied == 1 && there == one, "{options:?}");
            }
        }
    }
}

#[test]
fn the_first_pattern_that_means_a_path_decides() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("t"), dir.path().join("served"));
    for name in ["a.c", "a.o", "sub/b.c", "sub/b.o", "sub/keep.o"] {
        write(&local.join(name), name.as_bytes(), 1_000);
    }
    fs::create_dir(&served).expect("made");
    let server = Server::start(&served, &[]);
    let source = Server::start(&local, &[]);
    let all = format!("{}/.", text(&local));
    for (number, (options, expected)) in [
        (
            &["--include=*/", "--include=*.c", "--exclude=*"][..],
            &["a.c", "sub/b.c"][..],
        ),
        (&["--include", "*.c", "--exclude", "*"], &["a.c"]),
        (&["--exclude", "*", "--include", "*.c"], &[]),
        (
            &["--include", "keep.o", "--exclude", "*.o"],
            &["a.c", "sub/b.c", "sub/keep.o"],
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let (up, down) = (format!("up{number}"), dir.path().join(format!("down{number}")));
        fs::create_dir(served.join(&up)).expect("made");
        fs::create_dir(&down).expect("made");
        let to = server.url(&up);
        let (from, here) = (source.url("."), text(&down));
        for (arguments, target) in [([&all, &to], served.join(&up)), ([&from, &here], down.clone())] {
            // What is left out stays where it is removed otherwise.
            write(&target.join("old.o"), b"old", 1_000);
            write(&target.join("old.c"), b"old", 1_000);
            let paths = arguments.map(String::as_str);
            cp(&[options, &["--delete"], &paths].concat()).expect_ok();
            for name in ["a.c", "a.o", "sub/b.c", "sub/b.o", "sub/keep.o"] {
                assert_eq!(
                    target.join(name).exists(),
                    expected.contains(&name),
                    "{options:?} {name}"
                );
            }
            assert!(target.join("old.o").exists(), "{options:?}");
            assert_eq!(target.join("old.c").exists(), number == 2, "{options:?}");
        }
    }
}

#[test]
fn what_is_called_otherwise_here_is_said() {
    let dir = tempdir().expect("a directory");
    write(&dir.path().join("f"), b"content", 1_000);
    fs::create_dir(dir.path().join("served")).expect("made");
    let server = Server::start(&dir.path().join("served"), &[]);
    let (file, to) = (text(&dir.path().join("f")), server.url(""));
    for (option, words) in [
        (&["-i"][..], "-v names what is copied"),
        (&["-z"], "compress before"),
        (&["-avzP"], "compress before"),
        (&["-avP"], "kept and continued"),
        (&["-e", "ssh"], "no remote shell"),
        (&["--chown=a:b"], "-a keeps owner and group"),
        (&["-rlt"], "kept without it"),
        (&["--files-from", "list", "--delete"], "belongs to one source"),
        (&["-H"], "hard links"),
        (&["-A"], "access control lists"),
        (&["-X"], "extended attributes"),
        (&["--bwlimit", "fast"], "write a rate"),
    ] {
        let run = piped(&[&["cp"], option, &[&file, &to]].concat(), b"");
        assert_eq!(run.status.code(), Some(2), "{option:?}");
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(said.contains(words), "{option:?}: {said}");
    }
    for options in [
        &["--progress", "--stats"][..],
        &["-S"],
        &["-L"],
        &["--bwlimit", "0"],
        &["--bwlimit", "10m"],
        &["--bwlimit=100000", "-I"],
    ] {
        cp(&[options, &[&file, &to]].concat()).expect_ok();
    }
}

/// A script whose list came out empty copies nothing, not everything.
#[test]
fn an_empty_list_copies_nothing() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("t"), dir.path().join("served"));
    let [list, dot, down] = ["list", "dot", "down"].map(|name| dir.path().join(name));
    for folder in [&local, &served, &down] {
        fs::create_dir(folder).expect("made");
    }
    fs::write(&list, "\n\n").expect("written");
    fs::write(local.join("f"), "content").expect("written");
    fs::write(served.join("g"), "content").expect("written");
    let server = Server::start(&served, &[]);
    let list = format!("--files-from={}", text(&list));
    for (from, to) in [(text(&local), server.url("")), (server.url(""), text(&down))] {
        for options in [&[list.as_str()][..], &[&list, "-r"]] {
            let copied = cp(&[options, &[&from, &to]].concat()).expect_ok();
            assert_eq!(copied.number("files"), 0);
        }
    }
    let names = |folder| fs::read_dir(folder).expect("there").count();
    assert_eq!((names(&served), names(&down)), (1, 0));
    // The source itself is named by a dot, and is there.
    fs::write(&dot, ".\n").expect("written");
    let dot = format!("--files-from={}", text(&dot));
    for (options, files) in [(&[dot.as_str()][..], 0), (&[&dot, "-r"], 1)] {
        let copied = cp(&[options, &[&server.url(""), &text(&down)]].concat()).expect_ok();
        assert_eq!(copied.number("files"), files);
    }
}

/// Two files that were written within a tick of the clock have the same time, and are not the same.
#[test]
fn files_of_one_tick_are_two_files() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("f"), dir.path().join("served"));
    fs::create_dir(&served).expect("made");
    let server = Server::start(&served, &[]);
    let modified = |path: &Path| {
        fs::metadata(path)
            .and_then(|seen| seen.modified())
            .expect("a time")
    };
    let alike = (0..1_000).any(|_| {
        fs::write(&local, "one").expect("written");
        fs::write(served.join("f"), "two").expect("written");
        modified(&local) == modified(&served.join("f"))
    });
    if !alike {
        return; // This system's clock does not stand still.
    }
    let copied = cp(&[text(&local), server.url("")]).expect_ok();
    assert_eq!(copied.number("files"), 1);
    assert_eq!(fs::read_to_string(served.join("f")).expect("there"), "one");
    // A copy is known from then on, however soon after the file was written it was made.
    for _ in 0..20 {
        fs::write(&local, "six").expect("written");
        cp(&[text(&local), server.url("")]).expect_ok();
        let again = cp(&[text(&local), server.url("")]).expect_ok();
        assert_eq!((again.number("files"), again.number("unchanged")), (0, 1));
    }
}

#[test]
fn a_list_names_what_is_copied() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("t"), dir.path().join("served"));
    for name in [
        "a",
        "b",
        "sub/c",
        "sub/deep/d",
        "sub/deep/e",
        "whole/f",
        "whole/in/g",
    ] {
        write(&local.join(name), name.as_bytes(), 1_000);
    }
    fs::create_dir(&served).expect("made");
    let server = Server::start(&served, &[]);
    let source = Server::start(dir.path(), &[]);
    let list = dir.path().join("list");
    fs::write(&list, "a\n./sub/deep/d\nwhole\n").expect("written");
    let zeros = dir.path().join("zeros");
    fs::write(&zeros, b"a\0sub/deep/d\0whole\0none\nwhere\0").expect("written");
    let lists = [
        (format!("--files-from={}", text(&list)), false, 0),
        (format!("--files-from={}", text(&list)), true, 0),
        (format!("--files-from={}", text(&zeros)), false, 1),
    ];
    for (number, (list, recursive, missing)) in lists.into_iter().enumerate() {
        let (up, down) = (format!("up{number}"), dir.path().join(format!("down{number}")));
        fs::create_dir(served.join(&up)).expect("made");
        fs::create_dir(&down).expect("made");
        for (from, to, target) in [
            (text(&local), server.url(&up), served.join(&up)),
            (source.url("t"), text(&down), down),
        ] {
            let mut options = vec![list.as_str(), "-v"];
            options.extend(recursive.then_some("-r"));
            options.extend((missing == 1).then_some("-0"));
            options.extend([from.as_str(), to.as_str()]);
            match missing {
                0 => drop(cp(&options).expect_ok()),
                _ => drop(
                    cp(&options).expect_failure(1, "t/none\\nwhere: is in the list of files, and not there"),
                ),
            }
            for (name, there) in [
                ("a", true),
                ("b", false),
                ("sub/c", false),
                ("sub/deep/d", true),
                ("sub/deep/e", false),
                ("whole", true),
                ("whole/f", recursive),
                ("whole/in/g", recursive),
            ] {
                assert_eq!(target.join(name).exists(), there, "{number} {name}");
            }
        }
    }
}
