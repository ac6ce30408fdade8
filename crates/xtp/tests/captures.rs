//! Captures of what an endpoint sends and receives.

mod common;

use std::thread;

use common::{LONG, PORT, endpoint};
use xtp::{CallOptions, Config, Endpoint, Framing, Trace};

#[test]
fn a_capture_is_send_and_sync() {
    fn check<T: Send + Sync + 'static>() {}
    check::<Trace>();
}

#[test]
fn a_capture_holds_every_packet_of_both_directions() {
    let directory = tempfile::tempdir().expect("a directory");
    for framing in [Framing::Protocol36, Framing::Udp] {
        let path = directory.path().join(format!("{framing:?}.pcap"));
        let server = endpoint();
        let listener = server.listen(PORT).expect("a free number");
        let address = server.local_addr();
        let far = thread::spawn(move || {
            let (request, incoming) = listener.recv_message().expect("a request");
            incoming.respond_confirmed(request, LONG).expect("confirmed");
        });
        let mut config = Config::server("127.0.0.1:0".parse().expect("an address"));
        config.trace = Some(Trace::create(&path, framing).expect("a file"));
        let client = Endpoint::bind(config).expect("loopback");
        client
            .call(address, PORT, "hello", &CallOptions::within(LONG))
            .expect("an answer");
        let stats = client.stats();
        drop(client);
        far.join().expect("no panic");
        let file = std::fs::File::open(&path).expect("a file");
        let mut reader = pcap_file::pcap::PcapReader::new(file).expect("a header");
        let mut packets = 0;
        while let Some(packet) = reader.next_packet() {
            let packet = packet.expect("a whole packet");
            let head = if framing == Framing::Udp { 28 } else { 20 };
            // Version 1 in the top bits of the format octet of every XTP header.
            assert_eq!(packet.data[head + 11] >> 5, 1);
            packets += 1;
        }
        assert_eq!(packets, stats.packets_sent() + stats.packets_received());
    }
}
