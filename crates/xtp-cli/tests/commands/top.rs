//! `xtp top` and `--status`: a running server seen from aside.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

fn command(runtime: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtp"));
    command
        .args(args)
        .env("XDG_RUNTIME_DIR", runtime)
        .env_remove("RUST_LOG")
        .stdin(Stdio::null());
    command
}

fn top(runtime: &Path, args: &[&str]) -> Output {
    let output = command(runtime, &[&["top", "--once"], args].concat()).output();
    output.expect("the command runs")
}

/// A server that ends when dropped, and its address.
struct Seen(Child, String);

impl Seen {
    fn start(runtime: &Path, args: &[&str]) -> Self {
        let mut child = command(runtime, args)
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let address = loop {
            let line = lines.next().expect("a line").expect("text");
            if let Some(address) = line.strip_prefix("listening on ") {
                break address.to_owned();
            }
        };
        std::thread::spawn(move || lines.for_each(drop));
        Self(child, address)
    }

    fn signal(&mut self, name: &str) {
        let number = self.0.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &number]).status();
        assert!(sent.expect("kill runs").success());
        self.0.wait().expect("ended");
    }
}

impl Drop for Seen {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn what_a_server_has_open() {
    let runtime = tempfile::tempdir().expect("a directory");
    let place = runtime.path();
    assert_eq!(top(place, &[]).status.code(), Some(3), "nothing is there");
    let mut server = Seen::start(place, &["serve", "--status", "--listen", "127.0.0.1:0", "/dev"]);
    let socket = place.join(format!("xtp/{}.status", server.0.id()));
    let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(&place.join("xtp")), mode(&socket)), (0o700, 0o600));

    // A stream that asks for nothing stays open.
    let client = xtp::Endpoint::client().expect("loopback");
    let stream = client
        .open(
            server.1.as_str(),
            xtp::paradigm::stream(xtp::service_numbers::FILES),
        )
        .expect("loopback");
    stream
        .connect(Some(std::time::Duration::from_secs(30)))
        .expect("served");
    let seen = top(place, &["--json"]);
    assert_eq!(seen.status.code(), Some(0), "{seen:?}");
    let object: Value = serde_json::from_slice(&seen.stdout).expect("one object");
    let process = &object["processes"][0];
    assert_eq!(process["pid"], server.0.id());
    let endpoint = &process["endpoints"][0];
    assert_eq!(
        (&endpoint["address"], &endpoint["count"]),
        (&Value::from(server.1.as_str()), &Value::from(1))
    );
    let association = &endpoint["associations"][0];
    let peer = association["peer"].as_str().expect("text");
    assert!(
        peer.ends_with(&format!(":{}", client.local_addr().port())),
        "{object}"
    );
    assert!(association["waits_for"].is_string(), "{object}");

    let text = String::from_utf8(top(place, &[&server.0.id().to_string()]).stdout).expect("text");
    assert!(
        text.contains("xtp serve --status") && text.contains("waits for"),
        "{text}"
    );
    assert_eq!(top(place, &["1"]).status.code(), Some(3), "another process");
    server.signal("TERM");
    assert!(!socket.exists(), "nothing is left");
}

/// A transmitter tells of its receivers, and a receiver of its transmitter.
#[test]
#[cfg(target_os = "linux")]
fn what_a_group_does() {
    let runtime = tempfile::tempdir().expect("a directory");
    let place = runtime.path();
    let begin = |args: &[&str]| {
        let common = ["--interface", "127.0.0.1", "--status"];
        let mut command = command(place, &[&["cast"], args, &common].concat());
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("starts");
        let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        (Seen(child, String::new()), lines)
    };
    let party = |seen: &Seen| -> Option<Value> {
        let shown = top(place, &["--json", &seen.0.id().to_string()]);
        let object: Value = serde_json::from_slice(&shown.stdout).expect("one object");
        let groups = &object["processes"][0]["endpoints"][0]["groups"];
        groups.get(0).cloned()
    };
    let (receiver, mut said) = begin(&[
        "recv",
        "239.77.5.1",
        place.to_str().expect("text"),
        "--name",
        "attic",
    ]);
    assert!(said.any(|line| line.expect("text").contains("waiting for a sender")));
    let waiting = party(&receiver).expect("a receiver");
    assert_eq!(
        (&waiting["role"], &waiting["from"]),
        (&"receiver".into(), &Value::Null)
    );
    assert_eq!(waiting["waits_for"], "a transmitter");
    assert_eq!(waiting["address"], "239.77.5.1:36036");

    // Standard input stays open: the stream begins and does not end.
    let (mut sender, mut said) = begin(&["send", "-", "239.77.5.1", "--expect", "1"]);
    assert!(said.any(|line| line.expect("text").contains("joined")));
    let mut input = sender.0.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut input, &[7; 100_000]).expect("taken");
    let until = |seen: &Seen, field: &str| loop {
        let party = party(seen).expect("a party");
        if party[field].as_u64().expect("a number") > 100_000 {
            return party;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    let sent = until(&sender, "acknowledged");
    assert_eq!(sent["role"], "transmitter");
    assert_eq!((&sent["receivers"], &sent["done"]), (&1.into(), &0.into()));
    assert_eq!(sent["slowest"]["name"], "attic");
    let received = until(&receiver, "octets");
    assert!(received["from"].is_string(), "{received}");
    let text = String::from_utf8(top(place, &[]).stdout).expect("text");
    assert!(
        text.contains("slowest") && text.contains("from group 239.77.5.1:36036"),
        "{text}"
    );
}

/// Without `--status` nothing is opened; what a killed process left is put away.
#[test]
fn only_those_that_are_to_be_seen_are() {
    let runtime = tempfile::tempdir().expect("a directory");
    let place = runtime.path();
    let _hidden = Seen::start(place, &["serve", "--listen", "127.0.0.1:0", "/dev"]);
    assert!(!place.join("xtp").exists());
    let mut killed = Seen::start(place, &["listen", "--status", "127.0.0.1:0"]);
    let socket = place.join(format!("xtp/{}.status", killed.0.id()));
    killed.signal("KILL");
    assert!(socket.exists());
    assert_eq!(top(place, &[]).status.code(), Some(3));
    assert!(!socket.exists());
}

#[test]
fn a_directory_of_others_is_not_used() {
    let runtime = tempfile::tempdir().expect("a directory");
    let place = runtime.path().join("xtp");
    std::fs::create_dir(&place).expect("made");
    std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o777)).expect("ours");
    let args = ["serve", "--status", "--listen", "127.0.0.1:0", "/dev"];
    let output = command(runtime.path(), &args).output().expect("the command runs");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("nobody else may enter"), "{said}");
}
