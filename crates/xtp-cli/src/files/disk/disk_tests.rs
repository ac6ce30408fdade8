//! What becomes of content that is not what its sender hashed or offered.

use std::sync::mpsc::channel;

use super::*;
use crate::files::names::RelPath;
use crate::files::pattern::Excludes;
use crate::files::record::{CopyOptions, Owner, Stamp};

/// What comes of a file of `size` octets that is offered, and of what its sender sends then: the end of the session, what is in
/// the directory, and how often content was asked for again.
fn received(size: u64, sent: Vec<Job>) -> (Result<(), Fault>, Option<Vec<u8>>, u64) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let endpoint = xtp::Endpoint::client().expect("loopback");
    let options = xtp::OpenOptions::new(9);
    let stream = endpoint
        .open(endpoint.local_addr(), options)
        .expect("a stream to nobody");
    let target = Target {
        root: Arc::new(Root::open(dir.path()).expect("a directory")),
        path: RelPath::default(),
        several: false,
        slash: true,
        prefix: String::new(),
        names: None,
        options: CopyOptions::default(),
        excludes: Excludes::default(),
    };
    let entry = Entry {
        id: 0,
        source: 0,
        path: Vec::new(),
        name: b"file".to_vec(),
        kind: Kind::File { size },
        stored: None,
        hash: None,
        mode: 0o600,
        owner: Owner { user: 0, group: 0 },
        modified: Stamp { seconds: 1, nanos: 0 },
    };
    let (jobs, waiting) = channel();
    for job in std::iter::once(Job::Records(vec![Record::Entry(entry)])).chain(sent) {
        jobs.send(job).expect("open");
    }
    drop(jobs);
    let (claims, tally) = (Claims::default(), Tally::default());
    let ended = Disk::new(Outbox::new(&stream), target, &claims, &tally).run(&waiting);
    (
        ended,
        std::fs::read(dir.path().join("file")).ok(),
        tally.damaged.get(),
    )
}

/// A small file of which something else arrives than its sender hashed, as often as in `times`.
fn small(hashed: &[u8], content: &'static [u8], times: usize) -> (Option<Vec<u8>>, u64) {
    let whole = || {
        Job::Records(vec![Record::Whole {
            id: 0,
            hash: *blake3::hash(hashed).as_bytes(),
            content: Bytes::from_static(content),
        }])
    };
    let (ended, stored, again) = received(
        content.len() as u64,
        std::iter::repeat_with(whole).take(times).collect(),
    );
    assert!(ended.is_ok(), "no fault of the sender's: {ended:?}");
    (stored, again)
}

#[test]
fn a_small_file_is_stored_if_it_is_what_was_sent() {
    assert_eq!(small(b"whole", b"whole", 1), (Some(b"whole".to_vec()), 0));
}

#[test]
fn a_small_file_that_arrived_damaged_is_asked_for_again_a_few_times() {
    assert_eq!(small(b"whole", b"whale", 1), (None, 1));
    assert_eq!(small(b"whole", b"whale", 3), (None, 3));
    // Then it is refused.
    assert_eq!(small(b"whole", b"whale", 4), (None, 3));
}

const SIZE: usize = 100_000;

/// A long file of which `content` arrives, where its sender hashed `hashed`.
fn long(hashed: &[u8], content: Vec<u8>) -> Vec<Job> {
    let hash = *blake3::hash(hashed).as_bytes();
    vec![
        Job::Records(vec![Record::Begin { id: 0, offset: 0 }]),
        Job::Content {
            id: 0,
            content: vec![content.into()],
        },
        Job::Records(vec![Record::End { id: 0, hash }]),
    ]
}

#[test]
fn a_long_file_that_arrived_damaged_is_asked_for_again() {
    let mut content = vec![7; SIZE];
    content[SIZE / 2] = 8;
    let (ended, stored, again) = received(SIZE as u64, long(&[7; SIZE], content));
    assert!(ended.is_ok(), "no fault of the sender's: {ended:?}");
    assert_eq!((stored, again), (None, 1));
}

#[test]
fn a_long_file_is_as_long_as_it_was_offered() {
    let sent = |octets: usize| long(&vec![7; octets], vec![7; octets]);
    let (ended, stored, _) = received(SIZE as u64, sent(SIZE));
    assert!(ended.is_ok() && stored == Some(vec![7; SIZE]), "{ended:?}");
    for octets in [SIZE - 1, SIZE + 1] {
        let (ended, stored, _) = received(SIZE as u64, sent(octets));
        assert!(matches!(ended, Err(Fault::Here(problem)) if problem.code == Code::Protocol));
        assert_eq!(stored, None);
    }
    // What is too much is refused before the end says so.
    let mut unended = sent(SIZE + 1);
    unended.pop();
    let (ended, ..) = received(SIZE as u64, unended);
    assert!(ended.is_err());
}
