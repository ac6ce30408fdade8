//! What meets which expectation.

use super::*;

const MINE: ContextId = ContextId(3);
const HERE: ListenerId = ListenerId(1);

fn answered(octets: usize) -> Offer {
    Offer::Answer(MINE, octets)
}

fn began(octets: usize) -> Offer {
    Offer::Message(HERE, octets)
}

#[test]
fn each_expectation_is_met_by_its_own_kind_within_its_limit() {
    let limit = 10;
    let answer = Expectation::Answer { id: MINE, limit };
    let message = Expectation::Message {
        listener: HERE,
        limit,
    };
    let next = Expectation::Next {
        id: MINE,
        unit: Unit::Message,
        limit,
    };
    let cases = [
        (answer, answered(10), true),
        (answer, answered(11), false),
        (answer, Offer::Answer(ContextId(4), 1), false),
        (answer, began(1), false),
        (answer, Offer::End, false),
        (message, began(10), true),
        (message, began(11), false),
        (message, Offer::Message(ListenerId(2), 1), false),
        (message, answered(1), false),
        // A caller that waits for associations goes on waiting behind the end of one.
        (message, Offer::End, true),
        (next, answered(1), false),
        (next, began(1), false),
        (next, Offer::End, false),
        (Expectation::Anything, answered(0), false),
        (Expectation::OneByOne, began(0), false),
    ];
    for (expectation, offer, meets) in cases {
        let mut expected = Expected::default();
        expected.open(expectation);
        assert_eq!(expected.meets(7, offer), meets, "{expectation:?}");
        assert_eq!(expected.close(), meets.then_some(7), "{expectation:?}");
    }
}

#[test]
fn nothing_is_met_after_it_was_closed() {
    let mut expected = Expected::default();
    expected.open(Expectation::Answer { id: MINE, limit: 1 });
    assert_eq!(expected.close(), None);
    assert!(!expected.meets(7, answered(1)));
    assert_eq!(expected.close(), None);
}
