//! Descriptors: what is encoded is read, and what nobody encodes is not.

use proptest::prelude::*;

use super::*;

#[test]
fn the_vectors_descriptors() {
    let two = Descriptor::new(&[SymbolMark::End(5), SymbolMark::Tag(8)], false).unwrap();
    assert_eq!(two.encode(), [2, 0, 0, 5, 0x80, 8, 0, 0]);
    let last = Descriptor::new(&[SymbolMark::End(10)], true).unwrap();
    assert_eq!(last.encode(), [1, 2, 0, 10, 0, 0, 0, 0]);
}

#[test]
fn four_marks_are_told_and_not_held() {
    let marks = [
        SymbolMark::End(1),
        SymbolMark::End(2),
        SymbolMark::End(3),
        SymbolMark::End(4),
    ];
    let three = Descriptor::new(&marks[..3], false).unwrap();
    assert!(!three.is_overfull());
    assert_eq!(three.marks(), &marks[..3]);
    let four = Descriptor::new(&marks, true).unwrap();
    assert!(four.is_overfull() && four.is_last());
    assert_eq!(four.marks(), []);
    assert_eq!(four.encode(), [0, 3, 0, 0, 0, 0, 0, 0]);
    assert_eq!(Descriptor::read(four.encode(), 16), Some(four));
}

#[test]
fn what_nobody_encodes() {
    let read = |coded| Descriptor::read(coded, 16);
    assert_eq!(read([4, 0, 0, 1, 0, 2, 0, 3]), None, "a fourth mark has no place");
    assert_eq!(read([255, 1, 0, 1, 0, 2, 0, 3]), None);
    assert_eq!(
        read([1, 0, 0, 0, 0, 0, 0, 0]),
        None,
        "no message ends before the first octet"
    );
    assert!(
        read([1, 0, 0, 16, 0, 0, 0, 0]).is_some(),
        "one past the last octet"
    );
    assert_eq!(read([1, 0, 0, 17, 0, 0, 0, 0]), None);
    assert!(read([1, 0, 0x80, 15, 0, 0, 0, 0]).is_some());
    assert_eq!(read([1, 0, 0x80, 16, 0, 0, 0, 0]), None, "a tag begins inside");
    assert_eq!(read([2, 0, 0, 9, 0, 5, 0, 0]), None, "out of order");
    assert_eq!(read([2, 0, 0, 9, 0, 9, 0, 0]), None, "twice");
    assert!(
        read([2, 0, 0, 9, 0x80, 9, 0, 0]).is_some(),
        "a message ends, and behind it is a tag"
    );
    assert_eq!(
        Descriptor::new(&[SymbolMark::Tag(9), SymbolMark::End(9)], false),
        None
    );
    assert_eq!(
        Descriptor::new(&[SymbolMark::End(1 << 15)], false),
        None,
        "bit 15 says something else"
    );
}

proptest! {
    #[test]
    fn what_is_encoded_is_read(
        marks in prop::collection::btree_set((1_u16..1000, any::<bool>()), 0..6),
        last in any::<bool>(),
    ) {
        let marks: Vec<SymbolMark> =
            marks.into_iter().map(|(offset, tag)| if tag { SymbolMark::Tag(offset) } else { SymbolMark::End(offset) }).collect();
        let descriptor = Descriptor::new(&marks, last).unwrap();
        prop_assert_eq!(descriptor.is_overfull(), marks.len() > 3);
        prop_assert_eq!(Descriptor::read(descriptor.encode(), 1000), Some(descriptor));
    }

    #[test]
    fn what_is_read_is_encoded(coded in prop::array::uniform8(prop_oneof![0_u8..8, any::<u8>()]), symbol_len in 0_usize..2000) {
        if let Some(read) = Descriptor::read(coded, symbol_len) {
            let again = Descriptor::read(read.encode(), symbol_len);
            prop_assert_eq!(again, Some(read));
        }
    }
}
