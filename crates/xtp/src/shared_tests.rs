//! Leaders and followers: who sleeps on the socket, who behind it, and who takes over.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU32;
use std::thread;

use super::*;
use crate::config::Wait;
use crate::endpoint::Endpoint;

fn endpoint(wait: Wait) -> Endpoint {
    let mut config = Config::server("127.0.0.1:0".parse().expect("an address"));
    config.wait = wait;
    Endpoint::bind(config).expect("loopback")
}

/// Waits until the state is as wanted; the test hangs, and its runner says so, if it never is.
fn until(shared: &Shared, wanted: impl Fn(&EndpointState) -> bool) {
    while !wanted(&shared.lock()) {
        thread::yield_now();
    }
}

/// A waiting call that ends when its bit is set.
fn wait_for(shared: &Shared, bits: &AtomicU32, bit: u32) -> Result<()> {
    shared.wait("a bit", None, |_, _| {
        if bits.load(Ordering::SeqCst) & bit == 0 {
            Poll::Pending
        } else {
            Poll::Ready(Ok(()))
        }
    })
}

/// What an event of the engine does: something happened, look again.
fn news(shared: &Shared, bits: &AtomicU32, bit: u32) {
    bits.fetch_or(bit, Ordering::SeqCst);
    shared.command(|core, _| core.news += 1);
}

#[test]
fn one_leads_the_others_follow_and_take_over() {
    for wait in [Wait::Block, Wait::Spin, Wait::Adaptive] {
        let endpoint = endpoint(wait);
        let shared = &*endpoint.shared;
        let bits = AtomicU32::new(0);
        thread::scope(|scope| {
            let first = scope.spawn(|| wait_for(shared, &bits, 1));
            until(shared, |state| state.leader && state.followers == 0);
            let second = scope.spawn(|| wait_for(shared, &bits, 2));
            let third = scope.spawn(|| wait_for(shared, &bits, 4));
            until(shared, |state| state.leader && state.followers == 2);
            // The leader has what it waited for: it is woken, and one of the others leads.
            news(shared, &bits, 1);
            first.join().expect("no panic").expect("its bit");
            until(shared, |state| state.leader && state.followers == 1);
            // News for a follower, or for the new leader: both are told.
            news(shared, &bits, 2);
            second.join().expect("no panic").expect("its bit");
            until(shared, |state| state.leader && state.followers == 0);
            news(shared, &bits, 4);
            third.join().expect("no panic").expect("its bit");
        });
        let state = shared.lock();
        assert!(!state.leader && state.followers == 0, "nobody is left behind");
    }
}

#[test]
fn a_leader_that_gives_up_hands_over() {
    let endpoint = endpoint(Wait::Block);
    let shared = &*endpoint.shared;
    let bits = AtomicU32::new(0);
    thread::scope(|scope| {
        let impatient = scope.spawn(|| {
            let never = |_: &mut Core, _| Poll::<Result<()>>::Pending;
            shared.wait("nothing", Some(Duration::from_millis(50)), never)
        });
        until(shared, |state| state.leader);
        let patient = scope.spawn(|| wait_for(shared, &bits, 1));
        let error = impatient.join().expect("no panic").expect_err("nothing comes");
        assert!(matches!(error, Error::Timeout { what: "nothing", .. }), "{error}");
        until(shared, |state| state.leader);
        news(shared, &bits, 1);
        patient.join().expect("no panic").expect("its bit");
    });
}

#[test]
fn a_driver_keeps_away_while_callers_lead_and_is_told_of_the_end() {
    let endpoint = endpoint(Wait::Block);
    let driver = endpoint.spawn_driver().expect("a thread");
    until(&endpoint.shared, |state| state.driver_sleeps.is_some());
    let bits = AtomicU32::new(0);
    let shared = &*endpoint.shared;
    thread::scope(|scope| {
        let caller = scope.spawn(|| wait_for(shared, &bits, 1));
        until(shared, |state| state.leader);
        news(shared, &bits, 1);
        caller.join().expect("no panic").expect("its bit");
    });
    let inner = endpoint.shared.for_driver();
    drop(endpoint);
    assert!(inner.has_ended());
    // Ends although nothing else happens; the guard waits for the thread.
    drop(driver);
}

