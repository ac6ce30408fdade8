//! Who holds something and who goes to rest, in every order in which they may see what the other does (`cargo xtask model`): nothing
//! stays held while the flusher rests. Without it the checker finds two threads of which nobody goes on.
//!
//! Seen to fail: either fence taken out; looking before storing in `rest`; `end` that wakes nobody.

use loom::sync::Arc;
use loom::thread;
use xtp_engine::Time;

use super::HeldSends;

/// A flusher that rests until something is held or all is over, while `others` happens.
fn beside(others: impl Fn(&HeldSends) + Sync + Send + 'static) {
    loom::model(move || {
        let held = Arc::new(HeldSends::default());
        let rests = Arc::clone(&held);
        let flusher = thread::spawn(move || {
            while !rests.is_any() && !rests.is_over() {
                rests.rest();
            }
        });
        held.tell(flusher.thread().clone());
        others(&held);
        flusher.join().expect("no panic");
    });
}

#[test]
fn whoever_rests_hears_of_what_is_gathered() {
    beside(|held| held.hold_writes(Time::from_nanos(7)));
}

#[test]
fn whoever_rests_hears_of_the_second_gathering_too() {
    beside(|held| {
        held.hold_writes(Time::from_nanos(7));
        held.release_writes();
        held.hold_writes(Time::from_nanos(9));
    });
}

#[test]
fn whoever_rests_hears_of_an_end_that_waits_although_writes_left() {
    beside(|held| {
        held.hold_writes(Time::from_nanos(7));
        held.hold_end(Time::from_nanos(8));
        held.release_writes();
    });
}

#[test]
fn whoever_rests_hears_that_all_is_over() {
    beside(HeldSends::end);
}
