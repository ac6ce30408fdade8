//! `xtp send` and `xtp listen` with messages.

use crate::support::{Nobody, Running, costs, noise, xtp, xtp_fed};

/// Arguments for one message, and the packets it costs: out, in.
const WAYS: [(&[&str], u64, u64); 5] = [
    (&[], 2, 1),
    (&["--acknowledged"], 1, 1),
    (&["--acknowledged", "--delivered"], 1, 1),
    (&["--datagram"], 1, 0),
    (&["--lines"], 3, 3),
];

#[test]
fn every_way_delivers_and_costs_what_its_ladder_says() {
    for (way, packets_out, packets_in) in WAYS {
        costs(&(packets_out, packets_in), || {
            let (listen, address) = Running::listener(&["listen", "--once", "127.0.0.1:0"]);
            let mut args = vec!["send", "--json", "-m", "hello", &address];
            args.extend(way);
            let done = xtp(&args).expect(0);
            assert_eq!(done.json()["ok"], true, "{way:?}");
            assert_eq!(done.json()["octets"], 5, "{way:?}");
            assert_eq!(listen.finish().expect(0).stdout, b"hello", "{way:?}");
            done.packets()
        });
    }
}

#[test]
fn delivered_is_more_than_received() {
    let (listen, address) = Running::listener(&["listen", "--once", "127.0.0.1:0"]);
    let object = xtp(&["send", "--json", "--delivered", "-m", "hello", &address])
        .expect(0)
        .json();
    assert_eq!(object["confirmed"], "delivered");
    assert_eq!(listen.finish().expect(0).stdout, b"hello");
}

#[test]
fn messages_come_out_in_the_order_they_were_sent() {
    let (listen, address) = Running::listener(&["listen", "--lines", "127.0.0.1:0"]);
    let mut expected = String::new();
    for number in 0..20 {
        let text = format!("message {number}");
        let (way, ..) = WAYS[number % 4];
        let mut args = vec!["send", "-m", &text, &address];
        args.extend(way);
        assert_eq!(xtp(&args).expect(0).stderr, "");
        expected += &(text + "\n");
    }
    assert_eq!(listen.interrupt().expect(130).text(), expected);
}

#[test]
fn standard_input_is_one_message_whatever_is_in_it() {
    let message = noise(300_000);
    let (listen, address) = Running::listener(&["listen", "--once", "127.0.0.1:0"]);
    xtp_fed(&["send", &address], &message).expect(0);
    assert!(listen.finish().expect(0).stdout == message);
}

#[test]
fn an_empty_message_is_a_message() {
    let (listen, address) = Running::listener(&["listen", "--once", "--lines", "127.0.0.1:0"]);
    xtp_fed(&["send", &address], b"").expect(0);
    assert_eq!(listen.finish().expect(0).stdout, b"\n");
}

#[test]
fn the_account_of_a_listener_is_an_object() {
    let (listen, address) = Running::listener(&["listen", "--json", "127.0.0.1:0"]);
    xtp(&["send", "-m", "text", &address]).expect(0);
    xtp_fed(&["send", "--acknowledged", &address], &[0xff, 0]).expect(0);
    let object = listen.interrupt().expect(130).json();
    assert_eq!(object["arrivals"], 2);
    assert_eq!(object["incomplete"], 0);
    assert_eq!(object["octets"], 6);
    assert_eq!(object["listening_on"], address.as_str());
    assert_eq!(object["items"][0]["content"]["text"], "text");
    assert_eq!(object["items"][0]["kind"], "message");
    assert_eq!(object["items"][1]["content"]["hex"], "ff00");
}

#[test]
fn what_arrives_can_go_to_a_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("arrived");
    let path = path.to_str().expect("text");
    let (listen, address) = Running::listener(&["listen", "--once", "--json", "-o", path, "127.0.0.1:0"]);
    xtp(&["send", "-m", "for the file", &address]).expect(0);
    let object = listen.finish().expect(0).json();
    assert!(object["items"][0].get("content").is_none());
    assert_eq!(std::fs::read(path).expect("written"), b"for the file");
}

#[test]
fn nobody_there_is_status_3_and_a_wrong_service_4() {
    let done = xtp(&["send", "-m", "x", &Nobody::new().address()]).expect(3);
    assert!(
        done.sentence().starts_with("xtp: cannot send to 127.0.0.1:"),
        "{done:?}"
    );
    let (_listen, address) = Running::listener(&["listen", "127.0.0.1:0/77"]);
    assert!(address.ends_with("/77"), "{address}");
    xtp(&["send", "-m", "x", &address]).expect(0);
    let other = address.replace("/77", "/78");
    xtp(&["send", "-m", "x", &other]).expect(4);
}

#[test]
fn messages_beyond_a_limit_are_refused_with_advice() {
    let done = xtp_fed(&["send", "--datagram", "127.0.0.1:1"], &vec![b'x'; (1 << 20) + 1]).expect(1);
    assert!(done.sentence().contains("1.0 MiB"), "{done:?}");
    let (listen, address) = Running::listener(&["listen", "--once", "--max-size", "1000", "127.0.0.1:0"]);
    // More than finds room on the way.
    let sent = xtp_fed(&["send", &address], &vec![b'x'; 20 << 20]).expect(4);
    let why = "rejected by the other side: a message longer than 1000 octets was refused";
    assert!(sent.sentence().contains(why), "{sent:?}");
    let done = listen.finish().expect(1);
    assert!(done.sentence().contains("--max-size"), "{done:?}");
}

#[test]
fn a_listener_nobody_sends_to_gives_up_when_told_to() {
    let done = xtp(&["listen", "--timeout", "100ms", "127.0.0.1:0"]).expect(3);
    assert!(done.sentence().contains("nothing arrived"), "{done:?}");
}

#[test]
fn a_port_in_use_is_said() {
    let (_listen, address) = Running::listener(&["listen", "127.0.0.1:0"]);
    let done = xtp(&["listen", &address]).expect(1);
    assert!(done.sentence().contains("choose another UDP port"), "{done:?}");
}

#[test]
fn only_addresses_others_reach_are_warned_about() {
    let (listen, _) = Running::listener(&["listen", "127.0.0.1:0"]);
    assert!(!listen.interrupt().stderr.contains("encrypted"));
    let (mut listen, _) = Running::listener(&["listen", ":0"]);
    listen.wait_for("traffic is neither encrypted nor authenticated");
}

#[test]
fn a_sender_can_wait_for_its_listener() {
    let nobody = Nobody::new();
    let address = nobody.address();
    let mut send = Running::start(&["send", "-v", "--wait-for-listener", "-m", "patience", &address]);
    // Long enough for the first refusals of the host to come back.
    std::thread::sleep(std::time::Duration::from_millis(300));
    drop(nobody);
    let (listen, _) = Running::listener(&["listen", "--once", &address]);
    send.feed(b"");
    send.finish().expect(0);
    assert_eq!(listen.finish().expect(0).stdout, b"patience");
}
