//! Packets in a row that have something in common.

/// Packets in a row to one peer, each by itself, that are worth a shortcut.
pub(super) const WORTH: u32 = 256;

/// How many in a row were of this value, with the one that goes now.
#[inline]
pub(super) fn in_a_row<T: Copy + PartialEq>(streak: &mut Option<(T, u32)>, value: T) -> u32 {
    let before = streak
        .filter(|(known, _)| *known == value)
        .map_or(0, |(_, count)| count);
    let count = before.saturating_add(1);
    *streak = Some((value, count));
    count
}
