//! A peer that may know the formats of 1995 only is asked in those, and stays the same peer (§2.7).

use crate::host::{Host, PORT, encode, keyed, parse};
use std::net::SocketAddr;
use std::time::Duration;
use xtp_engine::{CloseReason, ContextId, DiagReason, EngineConfig, paradigm};
use xtp_wire::{Body, Diag, DiagCode, DiagValue, Format, Key, Options, Packet, Tlv, Traffic};

const SECOND: Duration = Duration::from_secs(1);

fn caller() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 9], 40_001))
}

/// An engine that opens a stream, writes on it and has not been heard; the packets that have left.
fn calling() -> (Host, ContextId, Vec<Vec<u8>>) {
    let mut host = Host::with(EngineConfig::new([9; 32]));
    let (id, sent) = call(&mut host);
    (host, id, sent)
}

fn call(host: &mut Host) -> (ContextId, Vec<Vec<u8>>) {
    let id = host.open(paradigm::stream(PORT));
    host.write(id, b"once", false);
    let sent = host.flush();
    (id, sent)
}

/// What it sends by itself in that time.
fn silence(host: &mut Host, span: Duration) -> Vec<Vec<u8>> {
    host.wait(span).into_iter().map(|(_, octets)| octets).collect()
}

fn states_legacy(packet: &Packet<'_>) -> Option<bool> {
    match packet.body {
        Body::First(first) => Some(matches!(first.traffic, Traffic::Basic(_))),
        _ => None,
    }
}

/// What each of these FIRSTs states, and under which key.
fn firsts(sent: &[Vec<u8>]) -> Vec<(bool, u64)> {
    let packets = sent.iter().map(|octets| parse(octets));
    packets
        .filter_map(|packet| Some((states_legacy(&packet)?, packet.header.key.value())))
        .collect()
}

/// Hands all of it to the other engine, and its answers back.
fn exchange(host: &mut Host, other: &mut Host, mut sent: Vec<Vec<u8>>) {
    for _ in 0..20 {
        let answers: Vec<_> = sent
            .drain(..)
            .flat_map(|octets| other.give_from(caller(), &octets))
            .collect();
        for octets in answers {
            sent.extend(host.give_octets(&octets));
        }
    }
}

/// The way back is cut for 8 s: whoever took FIRST long ago takes its repetitions in the other format for what they are, and
/// what was agreed is what the first one offered.
#[test]
fn a_fall_back_is_a_repetition_to_who_took_the_first() {
    let (mut host, id, sent) = calling();
    let mut responder = Host::new();
    let key = firsts(&sent)[0].1;
    for octets in sent {
        responder.give_from(caller(), &octets);
    }
    let sent = silence(&mut host, 8 * SECOND);
    assert!(
        sent.iter()
            .all(|octets| !parse(octets).header.options.contains(Options::END)),
        "it is not over"
    );
    assert_eq!(
        firsts(&sent),
        [(false, key), (false, key), (true, key), (true, key)],
        "four within 8 s, all under one key"
    );
    responder.now = host.now;
    exchange(&mut host, &mut responder, sent);
    assert_eq!(responder.accepted().len(), 1);
    let accepted = responder.accepted()[0];
    assert_eq!(responder.read(accepted), b"once");
    host.write(id, b" more", true);
    let sent = host.flush();
    assert!(
        sent.iter()
            .all(|octets| parse(octets).header.format != Format::First)
    );
    exchange(&mut host, &mut responder, sent);
    assert_eq!(responder.read(accepted), b" more");
    assert_eq!(host.closed(id), None);
}

/// Whoever took the first and let go of it says so to the repetitions in the other format, and runs nothing twice.
#[test]
fn a_fall_back_meets_the_tombstone_of_the_first() {
    let (mut host, id, sent) = calling();
    let mut responder = Host::new();
    for octets in sent {
        responder.give_from(caller(), &octets);
    }
    let accepted = responder.accepted()[0];
    responder.engine.abort(responder.now, accepted).expect("open");
    responder.flush();
    let sent = silence(&mut host, 6 * SECOND);
    let legacy: Vec<_> = sent
        .into_iter()
        .filter(|octets| states_legacy(&parse(octets)) == Some(true))
        .collect();
    assert_eq!(legacy.len(), 1);
    responder.now = host.now;
    exchange(&mut host, &mut responder, legacy);
    assert_eq!(responder.accepted().len(), 1, "not run again");
    assert!(host.closed(id).is_some(), "it learns that it is over");
}

