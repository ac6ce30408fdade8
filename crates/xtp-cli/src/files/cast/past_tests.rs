//! What was sent is found again, whatever it was cut into.

use std::fs;
use std::sync::Arc;

use super::*;
use crate::files::record::{Kind, Owner, Record};
use crate::files::root::{Root, Seen};

const SMALL: &[u8] = b"a small file";

/// A directory with two files, as a source.
fn source(directory: &std::path::Path) -> Source {
    fs::write(directory.join("small"), SMALL).expect("written");
    fs::write(directory.join("large"), large()).expect("written");
    Source {
        follow: false,
        root: Arc::new(Root::open(directory).expect("there")),
        start: RelPath::default(),
        name: Vec::new(),
        label: "source".to_owned(),
    }
}

fn large() -> Vec<u8> {
    (0..200_000_u32).map(|n| (n >> 5) as u8).collect()
}

fn entry(source: &Source, id: u64, path: &str) -> Entry {
    let file = source
        .root
        .file(&RelPath::from_peer(path.as_bytes()).expect("a path"));
    let seen = Seen::of(&file.expect("there")).expect("told");
    Entry {
        id,
        source: 0,
        path: path.as_bytes().to_vec(),
        name: Vec::new(),
        kind: Kind::File { size: seen.size() },
        mode: 0o644,
        modified: seen.modified(),
        stored: None,
        hash: None,
        owner: Owner::default(),
    }
}

/// Sends both files as `xtp cast send` does; returns the messages.
fn send(past: &Past, source: &Source) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    let mut collected = Vec::new();
    let mut push = |record: &Record| {
        record.encode(&mut collected);
        let content = match record {
            Record::Whole { content, .. } => content.len(),
            _ => 0,
        };
        past.collected(collected.len(), content);
    };
    let small = entry(source, 0, "small");
    past.begins(&small);
    push(&Record::Entry(small));
    past.reads(0);
    push(&Record::Whole {
        id: 0,
        hash: [7; 32],
        content: Bytes::from_static(SMALL),
    });
    let entry = entry(source, 1, "large");
    past.begins(&entry);
    push(&Record::Entry(entry));
    push(&Record::Begin { id: 1, offset: 0 });
    past.sends(&collected);
    messages.push(collected);
    for (number, piece) in large().chunks(70_000).enumerate() {
        past.reads(70_000 * number as u64);
        past.sends_content(piece);
        messages.push(piece.to_vec());
    }
    messages
}

/// All that is found, `most` octets at a time, and where messages end.
fn read(past: &Past, most: usize) -> (Vec<u8>, Vec<usize>) {
    let (mut all, mut ends) = (Vec::new(), Vec::new());
    while let Some(item) = past.at(all.len() as u64, most) {
        let HistoryItem::Octets {
            bytes,
            end_of_message,
        } = item
        else {
            panic!("no tags were sent")
        };
        assert!((1..=most).contains(&bytes.len()));
        all.extend_from_slice(&bytes);
        if end_of_message {
            ends.push(all.len());
        }
    }
    (all, ends)
}

#[test]
fn everything_is_found_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let source = source(directory.path());
    let past = Past::new(source.clone());
    let messages = send(&past, &source);
    let ends: Vec<usize> = messages
        .iter()
        .scan(0, |end, message| {
            *end += message.len();
            Some(*end)
        })
        .collect();
    for most in [1 << 20, 4_096, 33] {
        assert!(
            read(&past, most) == (messages.concat(), ends.clone()),
            "{most} at a time"
        );
    }
}

/// The memory that it takes does not grow with what files hold.
#[test]
fn content_is_not_kept() {
    let directory = tempfile::tempdir().expect("a directory");
    let source = source(directory.path());
    let past = Past::new(source.clone());
    let sent: usize = send(&past, &source).iter().map(Vec::len).sum();
    let index = past.index();
    let kept = |placed: &Placed| match &placed.part {
        Part::Kept(octets) => octets.len(),
        Part::InFile { .. } => 0,
    };
    let kept: usize = index.parts.iter().map(kept).sum();
    assert_eq!(kept, sent - SMALL.len() - large().len());
}

/// A file that was written to since is not what was sent.
#[test]
fn a_file_that_changed_is_not_given_back() {
    let directory = tempfile::tempdir().expect("a directory");
    let source = source(directory.path());
    let past = Past::new(source.clone());
    send(&past, &source);
    let records = read(&past, 4_096).0.len() - large().len() - SMALL.len();
    let path = directory.path().join("large");
    fs::write(&path, vec![0; large().len()]).expect("written");
    let file = fs::File::options().write(true).open(&path).expect("there");
    let later = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1);
    file.set_modified(later).expect("ours");
    assert_eq!(read(&past, 4_096).0.len(), records + SMALL.len());
    fs::remove_file(path).expect("removed");
    let again = Past::new(source);
    assert_eq!(again.at(0, 1), None, "nothing was sent");
}
