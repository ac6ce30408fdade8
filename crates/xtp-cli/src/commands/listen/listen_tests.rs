//! What was confirmed to its sender is there when the command ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Parser;
use xtp::{Config, paradigm};

use super::*;
use crate::args::{Cli, Command};

/// The command is told to end after its host has confirmed three things and before it has looked at any of them.
#[test]
fn what_was_confirmed_is_written_before_the_end() {
    let inbox = tempfile::tempdir().expect("a directory");
    let path = inbox.path().to_str().expect("text");
    let cli = Cli::try_parse_from(["xtp", "listen", "-o", path, "127.0.0.1:0"]).expect("arguments");
    let Command::Listen(args) = cli.command else {
        panic!("another command")
    };
    let common = Common::new(cli.common).expect("signals");
    let address = Address::parse(&args.address, service_numbers::MESSAGE).expect("an address");
    let hall = Hall::open(&args, &common, &address).expect("a listener");
    let peer = hall.endpoint.local_addr();
    let sent = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let client = Endpoint::bind(Config::client()).expect("an endpoint");
            for text in ["first", "second"] {
                let stream = client
                    .open(peer, paradigm::stream(address.service))
                    .expect("opens");
                stream.send(text.as_bytes().to_vec()).expect("sends");
                stream.close().expect("confirmed");
            }
            client
                .send_message(peer, address.service, b"third".to_vec())
                .expect("confirmed");
            sent.store(true, Ordering::SeqCst);
        });
        while !sent.load(Ordering::SeqCst) {
            let waited = hall.set.wait(&mut Vec::new(), Some(Duration::from_millis(1)));
            assert!(waited.is_ok() || waited.is_err_and(|error| error.is_timeout()));
        }
    });
    hall.conclude(Err(Failure::interrupted()))
        .expect_err("interrupted");
    let files = std::fs::read_dir(inbox.path()).expect("readable");
    let mut there: Vec<(String, bool)> = files
        .map(|entry| entry.expect("readable").path())
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("readable");
            (text, path.extension().is_some_and(|tail| tail == "part"))
        })
        .collect();
    there.sort_unstable();
    let whole = |text: &str| (text.to_owned(), false);
    assert_eq!(there, [whole("first"), whole("second"), whole("third")]);
}
