//! Captures: every packet sent and received, as a pcap file other tools read.
//!
//! XTP packets travel in UDP datagrams here, but dissectors know them as IP protocol 36. A capture can show them
//! either way ([`Framing`]). IP headers are made up from what the endpoint knows of the addresses; link headers are
//! absent (`LINKTYPE_RAW`).

use std::fs::File;
use std::io::{self, BufWriter, IoSlice, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::{DataLink, TsResolution};

use crate::error::{Error, Result};

mod frame;

pub use frame::Framing;

/// A capture file, shared by all endpoints it is given to. The file is complete when the last clone is dropped or
/// after [`Trace::flush`].
///
/// ```
/// let directory = tempfile::tempdir()?;
/// let mut config = xtp::Config::default();
/// config.trace = Some(xtp::Trace::pcap(directory.path().join("all.pcap"))?);
/// let endpoint = xtp::Endpoint::bind(config)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Trace {
    file: Arc<Capture>,
}

#[derive(Debug)]
struct Capture {
    path: PathBuf,
    framing: Framing,
    state: Mutex<CaptureState>,
}

#[derive(Debug)]
struct CaptureState {
    writer: PcapWriter<Sink>,
    /// The same file, to flush it: the writer does not let go of its own.
    sink: Sink,
    /// One frame under construction.
    frame: Vec<u8>,
    /// Identification of the next IPv4 header.
    next_id: u16,
    /// The first failure; nothing is written after it.
    failed: Option<io::Error>,
}

/// The buffered file behind the writer.
#[derive(Clone, Debug)]
struct Sink(Arc<Mutex<BufWriter<File>>>);

impl Write for Sink {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .write(octets)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

impl Trace {
    /// Creates (or overwrites) a capture with packets as IP protocol 36.
    ///
    /// # Errors
    /// [`Error::Capture`] if the file cannot be created.
    pub fn pcap(path: impl AsRef<Path>) -> Result<Self> {
        Self::create(path, Framing::Protocol36)
    }

    /// Creates (or overwrites) a capture with the framing of your choice.
    ///
    /// # Errors
    /// [`Error::Capture`] if the file cannot be created.
    pub fn create(path: impl AsRef<Path>, framing: Framing) -> Result<Self> {
        let path = path.as_ref().to_owned();
        let failed = |source| Error::Capture {
            path: path.clone(),
            source,
        };
        let file = File::create(&path).map_err(failed)?;
        let header = PcapHeader {
            datalink: DataLink::RAW,
            ts_resolution: TsResolution::NanoSecond,
            snaplen: 1 << 18,
            ..PcapHeader::default()
        };
        let sink = Sink(Arc::new(Mutex::new(BufWriter::new(file))));
        let writer =
            PcapWriter::with_header(sink.clone(), header).map_err(|error| failed(io::Error::other(error)))?;
        let state = CaptureState {
            writer,
            sink,
            frame: Vec::new(),
            next_id: 1,
            failed: None,
        };
        Ok(Self {
            file: Arc::new(Capture {
                path,
                framing,
                state: Mutex::new(state),
            }),
        })
    }

    /// Brings everything captured so far to the file.
    ///
    /// # Errors
    /// [`Error::Capture`] with the first failure since the capture began: nothing after it was written.
    pub fn flush(&self) -> Result<()> {
        let mut state = self.file.state.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = |source| Error::Capture {
            path: self.file.path.clone(),
            source,
        };
        if let Some(error) = &state.failed {
            return Err(failed(io::Error::new(error.kind(), error.to_string())));
        }
        state.sink.flush().map_err(failed)
    }

    /// Where it is written to.
    pub fn path(&self) -> &Path {
        &self.file.path
    }

    /// Notes one datagram that arrived.
    pub(crate) fn received(&self, src: SocketAddr, dst: Option<IpAddr>, local: SocketAddr, data: &[u8]) {
        let dst = SocketAddr::new(known(dst, local, src.ip()), local.port());
        self.file.write(src, dst, &[data]);
    }

    /// Notes the datagrams `which` of a train that left.
    pub(crate) fn sent(
        &self,
        train: &xtp_engine::Train,
        pieces: &[IoSlice<'_>],
        which: Range<usize>,
        local: SocketAddr,
    ) {
        let src = SocketAddr::new(known(train.src, local, train.dst.ip()), local.port());
        let whole: Vec<u8> = pieces.iter().flat_map(|piece| piece.iter().copied()).collect();
        let datagrams = whole.chunks(train.segment.max(1));
        for datagram in datagrams.skip(which.start).take(which.len()) {
            self.file.write(src, train.dst, &[datagram]);
        }
    }
}

impl Capture {
    fn write(&self, src: SocketAddr, dst: SocketAddr, payload: &[&[u8]]) {
        let timestamp = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or(Duration::ZERO);
        let mut guard = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *guard;
        if state.failed.is_some() {
            return;
        }
        state.frame.clear();
        if !frame::build(self.framing, src, dst, payload, state.next_id, &mut state.frame) {
            return;
        }
        state.next_id = state.next_id.wrapping_add(1);
        let length = u32::try_from(state.frame.len()).unwrap_or(u32::MAX);
        let packet = PcapPacket::new(timestamp, length, &state.frame);
        if let Err(error) = state.writer.write_packet(&packet) {
            tracing::warn!(path = %self.path.display(), %error, "the capture ends here");
            state.failed = Some(io::Error::other(error));
        }
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = state.sink.flush() {
            tracing::warn!(path = %self.path.display(), %error, "the capture is incomplete");
        }
    }
}

/// The local address of a packet exchanged with `peer`: as told, as bound, or one of the right family.
fn known(told: Option<IpAddr>, local: SocketAddr, peer: IpAddr) -> IpAddr {
    let candidates = told.into_iter().chain([local.ip()]).map(|ip| ip.to_canonical());
    for ip in candidates {
        if !ip.is_unspecified() && ip.is_ipv4() == peer.is_ipv4() {
            return ip;
        }
    }
    match peer {
        // A loopback peer is talked to from its own address unless one was chosen.
        IpAddr::V4(ip) if ip.is_loopback() => IpAddr::V4(ip),
        IpAddr::V6(ip) if ip.is_loopback() => IpAddr::V6(ip),
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
