//! Records survive the way over the network, and nothing else does any harm.

use bytes::Bytes;
use proptest::prelude::*;

use super::*;

fn entry(kind: Kind, path: &[u8]) -> Record {
    Record::Entry(Entry {
        id: 7,
        source: 1,
        path: path.to_vec(),
        name: b"n\xff".to_vec(),
        kind,
        mode: 0o640,
        modified: Stamp {
            seconds: -5,
            nanos: 999_999_999,
        },
    })
}

fn every_record() -> Vec<Record> {
    let problem = Problem::new(Code::NoSpace, "full");
    let wish = |several, slash| Wish::Put {
        target: b"a/b".to_vec(),
        several,
        slash,
    };
    let mut records = vec![
        Record::Welcome { version: VERSION },
        Record::Source { path: b"x".to_vec() },
        Record::Start,
        entry(Kind::Directory, b""),
        entry(Kind::File { size: 1 << 40 }, b"a/b"),
        entry(
            Kind::Link {
                target: b"../t".to_vec(),
            },
            b"a/l",
        ),
        Record::Whole {
            id: 1,
            hash: [3; 32],
            content: Bytes::from_static(b"content"),
        },
        Record::Begin { id: 2, offset: 5 },
        Record::Piece {
            id: 2,
            len: PIECE_LIMIT,
        },
        Record::End { id: 2, hash: [4; 32] },
        Record::Withdraw {
            id: 2,
            problem: problem.clone(),
        },
        Record::Note {
            problem: problem.clone(),
        },
        Record::Finish,
        Record::Want {
            id: 9,
            offset: 1,
            prefix: [5; 32],
        },
        Record::Skip { id: 9 },
        Record::Done { id: 9 },
        Record::Failed {
            id: 9,
            problem: problem.clone(),
        },
        Record::Finished,
        Record::Fatal { problem },
    ];
    for wish in [
        wish(false, false),
        wish(true, false),
        wish(false, true),
        Wish::Get,
    ] {
        let version = VERSION;
        records.push(Record::Hello { version, wish });
    }
    records
}

fn encoded(record: &Record) -> Vec<u8> {
    let mut message = Vec::new();
    record.encode(&mut message);
    message
}

#[test]
fn every_record_survives() {
    let mut together = Vec::new();
    for record in every_record() {
        record.encode(&mut together);
    }
    let mut message = Bytes::from(together);
    for record in every_record() {
        assert_eq!(Record::decode(&mut message), Ok(record));
    }
    assert!(message.is_empty());
}

#[test]
fn every_cut_is_noticed() {
    for record in every_record() {
        let whole = encoded(&record);
        for len in 0..whole.len() {
            let outcome = Record::decode(&mut Bytes::copy_from_slice(&whole[..len]));
            assert_eq!(
                outcome.map_err(|problem| problem.code),
                Err(Code::Protocol),
                "{record:?} cut to {len}"
            );
        }
    }
}

#[test]
fn values_out_of_range_are_refused() {
    let code = |message: Vec<u8>| Record::decode(&mut message.into()).map_err(|problem| problem.code);
    let piece = |len| encoded(&Record::Piece { id: 1, len });
    assert_eq!(code(piece(0)), Err(Code::Protocol));
    assert_eq!(code(piece(PIECE_LIMIT + 1)), Err(Code::Protocol));
    let content = Bytes::from(vec![0; INLINE_LIMIT as usize + 1]);
    let hash = [0; 32];
    assert_eq!(
        code(encoded(&Record::Whole { id: 1, hash, content })),
        Err(Code::Protocol)
    );
    assert_eq!(
        code(encoded(&entry(Kind::File { size: u64::MAX }, b"a"))),
        Err(Code::Protocol)
    );
    assert_eq!(
        code(encoded(&entry(Kind::Directory, &vec![b'a'; PATH_LIMIT + 1]))),
        Err(Code::Protocol)
    );
    assert_eq!(code(vec![200]), Err(Code::Protocol));
    let (version, wish) = (VERSION + 1, Wish::Get);
    assert_eq!(
        code(encoded(&Record::Hello { version, wish })),
        Err(Code::Version)
    );
}

#[test]
fn what_strangers_say_is_cut_and_cleaned() {
    let problem = Problem::new(Code::Io, format!("\u{1b}[31m{}", "ä".repeat(TEXT_LIMIT)));
    let mut message = Bytes::from(encoded(&Record::Note { problem }));
    let Ok(Record::Note { problem }) = Record::decode(&mut message) else {
        panic!("a note comes back as a note");
    };
    assert!(problem.text.starts_with("\\u{1b}[31mä") && problem.text.ends_with('ä'));
    assert!(problem.text.len() <= TEXT_LIMIT + 10);
}

proptest! {
    #[test]
    fn anything_else_is_a_problem_or_a_record(octets in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut message = Bytes::from(octets);
        while !message.is_empty() {
            let before = message.len();
            match Record::decode(&mut message) {
                Ok(record) => {
                    prop_assert!(message.len() < before);
                    // What was understood is understood again. (Texts may have been cleaned.)
                    let again = Record::decode(&mut encoded(&record).into());
                    prop_assert!(again.is_ok());
                }
                Err(problem) => {
                    prop_assert!(matches!(problem.code, Code::Protocol | Code::Version));
                    break;
                }
            }
        }
    }
}
