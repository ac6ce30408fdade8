//! Messages in parts.

use super::*;

#[test]
fn a_message_in_parts_is_joined_and_one_in_one_part_is_not_copied() {
    let of = |parts: &[&'static [u8]]| Matched {
        association: ContextId(1),
        offset: 0,
        tag: None,
        parts: parts.iter().map(|part| Bytes::from_static(part)).collect(),
    };
    assert_eq!(
        of(&[b"one ", b"and ", b"more"]).into_bytes(),
        &b"one and more"[..]
    );
    assert_eq!(of(&[b"one ", b"and "]).len(), 8);
    assert!(of(&[]).is_empty() && of(&[]).into_bytes().is_empty());
    let single = of(&[b"single"]);
    let at = single.parts[0].as_ptr();
    assert_eq!(single.into_bytes().as_ptr(), at);
}
