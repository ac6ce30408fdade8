//! Packets of a capture, told apart by whether they carry user data.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use xtp::Trace;

use crate::common::Failure;

/// Octets before the first record of a capture, which begin with a magic number in the writer's order of octets.
const FILE_HEADER: usize = 24;
/// The magic number in network order, with time stamps in nanoseconds.
const NETWORK_ORDER: [u8; 4] = [0xa1, 0xb2, 0x3c, 0x4d];
/// Octets before the frame of a record; the frame's length is at 8.
const RECORD_HEADER: usize = 16;
/// Octets of the IPv4 and UDP headers before a packet.
const HEADERS: usize = 28;
/// Place of a packet's format: the low five bits of the last octet of `cmd` (§1.1).
const FORMAT: usize = 11;
/// Formats with user data: DATA, FIRST, XDATA (§1.3).
const WITH_DATA: [u8; 3] = [0, 2, 19];

/// A capture that is still written.
pub(super) struct Capture {
    file: File,
    trace: Trace,
    rest: Vec<u8>,
    network_order: bool,
}

impl Capture {
    /// Begins behind the header of the capture.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn open(path: &Path, trace: Trace) -> Result<Self, Failure> {
        trace
            .flush()
            .map_err(|error| Failure::failed(error.to_string()))?;
        let open = || -> io::Result<(File, bool)> {
            let mut file = File::open(path)?;
            let mut header = [0; FILE_HEADER];
            file.read_exact(&mut header)?;
            Ok((file, header.starts_with(&NETWORK_ORDER)))
        };
        let (file, network_order) = open().map_err(|error| Failure::io("cannot read the capture", &error))?;
        Ok(Self {
            file,
            trace,
            rest: Vec::new(),
            network_order,
        })
    }

    /// Packets without user data since the last call.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn control_packets(&mut self) -> Result<u64, Failure> {
        self.trace
            .flush()
            .map_err(|error| Failure::failed(error.to_string()))?;
        self.file
            .read_to_end(&mut self.rest)
            .map_err(|error| Failure::io("cannot read the capture", &error))?;
        let mut count = 0;
        let mut place = 0;
        while let Some(frame) = frame(&self.rest, place, self.network_order) {
            let format = frame.get(HEADERS + FORMAT).map(|octet| octet & 0x1f);
            count += u64::from(format.is_some_and(|format| !WITH_DATA.contains(&format)));
            place += RECORD_HEADER + frame.len();
        }
        self.rest.drain(..place);
        Ok(count)
    }
}

/// The frame of the record at `place`, if it is there in full.
fn frame(octets: &[u8], place: usize, network_order: bool) -> Option<&[u8]> {
    let record = octets.get(place..)?;
    let length = *record.get(8..12)?.first_chunk::<4>()?;
    let length = if network_order {
        u32::from_be_bytes(length)
    } else {
        u32::from_le_bytes(length)
    };
    let length = usize::try_from(length).ok()?;
    record.get(RECORD_HEADER..RECORD_HEADER.checked_add(length)?)
}

#[cfg(test)]
#[path = "capture_tests.rs"]
mod tests;
