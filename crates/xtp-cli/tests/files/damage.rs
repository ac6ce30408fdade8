//! Damage that no checksum on the way has seen: what arrives is verified, and fetched again.

use std::fs;

use tempfile::tempdir;
use xtp_link::LinkConfig;
use xtp_link::relay::{Relay, RelayConfig};

use crate::support::{Server, assert_same, begin, content, finish, grown, text, url};

const SIZE: usize = 24 << 20;

/// Over UDP the payload is protected by UDP's checksum alone; a relay computes that anew, as a broken router would.
fn corrupting() -> LinkConfig {
    LinkConfig {
        corrupt: 0.01,
        ..LinkConfig::default()
    }
}

#[test]
fn a_file_that_arrived_damaged_is_fetched_again() {
    let dir = tempdir().expect("a directory");
    let served = dir.path().join("served");
    fs::create_dir(&served).expect("made");
    fs::write(served.join("file"), content(1, SIZE)).expect("written");
    let server = Server::start(&served, &[]);
    let relay = Relay::spawn(RelayConfig::new(server.addr)).expect("a relay");
    let out = dir.path().join("out");
    let copy = begin(&["--limit", "12MiB", &url(relay.addr(), "file"), &text(&out)]);
    grown(&dir.path().join(".out.xtp-part"), 4 << 20);
    relay
        .set_links(LinkConfig::default(), corrupting())
        .expect("a link");
    grown(&dir.path().join(".out.xtp-part"), 16 << 20);
    relay
        .set_links(LinkConfig::default(), LinkConfig::default())
        .expect("a link");
    let copied = finish(copy).expect_ok();
    assert!(relay.stop().to_client.corrupted > 0);
    assert_same(&served.join("file"), &out);
    assert!(
        copied.number("damaged") + copied.number("outages") > 0,
        "{}",
        copied.report
    );
    assert!(!copied.errors.contains("update"), "{}", copied.errors);
}

/// On a path that damages everything the copy ends, with what it is: nothing about versions.
#[test]
fn damage_without_end_is_called_what_it_is() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("file"), dir.path().join("served"));
    fs::create_dir(&served).expect("made");
    fs::write(&local, content(1, SIZE)).expect("written");
    let server = Server::start(&served, &[]);
    let relay = Relay::spawn(RelayConfig::new(server.addr)).expect("a relay");
    let copy = begin(&[
        "--limit",
        "12MiB",
        "--timeout",
        "2s",
        &text(&local),
        &url(relay.addr(), ""),
    ]);
    grown(&served.join(".file.xtp-part"), 4 << 20);
    let all = LinkConfig {
        corrupt: 1.0,
        ..LinkConfig::default()
    };
    relay.set_links(all, LinkConfig::default()).expect("a link");
    let copied = finish(copy);
    assert_ne!(copied.status, Some(0));
    assert!(!copied.errors.contains("update"), "{}", copied.errors);
    assert!(!served.join("file").exists());
}
