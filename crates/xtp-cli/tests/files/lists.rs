//! `xtp ls`, and patterns on the server's side of a copy.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::Value;
use tempfile::tempdir;

use crate::support::{Server, cp, piped, text};

fn plant(top: &Path) {
    fs::create_dir_all(top.join("logs/old")).expect("made");
    for name in [
        "logs/a.gz",
        "logs/b.gz",
        "logs/c.txt",
        "logs/.hidden.gz",
        "logs/old/z.gz",
        "odd[1]",
    ] {
        fs::write(top.join(name), name).expect("written");
        let readable = fs::Permissions::from_mode(0o644);
        fs::set_permissions(top.join(name), readable).expect("ours");
    }
    symlink("a.gz", top.join("logs/link")).expect("linked");
    symlink("..", top.join("up")).expect("linked");
}

fn listed(arguments: &[&str]) -> Vec<String> {
    let run = piped(arguments, b"");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let said = String::from_utf8(run.stdout).expect("text");
    said.lines().map(str::to_owned).collect()
}

#[test]
fn directories_and_patterns_are_listed() {
    let dir = tempdir().expect("a directory");
    plant(dir.path());
    let server = Server::start(dir.path(), &[]);
    let ls = |path: &str| listed(&["ls", &server.url(path)]);
    assert_eq!(ls(""), ["logs/", "odd[1]", "up"]);
    assert_eq!(
        ls("logs"),
        [".hidden.gz", "a.gz", "b.gz", "c.txt", "link", "old/"]
    );
    assert_eq!(ls("logs/*.gz"), ["logs/a.gz", "logs/b.gz"]);
    assert_eq!(ls("l*/old/*"), ["logs/old/z.gz"]);
    assert_eq!(ls("logs/.h*"), ["logs/.hidden.gz"]);
    // A name that looks like a pattern is itself first.
    assert_eq!(ls("odd[1]"), ["odd[1]"]);
    assert_eq!(listed(&["ls", "-d", &server.url("logs")]), ["logs/"]);
    let long = listed(&["ls", "-l", &server.url("logs/a.gz")]);
    assert!(
        long[0].starts_with("-rw-r--r-- ") && long[0].ends_with(" logs/a.gz"),
        "{long:?}"
    );
    let link = listed(&["ls", "-l", &server.url("logs/link")]);
    assert!(
        link[0].starts_with('l') && link[0].ends_with("link -> a.gz"),
        "{link:?}"
    );
    let json = piped(&["ls", "--json", &server.url("logs/a.gz")], b"");
    let json: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(json["entries"][0]["path"], Value::from("logs/a.gz"));
    assert_eq!(json["entries"][0]["size"], Value::from(9));
}

#[test]
fn what_is_not_there_or_outside_is_said() {
    let dir = tempdir().expect("a directory");
    plant(dir.path());
    let server = Server::start(dir.path(), &[]);
    for (path, status, words) in [
        ("none", 1, "none: no such file or directory"),
        ("logs/*.bz2", 1, "nothing has such a name"),
        ("../x", 4, "must not contain '..'"),
        ("up/*", 1, "nothing has such a name"),
    ] {
        let run = piped(&["ls", &server.url(path)], b"");
        assert_eq!(run.status.code(), Some(status), "{path}");
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(said.contains(words), "{path}: {said}");
    }
    let local = piped(&["ls", "/etc"], b"");
    assert_eq!(local.status.code(), Some(2));
    // Nobody waits for a server that is not there, and nobody says so.
    let nobody = server.url("");
    drop(server);
    for arguments in [&["ls", &nobody][..], &["cp", &format!("{nobody}*"), "."]] {
        let run = piped(arguments, b"");
        assert_eq!(run.status.code(), Some(3));
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(
            said.contains("nobody listens there") && !said.contains("--timeout"),
            "{said}"
        );
    }
}

