//! Lent memory is given back when it is acknowledged, and otherwise never.

use std::sync::Arc;

use super::*;

/// Memory of 20 000 octets that tells whether it was given back.
struct Memory(Vec<u8>, #[expect(dead_code, reason = "counts owners")] Arc<()>);

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// A queue of three memories from position 100 on, and what tells of each whether it is still kept.
fn queue() -> (SendQueue, [Arc<()>; 3], Withheld) {
    let mut queue = SendQueue::new(100);
    let owners: [Arc<()>; 3] = std::array::from_fn(|_| Arc::default());
    for owner in &owners {
        queue.push(Bytes::from_owner(Memory(vec![7; 20_000], owner.clone())));
    }
    (queue, owners, Withheld::default())
}

fn kept(owners: &[Arc<()>; 3]) -> [bool; 3] {
    std::array::from_fn(|at| Arc::strong_count(&owners[at]) > 1)
}

#[test]
fn what_was_never_lent_is_given_back() {
    let (queue, owners, _) = queue();
    drop(queue);
    assert_eq!(kept(&owners), [false; 3]);
}

#[test]
fn acknowledged_memory_is_given_back_and_lent_memory_is_withheld() {
    for renew in [false, true] {
        let (mut queue, owners, withheld) = queue();
        queue.lend(30_000, &withheld);
        queue.lend(25_000, &withheld);
        queue.release(20_099);
        assert_eq!(kept(&owners), [true; 3]);
        queue.release(20_100);
        assert_eq!(kept(&owners), [false, true, true]);
        match renew {
            true => queue.renew(0),
            false => drop(queue),
        }
        // The third was not lent.
        assert_eq!(kept(&owners), [false, true, false]);
        assert_eq!(withheld.octets(), 20_000);
    }
}

#[test]
fn a_queue_that_is_used_again_lends_anew() {
    let (mut queue, owners, withheld) = queue();
    queue.lend(60_100, &withheld);
    queue.release(60_100);
    assert_eq!(kept(&owners), [false; 3]);
    queue.renew(0);
    let owner = Arc::new(());
    queue.push(Bytes::from_owner(Memory(vec![7; 20_000], owner.clone())));
    drop(queue);
    assert_eq!((Arc::strong_count(&owner), withheld.octets()), (1, 0));
}

#[test]
fn withholding_ends_lending() {
    let withheld = Withheld::default();
    for round in 0..4 {
        assert!(withheld.allows_more(), "{round}");
        let mut queue = SendQueue::new(0);
        queue.push(Bytes::from_static(&[0; 16 << 20]));
        queue.lend(1, &withheld.clone());
        drop(queue);
    }
    assert!(!withheld.allows_more());
}
