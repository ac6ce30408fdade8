//! Addresses in every form that people write and programs print.

use std::net::UdpSocket;
use std::process::Command;

use crate::support::{Running, xtp};

/// The port of what was printed.
fn port(address: &str) -> &str {
    address.rsplit_once(':').expect("a port").1
}

#[test]
fn what_a_server_on_all_addresses_prints_leads_to_it() {
    for bound in ["0.0.0.0:0", "[::]:0"] {
        let (listen, printed) = Running::listener(&["listen", bound]);
        for args in [
            &["ping", "-c", "1", &printed][..],
            &["send", "-m", "message", &printed],
            &["send", "-m", "acknowledged", "--acknowledged", &printed],
            &["send", "-m", "stream", "--lines", &printed],
        ] {
            xtp(&[args, &["--timeout", "20s"]].concat()).expect(0);
        }
        let done = listen.interrupt().expect(130);
        assert_eq!(done.text().matches("message").count(), 1, "{done:?}");
    }
    let (_answer, printed) = Running::listener(&["answer", "[::]:0", "--", "cat"]);
    let done = xtp(&["call", "-m", "request", "--timeout", "20s", &printed]).expect(0);
    assert_eq!(done.text(), "request");
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().to_str().expect("text");
    let (_serve, printed) = Running::listener(&["serve", "--listen", "[::]:0", path]);
    xtp(&["ls", "--timeout", "20s", &format!("xtp://{printed}/")]).expect(0);
}

#[test]
fn an_ipv4_address_may_be_written_as_ipv6() {
    let (_answer, printed) = Running::listener(&["answer", "127.0.0.1:0", "--", "cat"]);
    for form in [
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::ffff:0.0.0.0]",
        "0.0.0.0",
    ] {
        let address = format!("{form}:{}", port(&printed));
        let args = ["call", "-m", "request", "--timeout", "20s", "--json", &address];
        let object = xtp(&args).expect(0).json();
        assert_eq!(object["answer"]["text"], "request", "{form}");
        assert_eq!(object["peer"], printed.as_str(), "{form}");
    }
}

#[test]
fn what_is_no_peer_is_a_usage_error() {
    for (address, part) in [
        ("127.0.0.1:0", "port 0"),
        ("[::1]:0", "port 0"),
        ("239.1.2.3", "multicast"),
        ("[ff02::1]:4000", "multicast"),
        ("255.255.255.255", "broadcast"),
        ("fe80::1", "link-local"),
        ("[fe80::1]:4000", "link-local"),
        ("fe80::1%no-such", "no interface no-such"),
        ("[fe80::1%25no-such]:4000", "no interface no-such"),
        ("::1%lo", "not link-local"),
    ] {
        let file = format!(
            "xtp://{}/file",
            address.replace("fe80::1%no-such", "[fe80::1%no-such]")
        );
        for args in [
            &["ping", "-c", "1", address][..],
            &["send", "-m", "x", address],
            &["send", "-m", "x", "--datagram", address],
            &["call", "-m", "x", address],
            &["ls", &file],
        ] {
            let done = xtp(args).expect(2);
            assert!(done.sentence().contains(part), "{args:?}: {done:?}");
        }
    }
    for bound in ["239.1.2.3:0", "[fe80::1]:0"] {
        let done = xtp(&["listen", bound]).expect(2);
        assert!(done.sentence().contains("cannot listen"), "{done:?}");
    }
}

/// Runs `script` in a network namespace with a link-local address, where that is allowed; false if it is not.
fn with_link_local(script: &str) -> Option<String> {
    let setup = "ip link set lo up && ip link add v1 type veth peer name v2 && ip link set v1 up && ip link set v2 up \
                 && ip address add fe80::1/64 dev v1 nodad && ip address add fe80::2/64 dev v2 nodad";
    let probe = Command::new("unshare")
        .args(["--net", "sh", "-c", setup])
        .output();
    if !probe.is_ok_and(|done| done.status.success()) {
        eprintln!("not root: no network namespaces, nothing was tested");
        return None;
    }
    let whole = format!("{setup} || exit 1\n{script}");
    let done = Command::new("unshare")
        .args(["--net", "sh", "-c", &whole])
        .output();
    let done = done.expect("a shell");
    let (out, err) = (
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr),
    );
    Some(format!("{out}{err}"))
}

#[test]
fn link_local_peers_have_an_interface() {
    let xtp = env!("CARGO_BIN_EXE_xtp");
    // What is printed has the interface's index.
    let script = format!(
        "{xtp} answer '[fe80::1%v1]' -- cat 2>said & \
         for wait in $(seq 500); do grep -q listening said && break; sleep 0.02; done; cat said; \
         for peer in 'fe80::1%v1' '[fe80::1%v1]:36036' '[fe80::1%25v1]' \"$(sed -n 's/^listening on //p' said)\"; do \
         {xtp} call -m ' heard' --timeout 20s \"$peer\"; done; \
         {xtp} call -m x '[fe80::1]'; echo status $?; kill $!"
    );
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().display();
    let Some(said) = with_link_local(&format!("cd {path} || exit 1\n{script}")) else {
        return;
    };
    assert_eq!(said.matches(" heard").count(), 4, "{said}");
    assert!(said.contains("listening on [fe80::1%"), "{said}");
    assert!(
        said.contains("status 2") && said.contains("v1") && said.contains("v2"),
        "{said}"
    );
}

#[test]
fn a_silent_socket_is_no_reason_to_fail_early() {
    // The forms above are answered by servers; this one is bound and never answers.
    let silent = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let address = format!("0.0.0.0:{}", silent.local_addr().expect("bound").port());
    xtp(&["call", "-m", "x", "--timeout", "200ms", &address]).expect(3);
}
