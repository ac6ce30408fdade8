//! Messages behind a tag: the tag comes with the message it was sent with, by whatever way, and with no other.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use xtp::{Bytes, Config, Endpoint, Error, Stream, TaggedMessage, Wait, paradigm};

const PORT: u16 = 7;
/// More than it takes until a peer gets a socket of its own.
const MANY: u64 = 300;

fn endpoint(wait: Wait) -> Endpoint {
    let mut config = Config::server(SocketAddr::from(([127, 0, 0, 1], 0)));
    config.wait = wait;
    Endpoint::bind(config).expect("bound")
}

/// A stream to a peer that does this with its end of it.
fn against<T: Send + 'static>(
    wait: Wait,
    far: impl FnOnce(Stream) -> T + Send + 'static,
) -> (Endpoint, Stream, thread::JoinHandle<T>) {
    let server = endpoint(wait);
    let listener = server.listen_streams(PORT).expect("a free number");
    let address = server.local_addr();
    let far = thread::spawn(move || far(listener.accept().expect("an association").into_stream()));
    let client = endpoint(wait);
    let stream = client.open(address, paradigm::stream(PORT)).expect("opened");
    (client, stream, far)
}

fn message(tag: Option<u64>, data: impl Into<Bytes>) -> TaggedMessage {
    let data = data.into();
    TaggedMessage { tag, data }
}

/// Sends back what comes as it came, with or without its tag.
fn echo(stream: Stream) {
    while let Some(message) = stream.recv_tagged().expect("a message") {
        match message.tag {
            Some(tag) => stream.send_tagged(tag, message.data).expect("room"),
            None => stream.send_message(message.data).expect("room"),
        }
    }
    stream.close().expect("confirmed");
}

#[test]
fn each_message_comes_back_with_its_own_tag() {
    for wait in [Wait::Spin, Wait::Adaptive, Wait::Block] {
        let (_client, stream, far) = against(wait, echo);
        for number in 0..MANY {
            // One packet, none of whose octets is spared by a tag, several, and many.
            let octets = [1, 64, 1_400, 9_000, 65_440, 200_000][number as usize % 6];
            let sent = message(
                (number % 3 != 1).then_some(number << 40 | 1),
                vec![number as u8; octets],
            );
            match sent.tag {
                Some(tag) => stream.send_tagged(tag, sent.data.clone()).expect("room"),
                None => stream.send_message(sent.data.clone()).expect("room"),
            }
            assert_eq!(
                stream.recv_tagged().expect("a message"),
                Some(sent),
                "{wait:?} {number}"
            );
        }
        stream.close().expect("confirmed");
        far.join().expect("no panic");
    }
}

#[test]
fn who_asks_for_messages_is_not_told_of_tags() {
    let (_client, stream, far) = against(Wait::Adaptive, echo);
    for number in 0..MANY {
        stream.send_tagged(number, vec![7; 64]).expect("room");
        assert_eq!(
            stream.recv_message().expect("a message"),
            Some(vec![7; 64].into())
        );
    }
    stream.close().expect("confirmed");
    far.join().expect("no panic");
}

#[test]
fn a_tag_is_kept_until_its_message_is_whole() {
    let (_client, stream, far) = against(Wait::Adaptive, |stream| {
        let short = Duration::from_millis(30);
        stream.set_read_timeout(Some(short));
        let early = stream.recv_message();
        stream.send_message("go on").expect("room");
        stream.set_read_timeout(None);
        let read: Vec<_> = std::iter::from_fn(|| stream.recv_tagged().expect("a message")).collect();
        (early, read)
    });
    stream.send_tag(5).expect("room");
    stream.send("be").expect("room");
    assert_eq!(stream.recv_message().expect("a message"), Some("go on".into()));
    stream.send_message("gun").expect("room");
    // Bound to an octet within the message: no tag of the message.
    stream.send("ha").expect("room");
    stream.send_tag(6).expect("room");
    stream.send_message("lf").expect("room");
    stream.send_message("none").expect("room");
    stream.close().expect("confirmed");
    let (early, read) = far.join().expect("no panic");
    assert!(matches!(early, Err(Error::Timeout { .. })), "{early:?}");
    let expected = [
        message(Some(5), "begun"),
        message(None, "half"),
        message(None, "none"),
    ];
    assert_eq!(read, expected);
}

#[test]
fn there_is_no_octet_to_bind_a_tag_to_in_an_empty_message() {
    let (_client, stream, far) = against(Wait::Adaptive, echo);
    assert!(matches!(stream.send_tagged(1, ""), Err(Error::Command(_))));
    // Nothing is left of it.
    stream.send_message("whole").expect("room");
    assert_eq!(stream.recv_tagged().expect("open"), Some(message(None, "whole")));
    stream.close().expect("confirmed");
    far.join().expect("no panic");
}
