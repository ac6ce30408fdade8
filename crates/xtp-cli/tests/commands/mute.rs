//! A server whose host acknowledges everything and whose program says nothing: `--timeout` ends every command.

use crate::support::xtp;
use xtp::{Config, DriverThread, Endpoint, ListenOptions, Listener};

/// A server whose host acknowledges every association and whose program accepts none.
struct Mute {
    endpoint: Endpoint,
    _listener: Listener,
    _driver: DriverThread,
}

impl Mute {
    fn new() -> Self {
        let config = Config::server("127.0.0.1:0".parse().expect("an address"));
        let endpoint = Endpoint::bind(config).expect("loopback");
        let listener = endpoint.listen_with(ListenOptions::wildcard());
        let driver = endpoint.spawn_driver();
        Self {
            _listener: listener.expect("the only one"),
            _driver: driver.expect("a thread"),
            endpoint,
        }
    }

    fn address(&self) -> String {
        self.endpoint.local_addr().to_string()
    }
}

#[test]
fn no_command_waits_longer_than_it_may() {
    let mute = Mute::new();
    let address = mute.address();
    let there = format!("xtp://{address}/file");
    let directory = tempfile::tempdir().expect("a directory");
    let here = directory.path().join("file");
    std::fs::write(&here, "content").expect("a file");
    let here = here.to_str().expect("text");
    for args in [
        &["call", "-m", "request", &address][..],
        &["call", "--slow", "-m", "request", &address],
        &[
            "send",
            "--acknowledged",
            "--delivered",
            "-m",
            "datagram",
            &address,
        ],
        &["send", "--delivered", "-m", "message", &address],
        &["send", "--lines", "--delivered", "-m", "line", &address],
        &["ping", "-c", "1", &address],
        &["ls", &there],
        &["cp", &there, "-"],
        &["cp", &there, here],
        &["cp", here, &there],
        &["cp", "-", &there],
    ] {
        let args = [&["--timeout", "0.5"], args].concat();
        let done = xtp(&args);
        assert_eq!(done.status, 3, "{args:?}: {done:?}");
        assert!(done.sentence().contains("--timeout"), "{args:?}: {done:?}");
    }
    let heard = mute.endpoint.stats().packets_sent();
    assert!(heard > 0, "its host answers");
}
