//! Buffers come back.

use super::*;

#[test]
fn reads_are_whole_and_buffers_are_used_again() {
    let pool = Pool::default();
    let source: Vec<u8> = (0..BUFFER + 10).map(|index| index as u8).collect();
    let mut reader = &source[..];
    let first = pool.read(&mut reader, u64::MAX).expect("memory does not fail");
    let second = pool.read(&mut reader, u64::MAX).expect("memory does not fail");
    assert_eq!((&first[..], &second[..]), source.split_at(BUFFER));
    assert_eq!(pool.read(&mut reader, 5).expect("memory does not fail").len(), 0);
    let part = first.slice(3..5);
    drop((first, second));
    assert_eq!(pool.0.lock().expect("unpoisoned").len(), 2, "one is still in use");
    assert_eq!(&part[..], &source[3..5]);
    drop(part);
    assert_eq!(pool.0.lock().expect("unpoisoned").len(), 3);
    let mut limited = &source[..];
    assert_eq!(pool.read(&mut limited, 7).expect("memory does not fail").len(), 7);
    assert_eq!(limited.len(), source.len() - 7);
}

#[test]
fn only_so_many_are_kept() {
    let pool = Pool::default();
    let lent: Vec<_> = (0..KEPT + 5)
        .map(|_| pool.read(&mut &b"x"[..], 1).expect("memory does not fail"))
        .collect();
    drop(lent);
    assert_eq!(pool.0.lock().expect("unpoisoned").len(), KEPT);
}
