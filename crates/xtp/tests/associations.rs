//! All associations of an endpoint at a glance.

mod common;

use std::io::{Read, Write};

use common::{PORT, endpoint};
use xtp::{AssociationHolder, paradigm};

#[test]
fn what_each_association_waits_for() {
    let (server, client) = (endpoint(), endpoint());
    assert_eq!(server.associations(10), []);
    let listener = server.listen_streams(PORT).expect("free");
    let streams: Vec<_> = (0..3)
        .map(|_| {
            client
                .open(server.local_addr(), paradigm::stream(PORT))
                .expect("loopback")
        })
        .collect();
    for mut stream in &streams {
        stream.write_all(b"hello").expect("room");
    }
    let driver = client.spawn_driver().expect("a thread");
    let taken = listener.accept().expect("one of three").into_stream();
    while server.associations(10).len() < 3 {
        server
            .progress_timeout(std::time::Duration::from_millis(20))
            .expect("loopback");
    }
    let all = server.associations(10);
    let held = |holder| all.iter().filter(|one| one.holder == holder).count();
    assert_eq!(
        (
            held(AssociationHolder::Program),
            held(AssociationHolder::Listener)
        ),
        (1, 2)
    );
    for one in &all {
        assert!(one.is_heard && !one.is_over, "{one:?}");
        assert_eq!((one.peer.port(), one.readable), (client.local_addr().port(), 5));
        assert_eq!(one.stats.octets_received, 5);
    }
    assert!(all.is_sorted_by_key(|one| one.number));
    let numbers = |all: &[xtp::AssociationReport]| all.iter().map(|one| one.number).collect::<Vec<_>>();
    assert_eq!(numbers(&server.associations(2)), numbers(&all[..2]));
    assert_eq!(
        all.iter()
            .find(|one| one.number == taken.number())
            .map(|one| one.holder),
        Some(AssociationHolder::Program)
    );

    // What the reader takes is no longer to be read; what was acknowledged is not open at the other end.
    (&taken).read_exact(&mut [0; 5]).expect("there");
    let of = |number| {
        server
            .associations(10)
            .into_iter()
            .find(|one| one.number == number)
    };
    assert_eq!(of(taken.number()).expect("alive").readable, 0);
    streams[0].flush_acknowledged().expect("acknowledged");
    let first = client.associations(1);
    assert_eq!(
        (first[0].number, first[0].unacknowledged),
        (streams[0].number(), 0)
    );
    assert!(first[0].stats.rtt.is_some() && first[0].writable > 0);
    drop(driver);
}
