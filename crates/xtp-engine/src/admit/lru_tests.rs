//! Against a vector in order of use.

use proptest::prelude::*;

use super::Lru;
use xtp_core::hash::KeyedState;

#[test]
fn a_table_of_no_entries_gives_everything_back() {
    let mut lru = Lru::new(0, KeyedState::new([1; 16]));
    assert_eq!(lru.insert(1, 'a'), Some((1, 'a')));
    assert_eq!((lru.len(), lru.get(&1), lru.oldest()), (0, None, None));
}

proptest! {
    /// Against a vector in order of use.
    #[test]
    fn keeps_what_was_used_last(steps in prop::collection::vec((0..5_u8, 0..6_u8), 1..200)) {
        let mut lru = Lru::new(3, KeyedState::new([1; 16]));
        let mut naive: Vec<(u8, usize)> = Vec::new();
        for (step, (what, key)) in steps.into_iter().enumerate() {
            let at = naive.iter().position(|entry| entry.0 == key);
            match what {
                0 | 1 => {
                    let out = match at {
                        Some(at) => { naive.remove(at); None }
                        None if naive.len() == 3 => Some(naive.remove(0)),
                        None => None,
                    };
                    naive.push((key, step));
                    prop_assert_eq!(lru.insert(key, step), out);
                }
                2 => {
                    let entry = at.map(|at| naive.remove(at));
                    naive.extend(entry);
                    prop_assert_eq!(lru.touch(&key).copied(), entry.map(|entry| entry.1));
                }
                3 => prop_assert_eq!(lru.remove(&key), at.map(|at| naive.remove(at).1)),
                _ => {
                    let oldest = (!naive.is_empty()).then(|| naive.remove(0));
                    prop_assert_eq!(lru.pop_oldest(), oldest);
                }
            }
            prop_assert_eq!(lru.oldest(), naive.first());
            prop_assert_eq!(lru.len(), naive.len());
            prop_assert_eq!(lru.get(&key).copied(), naive.iter().find(|e| e.0 == key).map(|e| e.1));
        }
    }
}
