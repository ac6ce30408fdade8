//! Payload lent to the kernel arrives as it was written, and its memory comes back when it is acknowledged.

mod common;

use std::sync::Arc;
use std::thread;

use common::{LONG, PORT, pattern};
use xtp::{Bytes, Chunk, Config, Confirm, Driver, Endpoint, paradigm};
use xtp_link::relay::{Relay, RelayConfig};
use xtp_link::{LinkConfig, Loss};

/// Memory that tells whether somebody still has it.
struct Memory {
    octets: Vec<u8>,
    #[expect(dead_code, reason = "counts owners")]
    owner: Arc<()>,
}

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        &self.octets
    }
}

fn endpoint(lend: bool) -> Endpoint {
    let mut config = Config::server("127.0.0.1:0".parse().expect("an address"));
    config.fresh_start = true;
    config.socket.lend = lend;
    Endpoint::bind(config).expect("a socket")
}

/// Sends what `sizes` say to an endpoint behind `link`; returns the datagrams that were lent.
fn transfer(lend: bool, sizes: &[usize], link: Option<LinkConfig>) -> u64 {
    let (client, server) = (endpoint(lend), endpoint(false));
    let _drivers: [Driver; 2] = [&client, &server].map(|end| end.spawn_driver().expect("a thread"));
    let listener = server.listen(PORT).expect("a free number");
    let relay = link.map(|link| {
        let mut config = RelayConfig::new(server.local_addr()).with_links(link);
        config.seed = 7;
        Relay::spawn(config).expect("a relay")
    });
    let peer = relay.as_ref().map_or(server.local_addr(), |relay| relay.addr());
    let memories: Vec<_> = (0..)
        .zip(sizes)
        .map(|(seed, &size)| {
            let mut octets = pattern(size);
            octets.rotate_left(seed);
            octets
        })
        .collect();
    let owner = Arc::new(());
    thread::scope(|scope| {
        scope.spawn(|| {
            let stream = listener
                .accept_timeout(LONG)
                .expect("an association")
                .into_stream();
            let mut arrived = Vec::new();
            while let Some(chunk) = stream.recv_chunk().expect("an open association") {
                if let Chunk::Data { bytes, .. } = chunk {
                    arrived.extend_from_slice(&bytes);
                }
            }
            assert!(arrived == memories.concat(), "other octets arrived");
        });
        let stream = client.open(peer, paradigm::stream(PORT)).expect("opened");
        for octets in &memories {
            let (octets, owner) = (octets.clone(), owner.clone());
            let bytes = Bytes::from_owner(Memory { octets, owner });
            stream.send(bytes).expect("room");
        }
        stream.confirm(Confirm::Delivered).expect("delivered");
        stream.close().expect("closed");
    });
    let lent = client.stats().socket.lent;
    drop(client);
    if let Some(relay) = relay {
        let stats = relay.stop();
        assert!(
            stats.to_server.dropped.loss > 0,
            "the relay lost nothing: {stats:?}"
        );
    }
    assert_eq!(Arc::strong_count(&owner), 1, "acknowledged memory is kept");
    lent
}

/// Whether this kernel lends.
fn works() -> bool {
    transfer(true, &[16 << 20], None) > 0
}

/// Sizes that begin pages anywhere, some too short to be lent.
fn sizes(count: usize) -> Vec<usize> {
    (0..count)
        .map(|number| 1 + number * number * 7_919 % 300_000)
        .collect()
}

#[test]
fn what_is_lent_arrives() {
    let lent = transfer(true, &sizes(100), None);
    assert_eq!(lent > 0, works());
}

#[test]
fn nothing_is_lent_unless_wished() {
    assert_eq!(transfer(false, &sizes(10), None), 0);
}

#[test]
fn what_is_lent_and_lost_arrives_too() {
    let link = LinkConfig {
        loss: Loss::Random(0.05),
        duplicate: 0.02,
        reorder: 0.1,
        reorder_delay: std::time::Duration::from_millis(2),
        ..LinkConfig::default()
    };
    // A transfer whose search for the datagram size met the losses goes in short ones, which nobody lends.
    let lends = (0..10).any(|_| transfer(true, &sizes(60), Some(link.clone())) > 0);
    assert_eq!(lends, works());
}
