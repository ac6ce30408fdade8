//! The hash does not depend on how content comes, only on what it is.

use proptest::prelude::*;

use super::*;

fn hash_of(content: &[u8], with_holes: bool) -> Hash {
    let mut hash = ContentHash::new(with_holes);
    hash.update(content);
    hash.value()
}

#[test]
fn of_a_file_it_is_that_of_everybody() {
    for content in [&b""[..], b"x", &[0; 300_000]] {
        assert_eq!(hash_of(content, false), *blake3::hash(content).as_bytes());
    }
    // With no block of zeros, of one with holes as well.
    for content in [&b""[..], b"x", &[0; 65_535], &[7; 300_000]] {
        assert_eq!(hash_of(content, true), *blake3::hash(content).as_bytes());
    }
    let mut zeros = ContentHash::new(false);
    zeros.update_zeros(300_000);
    assert_eq!(zeros.value(), *blake3::hash(&[0; 300_000]).as_bytes());
}

#[test]
fn zeros_count_by_place_and_number() {
    let blocks = |pattern: &[u8]| -> Hash {
        let content: Vec<u8> = pattern.iter().flat_map(|octet| vec![*octet; 65_536]).collect();
        hash_of(&content, true)
    };
    let all = [
        blocks(&[1, 0, 2]),
        blocks(&[0, 1, 2]),
        blocks(&[1, 2, 0]),
        blocks(&[1, 0, 0, 2]),
        blocks(&[1, 2]),
        blocks(&[0, 1, 0, 2]),
        blocks(&[0]),
        blocks(&[0, 0]),
        blocks(&[]),
    ];
    for (index, one) in all.iter().enumerate() {
        assert!(!all[index + 1..].contains(one), "{index}");
    }
}

/// A hole of any length costs nothing: this would not end otherwise.
#[test]
fn the_longest_hole_is_hashed_at_once() {
    let mut hash = ContentHash::new(true);
    hash.update(b"begin");
    hash.update_zeros(u64::MAX >> 2);
    hash.update(b"end");
    assert_ne!(hash.value(), [0; 32]);
}

proptest! {
    #[test]
    fn it_does_not_matter_how_content_comes(
        runs in proptest::collection::vec((any::<bool>(), 0_usize..200_000), 0..8),
        cuts in proptest::collection::vec(1_usize..100_000, 1..6),
    ) {
        let mut content = Vec::new();
        let mut with_zeros = ContentHash::new(true);
        for (index, (zero, length)) in runs.iter().enumerate() {
            if *zero {
                content.resize(content.len() + length, 0);
                with_zeros.update_zeros(*length as u64);
            } else {
                let part = vec![index as u8 + 1; *length];
                with_zeros.update(&part);
                content.extend(part);
            }
        }
        let expected = hash_of(&content, true);
        prop_assert_eq!(with_zeros.value(), expected);
        let mut by_parts = ContentHash::new(true);
        let (mut rest, mut cut) = (&content[..], cuts.iter().cycle());
        while let (false, Some(length)) = (rest.is_empty(), cut.next()) {
            let (part, behind) = rest.split_at((*length).min(rest.len()));
            by_parts.update(part);
            rest = behind;
        }
        prop_assert_eq!(by_parts.value(), expected);
    }
}
