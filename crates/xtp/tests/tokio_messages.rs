//! On a runtime: one message at a time as a reader, calls at marks.

mod common;

use ::tokio::io::{AsyncBufReadExt, AsyncReadExt};
use common::{PORT, pattern};
use xtp::tokio::{Endpoint, Stream};
use xtp::{Config, Confirm, paradigm};

async fn all_of(stream: &Stream) -> Option<Vec<u8>> {
    let mut octets = Vec::new();
    let mut reader = stream.message_reader().await.expect("a message or the end")?;
    reader.read_to_end(&mut octets).await.expect("all of it");
    Some(octets)
}

#[::tokio::test]
async fn messages_are_read_one_by_one() {
    let server = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap())).unwrap();
    let listener = server.listen_streams(PORT).unwrap();
    let client = Endpoint::client().unwrap();
    let far = client.open(server.local_addr(), paradigm::stream(PORT)).unwrap();
    let long = pattern(300_000);
    let (sent, last) = (long.clone(), "last");
    let writing = ::tokio::spawn(async move {
        far.send_message("one\ntwo").await.unwrap();
        far.send_message(sent.clone()).await.unwrap();
        far.send_tagged(7, sent).await.unwrap();
        far.send_message(last).await.unwrap();
        far.close().await.unwrap();
    });
    let stream = listener.accept().await.unwrap().into_stream();
    let mut lines = stream.message_reader().await.unwrap().expect("a message").lines();
    assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("one"));
    assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("two"));
    assert_eq!(lines.next_line().await.unwrap(), None);
    assert!(all_of(&stream).await.expect("a message") == long);
    let mut early = stream.message_reader().await.unwrap().expect("a message");
    assert_eq!(early.tag(), Some(7));
    assert_eq!(early.read_u8().await.unwrap(), long[0]);
    drop(early);
    assert_eq!(all_of(&stream).await.as_deref(), Some(last.as_bytes()));
    assert_eq!(all_of(&stream).await, None);
    stream.close().await.unwrap();
    writing.await.unwrap();
}

#[::tokio::test]
async fn marks_call_from_the_task_that_drives() {
    let server = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap())).unwrap();
    let listener = server.listen_streams(PORT).unwrap();
    let reading = ::tokio::spawn(async move {
        let stream = listener.accept().await.unwrap().into_stream();
        while stream.recv_message().await.unwrap().is_some() {}
        stream.close().await.unwrap();
    });
    let client = Endpoint::client().unwrap();
    let stream = client.open(server.local_addr(), paradigm::stream(PORT)).unwrap();
    let (sender, mut outcomes) = ::tokio::sync::mpsc::unbounded_channel();
    for number in 0..3 {
        stream.send_message("a message").await.unwrap();
        let sender = sender.clone();
        stream
            .mark(Confirm::Delivered)
            .unwrap()
            .on_reached(move |outcome| sender.send((number, outcome.is_ok())).unwrap());
    }
    drop(sender);
    for number in 0..3 {
        assert_eq!(outcomes.recv().await, Some((number, true)));
    }
    assert_eq!(outcomes.recv().await, None);
    stream.close().await.unwrap();
    reading.await.unwrap();
}