/// A driver thread beside a caller who sleeps on the socket wakes for nothing; when the caller has gone it takes over.
#[test]
fn a_driver_rests_while_a_caller_sleeps() {
    let endpoint = endpoint(Wait::Block);
    let _driver = endpoint.spawn_driver().expect("a thread");
    let bits = AtomicU32::new(0);
    let shared = &*endpoint.shared;
    thread::scope(|scope| {
        let caller = scope.spawn(|| wait_for(shared, &bits, 1));
        until(shared, |state| state.leader && state.driver_rests);
        news(shared, &bits, 1);
        caller.join().expect("no panic").expect("its bit");
    });
    until(shared, |state| {
        !state.driver_rests && state.driver_sleeps.is_some()
    });
}

/// Telling a driver of the end of every short sleep of callers would cost more than the sleeps.
#[test]
fn a_driver_rests_beside_no_sleep_that_it_has_not_met_before() {
    let endpoint = endpoint(Wait::Block);
    let bits = AtomicU32::new(0);
    let shared = &*endpoint.shared;
    let rests = |seen: &mut u64| shared.rest(shared.lock(), seen, Duration::from_micros(1));
    let mut seen = 0;
    for bit in [1, 2] {
        thread::scope(|scope| {
            let caller = scope.spawn(|| wait_for(shared, &bits, bit));
            until(shared, |state| state.leader_sleeps.is_some());
            let was = shared.lock().leader_sleep;
            let first = rests(&mut seen);
            let again = rests(&mut seen);
            let same = shared.lock().leader_sleep == was;
            news(shared, &bits, bit);
            caller.join().expect("no panic").expect("its bit");
            assert!(!first, "the sleep was new");
            assert!(again || !same, "it had lasted since the look before");
        });
        assert!(!rests(&mut seen), "no caller sleeps");
    }
}

#[test]
fn an_attempt_looks_once_and_never_waits() {
    let endpoint = endpoint(Wait::Block);
    let mut asked = 0;
    let outcome = endpoint.shared.attempt(|_, _| {
        asked += 1;
        Poll::<Result<()>>::Pending
    });
    assert!(matches!(outcome, Err(Error::WouldBlock)));
    assert_eq!(asked, 1, "nothing arrived, so there was no reason to ask again");
    assert_eq!(endpoint.stats().socket.poll_calls, 0);
}

#[test]
fn a_call_that_waits_for_no_time_looks_at_least_once() {
    let endpoint = endpoint(Wait::Block);
    let ready = endpoint
        .shared
        .wait("an answer", Some(Duration::ZERO), |_, _| Poll::Ready(Ok(5)));
    assert_eq!(ready.expect("known at once"), 5);
    let never = endpoint.shared.wait("an answer", Some(Duration::ZERO), |_, _| {
        Poll::<Result<()>>::Pending
    });
    assert!(never.expect_err("no time").is_timeout());
}

/// Where there is news with every question, a wait still ends in time and can be interrupted.
#[test]
fn news_put_off_no_end_of_a_wait() {
    let endpoint = endpoint(Wait::Block);
    let shared = &*endpoint.shared;
    let busy = |timeout| {
        shared.wait("something", timeout, |core, _| {
            core.news += 1;
            Poll::<Result<()>>::Pending
        })
    };
    let outcome = busy(Some(Duration::from_millis(5)));
    assert!(outcome.is_err_and(|error| error.is_timeout()));
    shared.interrupt(true);
    assert!(busy(None).is_err_and(|error| error.is_interrupted()));
}

/// Whoever drives the endpoint and always has something to do gives way to a thread that wants it.
#[test]
fn whoever_never_rests_gives_way() {
    let endpoint = endpoint(Wait::Block);
    let shared = &*endpoint.shared;
    let looked = AtomicBool::new(false);
    thread::scope(|scope| {
        let busy = scope.spawn(|| {
            shared.wait("others", None, |core, _| {
                core.news += 1;
                match looked.load(Ordering::SeqCst) {
                    true => Poll::Ready(Ok(())),
                    false => Poll::Pending,
                }
            })
        });
        for _ in 0..100 {
            until(shared, |_| true);
        }
        looked.store(true, Ordering::SeqCst);
        busy.join().expect("no panic").expect("an answer");
    });
}

