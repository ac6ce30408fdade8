//! The `xtp-relay` program as a process.

use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

fn start(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_xtp-relay"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// One datagram. A signal to this process is no reason to fail.
fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> usize {
    loop {
        match socket.recv_from(buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            outcome => return outcome.expect("relayed").0,
        }
    }
}

#[test]
fn it_relays_until_standard_input_ends_and_prints_its_counters() {
    let server = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    server
        .set_read_timeout(Some(Duration::from_secs(20)))
        .expect("timeout");
    let to = server.local_addr().expect("bound").to_string();
    let mut relay = start(&["--to", &to, "--delay", "1ms", "--seed", "5"]);
    let mut line = String::new();
    BufReader::new(relay.stderr.take().expect("piped"))
        .read_line(&mut line)
        .expect("a line");
    let addr = line
        .trim_end()
        .strip_prefix("listening on ")
        .expect("the address")
        .to_owned();
    let client = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    client.send_to(b"through", addr).expect("send");
    let mut buffer = [0; 64];
    let length = receive(&server, &mut buffer);
    assert_eq!(&buffer[..length], b"through");

    drop(relay.stdin.take());
    let mut json = String::new();
    relay
        .stdout
        .take()
        .expect("piped")
        .read_to_string(&mut json)
        .expect("text");
    assert!(relay.wait().expect("ends").success());
    assert!(
        json.contains("\"clients\":1,") && json.contains("\"delivered_bytes\":7,"),
        "{json}"
    );
    assert_eq!(json.lines().count(), 1);
}

#[test]
fn what_it_cannot_do_is_told_by_exit_status_and_message() {
    let unreadable = start(&["--to", "127.0.0.1:9", "--loss", "often"])
        .wait_with_output()
        .expect("ends");
    assert_eq!(unreadable.status.code(), Some(2));
    let message = String::from_utf8_lossy(&unreadable.stderr).into_owned();
    assert!(
        message.starts_with("xtp-relay: --loss: `often` does not begin with a number"),
        "{message}"
    );

    let help = start(&["--help"]).wait_with_output().expect("ends");
    assert!(help.status.success() && help.stdout.starts_with(b"Relay UDP packets"));
}
