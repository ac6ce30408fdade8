//! Capture files, read back.

use pcap_file::pcap::PcapReader;

use super::*;

fn addr(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}

fn frames(path: &Path) -> Vec<Vec<u8>> {
    let mut reader = PcapReader::new(File::open(path).expect("a file")).expect("a header");
    assert_eq!(reader.header().datalink, DataLink::RAW);
    let mut found = Vec::new();
    while let Some(packet) = reader.next_packet() {
        found.push(packet.expect("a whole packet").data.into_owned());
    }
    found
}

#[test]
fn both_directions_arrive_in_the_file_on_drop() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("a.pcap");
    let trace = Trace::pcap(&path).expect("a capture");
    let local = addr("0.0.0.0:700");
    trace.received(
        addr("127.0.0.1:9"),
        Some("127.0.0.1".parse().expect("an ip")),
        local,
        b"in",
    );
    let train = xtp_engine::Train {
        dst: addr("127.0.0.1:9"),
        src: None,
        ecn: xtp_engine::Ecn::NotEct,
        sort: None,
        segment: 3,
        total: 8,
        count: 3,
        probe: false,
        pieces: 0..2,
    };
    let pieces = [IoSlice::new(b"aaabb"), IoSlice::new(b"bcc")];
    trace.sent(&train, &pieces, 1..3, local);
    drop(trace);
    let payloads: Vec<Vec<u8>> = frames(&path).iter().map(|frame| frame[20..].to_vec()).collect();
    assert_eq!(payloads, [b"in".to_vec(), b"bbb".to_vec(), b"cc".to_vec()]);
}

#[test]
fn flush_brings_a_half_full_buffer_to_the_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("a.pcap");
    let trace = Trace::create(&path, Framing::Udp).expect("a capture");
    trace.received(addr("[::1]:9"), None, addr("[::]:8"), b"in");
    trace.flush().expect("space");
    assert_eq!(frames(&path).len(), 1);
    assert_eq!(trace.path(), path);
}

#[test]
fn a_missing_directory_is_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("none").join("a.pcap");
    let error = Trace::pcap(&path).expect_err("no such directory");
    assert!(matches!(error, Error::Capture { .. }));
    assert!(error.to_string().contains("a.pcap"), "{error}");
}

#[test]
fn local_addresses_are_guessed_by_family() {
    let ip = |text: &str| text.parse::<IpAddr>().expect("an ip");
    let any = addr("[::]:1");
    assert_eq!(known(Some(ip("10.0.0.9")), any, ip("10.0.0.1")), ip("10.0.0.9"));
    assert_eq!(known(None, addr("10.0.0.8:1"), ip("10.0.0.1")), ip("10.0.0.8"));
    assert_eq!(known(None, any, ip("127.0.0.1")), ip("127.0.0.1"));
    assert_eq!(known(None, any, ip("::1")), ip("::1"));
    assert_eq!(known(None, any, ip("10.0.0.1")), ip("0.0.0.0"));
    assert_eq!(
        known(Some(ip("::ffff:10.0.0.9")), any, ip("10.0.0.1")),
        ip("10.0.0.9")
    );
}
