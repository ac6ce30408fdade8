//! Whatever an association is at the moment, it is asked the same and answers the same.

use super::*;
use crate::config::EngineConfig;
use crate::event::Event;
use crate::options::ListenOptions;
use crate::paradigm;
use bytes::Bytes;
use xtp_core::time::Time;
use xtp_core::transmit::{Datagram, Ecn, TransmitBatch};

const PORT: u16 = 9;

fn address(end: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 36_036 + end))
}

/// Every question, and what was answered.
fn ask(engine: &Engine, id: ContextId) -> String {
    let view = engine.context(id).expect("it is there");
    format!(
        "peer {}, proved {}, payload {}, writable {}, readable {}, message {}, closed {:?}, {:?}",
        view.peer(),
        view.is_proved(),
        view.packet_payload(),
        view.writable(),
        view.readable(),
        view.holds_message(),
        view.close_reason(),
        view.stats()
    )
}

/// What a record answers, and what its context does.
fn ask_both(engine: &mut Engine, id: ContextId) -> [String; 2] {
    let slot = engine.contexts.find(id).expect("it is there");
    assert!(engine.contexts.pending(slot).is_some(), "a record");
    let record = ask(engine, id);
    engine.promote(slot);
    assert!(engine.contexts.pending(slot).is_none(), "a context");
    [record, ask(engine, id)]
}

#[test]
fn a_record_answers_as_its_context_would() {
    let now = Time::from_nanos(1_000_000_000);
    let mut ends = [1, 2].map(|n| Engine::new(EngineConfig::new([n; 32])).expect("defaults"));
    ends[1].listen(ListenOptions::new(PORT)).expect("a free port");
    let (mut out, mut data) = (TransmitBatch::new(), Bytes::from_static(b"request"));
    let here = ends[0]
        .open_ahead(now, address(1), paradigm::transaction(PORT), &mut data)
        .expect("room");
    let [record, context] = ask_both(&mut ends[0], here);
    assert_eq!(record, context);
    assert!(
        record.starts_with("peer 127.0.0.1:36037, proved true"),
        "{record}"
    );

    ends[0].flush(now, &mut out);
    let mut first = Vec::new();
    out.for_each_datagram(|_, octets| first.extend_from_slice(octets));
    ends[1].receive(
        now,
        Datagram {
            src: address(0),
            dst: None,
            ecn: Ecn::NotEct,
            data: &first,
            backing: None,
        },
    );
    let Some((there, Event::Accepted { .. })) = ends[1].poll_event() else {
        panic!("nobody was told")
    };
    let [record, context] = ask_both(&mut ends[1], there);
    assert_eq!(record, context);
    assert!(
        record.contains("proved false") && record.contains("readable 7, message true"),
        "{record}"
    );
}

#[test]
fn who_is_not_there_is_not_asked() {
    let engine = Engine::new(EngineConfig::new([1; 32])).expect("defaults");
    assert!(matches!(engine.context(ContextId(7)), Err(Error::NoContext)));
}
