//! How a datagram is divided into what is copied and what is lent.

use super::*;

const PAGE: usize = 4096;

/// Octets copied and octets lent of a datagram of these pieces.
fn divided(pieces: &[&[u8]]) -> Option<(usize, usize)> {
    let pieces: Vec<_> = pieces.iter().map(|piece| IoSlice::new(piece)).collect();
    let octets = pieces.iter().map(|piece| piece.len()).sum();
    let dst = "127.0.0.1:9".parse().expect("an address");
    let train = Train::new(dst, octets, &pieces);
    let parts = Parts::of(&train, PAGE)?;
    let sum = |list: &[IoSlice<'_>]| list.iter().map(|piece| piece.len()).sum::<usize>();
    assert_eq!(sum(&parts.lent[..parts.loans]), parts.octets);
    Some((sum(&parts.copied[..parts.copies]), parts.octets))
}

/// Memory that begins with a page.
fn aligned(memory: &[u8]) -> &[u8] {
    let at = (memory.as_ptr() as usize).next_multiple_of(PAGE) - memory.as_ptr() as usize;
    &memory[at..]
}

#[test]
fn the_header_is_copied_and_long_pieces_are_lent() {
    let memory = vec![0; 40 * PAGE];
    let memory = aligned(&memory);
    let head = [0; 48];
    assert_eq!(divided(&[&head, &memory[..60_000]]), Some((48, 60_000)));
    assert_eq!(
        divided(&[&head, &memory[..100], &memory[..60_000]]),
        Some((148, 60_000))
    );
    // Short memory behind may be recycled, and a header is always copied.
    assert_eq!(divided(&[&head, &memory[..60_000], &memory[..100]]), None);
    assert_eq!(divided(&[&memory[..60_000]]), None);
    assert_eq!(divided(&[&head, &head]), None);
    assert_eq!(divided(&[&head[..]; 7]), None);
}

#[test]
fn more_pages_than_a_packet_takes_are_avoided_by_copying_the_first_ones() {
    let memory = vec![0; 40 * PAGE];
    let memory = aligned(&memory);
    let head = [0; 48];
    let cases = [
        // From, octets, copied of them.
        (0, 15 * PAGE, 0),
        (0, 15 * PAGE + 1, PAGE),
        (16, 15 * PAGE, PAGE - 16),
        (16, 65_459, PAGE - 16),
        (4_000, 65_459, 96 + PAGE),
    ];
    for (from, octets, copied) in cases {
        let divided = divided(&[&head, &memory[from..from + octets]]);
        assert_eq!(divided, Some((48 + copied, octets - copied)), "{from} {octets}");
    }
    // Nine and eight pages are two too many.
    let (first, second) = (&memory[10..8 * PAGE], &memory[4..8 * PAGE]);
    assert_eq!(
        divided(&[&head, first, second]),
        Some((48 + PAGE - 10, 15 * PAGE - 4))
    );
    let second = &memory[4..8 * PAGE + 10];
    assert_eq!(
        divided(&[&head, first, second]),
        Some((48 + 2 * PAGE - 10, 14 * PAGE + 6))
    );
}
