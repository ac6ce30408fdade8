//! What memory in frames is told of its stretches in a queue.

use super::*;
use crate::frames::testing::{Plain, blocks};

/// Memory of 1 000 octets in frames of 100.
fn memory() -> Arc<Plain> {
    blocks(4, 100, usize::MAX, &[7; 1_000])
}

/// The octets `from..to` of a memory.
fn stretch(memory: &Arc<Plain>, from: usize, to: usize) -> Framed {
    let mut framed = Framed::new(memory.clone());
    framed.truncate(to);
    framed.advance(from);
    framed
}

#[test]
fn a_stretch_is_acknowledged_once_and_as_a_whole() {
    let [first, second] = [memory(), memory()];
    let mut queue = SendQueue::new(50);
    queue.push_framed(Framed::new(first.clone()));
    queue.push(Bytes::from_static(b"between"));
    // Accepted in parts.
    queue.push_framed(stretch(&second, 0, 300));
    queue.push_framed(stretch(&second, 300, 1_000));
    let mut told = |below: u64| {
        queue.release(below);
        (first.take_acknowledged(), second.take_acknowledged())
    };
    assert_eq!(told(50), (vec![], vec![]));
    assert_eq!(told(1_049), (vec![], vec![]), "all but an octet");
    assert_eq!(told(1_050), (vec![1_000], vec![]));
    assert_eq!(told(1_050), (vec![], vec![]));
    assert_eq!(told(1_357), (vec![], vec![300]));
    assert_eq!(told(2_056), (vec![], vec![]));
    assert_eq!(told(9_999), (vec![], vec![700]));
    drop(queue);
    assert!(first.take_acknowledged().is_empty() && second.take_acknowledged().is_empty());
}

#[test]
fn what_is_dropped_was_not_acknowledged() {
    for how in ["renew", "drop", "truncate", "abandon"] {
        let memory = memory();
        let mut queue = SendQueue::new(0);
        queue.push_framed(stretch(&memory, 0, 400));
        queue.push_framed(stretch(&memory, 400, 1_000));
        queue.release(450);
        assert_eq!(memory.take_acknowledged(), [400]);
        match how {
            "renew" => queue.renew(9),
            "truncate" => queue.truncate(400),
            "abandon" => {
                queue.truncate(700);
                queue.abandon();
                queue.release(700);
                assert!(queue.is_empty() && queue.end() == 700);
            }
            _ => drop(queue),
        }
        assert_eq!(memory.take_acknowledged(), [0; 0], "{how}");
    }
    // Of a stretch that was cut the rest.
    let memory = memory();
    let mut queue = SendQueue::new(0);
    queue.push_framed(Framed::new(memory.clone()));
    queue.truncate(250);
    queue.release(250);
    assert_eq!(memory.take_acknowledged(), [250]);
}

#[test]
fn only_what_is_touched_is_told_that_it_is_sent_again() {
    let memories = [memory(), memory(), memory()];
    let mut queue = SendQueue::new(0);
    queue.push(Bytes::from(vec![1; 1_000]));
    for memory in &memories {
        queue.push_framed(Framed::new(memory.clone()));
    }
    let told = |queue: &SendQueue, seq, len| {
        queue.sent_again(seq, len);
        memories.each_ref().map(|memory| memory.take_again())
    };
    assert_eq!(told(&queue, 0, 1_000), [0, 0, 0], "plain octets");
    assert_eq!(told(&queue, 900, 101), [1, 0, 0]);
    assert_eq!(told(&queue, 1_000, 1_000), [1, 0, 0]);
    assert_eq!(told(&queue, 1_999, 1), [1, 0, 0]);
    assert_eq!(told(&queue, 1_999, 2), [1, 1, 0]);
    assert_eq!(told(&queue, 1_500, 9_999), [1, 1, 1]);
    assert_eq!(told(&queue, 4_000, 9), [0, 0, 0]);
    queue.release(2_500);
    assert_eq!(told(&queue, 2_400, 700), [0, 1, 1], "what is kept of it");
}
