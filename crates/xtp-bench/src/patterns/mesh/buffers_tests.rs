//! Tests of the memory of messages.

use super::*;

const MESSAGE: Message = Message {
    from: 1,
    to: 2,
    channel: 3,
    step: 4,
    word: 5,
};

#[test]
fn memory_is_used_again_once_nobody_refers_to_it() {
    let mut buffers = Buffers::default();
    let first = buffers.message(&MESSAGE, 100);
    let held = first.as_ptr();
    let second = buffers.message(&MESSAGE, 100);
    assert_ne!(second.as_ptr(), held, "the first is still lent");
    assert_eq!(first, second);
    drop((first, second));
    let word = 6;
    let again = [0; 2].map(|_| buffers.message(&Message { word, ..MESSAGE }, 100));
    assert!(again.iter().any(|octets| octets.as_ptr() == held));
    for octets in &again {
        assert_eq!(Message::read(octets, 100).unwrap().word, 6);
    }
    assert_eq!(buffers.lent.len(), 2);
}

#[test]
fn no_more_than_so_many_are_looked_after() {
    let mut buffers = Buffers::default();
    let held: Vec<Bytes> = (0..2 * MOST).map(|_| buffers.message(&MESSAGE, 24)).collect();
    assert_eq!((buffers.lent.len(), held.len()), (MOST, 2 * MOST));
}
