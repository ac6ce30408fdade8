//! Rights without the list that limited them.

use super::*;

/// A list as the system stores it.
fn list(entries: &[(u16, u16)]) -> Vec<u8> {
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, bits) in entries {
        list.extend_from_slice(&tag.to_le_bytes());
        list.extend_from_slice(&bits.to_le_bytes());
        list.extend_from_slice(&1_000_u32.to_le_bytes());
    }
    list
}

#[test]
fn nobody_may_more_without_a_list() {
    let narrowed = |entries: &[(u16, u16)], mode| {
        let denied = denied(&list(entries));
        Extras {
            denied,
            ..Extras::default()
        }
        .narrowed(mode)
    };
    // 640, and a user who may everything: the mode says 670.
    let wide = [(1, 6), (2, 7), (4, 4), (16, 7), (32, 0)];
    assert_eq!(narrowed(&wide, 0o670), 0o640);
    // The mask counts for all but owner and others.
    assert_eq!(
        narrowed(&[(1, 6), (2, 7), (4, 7), (16, 4), (32, 4)], 0o644),
        0o644
    );
    // A user, or a group, who may less than others: others must not either.
    assert_eq!(
        narrowed(&[(1, 6), (2, 0), (4, 4), (16, 4), (32, 4)], 0o4644),
        0o4600
    );
    assert_eq!(
        narrowed(&[(1, 7), (4, 5), (8, 5), (16, 7), (32, 7)], 0o777),
        0o755
    );
    // What cannot be read may forbid anything.
    assert_eq!(narrowed(&[], 0o777), 0o700);
}

#[test]
fn what_is_not_kept_is_counted() {
    let mut lost = Lost::default();
    assert_eq!(lost.text(), None);
    let extras = Extras {
        lists: true,
        attributes: true,
        ..Extras::default()
    };
    lost.add(extras, true);
    lost.add(extras, false);
    let text = lost.text().expect("something");
    assert!(text.starts_with("not kept: 1 hard links") && text.contains("2 access control lists"));
    assert!(
        text.contains("2 files with extended") && !text.contains("capabilities"),
        "{text}"
    );
}
