//! A server whose memory is limited.

use std::fs;
use std::path::Path;

use crate::support::{Copied, Server, assert_same, begin, content, cp, finish, text, xtp};

/// KiB of address space, clients, and octets of the file of each.
const SPACE: u32 = 400_000;
const CLIENTS: usize = 30;
const OCTETS: usize = 40_000_000;

/// A server that the system gives no more.
fn limited(directory: &Path) -> Server {
    let mut shell = std::process::Command::new("sh");
    let limited = format!("ulimit -v {SPACE} && exec \"$0\" \"$@\"");
    shell.args(["-c", &limited]);
    shell.arg(xtp().get_program());
    shell.args(["serve", "--listen", "127.0.0.1:0"]).arg(directory);
    Server::of(shell)
}

#[test]
fn many_clients_with_more_than_all_memory_are_served_by_little_of_it() {
    let place = tempfile::tempdir().expect("a directory");
    let (served, source) = (place.path().join("served"), place.path().join("source"));
    fs::create_dir(&served).expect("made");
    fs::write(&source, content(1, OCTETS)).expect("written");
    let server = limited(&served);
    let names: Vec<String> = (0..CLIENTS).map(|number| format!("copy{number}")).collect();
    let copies: Vec<_> = names
        .iter()
        .map(|name| begin(&[text(&source), server.url(name)]))
        .collect();
    let copies: Vec<Copied> = copies.into_iter().map(finish).collect();
    for (copy, name) in copies.into_iter().zip(&names) {
        copy.expect_ok();
        assert_same(&source, &served.join(name));
        fs::remove_file(served.join(name)).expect("ours");
    }
    // It has memory left to go on.
    cp(&[text(&source), server.url("after")]).expect_ok();
    let back = place.path().join("back");
    cp(&[server.url("after"), text(&back)]).expect_ok();
    assert_same(&source, &back);
}
