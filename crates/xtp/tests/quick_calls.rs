//! Of calls that follow each other at once the END leaves behind the next FIRST, and the last one leaves although nobody does anything
//! more. One test: it looks at the threads of its process.

mod common;
#[path = "common/flusher.rs"]
mod flusher;

use std::thread;
use std::time::Duration;

use common::{LONG, PORT, endpoint};
use flusher::has_flusher;
use xtp::{CallOptions, Config, Endpoint, Listener};

/// Calls of one burst: enough to be one, although others have the cores now and then.
const CALLS: usize = 3_000;
/// Where others have them all the time, one of so many bursts is.
const TRIES: usize = 30;

/// Answers the calls of one burst, and waits until the client says that it has the last answer.
fn serve(listener: &Listener) -> xtp::Result<()> {
    for left in (0..CALLS).rev() {
        let incoming = listener.accept()?;
        let request = incoming.receive()?;
        match left {
            0 => incoming.respond_confirmed(request, LONG)?,
            _ => incoming.respond(request)?,
        }
    }
    Ok(())
}

fn client(gather_writes: bool) -> Endpoint {
    let mut config = Config::client();
    config.gather_writes = gather_writes;
    Endpoint::bind(config).expect("a socket")
}

#[test]
fn the_last_end_of_a_burst_leaves_by_itself() {
    let server = endpoint();
    let (address, listener) = (server.local_addr(), server.listen(PORT).expect("listening"));
    let burst = |client: &Endpoint| {
        for _ in 0..CALLS {
            let answer = client.call(address, PORT, &b"request"[..], &CallOptions::default());
            assert_eq!(answer.expect("answered"), &b"request"[..]);
        }
    };

    let prompt = client(false);
    thread::scope(|scope| {
        let serving = scope.spawn(|| serve(&listener));
        burst(&prompt);
        serving.join().expect("no panic").expect("confirmed at once");
    });
    assert!(!has_flusher(), "what leaves at once needs nobody");

    let quick = client(true);
    let confirmed = || {
        thread::scope(|scope| {
            let serving = scope.spawn(|| serve(&listener));
            burst(&quick);
            // This client does nothing until its server has heard of it.
            serving.join().expect("no panic").expect("confirmed by itself");
        });
    };
    let held = (0..TRIES).any(|_| {
        confirmed();
        has_flusher()
    });
    assert!(held, "nobody sends what is left");
    // Between two bursts whoever sends the last END goes to rest, or not.
    for pause in [0, 1, 100] {
        thread::sleep(Duration::from_millis(pause));
        confirmed();
    }

    // Who goes takes nothing with it.
    thread::scope(|scope| {
        let serving = scope.spawn(|| serve(&listener));
        burst(&quick);
        drop(quick);
        serving.join().expect("no panic").expect("confirmed");
    });
    assert!(!has_flusher(), "it ends with its endpoint");
}
