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
        stored: None,
        hash: None,
        mode: 0o640,
        owner: Owner {
            user: 1_000,
            group: 7,
        },
        modified: Stamp {
            seconds: -5,
            nanos: 999_999_999,
        },
    })
}

/// A file with holes.
fn holes(size: u64, stored: u64) -> Record {
    let Record::Entry(mut entry) = entry(Kind::File { size }, b"h") else {
        unreachable!("it makes entries");
    };
    entry.stored = Some(stored);
    Record::Entry(entry)
}

/// The same with the hash of its content.
fn hashed(offer: Record) -> Record {
    let Record::Entry(mut entry) = offer else {
        unreachable!("it is an entry");
    };
    entry.hash = Some([7; 32]);
    Record::Entry(entry)
}

fn get(options: CopyOptions) -> Wish {
    Wish::Get { options }
}

fn every_option() -> CopyOptions {
    CopyOptions {
        dry_run: true,
        delete: true,
        unsynced: true,
        owner: true,
        sparse: true,
        links: Links::Follow,
        checksum: true,
        ignore_times: true,
        size_only: true,
        update: true,
        ignore_existing: true,
        anew: false,
    }
}

fn every_record() -> Vec<Record> {
    let problem = Problem::new(Code::NoSpace, "full");
    let mut records = vec![
        Record::Welcome { version: VERSION },
        hashed(entry(Kind::File { size: 5 }, b"a")),
        hashed(holes(1 << 40, 5)),
        Record::Source { path: b"x".to_vec() },
        Record::Only {
            path: b"a/b".to_vec(),
            whole: true,
        },
        Record::Include {
            pattern: b"*.c".to_vec(),
        },
        Record::Exclude {
            pattern: b"*.o".to_vec(),
        },
        Record::Start,
        entry(Kind::Directory, b""),
        entry(Kind::File { size: 1 << 40 }, b"a/b"),
        entry(
            Kind::Link {
                target: b"../t".to_vec(),
            },
            b"a/l",
        ),
        entry(Kind::Stream, b""),
        holes(1 << 40, 1 << 20),
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
        Record::Hole { id: 2, len: 1 << 32 },
        Record::End { id: 2, hash: [4; 32] },
        Record::Withdraw {
            id: 2,
            problem: problem.clone(),
        },
        Record::Note {
            source: 3,
            path: b"a/l".to_vec(),
            problem: problem.clone(),
        },
        Record::Finish,
        Record::Want {
            id: 9,
            offset: 1,
            prefix: [5; 32],
        },
        Record::Have {
            id: 9,
            offset: 1,
            prefix: [6; 32],
        },
        Record::Skip { id: 9 },
        Record::Done { id: 9 },
        Record::Failed {
            id: 9,
            problem: problem.clone(),
        },
        Record::Deleted {
            path: b"gone".to_vec(),
        },
        Record::Finished,
        Record::Fatal { problem },
    ];
    records.extend(every_greeting());
    records
}

fn every_greeting() -> Vec<Record> {
    let wish = |several, slash| Wish::Put {
        target: b"a/b".to_vec(),
        several,
        slash,
        options: CopyOptions {
            delete: true,
            ..CopyOptions::default()
        },
    };
    let wishes = [
        wish(false, false),
        wish(true, false),
        wish(false, true),
        get(CopyOptions::default()),
        get(every_option()),
        Wish::List { itself: false },
        Wish::List { itself: true },
        Wish::Cast {
            unnamed: true,
            total: 1 << 40,
        },
        Wish::Beside,
    ];
    let version = VERSION;
    wishes.map(|wish| Record::Hello { version, wish }).into()
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
    let hello = |version| {
        let wish = get(CopyOptions::default());
        encoded(&Record::Hello { version, wish })
    };
    // Of another version nothing but the number is read.
    assert_eq!(code(hello(VERSION + 1)[..3].to_vec()), Err(Code::Version));
    assert_eq!(code(hello(VERSION - 1)[..3].to_vec()), Err(Code::Version));
    assert_eq!(code(hello(16_386)), Err(Code::Protocol));
    let mut unknown = hello(VERSION);
    *unknown.iter_mut().rev().nth(1).expect("flags") |= 0x80;
    assert_eq!(code(unknown), Err(Code::Protocol));
}

#[test]
fn what_strangers_say_is_cut_and_cleaned() {
    let problem = Problem::new(Code::Io, format!("\u{1b}[31m{}", "ä".repeat(TEXT_LIMIT)));
    let mut message = Bytes::from(encoded(&Record::Note {
        source: 0,
        path: Vec::new(),
        problem,
    }));
    let Ok(Record::Note { problem, .. }) = Record::decode(&mut message) else {
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
