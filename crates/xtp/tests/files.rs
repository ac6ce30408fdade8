//! Ranges of files into streams and streams into ranges of files, and all that can be wrong with either.

mod common;

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::thread;
use std::time::Duration;

use common::{LONG, PORT, pair, pattern};
use xtp::tuning::FileBuffers;
use xtp::{DriverThread, Error, FileError, Stream, paradigm};

fn file_of(octets: &[u8]) -> File {
    let mut file = tempfile::tempfile().expect("room");
    file.write_all(octets).expect("room");
    file
}

fn content(file: &File) -> Vec<u8> {
    let mut octets = vec![0; usize::try_from(file.metadata().unwrap().len()).unwrap()];
    file.read_exact_at(&mut octets, 0).unwrap();
    octets
}

/// Both ends of an association and what drives them.
fn ends() -> (Stream, Stream, [DriverThread; 2]) {
    let (server, address, client) = pair();
    let drivers = [&server, &client].map(|end| end.spawn_driver().unwrap());
    let listener = server.listen_streams(PORT).unwrap();
    let here = client.open(address, paradigm::stream(PORT)).unwrap();
    here.connect(Some(LONG)).unwrap();
    let there = listener.accept_timeout(LONG).unwrap().into_stream();
    there.set_read_timeout(Some(LONG));
    (here, there, drivers)
}

#[test]
fn ranges_arrive_where_they_belong() {
    let (here, there, _drivers) = ends();
    let octets = pattern(3 * FileBuffers::OCTETS + 17);
    let size = octets.len() as u64;
    let mut from = file_of(&octets);
    from.seek(SeekFrom::Start(5)).unwrap();
    let mut to = file_of(&[b'-'; 100]);
    to.seek(SeekFrom::Start(7)).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            assert_eq!(here.send_file(&from, 10..30).unwrap(), 20);
            assert_eq!(here.send_file(&from, ..=4).unwrap(), 5);
            assert_eq!(here.send_file(&from, size..).unwrap(), 0);
            here.send_message("between files").unwrap();
            assert_eq!(here.send_file(&from, ..).unwrap(), size);
            here.shutdown_write().unwrap();
        });
        assert_eq!(there.recv_file(&to, 40..60).unwrap(), 20);
        assert_eq!(there.recv_file(&to, 0..0).unwrap(), 0);
        assert_eq!(there.recv_file(&to, 95..=99).unwrap(), 5);
        let mut text = [0; 13];
        assert_eq!(there.recv_into(&mut text).unwrap(), 13);
        assert_eq!(&text, b"between files");
        assert_eq!(there.recv_file(&to, 100..).unwrap(), size);
        assert_eq!(there.recv_file(&to, 200..).unwrap(), 0, "the end stays the end");
    });
    let copy = content(&to);
    assert!(
        copy[..40] == [b'-'; 40] && copy[60..95] == [b'-'; 35],
        "the rest stays"
    );
    assert!(copy[40..60] == octets[10..30] && copy[95..100] == octets[..5]);
    assert!(copy[100..] == octets);
    let positions = [from.stream_position().unwrap(), to.stream_position().unwrap()];
    assert_eq!(positions, [5, 7], "nobody moved");
}

#[test]
fn a_range_that_is_not_there_sends_nothing() {
    let (here, there, _drivers) = ends();
    let file = file_of(&[7; 100]);
    #[expect(clippy::reversed_empty_ranges, reason = "that is what is refused")]
    let backwards = 60..50;
    for range in [0..101, 101..102, backwards.clone(), 0..u64::MAX] {
        let error = here.send_file(&file, range).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(
            matches!(error, Error::File(FileError::Range { size: 100, .. })),
            "{error}"
        );
    }
    let error = here.send_file(&file, 0..=u64::MAX).unwrap_err();
    assert!(matches!(error, Error::File(FileError::Range { .. })), "{error}");
    let error = there.recv_file(&file, backwards).unwrap_err();
    assert!(matches!(error, Error::File(FileError::Range { .. })), "{error}");
    for other in ["/", "/dev/zero"] {
        let error = here.send_file(&File::open(other).unwrap(), ..).unwrap_err();
        assert!(matches!(error, Error::File(FileError::NotRegular)), "{error}");
    }
    here.shutdown_write().unwrap();
    assert_eq!(there.recv_into(&mut [0; 8]).unwrap(), 0, "nothing was sent");
}

#[test]
fn a_file_that_cannot_be_read_says_so() {
    let (here, _there, _drivers) = ends();
    let path = tempfile::NamedTempFile::new().unwrap();
    path.as_file().write_all_at(&[7; 100], 0).unwrap();
    let file = File::options().write(true).open(path.path()).unwrap();
    let error = here.send_file(&file, ..).unwrap_err();
    assert!(
        matches!(error, Error::File(FileError::Reading { at: 0, .. })),
        "{error}"
    );
}

