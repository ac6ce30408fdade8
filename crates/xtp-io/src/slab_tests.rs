//! Slabs come back when nobody refers to them, and only then.

use bytes::Bytes;

use super::SlabPool;

#[test]
fn an_unreferenced_slab_is_the_same_memory_again() {
    let mut pool = SlabPool::new(64, 4);
    let slab = pool.get();
    let place = slab.as_ptr();
    let frozen = slab.freeze();
    drop(frozen.slice(3..5));
    let again = pool.exchange(frozen);
    assert_eq!((again.as_ptr(), again.len()), (place, 64));
    assert_eq!(pool.allocated(), 1);
}

#[test]
fn a_lent_slab_is_exchanged_and_reused_after_its_return() {
    let mut pool = SlabPool::new(64, 4);
    let first = pool.get();
    let place = first.as_ptr();
    let first = first.freeze();
    let kept = first.slice(1..2);
    let second = pool.exchange(first);
    assert_ne!(second.as_ptr(), place);
    assert_eq!(pool.allocated(), 2);
    drop(kept);
    let returned = pool.get();
    assert_eq!((returned.as_ptr(), returned.len()), (place, 64));
    assert_eq!(pool.allocated(), 2);
}

#[test]
fn the_pool_remembers_a_bounded_number_of_lent_slabs() {
    let mut pool = SlabPool::new(8, 3);
    let mut kept: Vec<Bytes> = Vec::new();
    let mut slab = pool.get();
    for _ in 0..10 {
        let frozen = slab.freeze();
        kept.push(frozen.slice(..1));
        slab = pool.exchange(frozen);
    }
    assert_eq!(pool.lent.len(), 3);
    assert_eq!(pool.allocated(), 11);
    kept.clear();
    let reused: Vec<_> = (0..4).map(|_| pool.get()).collect();
    assert_eq!(pool.allocated(), 12, "three came back, the fourth is new");
    drop(reused);
}

#[test]
fn a_pool_without_memory_of_lent_slabs_works() {
    let mut pool = SlabPool::new(8, 0);
    let frozen = pool.get().freeze();
    let kept = frozen.clone();
    assert_eq!(pool.exchange(frozen).len(), 8);
    assert_eq!((pool.lent.len(), kept.len()), (0, 8));
}

#[test]
fn a_reader_as_far_behind_as_its_peer_may_be_ahead_gets_no_new_memory() {
    let mut batch = crate::RecvBatch::default();
    // 4 MiB in slabs of 64 KiB, kept and let go of in turn.
    let pool = batch.pool();
    let mut kept = std::collections::VecDeque::new();
    let mut slab = pool.get();
    let mut allocated = 0;
    for round in 0..1_000 {
        let frozen = slab.freeze();
        kept.push_back(frozen.clone());
        if kept.len() > 64 {
            kept.pop_front();
        }
        slab = pool.exchange(frozen);
        if round == 200 {
            allocated = pool.allocated();
        }
    }
    assert_eq!(pool.allocated(), allocated);
}
