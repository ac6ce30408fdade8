//! Turns and limits at a listener.

use super::*;
use crate::core::brief_testing::brief;

/// A queue with associations of these kinds, of a known host or not.
fn queue(known: &[bool]) -> AcceptQueue {
    let endpoint = brief();
    let peer = endpoint.local_addr();
    let options = xtp_engine::OpenOptions::new(9);
    let mut queue = AcceptQueue::default();
    for known in known {
        let stream = endpoint.open(peer, options.clone()).expect("a context");
        let number = queue.push(
            Time::ZERO,
            Accepted {
                id: stream.id(),
                peer,
                service: 9,
                port: 0,
            },
        );
        let (known, sort) = (*known, None);
        queue.note_rank(number, Rank { known, sort });
    }
    queue
}

#[test]
fn only_the_oldest_goes_on_beyond_the_limit_and_the_next_one_after_it() {
    let mut queue = queue(&[true; 3]);
    queue.note_octets(0, 100);
    assert!(!queue.holds_back(0, 100), "the oldest goes on");
    assert!(queue.holds_back(1, 100));
    assert!(!queue.holds_back(1, 101), "there is room for more");
    queue.hold_back(1);
    queue.hold_back(2);
    assert_eq!(queue.next_stirred(Time::ZERO), None);
    queue.take(0);
    assert_eq!(
        [queue.next_stirred(Time::ZERO), queue.next_stirred(Time::ZERO)],
        [Some(1), Some(2)]
    );
    queue.note_octets(1, 60);
    assert!(!queue.holds_back(2, 100), "the octets of the first went with it");
    assert!(queue.holds_back(2, 60));
}

#[test]
fn known_hosts_and_strangers_take_turns() {
    let mut queue = queue(&[true, true, true, false, false, false]);
    (0..6).for_each(|number| queue.stir(number));
    let order: Vec<_> = std::iter::from_fn(|| queue.next_stirred(Time::ZERO)).collect();
    let kinds: Vec<_> = order.iter().map(|number| *number < 3).collect();
    assert!(kinds.windows(2).all(|pair| pair[0] != pair[1]), "{order:?}");
    assert_eq!(order.len(), 6);
}

#[cfg(all(feature = "tokio", unix))]
#[test]
fn everybody_who_accepts_is_woken() {
    use crate::core::waking_testing::Task;

    let tasks: [std::sync::Arc<Task>; 2] = Default::default();
    let mut queue = AcceptQueue::default();
    for task in &tasks {
        queue.remember(&std::sync::Arc::clone(task).into());
    }
    queue.wake();
    assert_eq!(tasks.map(|task| task.woken()), [1; 2]);
}