/// An initiator that has begun another association repeats no FIRST of those before; copies of one that fell back are known all the
/// same, although they name no client.
#[test]
fn a_copy_of_a_fall_back_meets_the_tombstone_when_its_client_has_gone_on() {
    let (mut host, id, sent) = calling();
    let mut responder = Host::new();
    for octets in sent {
        responder.give_from(caller(), &octets);
    }
    let sent = silence(&mut host, 6 * SECOND);
    let states_legacy = |octets: &&Vec<u8>| states_legacy(&parse(octets)) == Some(true);
    let copy = sent.iter().find(states_legacy).cloned().expect("it falls back");
    responder.now = host.now;
    exchange(&mut host, &mut responder, sent);
    host.engine.abort(host.now, id).expect("open");
    let sent = host.flush();
    exchange(&mut host, &mut responder, sent);
    let (_, sent) = call(&mut host);
    exchange(&mut host, &mut responder, sent);
    assert_eq!(responder.accepted().len(), 2);
    responder.give_from(caller(), &copy);
    assert_eq!(responder.accepted().len(), 2, "not run again");
}

/// What was taken in the formats of 1995 is known by those of today as well: an old copy of the first FIRST runs nothing.
#[test]
fn an_old_copy_of_the_first_meets_the_tombstone_of_the_fall_back() {
    let (mut host, _, first) = calling();
    let sent = silence(&mut host, 6 * SECOND);
    let mut responder = Host::new();
    responder.now = host.now;
    responder.give_from(caller(), sent.last().expect("repetitions"));
    let accepted = responder.accepted()[0];
    responder.engine.abort(responder.now, accepted).expect("open");
    responder.flush();
    responder.give_from(caller(), &first[0]);
    assert_eq!(responder.accepted().len(), 1);
}

/// Silence proves nothing about a peer: the next association begins with the formats of today.
#[test]
fn who_was_silent_is_not_taken_for_a_legacy_peer_later() {
    let (mut host, id, _) = calling();
    let sent = silence(&mut host, 6 * SECOND);
    let mut responder = Host::new();
    responder.now = host.now;
    let last = sent.last().cloned().into_iter().collect();
    exchange(&mut host, &mut responder, last);
    let accepted = responder.accepted()[0];
    assert_eq!(responder.read(accepted), b"once");
    host.write(id, b" more", true);
    let sent = host.flush();
    exchange(&mut host, &mut responder, sent);
    assert_eq!(responder.read(accepted), b" more", "in the formats of 1995");
    let (_, sent) = call(&mut host);
    assert!(!firsts(&sent)[0].0);
}

fn refusal(key: u64, value: DiagValue) -> Vec<u8> {
    refusal_saying(key, value, "")
}

fn refusal_saying(key: u64, value: DiagValue, text: &str) -> Vec<u8> {
    let body = Body::Diag(Diag::new(DiagCode::ContextRefused, value, text));
    encode(&keyed(Key::returned(key), 0, 0, Options::empty(), body))
}

/// Who says that it knows the formats of 1995 only is asked in those under a new key, and remembered.
#[test]
fn who_refuses_the_formats_of_today_is_a_legacy_peer() {
    let (mut host, _, sent) = calling();
    let key = firsts(&sent)[0].1;
    let sent = host.give_octets(&refusal(key, DiagValue::TrafficFormat));
    let [(true, other)] = firsts(&sent)[..] else {
        panic!("{:?}", firsts(&sent))
    };
    assert_ne!(other, key);
    let mut responder = Host::new();
    exchange(&mut host, &mut responder, sent);
    let (_, sent) = call(&mut host);
    assert!(firsts(&sent)[0].0);
}

/// After the fall-back that refusal comes too late: the peer may have taken what has left since under the same key.
#[test]
fn a_late_refusal_of_the_format_begins_nothing_anew() {
    let (mut host, id, sent) = calling();
    let key = firsts(&sent)[0].1;
    silence(&mut host, 6 * SECOND);
    let sent = host.give_octets(&refusal(key, DiagValue::TrafficFormat));
    assert_eq!(firsts(&sent), []);
    let sent = silence(&mut host, 2 * SECOND);
    assert_eq!(firsts(&sent), [(true, key)]);
    assert_eq!(host.closed(id), None);
}

