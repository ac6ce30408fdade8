//! Links, special files, and everything that tries to get out of the directory.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use tempfile::tempdir;

use crate::support::{Server, assert_same, content, cp, text};

/// Links of all kinds, and a socket that is to stay open.
fn plant(top: &Path) -> UnixListener {
    fs::create_dir_all(top.join("sub")).expect("made");
    fs::write(top.join("file"), "content").expect("written");
    for (link, target) in LINKS {
        symlink(target, top.join(link)).expect("linked");
    }
    UnixListener::bind(top.join("socket")).expect("bound")
}

const LINKS: [(&str, &str); 6] = [
    ("inner", "sub"),
    ("sub/up", "../file"),
    ("dangling", "nothing"),
    ("absolute", "/etc/passwd"),
    ("sub/out", "../../x"),
    ("sneaky", "sub/../../x"),
];

#[test]
fn links_are_links_and_what_cannot_be_copied_shows() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("t"), dir.path().join("served"));
    fs::create_dir(&served).expect("made");
    let socket = plant(&local);
    let server = Server::start(&served, &[]);
    let back = dir.path().join("back");
    let source = Server::start(dir.path(), &[]);
    for (arguments, target) in [
        ([text(&local), server.url("")], served.join("t")),
        ([source.url("t"), text(&back)], back.clone()),
    ] {
        let copied = cp(&arguments).expect_failure(1, "t/socket: is a socket, fifo or device");
        assert_eq!((copied.number("files"), copied.number("links")), (1, 6));
        assert_eq!((copied.number("failed"), copied.number("skipped")), (1, 0));
        assert!(copied.errors.contains("1 failed"), "{}", copied.errors);
        for (link, leads) in LINKS {
            let there = fs::read_link(target.join(link)).expect("a link");
            assert_eq!(there.to_str(), Some(leads));
        }
    }
    // A mirror: what cannot be copied is no reason not to remove, and its name is left alone.
    fs::write(served.join("t/stale"), "stale").expect("written");
    fs::write(served.join("t/socket"), "kept").expect("written");
    let up = cp(&["--delete", &text(&local), &server.url("")]).expect_failure(1, "t/socket: ");
    assert_eq!((up.number("deleted"), up.number("unchanged")), (1, 7));
    assert!(served.join("t/socket").exists());
    drop(socket);
    fs::remove_file(local.join("socket")).expect("ours");
    cp(&[text(&local), server.url("")]).expect_ok();
    // Named itself: the link, not what it leads to.
    let out = dir.path().join("out");
    cp(&[source.url("t/absolute"), text(&out)]).expect_ok();
    assert_eq!(fs::read_link(&out).expect("a link").to_str(), Some("/etc/passwd"));
}

#[test]
fn links_are_left_out_where_that_is_asked_for() {
    let dir = tempdir().expect("a directory");
    drop(plant(&dir.path().join("t")));
    fs::remove_file(dir.path().join("t/socket")).expect("ours");
    let server = Server::start(dir.path(), &[]);
    for (how, links, skipped) in [("inside", 3, 3), ("skip", 0, 6), ("keep", 6, 0)] {
        let (local, there) = (text(&dir.path().join("t")), dir.path().join(how));
        let option = format!("--links={how}");
        let up = cp(&[&option, &local, &server.url(how)]).expect_ok();
        let down = cp(&[&option, &server.url("t"), &text(&there.join("down"))]).expect_ok();
        for copied in [up, down] {
            assert_eq!(
                (copied.number("links"), copied.number("skipped")),
                (links, skipped),
                "{how}"
            );
            assert_eq!(copied.errors.contains(&format!("{skipped} skipped")), skipped > 0);
        }
        assert_eq!(fs::symlink_metadata(there.join("down/inner")).is_ok(), links > 0);
        assert_eq!(fs::symlink_metadata(there.join("absolute")).is_ok(), links == 6);
    }
    // What was named is not left out without a failure.
    let out = text(&dir.path().join("out"));
    cp(&["--links=skip", &server.url("t/inner"), &out])
        .expect_failure(1, "is a symbolic link (sub); skipped");
}

