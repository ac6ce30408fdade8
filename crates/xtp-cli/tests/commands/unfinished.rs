//! Strangers who begin something and do not end it, beside `xtp answer`, `listen` and `serve`.

use std::net::SocketAddr;

use xtp::paradigm;

use crate::strangers::Strangers;
use crate::support::{Running, xtp};

fn address(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}

#[test]
fn unfinished_requests_stop_no_answer() {
    let (_answer, server) =
        Running::listener(&["answer", "--jobs", "2", "127.0.0.1:0", "--", "tr", "a-z", "A-Z"]);
    let mut strangers = Strangers::new(address(&server));
    strangers.begin(&paradigm::transaction(xtp::ports::CALL), 12);
    let done = xtp(&["call", "--timeout", "15s", "-m", "hello", &server]).expect(0);
    assert_eq!(done.stdout, b"HELLO");
}