#[test]
fn patterns_are_sources() {
    let dir = tempdir().expect("a directory");
    let served = dir.path().join("served");
    plant(&served);
    let server = Server::start(&served, &[]);
    let out = dir.path().join("out");
    fs::create_dir(&out).expect("made");
    let down = cp(&[server.url("logs/*.gz"), server.url("l*/old"), text(&out)]).expect_ok();
    assert_eq!(down.number("files"), 3);
    for name in ["a.gz", "b.gz", "old/z.gz"] {
        assert!(out.join(name).exists(), "{name}");
    }
    // One that stands for one thing is as if that had been written.
    let one = dir.path().join("one");
    cp(&[server.url("logs/c*"), text(&one)]).expect_ok();
    assert_eq!(fs::read_to_string(&one).expect("a file"), "logs/c.txt");
    let odd = dir.path().join("odd");
    cp(&[server.url("odd[1]"), text(&odd)]).expect_ok();
    assert_eq!(fs::read_to_string(&odd).expect("a file"), "odd[1]");
    cp(&[server.url("*.none"), text(&out)]).expect_failure_without_report(1, "nothing has such a name");
    let some = cp(&[server.url("*.none"), server.url("logs/c.txt"), text(&out)]);
    let some = some.expect_failure(1, "nothing has such a name");
    assert_eq!(some.number("files"), 1, "the others are copied");
    // To standard output, in order.
    let cat = piped(&["cp", &server.url("logs/*.gz"), "-"], b"");
    assert_eq!(cat.stdout, b"logs/a.gzlogs/b.gz");
}

#[test]
fn every_name_can_be_turned_back() {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let dir = tempdir().expect("a directory");
    let served = dir.path().join("served");
    fs::create_dir(&served).expect("made");
    let mut names = [&b"back\\nslash"[..], b"new\nline", b"not \xff text", b"plain"].map(<[u8]>::to_vec);
    names.sort_unstable();
    for name in &names {
        fs::write(served.join(std::ffi::OsString::from_vec(name.clone())), "x").expect("written");
    }
    symlink(std::ffi::OsStr::from_bytes(b"to \xfe"), served.join("zlink")).expect("linked");
    let server = Server::start(&served, &[]);
    let json = piped(&["ls", "--json", &server.url("")], b"");
    let json: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    let entries = json["entries"].as_array().expect("a list");
    for (entry, name) in entries.iter().zip(&names) {
        match std::str::from_utf8(name) {
            Ok(text) => assert_eq!(
                (&entry["path"], &entry["path_base64"]),
                (&text.into(), &Value::Null)
            ),
            Err(_) => assert_eq!(entry["path_base64"], "bm90IP8gdGV4dA=="),
        }
    }
    assert_eq!(entries[4]["target_base64"], "dG8g/g==");
    // As they are.
    let listed = piped(&["ls", "-0", &server.url("")], b"").stdout;
    let mut expected: Vec<u8> = names
        .iter()
        .flat_map(|name| [name, &b"\0"[..]].concat())
        .collect();
    assert_eq!(listed, [&expected[..], b"zlink\0"].concat());
    let long = piped(&["ls", "-l", "-0", &server.url("")], b"").stdout;
    assert!(
        long.split(|octet| *octet == 0)
            .any(|line| line.ends_with(b" new\nline"))
    );
    let out = dir.path().join("out");
    fs::create_dir(&out).expect("made");
    let verbose = piped(&["cp", "-v", "-0", &server.url("."), &text(&out)], b"").stdout;
    let mut copied: Vec<_> = verbose.split(|octet| *octet == 0).map(<[u8]>::to_vec).collect();
    copied.sort_unstable();
    let top = text(&out);
    for name in &names {
        assert!(
            copied.contains(&[top.as_bytes(), b"/", name].concat()),
            "{verbose:?}"
        );
    }
    // Lines are unambiguous: no two names look the same.
    let lines = piped(&["ls", &server.url("")], b"").stdout;
    let lines = String::from_utf8(lines).expect("text");
    assert!(
        lines.contains("back\\\\nslash\n") && lines.contains("new\\nline\n"),
        "{lines}"
    );
    // And of what is removed.
    expected.clear();
    fs::remove_file(served.join("new\nline")).expect("ours");
    let gone = piped(
        &["cp", "-v", "-0", "--delete", &server.url("."), &text(&out)],
        b"",
    )
    .stdout;
    let line = [b"deleting ", top.as_bytes(), b"/new\nline\0"].concat();
    assert_eq!(gone, line);
}