#[test]
fn links_are_followed_where_that_is_asked_for() {
    let dir = tempdir().expect("a directory");
    let (local, outside, served) = (
        dir.path().join("served/t"),
        dir.path().join("outside"),
        dir.path().join("served"),
    );
    for made in [local.join("sub"), outside.join("deep"), served.clone()] {
        fs::create_dir_all(made).expect("made");
    }
    fs::write(local.join("sub/file"), content(1, 300_000)).expect("written");
    fs::write(outside.join("deep/small"), "small").expect("written");
    symlink("sub", local.join("inner")).expect("linked");
    symlink("sub/file", local.join("file")).expect("linked");
    symlink("../../outside", local.join("out")).expect("linked");
    symlink("nothing", local.join("dangling")).expect("linked");
    symlink("..", local.join("sub/back")).expect("linked");
    let server = Server::start(&served, &[]);
    let up = cp(&["--links=follow", &text(&local), &server.url("up")]);
    let up = up.expect_failure(1, "t/dangling: no such file");
    // A loop is cut where it begins, by both its ways.
    assert!(
        up.errors
            .contains("t/sub/back: a link leads to the directory it is in")
    );
    assert!(
        up.errors
            .contains("t/inner/back: a link leads to the directory it is in")
    );
    assert_eq!(
        (up.number("links"), up.number("files"), up.number("failed")),
        (0, 4, 3)
    );
    for (name, original) in [
        ("sub/file", "served/t/sub/file"),
        ("inner/file", "served/t/sub/file"),
        ("file", "served/t/sub/file"),
        ("out/deep/small", "outside/deep/small"),
    ] {
        assert_same(&served.join("up").join(name), &dir.path().join(original));
        assert!(
            !fs::symlink_metadata(served.join("up").join(name))
                .expect("there")
                .is_symlink()
        );
    }
    assert!(
        !fs::symlink_metadata(served.join("up/out"))
            .expect("there")
            .is_symlink()
    );
    // Of a server nothing that is outside.
    let down = dir.path().join("down");
    let copied = cp(&["--links=follow", &server.url("t"), &text(&down)]);
    let copied = copied.expect_failure(4, "t/out: leads out of the directory");
    assert_eq!((copied.number("files"), copied.number("failed")), (3, 4));
    assert_same(&down.join("file"), &local.join("sub/file"));
    assert!(!down.join("out").exists());
}

#[test]
fn no_path_leads_out_of_the_directory() {
    let dir = tempdir().expect("a directory");
    let served = dir.path().join("served");
    fs::create_dir_all(served.join("real")).expect("made");
    fs::write(dir.path().join("secret"), "secret").expect("written");
    fs::write(served.join("real/file"), "file").expect("written");
    symlink("..", served.join("up")).expect("linked");
    symlink("../secret", served.join("leak")).expect("linked");
    symlink("real", served.join("within")).expect("linked");
    let own = dir.path().join("own");
    fs::write(&own, "own").expect("written");
    let server = Server::start(&served, &[]);
    let out = dir.path().join("out");
    for path in ["../secret", "real/../../secret", "up/secret"] {
        cp(&[server.url(path), text(&out)]).expect_failure(4, "");
        cp(&[text(&own), server.url(path)]).expect_failure(4, "");
        assert!(!out.exists(), "{path}");
    }
    // A link is a link, and nothing of what it leads to.
    cp(&[server.url("leak"), text(&out)]).expect_ok();
    assert!(fs::symlink_metadata(&out).expect("there").is_symlink());
    fs::remove_file(&out).expect("ours");
    cp(&[server.url("/etc/passwd"), text(&out)]).expect_failure(1, "no such file");
    cp(&[text(&own), server.url("up/planted")]).expect_failure(4, "leads out of the directory");
    assert!(!dir.path().join("planted").exists());
    assert_eq!(
        fs::read_to_string(dir.path().join("secret")).expect("there"),
        "secret"
    );
    cp(&[text(&own), server.url("leak")]).expect_failure(4, "leads out of the directory");
    // In a directory a link is replaced by what comes under its name, never written through.
    fs::create_dir(dir.path().join("tree")).expect("made");
    fs::write(dir.path().join("tree/leak"), "own").expect("written");
    cp(&[text(&dir.path().join("tree/.")), server.url("")]).expect_ok();
    assert_eq!(
        fs::read_to_string(dir.path().join("secret")).expect("there"),
        "secret"
    );
    assert_eq!(fs::read_to_string(served.join("leak")).expect("there"), "own");
    // Links that stay inside are followed on the way.
    cp(&[server.url("within/file"), text(&out)]).expect_ok();
    cp(&[text(&own), server.url("within")]).expect_ok();
    assert!(served.join("real/own").exists());
}
