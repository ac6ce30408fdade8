//! Parts are taken off as they are counted.

use super::*;

/// Three parts of four octets, and two octets between.
fn spread() -> Octets {
    Octets::spread(Bytes::from_static(b"aaaa--bbbb--cccc--"), 2, 4, 3)
}

fn parts(octets: &Octets) -> Vec<Vec<u8>> {
    octets.parts().map(<[u8]>::to_vec).collect()
}

#[test]
fn what_lies_between_is_not_told() {
    let octets = spread();
    assert_eq!((octets.len(), octets.count(), octets.is_empty()), (12, 3, false));
    assert_eq!(parts(&octets).concat(), b"aaaabbbbcccc");
    assert_eq!(octets.into_parts().collect::<Vec<_>>().concat(), b"aaaabbbbcccc");
}

#[test]
fn parts_are_taken_off() {
    for count in 0..5 {
        let mut rest = spread();
        let taken = rest.split_parts(count);
        assert_eq!(
            (taken.len(), rest.len()),
            (4 * count.min(3), 12 - 4 * count.min(3))
        );
        assert_eq!(taken.count(), count.min(3));
        assert_eq!([parts(&taken), parts(&rest)].concat(), parts(&spread()));
    }
}

#[test]
fn in_one_place_any_octets_are_taken_off() {
    let mut octets = Octets::from(Bytes::from_static(b"hello"));
    assert_eq!(octets.split_octets(2), "he");
    assert_eq!(
        (octets.len(), octets.count(), parts(&octets)),
        (3, 1, vec![b"llo".to_vec()])
    );
    assert_eq!(octets.split_octets(9), "llo");
    assert!(octets.is_empty() && octets.count() == 0 && octets.parts().next().is_none());
}
