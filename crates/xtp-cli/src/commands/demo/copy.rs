//! A real file, from disk to disk, over xtp and over TCP; what arrived is hashed and compared.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde::Serialize;
use xtp::{Endpoint, paradigm};

use super::kernel::Tcp;
use super::paradigms::{FILE_PORT, Job};
use super::pipe::Receiver;
use crate::common::{Common, Failure};

/// Octets read from the file at once.
const PIECE: usize = 256 << 10;
/// Octets of a BLAKE3 hash.
const HASH: usize = 32;
/// Copies over each protocol; the median time is told.
const ROUNDS: usize = 5;
/// Longest wait for the receiver's hash.
const PATIENCE: Duration = Duration::from_secs(60);

/// How the copies went.
#[derive(Copy, Clone, Debug, Serialize)]
pub(super) struct FileReport {
    pub(super) bytes: u64,
    pub(super) seconds: f64,
    pub(super) tcp_seconds: f64,
    pub(super) hash_equal: bool,
}

/// Writes a file and hashes what it writes.
pub(super) struct FileWriter {
    file: File,
    hasher: blake3::Hasher,
}

impl FileWriter {
    /// # Errors
    /// As the system says.
    pub(super) fn create(path: PathBuf) -> io::Result<Self> {
        Ok(Self {
            file: File::create(path)?,
            hasher: blake3::Hasher::new(),
        })
    }

    /// # Errors
    /// As the system says.
    pub(super) fn write(&mut self, octets: &[u8]) -> io::Result<()> {
        self.hasher.update(octets);
        self.file.write_all(octets)
    }

    /// The hash of everything written.
    ///
    /// # Errors
    /// As the system says.
    pub(super) fn finish(mut self) -> io::Result<[u8; HASH]> {
        self.file.flush()?;
        Ok(*self.hasher.finalize().as_bytes())
    }
}

/// Makes a file, copies it twice, compares.
///
/// # Errors
/// If it cannot be written or sent.
pub(super) fn run(
    directory: &Path,
    size: usize,
    receiver: &mut Receiver,
    common: &Common,
) -> Result<FileReport, Failure> {
    let path = directory.join("original");
    let original = generate(&path, size).map_err(|error| file_failed(&path, &error))?;
    let endpoint = common.client()?;
    let (mut times, mut tcp_times) = (Vec::new(), Vec::new());
    let mut hash_equal = true;
    // In turn, so that whatever else the host does meets both.
    for _ in 0..ROUNDS {
        common.check()?;
        let (seconds, hash) = over_xtp(&path, &endpoint, receiver.places.xtp, common)?;
        receiver.after_arrival()?;
        times.push(seconds);
        let tcp = over_tcp(&path, receiver.places.tcp);
        let (seconds, tcp_hash) = tcp.map_err(|error| Failure::io("cannot copy over TCP", &error))?;
        receiver.after_arrival()?;
        tcp_times.push(seconds);
        // What the receiver says it wrote, and what is on the disk.
        hash_equal &= hash[..] == original && tcp_hash[..] == original;
        for name in ["xtp.copy", "tcp.copy"] {
            let path = directory.join(name);
            hash_equal &= hash_of(&path).map_err(|error| file_failed(&path, &error))? == original;
        }
    }
    Ok(FileReport {
        bytes: size as u64,
        seconds: median(times),
        tcp_seconds: median(tcp_times),
        hash_equal,
    })
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

fn file_failed(path: &Path, error: &io::Error) -> Failure {
    Failure::io(format_args!("cannot use {}", path.display()), error)
}

/// Octets nothing can compress or guess: a hash function run on.
fn generate(path: &Path, size: usize) -> io::Result<[u8; HASH]> {
    let mut source = blake3::Hasher::new().update(b"xtp demo").finalize_xof();
    let mut writer = FileWriter::create(path.to_owned())?;
    let mut piece = vec![0; PIECE];
    let mut left = size;
    while left > 0 {
        let count = left.min(PIECE);
        source.fill(&mut piece[..count]);
        writer.write(&piece[..count])?;
        left -= count;
    }
    writer.finish()
}

fn hash_of(path: &Path) -> io::Result<[u8; HASH]> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(*hasher.finalize().as_bytes())
}

fn over_xtp(
    path: &Path,
    endpoint: &Endpoint,
    peer: SocketAddr,
    common: &Common,
) -> Result<(f64, Vec<u8>), Failure> {
    let failed = |error: xtp::Error| Failure::of("cannot copy over xtp", &error);
    let begin = Instant::now();
    let mut file = File::open(path).map_err(|error| file_failed(path, &error))?;
    let mut options = paradigm::stream(FILE_PORT);
    common.tune(&mut options.tuning);
    let stream = endpoint.open(peer, options).map_err(failed)?;
    stream.set_read_timeout(Some(PATIENCE));
    loop {
        let mut piece = vec![0; PIECE];
        let count = file.read(&mut piece).map_err(|error| file_failed(path, &error))?;
        if count == 0 {
            break;
        }
        piece.truncate(count);
        // Handed over, not copied: the endpoint holds it until it is acknowledged.
        stream.send(Bytes::from(piece)).map_err(failed)?;
    }
    stream.shutdown_write().map_err(failed)?;
    let mut hash = Vec::new();
    while let Some(chunk) = stream.recv_chunk().map_err(failed)? {
        if let xtp::Chunk::Data { bytes, .. } = chunk {
            hash.extend_from_slice(&bytes);
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    stream.close().map_err(failed)?;
    Ok((seconds, hash))
}

fn over_tcp(path: &Path, peer: SocketAddr) -> io::Result<(f64, Vec<u8>)> {
    let begin = Instant::now();
    let mut file = File::open(path)?;
    let tcp = Tcp::connect(peer)?;
    tcp.write_all(&[Job::File as u8])?;
    let mut piece = vec![0; PIECE];
    loop {
        match file.read(&mut piece)? {
            0 => break,
            count => tcp.write_all(&piece[..count])?,
        }
    }
    tcp.end()?;
    let hash = tcp.read_rest()?;
    Ok((begin.elapsed().as_secs_f64(), hash))
}
