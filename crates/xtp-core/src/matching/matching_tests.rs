//! The tables against lists that are searched from end to end.

use super::*;
use proptest::prelude::*;

#[test]
fn a_tag_stands_for_the_messages_that_have_it() {
    assert_eq!(Tags::from(7), Tags::exact(7));
    assert_eq!(Tags::from(None), Tags::Without);
    assert_eq!(Tags::from(Some(7)), Tags::exact(7));
    assert_eq!(Tags::default(), Tags::Any);
    for (tags, has) in [
        (Tags::TAGGED, [true, true, false]),
        (Tags::like(3, 1), [false, true, false]),
    ] {
        assert_eq!([Some(2), Some(7), None].map(|tag| tags.has(tag)), has, "{tags:?}");
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Association(u64),
    Listener(u32),
    Any,
}

/// Where a message comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct From {
    association: u64,
    listener: Option<u32>,
}

impl MessageOrigin for From {
    type Source = Source;

    fn sources(&self) -> impl Iterator<Item = Source> {
        let listener = self.listener.map(Source::Listener);
        [
            Some(Source::Association(self.association)),
            listener,
            Some(Source::Any),
        ]
        .into_iter()
        .flatten()
    }
}

/// What a posted receive is for.
#[derive(Clone, Copy, Debug)]
struct Match {
    source: Source,
    tags: Tags,
    length: usize,
}

/// What a receive, or a message, may be for or from: few of each, so that they meet.
fn source() -> impl Strategy<Value = Source> {
    prop_oneof![
        (0..3_u64).prop_map(Source::Association),
        (0..2_u32).prop_map(Source::Listener),
        Just(Source::Any),
    ]
}

fn tags() -> impl Strategy<Value = Tags> {
    prop_oneof![
        Just(Tags::Any),
        Just(Tags::Without),
        (0..4_u64).prop_map(Tags::exact),
        (0..4_u64, 0..4_u64).prop_map(|(tag, mask)| Tags::Like { tag, mask }),
        // Bits that do not count, set or not, are the same receive.
        (0..4_u64).prop_map(|tag| Tags::Like {
            tag: tag | 0xff00,
            mask: 3
        }),
    ]
}

fn wanted() -> impl Strategy<Value = Match> {
    (source(), tags(), 0..5_usize).prop_map(|(source, tags, length)| Match { source, tags, length })
}

fn message() -> impl Strategy<Value = (From, Option<u64>)> {
    let listener = proptest::option::of(0..2_u32);
    (0..3_u64, listener, proptest::option::of(0..4_u64)).prop_map(|(id, listener, tag)| {
        let origin = From {
            association: id,
            listener,
        };
        (origin, tag)
    })
}

#[derive(Clone, Debug)]
enum Step {
    Post(Match),
    Cancel(usize),
    Comes((From, Option<u64>)),
    Takes(usize),
    Ends(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => wanted().prop_map(Step::Post),
        1 => any::<usize>().prop_map(Step::Cancel),
        4 => message().prop_map(Step::Comes),
        1 => any::<usize>().prop_map(Step::Takes),
        1 => (0..3_u64).prop_map(Step::Ends),
    ]
}

fn is_from(source: Source, origin: &From) -> bool {
    match source {
        Source::Association(id) => id == origin.association,
        Source::Listener(id) => Some(id) == origin.listener,
        Source::Any => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn both_tables_find_what_a_search_of_all_finds(steps in proptest::collection::vec(step(), 1..80)) {
        let (mut posted, mut waiting) = (Posted::default(), Waiting::<From, u32>::default());
        let mut receives: Vec<(u64, Match)> = Vec::new();
        let mut messages: Vec<(Turn, From, Option<u64>, u32)> = Vec::new();
        let (mut last, mut content) = (0, 0);
        for step in steps {
            match step {
                Step::Post(wanted) => {
                    let first = messages
                        .iter()
                        .position(|(_, origin, tag, _)| is_from(wanted.source, origin) && wanted.tags.has(*tag));
                    let found = waiting.find(wanted.source, wanted.tags);
                    prop_assert_eq!(found, first.map(|at| messages[at].0));
                    match (found, first) {
                        (Some(turn), Some(at)) => {
                            let (_, origin, tag, content) = messages.remove(at);
                            prop_assert_eq!(waiting.get(turn), Some((origin, tag, &content)));
                            prop_assert_eq!(waiting.take(turn), Some((origin, content)));
                            prop_assert_eq!(waiting.take(turn), None);
                        }
                        _ => {
                            last += 1;
                            posted.insert(last, wanted.source, wanted.tags, wanted.length);
                            receives.push((last, wanted));
                        }
                    }
                }
                Step::Cancel(at) if !receives.is_empty() => {
                    let (id, _) = receives.remove(at % receives.len());
                    prop_assert!(posted.remove(id).is_some());
                    prop_assert!(posted.remove(id).is_none());
                }
                Step::Comes((origin, tag)) => {
                    let first = receives
                        .iter()
                        .position(|(_, wanted)| is_from(wanted.source, &origin) && wanted.tags.has(tag));
                    let expected = first.map(|at| receives.remove(at)).map(|(id, wanted)| (id, wanted.length));
                    let taken = posted.take(&origin, tag);
                    prop_assert_eq!(taken, expected);
                    if taken.is_none() {
                        content += 1;
                        let turn = waiting.push(origin, tag, content);
                        messages.push((turn, origin, tag, content));
                    }
                }
                Step::Takes(at) if !messages.is_empty() => {
                    let (turn, origin, _, content) = messages.remove(at % messages.len());
                    prop_assert_eq!(waiting.take(turn), Some((origin, content)));
                }
                Step::Ends(id) => {
                    let source = Source::Association(id);
                    while let Some(ended) = posted.first_at(source) {
                        let at = receives.iter().position(|(id, wanted)| *id == ended && wanted.source == source);
                        prop_assert!(at.is_some());
                        receives.remove(at.unwrap_or_default());
                        posted.remove(ended);
                    }
                    prop_assert!(receives.iter().all(|(_, wanted)| wanted.source != source));
                }
                Step::Cancel(_) | Step::Takes(_) => {}
            }
            prop_assert_eq!((posted.len(), waiting.len()), (receives.len(), messages.len()));
        }
    }
}

#[test]
fn of_thousands_of_receives_the_first_that_fits_is_found_and_nothing_is_left() {
    const COUNT: u64 = 20_000;
    let from = |id| From {
        association: id,
        listener: Some(0),
    };
    let mut posted = Posted::default();
    for n in 0..COUNT {
        let source = Source::Association(n % 100);
        let tags = Tags::exact(n / 100);
        let length = n as usize;
        posted.insert(n, source, tags, length);
    }
    posted.insert(COUNT, Source::Any, Tags::Like { tag: 0, mask: 1 }, 7);
    // In the order of the tables' own: each message has one receive, and even tags another behind it.
    for n in (0..COUNT).rev() {
        assert_eq!(posted.take(&from(n % 100), Some(n / 100)), Some((n, n as usize)));
    }
    assert_eq!(posted.take(&from(1), Some(3)), None);
    assert_eq!(posted.take(&from(1), Some(4)), Some((COUNT, 7)));
    assert_eq!(posted.len(), 0);
    assert!(posted.shapes_in_use() == 0);
}
