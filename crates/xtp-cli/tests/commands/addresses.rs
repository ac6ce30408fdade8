//! Every form of an address that users write and programs print.

use xtp_linkem::HeldNetwork;

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

/// Runs `script` in a directory of its own, behind `setup` in a network and mount namespace, where these are allowed. What it
/// says, and what its programs do.
fn in_namespaces(setup: &str, script: &str) -> Option<String> {
    let directory = tempfile::tempdir().expect("a directory");
    let Ok(network) = HeldNetwork::new() else {
        eprintln!("not root: no namespaces, nothing was tested");
        return None;
    };
    let done = network
        .command("unshare")
        .args(["--mount", "sh", "-c", &format!("{setup} || exit 1\n{script}")])
        .current_dir(&directory)
        .output()
        .expect("a shell");
    let (out, err) = (
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr),
    );
    Some(format!("{out}{err}"))
}

/// Starts a server in a script and waits until it is ready.
fn server(args: &str) -> String {
    let xtp = env!("CARGO_BIN_EXE_xtp");
    format!(
        "{xtp} {args} 2>said & server=$!\n\
         for wait in $(seq 500); do grep -q listening said && break; sleep 0.02; done\n"
    )
}

#[test]
fn link_local_peers_have_an_interface() {
    let xtp = env!("CARGO_BIN_EXE_xtp");
    let setup = "ip link add v1 type veth peer name v2 && ip link set v1 up && ip link set v2 up \
                 && ip address add fe80::1/64 dev v1 nodad && ip address add fe80::2/64 dev v2 nodad";
    // What is printed has the interface's index.
    let script = server("answer '[fe80::1%v1]' -- cat")
        + &format!(
            "cat said\n\
             for peer in 'fe80::1%v1' '[fe80::1%v1]:36036' '[fe80::1%25v1]' \"$(sed -n 's/^listening on //p' said)\"\n\
             do {xtp} call -m ' heard' --timeout 20s \"$peer\"; done\n\
             {xtp} call -m x '[fe80::1]'; echo status $?\n\
             kill $server"
        );
    let Some(said) = in_namespaces(setup, &script) else {
        return;
    };
    assert_eq!(said.matches(" heard").count(), 4, "{said}");
    assert!(said.contains("listening on [fe80::1%"), "{said}");
    assert!(said.contains("status 2"), "{said}");
    assert!(
        said.contains("(here: ") && said.contains("v1") && said.contains("v2"),
        "{said}"
    );
}

/// A name with two addresses, of which the first leads to a link without hosts.
const TWOFOLD: &str = "ip link add v1 type veth peer name v2 && ip link set v1 up && ip link set v2 up \
                       && ip address add fd09::1/64 dev v1 nodad && ip neigh add fd09::2 lladdr 02:00:00:00:00:02 dev v1 \
                       && printf 'fd09::2 twofold\\n127.0.0.1 twofold\\n' >hosts && mount --bind hosts /etc/hosts";

#[test]
fn a_name_with_a_silent_address_is_called_at_the_other_one() {
    let xtp = env!("CARGO_BIN_EXE_xtp");
    let script = server("answer 127.0.0.1 -- cat")
        + &format!("{xtp} call -m heard --json twofold; {xtp} ping -c 1 twofold; kill $server");
    let Some(said) = in_namespaces(TWOFOLD, &script) else {
        return;
    };
    assert!(said.contains(r#""text": "heard""#), "{said}");
    assert!(said.contains(r#""peer": "127.0.0.1:36036""#), "{said}");
    assert!(said.contains("1 sent, 1 received"), "{said}");
}

#[test]
fn messages_to_a_name_with_a_silent_address_are_taken_once() {
    let xtp = env!("CARGO_BIN_EXE_xtp");
    let script = server("listen 127.0.0.1 -o taken")
        + &format!(
            "{xtp} send -m one twofold && {xtp} send -m two --acknowledged twofold && {xtp} send -m six --lines twofold \
             && echo all confirmed; kill $server; wait $server; cat taken"
        );
    let Some(said) = in_namespaces(TWOFOLD, &script) else {
        return;
    };
    assert!(said.contains("all confirmed"), "{said}");
    for message in ["one", "two", "six"] {
        assert_eq!(said.matches(message).count(), 1, "{message}: {said}");
    }
}
