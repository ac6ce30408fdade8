//! Which transport serves which pattern; numbers used again.

use super::{Manner, Slots, Use, manner};
use crate::plan::Experiment;

#[test]
fn every_pattern_has_both_transports_kept_and_not() {
    for experiment in [Experiment::Stencil, Experiment::Bag, Experiment::Phases] {
        for transport in ["xtp", "xtp-mesh", "tcp", "tcp-per-message"] {
            assert!(
                manner(transport, experiment).is_some(),
                "{transport} {experiment}"
            );
        }
        let tcp = manner("tcp", experiment);
        let kept = Manner {
            associations: Use::Link,
            by_phase: false,
        };
        assert_eq!(tcp, Some(kept), "{experiment}");
        assert_eq!(manner("udp", experiment), None);
    }
    assert_eq!(manner("xtp", Experiment::Pingpong), None);
}

#[test]
fn a_number_is_used_again_when_what_it_named_is_gone() {
    let mut slots = Slots::default();
    assert_eq!((slots.put('a'), slots.put('b'), slots.put('c')), (0, 1, 2));
    assert_eq!(slots.take(1), Some('b'));
    assert_eq!(slots.take(1), None);
    assert_eq!(slots.get(1), None);
    assert_eq!(slots.put('d'), 1);
    assert_eq!(slots.put('e'), 3);
    let all: String = slots.all().map(|(_, thing)| *thing).collect();
    assert_eq!(all, "adce");
}