/// "No resource" may be all that a peer under pressure can say to the legacy format: it is asked in the others again, under the
/// same key, for it may have taken another copy. A second refusal says nothing new.
#[test]
fn under_pressure_the_formats_of_today_are_offered_again_under_the_same_key() {
    let (mut host, id, sent) = calling();
    let key = firsts(&sent)[0].1;
    silence(&mut host, 6 * SECOND);
    let sent = host.give_octets(&refusal(key, DiagValue::NoResource));
    assert_eq!(firsts(&sent), [(false, key)]);
    let sent = host.give_octets(&refusal(key, DiagValue::NoResource));
    assert_eq!(firsts(&sent), []);
    assert_eq!(host.closed(id), None);
}

/// It goes on asking for as long as it is told to wait, and gives up with what it heard: a refusal of all that has left is the
/// reason. What nobody answered was not heard by anybody.
#[test]
fn who_is_refused_until_it_gives_up_is_told_so() {
    for answered in [true, false] {
        let (mut host, id, sent) = calling();
        let key = firsts(&sent)[0].1;
        silence(&mut host, 6 * SECOND);
        host.give_octets(&refusal(key, DiagValue::NoResource));
        let mut asked = 0;
        for _ in 0..200 {
            let sent = silence(&mut host, SECOND / 10);
            asked += firsts(&sent).len();
            if answered && !sent.is_empty() {
                host.give_octets(&refusal(key, DiagValue::NoResource));
            }
        }
        assert!(asked >= 5, "{asked}");
        let expected = match answered {
            true => CloseReason::Refused(DiagReason(DiagValue::NoResource.to_wire())),
            false => CloseReason::Unreachable,
        };
        assert_eq!(host.closed(id), Some(expected.to_string()));
    }
}

/// A refusal for its start is of the formats of today. If nobody before can have run them, what was asked since may be taken;
/// otherwise nobody knows.
#[test]
fn a_refusal_for_the_start_is_not_of_the_fall_back() {
    for (age_ms, ends) in [(100_000, false), (1_000, true)] {
        let (mut host, id, sent) = calling();
        let key = firsts(&sent)[0].1;
        silence(&mut host, 6 * SECOND);
        let text = format!("1790000000000 1789999900000 {age_ms}");
        let sent = host.give_octets(&refusal_saying(key, DiagValue::ImproperState, &text));
        assert_eq!(firsts(&sent), []);
        assert_eq!(host.closed(id).is_some(), ends, "{:?}", host.closed(id));
    }
}

/// The instance that a FIRST states.
fn named(octets: &[u8]) -> Option<u64> {
    let Body::First(first) = parse(octets).body else {
        return None;
    };
    let Traffic::Extended(specifier) = first.traffic else {
        return None;
    };
    specifier.tlvs.iter().find_map(|tlv| match tlv {
        Tlv::Instance(name) => Some(name),
        _ => None,
    })
}

/// Under pressure and young: what is asked in the formats of today again is refused for the start, and states the name, once. Another
/// copy may have been taken, and the key shows that.
#[test]
fn what_turned_back_states_the_name_under_the_same_key() {
    let (mut host, id, sent) = calling();
    let key = firsts(&sent)[0].1;
    silence(&mut host, 6 * SECOND);
    host.give_octets(&refusal(key, DiagValue::NoResource));
    let text = "1790000000000 1789999900000 100000";
    let sent = host.give_octets(&refusal_saying(key, DiagValue::ImproperState, text));
    assert_eq!(firsts(&sent), [(false, key)]);
    assert_eq!(named(&sent[0]), Some(1_789_999_900_000));
    let text = "1790000000000 1789999900001 100000";
    let sent = host.give_octets(&refusal_saying(key, DiagValue::ImproperState, text));
    assert_eq!(firsts(&sent), []);
    assert_eq!(host.closed(id), None);
}

/// What was told to use the legacy format has begun anew once; a refusal for its start, whatever it proves, begins nothing more.
#[test]
fn what_began_anew_in_the_legacy_format_is_not_repeated() {
    let (mut host, id, sent) = calling();
    let key = firsts(&sent)[0].1;
    let sent = host.give_octets(&refusal(key, DiagValue::TrafficFormat));
    let again = firsts(&sent);
    assert!(matches!(again[..], [(true, other)] if other != key), "{again:?}");
    let text = "1790000000000 1789999900000 100000";
    let sent = host.give_octets(&refusal_saying(again[0].1, DiagValue::ImproperState, text));
    assert_eq!(firsts(&sent), []);
    assert!(host.closed(id).is_some());
}