/// The same where it is a follower who wants it, for there is news.
#[test]
fn whoever_never_rests_gives_way_to_followers() {
    let endpoint = endpoint(Wait::Block);
    let shared = &*endpoint.shared;
    let asked = AtomicU32::new(0);
    shared.lock().leader = true;
    thread::scope(|scope| {
        let follower = scope.spawn(|| {
            shared.wait("the second question", None, |_, _| {
                match asked.fetch_add(1, Ordering::SeqCst) {
                    0 => Poll::Pending,
                    _ => Poll::Ready(Ok(())),
                }
            })
        });
        until(shared, |state| state.followers == 1);
        let mut state = shared.lock();
        while asked.load(Ordering::SeqCst) < 2 {
            state.core.news += 1;
            shared.announce(&mut state);
            assert_eq!(state.roused, state.followers);
            state = shared.give_way(state);
        }
        drop(state);
        follower.join().expect("no panic").expect("an answer");
    });
    // Whoever wakes by itself was not told of anything.
    let waited = shared.wait("nothing", Some(Duration::from_millis(1)), |_, _| {
        Poll::<Result<()>>::Pending
    });
    assert!(waited.is_err_and(|error| error.is_timeout()));
    let mut state = shared.lock();
    assert_eq!((state.followers, state.roused), (0, 0));
    assert_eq!(shared.wanting.load(Ordering::SeqCst), 0);
    state.leader = false;
}

/// A report of the network or a signal ends a sleep in the receive call with nothing. The wait may poll for a while then,
/// and each of its polls has to look at the socket: what is there may be the answer whose timer is about to expire.
#[test]
fn after_a_sleep_that_brought_nothing_the_socket_is_looked_at() {
    let mut slept = Slept::Came(0);
    assert_eq!(slept.take_brought(), Some(0));
    assert_eq!(slept, Slept::Readable);
    assert_eq!(slept.take_brought(), None);
    let mut slept = Slept::No;
    assert_eq!(slept.take_brought(), None);
    assert_eq!(slept, Slept::No);
}

#[test]
fn who_sends_much_looks_at_the_socket_before_it_is_time() {
    let endpoint = endpoint(Wait::Adaptive);
    let shared = &*endpoint.shared;
    let looks = || shared.socket.counters().recv_calls;
    // Whatever the time is by then: many rounds do not all take so long.
    let mut looked = 0;
    for _ in 0..64 {
        shared.command(|core, now| core.poll_socket(now));
        let before = looks();
        shared.command(|core, _| core.carrier.given += POLL_AFTER);
        shared.command(|_, _| ());
        looked += u32::from(looks() > before);
    }
    assert_eq!(looked, 64, "each after so many octets");
}

/// A call that panics inside the lock, the first time or after it has waited.
fn panics(shared: &Shared, after: u32) {
    let mut asked = 0;
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        shared.wait::<()>("a panic", Some(Duration::from_secs(60)), |core, _| {
            asked += 1;
            core.news += 1;
            assert!(asked <= after, "on purpose");
            Poll::Pending
        })
    }));
    assert!(outcome.is_err(), "the question did not panic");
}

#[test]
fn a_panic_inside_the_lock_stops_no_other_call() {
    for (wait, after) in [
        (Wait::Block, 0),
        (Wait::Block, 1),
        (Wait::Spin, 2),
        (Wait::Adaptive, 3),
    ] {
        let endpoint = endpoint(wait);
        let shared = &*endpoint.shared;
        let bits = AtomicU32::new(0);
        panics(shared, after);
        thread::scope(|scope| {
            let waiter = scope.spawn(|| wait_for(shared, &bits, 1));
            until(shared, |state| state.leader);
            news(shared, &bits, 1);
            waiter.join().expect("no panic").expect("its bit");
        });
    }
}
