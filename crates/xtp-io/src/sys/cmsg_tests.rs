//! Control messages written are read back, and damaged ones end the list.

use super::ControlBuffer;

#[test]
fn messages_are_read_back_as_written() {
    let mut control = ControlBuffer::<96>::new();
    let used = control.push(0, 1, 2, &7u32.to_ne_bytes());
    let used = control.push(used, 3, 4, &[9]);
    let used = control.push(used, 5, 6, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    let read: Vec<_> = control
        .messages(used)
        .map(|m| (m.level, m.kind, m.value.to_vec()))
        .collect();
    let expected = [
        (1, 2, 7u32.to_ne_bytes().to_vec()),
        (3, 4, vec![9]),
        (5, 6, (1..=10).collect::<Vec<u8>>()),
    ];
    assert_eq!(read, expected);
}

#[test]
fn values_are_taken_only_where_they_are() {
    let mut control = ControlBuffer::<96>::new();
    let used = control.push(0, 1, 2, &[3]);
    let octet = control.messages(used).next().expect("one message");
    assert_eq!((octet.word(0), octet.octet_or_word()), (None, Some(3)));
    let used = control.push(0, 1, 2, &5u32.to_ne_bytes());
    let word = control.messages(used).next().expect("one message");
    assert_eq!(
        (word.word(0), word.word(1), word.octet_or_word()),
        (Some(5), None, Some(5))
    );
    assert_eq!(word.octets::<2>(3), None);
}

#[test]
fn cut_or_absurd_lists_end_early() {
    let mut control = ControlBuffer::<64>::new();
    let used = control.push(0, 1, 2, &[0; 8]);
    for length in 0..used {
        assert_eq!(control.messages(length).count(), 0, "{length}");
    }
    assert_eq!(
        control.messages(usize::MAX).count(),
        1,
        "the rest is zeros, a length of nothing"
    );
    assert_eq!(ControlBuffer::<64>::new().messages(64).count(), 0);
}

#[test]
#[should_panic(expected = "room for 16")]
fn a_message_that_does_not_fit_panics_before_it_writes() {
    ControlBuffer::<16>::new().push(0, 1, 2, &[0; 8]);
}
