//! Standard input and output in the place of files.

use std::fs;

use tempfile::tempdir;

use crate::support::{Server, content, piped, text};

#[test]
fn standard_input_becomes_a_file() {
    let dir = tempdir().expect("a directory");
    let served = dir.path().join("served");
    fs::create_dir_all(served.join("into")).expect("made");
    let server = Server::start(&served, &[]);
    for (octets, target, name) in [
        (0, "empty", "empty"),
        (10, "small", "small"),
        (5_000_001, "large", "large"),
        (1_000, "into", "into/stdin"),
    ] {
        let input = content(octets as u64, octets);
        let up = piped(&["cp", "-", &server.url(target)], &input);
        assert!(up.status.success(), "{}", String::from_utf8_lossy(&up.stderr));
        assert!(fs::read(served.join(name)).expect("there") == input, "{name}");
    }
    // What was there of an earlier one is no part of this one.
    fs::write(served.join(".again.xtp-part"), content(9, 1_000)).expect("written");
    let up = piped(&["cp", "-", &server.url("again")], b"other");
    assert!(up.status.success());
    assert_eq!(fs::read(served.join("again")).expect("there"), b"other");
}

#[test]
fn files_go_to_standard_output() {
    let dir = tempdir().expect("a directory");
    let files = [content(1, 3_000_000), content(2, 100), Vec::new()];
    for (index, octets) in files.iter().enumerate() {
        fs::write(dir.path().join(format!("f{index}")), octets).expect("written");
    }
    fs::create_dir(dir.path().join("d")).expect("made");
    fs::write(dir.path().join("d/x"), "x").expect("written");
    let sparse = fs::File::create(dir.path().join("sparse")).expect("made");
    sparse.set_len(1 << 20).expect("made longer");
    let server = Server::start(dir.path(), &[]);
    let one = piped(&["cp", &server.url("f0"), "-"], b"");
    assert!(one.status.success() && one.stdout == files[0]);
    // One after the other, as cat would.
    let urls = [0, 1, 2, 1].map(|index| server.url(&format!("f{index}")));
    let mut arguments = vec!["cp"];
    arguments.extend(urls.iter().map(String::as_str));
    arguments.push("-");
    let all = piped(&arguments, b"");
    let expected = [&files[0][..], &files[1], &files[2], &files[1]].concat();
    assert!(all.status.success() && all.stdout == expected);
    let zeros = piped(&["cp", &server.url("sparse"), "-"], b"");
    assert!(zeros.stdout == vec![0; 1 << 20]);
    let mixed = piped(
        &[
            "cp",
            &server.url("none"),
            &server.url("d"),
            &server.url("f1"),
            "-",
        ],
        b"",
    );
    assert_eq!(mixed.status.code(), Some(1));
    assert!(mixed.stdout == files[1]);
    let said = String::from_utf8_lossy(&mixed.stderr).into_owned();
    assert!(
        said.contains("none: no such file") && said.contains("d: is no file"),
        "{said}"
    );
}

#[test]
fn pipes_do_not_go_with_everything() {
    for arguments in [
        &["cp", "-", "file", "xtp://127.0.0.1/"][..],
        &["cp", "-n", "-", "xtp://127.0.0.1/"],
        &["cp", "--delete", "xtp://127.0.0.1/x", "-"],
        &["cp", "-", "-"],
    ] {
        let refused = piped(arguments, b"");
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
    }
}

/// A file with the name of standard input has to be asked for.
#[test]
fn a_file_called_like_standard_input_is_a_file() {
    let dir = tempdir().expect("a directory");
    fs::write(dir.path().join("-"), "dash").expect("written");
    let served = dir.path().join("served");
    fs::create_dir(&served).expect("made");
    let server = Server::start(&served, &[]);
    let up = piped(
        &["cp", &text(&dir.path().join("-")), &server.url("")],
        b"not this",
    );
    assert!(up.status.success());
    assert_eq!(fs::read(served.join("-")).expect("there"), b"dash");
}
