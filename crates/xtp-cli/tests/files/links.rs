//! Links, special files, and everything that tries to get out of the directory.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use tempfile::tempdir;

use crate::support::{Server, cp, text};

#[test]
fn links_inside_are_links_and_others_are_named_and_skipped() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("t"), dir.path().join("served"));
    fs::create_dir_all(local.join("sub")).expect("made");
    fs::create_dir(&served).expect("made");
    fs::write(local.join("file"), "content").expect("written");
    for (link, target) in [
        ("inner", "sub"),
        ("sub/up", "../file"),
        ("dangling", "nothing"),
        ("absolute", "/etc/passwd"),
        ("sub/out", "../../x"),
        ("sneaky", "sub/../../x"),
    ] {
        symlink(target, local.join(link)).expect("linked");
    }
    let _socket = UnixListener::bind(local.join("socket")).expect("bound");
    let server = Server::start(&served, &[]);
    let up = cp(&[text(&local), server.url("")]).expect_ok();
    assert_eq!(
        (up.number("files"), up.number("links"), up.number("failed")),
        (1, 3, 0)
    );
    assert_eq!(up.number("skipped"), 4);
    assert!(up.errors.contains("leads outside"), "{}", up.errors);
    for skipped in ["absolute", "sub/out", "sneaky", "socket"] {
        assert!(up.errors.contains(&format!("t/{skipped}: ")), "{}", up.errors);
        assert!(
            fs::symlink_metadata(served.join("t").join(skipped)).is_err(),
            "{skipped}"
        );
    }
    for (link, target) in [("inner", "sub"), ("sub/up", "../file"), ("dangling", "nothing")] {
        let there = fs::read_link(served.join("t").join(link)).expect("a link");
        assert_eq!(there.to_str(), Some(target));
    }
    let back = dir.path().join("back");
    symlink("/etc", served.join("t/planted")).expect("linked");
    let down = cp(&[server.url("t"), text(&back)]).expect_ok();
    assert!(
        down.errors.contains("t/planted: is a symbolic link"),
        "{}",
        down.errors
    );
    assert_eq!((down.number("links"), down.number("skipped")), (3, 1));
    assert!(fs::symlink_metadata(back.join("planted")).is_err());
    let again = cp(&[server.url("t"), text(&back)]);
    assert_eq!(
        again.number("unchanged"),
        0,
        "an existing directory receives it inside"
    );
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
    cp(&[server.url("leak"), text(&out)]).expect_failure(1, "leads outside");
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
