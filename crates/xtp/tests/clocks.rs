//! A server that was just started, and clients whose clocks are wrong: over real sockets, without setting any clock.

mod common;

use std::thread;
use std::time::Duration;

use common::{LONG, PORT};
use xtp::{CallOptions, Config, Endpoint};

const YEAR: i64 = 365 * 86_400_000;

/// An endpoint at a fixed port, which another instance may have served just before, that has lived a little.
fn just_started() -> Endpoint {
    let before =
        Endpoint::bind(Config::server("127.0.0.1:0".parse().expect("an address"))).expect("a free port");
    let addr = before.local_addr();
    drop(before);
    let server = Endpoint::bind(Config::server(addr)).expect("nobody took the port meanwhile");
    // Longer than a request may have been under way.
    thread::sleep(Duration::from_millis(200));
    server
}

fn client_ahead_by(ahead_ms: i64) -> Endpoint {
    let mut config = Config::server("127.0.0.1:0".parse().expect("an address"));
    config.engine.utc_offset_ms = ahead_ms;
    Endpoint::bind(config).expect("a free port")
}

#[test]
fn a_call_to_a_server_just_started_is_answered_whatever_the_clocks_say() {
    for ahead in [-YEAR, -86_400_000, -60_000, 0, 60_000, 86_400_000, YEAR] {
        let server = just_started();
        let listener = server.listen(PORT).expect("a free number");
        let client = client_ahead_by(ahead);
        thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..2 {
                    let (request, caller) = listener.recv_message().expect("a request");
                    caller.respond(request).expect("answered");
                }
                let (message, _) = listener.recv_message().expect("a message");
                assert_eq!(message, "one-shot");
            });
            for word in ["first", "second"] {
                let answer = client.call(server.local_addr(), PORT, word, &CallOptions::within(LONG));
                assert_eq!(answer.expect(word), word, "{ahead} ms ahead");
            }
            client
                .send_message(server.local_addr(), PORT, "one-shot")
                .expect("taken");
        });
    }
}
