//! Messages put together.

use super::*;
use crate::core::brief_testing::brief;

/// What `message` makes of these items, asked again wherever there is none; `None` in the list is a question that finds nothing.
fn messages(limit: usize, items: Vec<Option<Chunk>>) -> Vec<Result<Option<TaggedMessage>>> {
    let endpoint = brief();
    let peer = endpoint.local_addr();
    let stream = endpoint
        .open(peer, xtp_engine::OpenOptions::new(9))
        .expect("a context");
    let id = stream.id();
    let mut items = items.into_iter();
    endpoint.shared.look(|core| {
        let mut found = Vec::new();
        while items.len() > 0 {
            let next = |_: &mut Core, _| match items.next() {
                Some(Some(item)) => Poll::Ready(Ok(Some(item))),
                Some(None) | None => Poll::Pending,
            };
            match message(core, limit, next, |core| core.slot(id)) {
                Poll::Ready(outcome) => found.push(outcome),
                Poll::Pending => {}
            }
        }
        found
    })
}

fn data(bytes: &'static [u8], end_of_message: bool) -> Option<Chunk> {
    Some(Chunk::Data {
        offset: 0,
        bytes: Bytes::from_static(bytes),
        end_of_message,
    })
}

/// The octets and tags of what was delivered.
fn delivered(limit: usize, items: Vec<Option<Chunk>>) -> Vec<(Bytes, Option<u64>)> {
    let messages = messages(limit, items).into_iter();
    let messages = messages.map(|message| message.expect("no error").expect("no end"));
    messages.map(|message| (message.data, message.tag)).collect()
}

#[test]
fn a_message_with_a_gap_in_it_is_passed_over_up_to_its_end() {
    let gap = || Some(Chunk::Gap { offset: 3, len: 2 });
    let tag = |tag| Some(Chunk::Tag { offset: 0, tag });
    let whole = Bytes::from_static(b"whole");
    // With and without a question in between that finds nothing.
    for pause in [vec![], vec![None]] {
        let head = [vec![tag(7), data(b"abc", false)], pause.clone(), vec![gap()]].concat();
        let tail = [pause.clone(), vec![data(b"rest", true), data(b"whole", true)]].concat();
        assert_eq!(delivered(5, [head, tail].concat()), [(whole.clone(), None)]);
    }
    let ended_at_the_gap = vec![
        data(b"abc", false),
        gap(),
        data(b"", true),
        tag(8),
        data(b"whole", true),
    ];
    assert_eq!(delivered(5, ended_at_the_gap), [(whole, Some(8))]);
}

#[test]
fn what_came_before_a_gap_counts_for_no_limit() {
    let items = vec![
        data(b"abc", false),
        Some(Chunk::Gap { offset: 3, len: 2 }),
        data(b"def", true),
        data(b"ghi", true),
    ];
    assert_eq!(delivered(4, items), [(Bytes::from_static(b"ghi"), None)]);
}
