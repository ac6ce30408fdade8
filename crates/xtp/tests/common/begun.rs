//! A stream between two endpoints that has begun.

use std::io::Read;

use xtp::{Endpoint, Stream, paradigm};

use crate::common::PORT;

/// Opens a stream from `client` to `server`; its two ends.
pub(crate) fn stream(server: &Endpoint, client: &Endpoint) -> (Stream, Stream) {
    let listener = server.listen_streams(PORT).expect("a free number");
    let to = server.local_addr();
    let stream = client.open(to, paradigm::stream(PORT)).expect("options");
    stream.send("begin").expect("room");
    let far = listener.accept().expect("an association").into_stream();
    read_all(&far, b"begin");
    (stream, far)
}

/// Reads so many octets, which must be `expected`.
pub(crate) fn read_all(stream: &Stream, expected: &[u8]) {
    let mut received = vec![0; expected.len()];
    let mut reader = stream;
    reader.read_exact(&mut received).expect("all of them");
    assert!(received == expected, "other octets");
}
