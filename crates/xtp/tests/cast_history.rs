//! The past of a stream to a group: its program gives back what the transmitter no longer keeps.

mod common;

use std::io::Read;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use common::{LONG, endpoint, pattern};
use xtp::{
    Bytes, Cast, CastOptions, DropReason, Endpoint, GroupEvent, HistoryItem, Interface, JoinOptions,
    MemberReport, MemberState, Subscription,
};

/// Octets that left before the late one comes, and after.
const BEFORE: usize = 1_000_000;
const AFTER: usize = 200_000;

fn loopback() -> Interface {
    Interface::Address("127.0.0.1".parse().unwrap())
}

fn join(group: SocketAddr) -> (Endpoint, Subscription) {
    let endpoint = endpoint();
    let options = JoinOptions::new().interface(loopback());
    let subscription = endpoint.join(group, options).expect("joined");
    subscription.set_timeout(Some(LONG));
    (endpoint, subscription)
}

fn reading(mut subscription: Subscription) -> thread::JoinHandle<(Vec<u8>, bool)> {
    thread::spawn(move || {
        let mut got = Vec::new();
        let whole = subscription.read_to_end(&mut got).is_ok() && subscription.close().is_ok();
        (got, whole)
    })
}

/// Waits until somebody joined.
fn joined(cast: &Cast) {
    loop {
        let event = cast.event(Some(LONG)).expect("news").expect("not over");
        if matches!(event, GroupEvent::Joined(_)) {
            return;
        }
    }
}

/// One from the beginning, one that comes when all but the end was forgotten; what became of each and what it got.
fn one_late(
    group: &str,
    history: impl Fn(u64, usize) -> Option<HistoryItem> + Send + Sync + 'static,
) -> [(MemberReport, Vec<u8>, bool); 2] {
    let group: SocketAddr = group.parse().unwrap();
    let transmitter = endpoint();
    let driver = transmitter.spawn_driver().expect("a thread");
    let options = CastOptions::new()
        .interface(loopback())
        .expect(1)
        .keep(0)
        .history(history);
    let cast = transmitter.cast(group, options).expect("cast");
    let data = pattern(BEFORE + AFTER);
    let (_first, subscription) = join(group);
    let first = reading(subscription);
    cast.send(data[..BEFORE].to_vec()).expect("sent");
    joined(&cast);
    while cast.stats().expect("counters").acknowledged < BEFORE as u64 {
        transmitter
            .progress_timeout(Duration::from_millis(5))
            .expect("no failure");
    }
    let (_late, subscription) = join(group);
    let late = reading(subscription);
    joined(&cast);
    cast.send(data[BEFORE..].to_vec()).expect("sent");
    let members = cast.finish().expect("finished");
    drop(driver);
    let [one, other] = <[MemberReport; 2]>::try_from(members).expect("two members");
    let ((first, first_whole), (late, late_whole)) = (first.join().unwrap(), late.join().unwrap());
    [(one, first, first_whole), (other, late, late_whole)]
}

#[test]
fn who_comes_late_gets_what_is_no_longer_kept() {
    let data = Bytes::from(pattern(BEFORE + AFTER));
    let given = Arc::new(AtomicUsize::new(0));
    let (past, count) = (data.clone(), Arc::clone(&given));
    let [first, late] = one_late("239.77.6.1:36036", move |position, most| {
        let from = usize::try_from(position).unwrap();
        let octets = past.slice(from..past.len().min(from + most));
        count.fetch_add(octets.len(), Ordering::Relaxed);
        Some(octets.into())
    });
    assert_eq!(first.0.state, MemberState::Done(false));
    assert_eq!(late.0.state, MemberState::Done(true));
    assert!(first.1 == data && first.2);
    assert!(late.1 == data && late.2);
    // All but what is left of the last blocks, and nothing twice.
    let given = given.load(Ordering::Relaxed);
    assert!((BEFORE - 200_000..=BEFORE).contains(&given), "{given}");
}

/// A program that has not got it, and one that fails, say that it is lost.
#[test]
fn a_past_that_is_lost() {
    for (group, fails) in [("239.77.6.2:36036", false), ("239.77.6.3:36036", true)] {
        let [first, late] = one_late(group, move |position, _| {
            assert!(!fails, "a program that fails at {position}");
            None
        });
        assert_eq!(first.0.state, MemberState::Done(false));
        assert!(first.1 == pattern(BEFORE + AFTER) && first.2);
        assert_eq!(late.0.state, MemberState::Dropped(DropReason::Behind));
        assert!(!late.2);
    }
}
