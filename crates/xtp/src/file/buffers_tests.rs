//! Buffers come back.

use super::*;

#[test]
fn reads_are_whole_and_buffers_are_used_again() {
    let pool = FileBuffers::default();
    let source: Vec<u8> = (0..FileBuffers::OCTETS + 10).map(|index| index as u8).collect();
    let mut reader = &source[..];
    let first = pool.read(&mut reader, u64::MAX).expect("memory does not fail");
    let second = pool.read(&mut reader, u64::MAX).expect("memory does not fail");
    assert_eq!((&first[..], &second[..]), source.split_at(FileBuffers::OCTETS));
    assert_eq!(pool.read(&mut reader, 5).expect("memory does not fail").len(), 0);
    let part = first.slice(3..5);
    drop((first, second));
    assert_eq!(pool.0.lock().expect("unpoisoned").len(), 2, "one is still in use");
    assert_eq!(&part[..], &source[3..5]);
    drop(part);
    assert_eq!(pool.0.lock().expect("unpoisoned").len(), 3);
    let mut limited = &source[..];
    assert_eq!(pool.read(&mut limited, 7).expect("memory does not fail").len(), 7);
    assert_eq!(limited.len(), source.len() - 7);
}

#[test]
fn only_so_many_are_kept() {
    let pool = FileBuffers::default();
    let lent: Vec<_> = (0..KEPT + 5)
        .map(|_| pool.read(&mut &b"x"[..], 1).expect("memory does not fail"))
        .collect();
    drop(lent);
    assert_eq!(pool.0.lock().expect("unpoisoned").len(), KEPT);
}

/// Takes so many octets a call, and is interrupted before each.
struct Slow {
    taken: Vec<u8>,
    most: usize,
    interrupted: bool,
}

impl Write for Slow {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.interrupted = !self.interrupted;
        if self.interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let count = octets.len().min(self.most);
        self.taken.extend_from_slice(&octets[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_the_system_does_not_take_at_once_is_written_again() {
    let parts = || [&b""[..], b"one ", b"", b"and another", b""].map(IoSlice::new);
    let mut slow = Slow {
        taken: Vec::new(),
        most: 3,
        interrupted: false,
    };
    FileBuffers::write(&mut slow, &mut parts()).expect("taken in the end");
    assert_eq!(slow.taken, b"one and another");
    slow.most = 0;
    let refused = FileBuffers::write(&mut slow, &mut parts()).expect_err("takes nothing");
    assert_eq!(refused.kind(), io::ErrorKind::WriteZero);
    FileBuffers::write(&mut slow, &mut [IoSlice::new(b"")]).expect("nothing to do");
}