/// The peer reads nothing, so the sender is somewhere in the middle when the file becomes shorter.
#[test]
fn a_file_that_shrinks_while_it_is_sent_says_how_much_has_left() {
    const SIZE: u64 = 64 << 20;
    const LEFT: u64 = 40 << 20;
    let (here, there, _drivers) = ends();
    let file = tempfile::tempfile().unwrap();
    file.set_len(SIZE).unwrap();
    thread::scope(|scope| {
        let sending = scope.spawn(|| here.send_file(&file, ..));
        there.recv_into(&mut [0; 1]).unwrap();
        file.set_len(LEFT + 1_000).unwrap();
        let mut buffer = vec![0; 1 << 20];
        let mut came = 1;
        while came < LEFT {
            let wanted = buffer.len().min(usize::try_from(LEFT - came).unwrap());
            came += there.recv_into(&mut buffer[..wanted]).unwrap() as u64;
        }
        let error = sending.join().unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
        let Error::File(FileError::Shrunk { sent }) = error else {
            panic!("{error}");
        };
        assert_eq!(sent, LEFT);
        // What left arrives, and the stream goes on.
        here.send_message("that was all").unwrap();
        assert_eq!(
            there.recv_message().unwrap().as_deref(),
            Some(&b"that was all"[..])
        );
    });
}

#[test]
fn a_full_disk_and_an_early_end_say_so() {
    let (here, there, _drivers) = ends();
    here.send(vec![7; 100]).unwrap();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let error = there.recv_file(&full, 0..100).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    assert!(
        matches!(error, Error::File(FileError::Writing { at: 0, .. })),
        "{error}"
    );
    let read_only = File::open("/dev/null").unwrap();
    here.send(vec![7; 100]).unwrap();
    let error = there.recv_file(&read_only, 0..100).unwrap_err();
    assert!(matches!(error, Error::File(FileError::Writing { .. })), "{error}");
    let file = tempfile::tempfile().unwrap();
    here.send(vec![8; 100]).unwrap();
    here.shutdown_write().unwrap();
    let error = there.recv_file(&file, 0..200).unwrap_err();
    assert!(matches!(error, Error::Incomplete { octets: 100 }), "{error}");
    assert_eq!(content(&file), [8; 100], "what came lies there");
}

#[test]
fn time_that_is_over_loses_nothing() {
    let (here, there, _drivers) = ends();
    let file = tempfile::tempfile().unwrap();
    here.send(vec![7; 100]).unwrap();
    there.set_read_timeout(Some(Duration::from_millis(20)));
    assert!(there.recv_file(&file, 0..200).unwrap_err().is_timeout());
    assert_eq!(content(&file), [7; 100]);
    here.send(vec![8; 50]).unwrap();
    let mut buffer = [0; 100];
    let mut came = 0;
    while came < 50 {
        came += there.recv_into(&mut buffer[came..]).unwrap();
    }
    assert!(there.recv_into(&mut buffer[50..]).unwrap_err().is_timeout());
    assert_eq!(&buffer[..50], [8; 50]);
}

/// Holes read as zeros, and are zeros where they arrive.
#[test]
fn a_sparse_file_arrives_as_it_reads() {
    const SIZE: u64 = 8 << 20;
    let (here, there, _drivers) = ends();
    let sparse = tempfile::tempfile().unwrap();
    sparse.set_len(SIZE).unwrap();
    sparse.write_all_at(b"an island", 5_000_000).unwrap();
    assert!(sparse.metadata().unwrap().blocks() * 512 < SIZE);
    let copy = tempfile::tempfile().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(here.send_file(&sparse, ..).unwrap(), SIZE));
        assert_eq!(there.recv_file(&copy, ..SIZE).unwrap(), SIZE);
    });
    assert!(content(&copy) == content(&sparse));
}

/// Through packets of all lengths, by the file's own reader on one side.
#[test]
fn what_is_read_otherwise_is_the_same() {
    let (here, there, _drivers) = ends();
    let octets = pattern(1 << 20);
    let file = file_of(&octets);
    let sent = octets.clone();
    thread::scope(|scope| {
        scope.spawn(|| {
            here.send_file(&file, ..).unwrap();
            for piece in sent.chunks(1_000) {
                (&here).write_all(piece).unwrap();
            }
            here.shutdown_write().unwrap();
        });
        let mut read = vec![0; octets.len()];
        (&there).read_exact(&mut read).unwrap();
        assert!(read == octets);
        let copy = tempfile::tempfile().unwrap();
        assert_eq!(there.recv_file(&copy, 0..).unwrap(), octets.len() as u64);
        assert!(content(&copy) == octets);
    });
}
