//! `xtp ping`.

use crate::support::{Nobody, Running, xtp};

#[test]
fn whatever_listens_answers() {
    let (listen, there) = Running::listener(&["listen", "127.0.0.1:0"]);
    let (answer, here) = Running::listener(&["answer", "127.0.0.1:0", "--", "true"]);
    for address in [&there, &here] {
        let done = xtp(&["ping", "-c", "3", "-i", "0", address]).expect(0);
        let text = done.text();
        assert!(
            text.starts_with(&format!("PING {address}/7: 56 octets\n")),
            "{text}"
        );
        for seq in 1..=3 {
            assert!(
                text.contains(&format!("56 octets from {address}: seq={seq} time=")),
                "{text}"
            );
        }
        assert!(text.contains("3 sent, 3 received, 0% lost"), "{text}");
        assert!(
            text.contains("rtt min/avg/max = ") && text.contains("p50/p90/p99 = "),
            "{text}"
        );
    }
    listen.interrupt().expect(130);
    answer.interrupt().expect(130);
}

#[test]
fn the_result_is_an_object() {
    let (_listen, address) = Running::listener(&["listen", "127.0.0.1:0"]);
    let done = xtp(&["ping", "-c", "5", "-i", "0", "-s", "100k", "--json", &address]).expect(0);
    let object = done.json();
    assert_eq!(object["ok"], true);
    assert_eq!(object["sent"], 5);
    assert_eq!(object["received"], 5);
    assert_eq!(object["size"], 100_000);
    assert_eq!(object["lost_percent"], 0.0);
    assert_eq!(object["peer"], address.as_str());
    let rtt = &object["rtt_us"];
    let value = |name: &str| rtt[name].as_f64().expect("a number");
    assert!(value("min") <= value("p50") && value("p50") <= value("p99") && value("p99") <= value("max"));
}

#[test]
fn quiet_pings_are_summed_up_only() {
    let (_listen, address) = Running::listener(&["listen", "127.0.0.1:0"]);
    let done = xtp(&["ping", "-c", "2", "-i", "0", "-q", &address]).expect(0);
    assert!(!done.text().contains("seq="), "{done:?}");
    assert!(done.text().contains("2 sent, 2 received"), "{done:?}");
    assert_eq!(done.stderr, "");
}

#[test]
fn ipv6_is_written_in_brackets() {
    let (_listen, address) = Running::listener(&["listen", "[::1]:0"]);
    assert!(address.starts_with("[::1]:"), "{address}");
    xtp(&["ping", "-c", "1", &address]).expect(0);
}

#[test]
fn nobody_there_is_status_3() {
    let done = xtp(&["ping", "-c", "1", &Nobody::new().address()]).expect(3);
    assert!(done.sentence().contains("nobody listens"), "{done:?}");
}

#[test]
fn a_host_that_says_nothing_is_status_3() {
    // A socket that takes everything and answers nothing.
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let address = silent.local_addr().expect("bound").to_string();
    let done = xtp(&["ping", "-c", "1", "--timeout", "300ms", &address]).expect(3);
    assert!(done.sentence().contains("300 ms"), "{done:?}");
}

#[test]
fn a_service_nobody_offers_is_status_4() {
    let (_listen, address) = Running::listener(&["listen", "127.0.0.1:0"]);
    let done = xtp(&["ping", "-c", "1", &format!("{address}/99")]).expect(4);
    assert!(done.sentence().contains("check the service number"), "{done:?}");
}

#[test]
fn a_service_that_is_no_echo_is_found_out() {
    let (_listen, address) = Running::listener(&["listen", "127.0.0.1:0"]);
    let done = xtp(&["ping", "-c", "1", "--timeout", "500ms", &format!("{address}/9")]).expect(3);
    assert!(done.sentence().contains("answered none of 1 pings"), "{done:?}");
}

#[test]
fn the_log_says_that_associations_open_and_end() {
    let (_listen, address) = Running::listener(&["listen", "127.0.0.1:0"]);
    let quiet = xtp(&["ping", "-c", "1", &address]).expect(0).stderr;
    assert!(!quiet.contains("xtp::association"), "{quiet}");
    let said = xtp(&["ping", "-c", "1", "-v", &address]).expect(0).stderr;
    let peer = address.split('/').next().expect("an address");
    assert!(
        said.contains("opened to") && said.contains(&format!("peer={peer}")),
        "{said}"
    );
    let more = xtp(&["ping", "-c", "1", "-vvv", &address]).expect(0).stderr;
    assert!(more.contains("xtp::wait: waits: "), "{more}");
}
