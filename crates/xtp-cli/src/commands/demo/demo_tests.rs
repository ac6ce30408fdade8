//! Counts of counts.

use super::Frequencies;

#[test]
fn the_most_frequent_and_the_greatest() {
    let mut frequencies = Frequencies::default();
    assert_eq!((frequencies.most_frequent(), frequencies.greatest()), (0, 0));
    for number in [3, 2, 3, 9, 2, 3] {
        frequencies.add(number);
    }
    assert_eq!((frequencies.most_frequent(), frequencies.greatest()), (3, 9));
    frequencies.add(2);
    assert_eq!(frequencies.most_frequent(), 2);
}
