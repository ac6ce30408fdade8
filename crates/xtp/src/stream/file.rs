//! Files into streams and streams into files, and octets into memory that the caller has for all of them.

use std::fs::File;
use std::ops::RangeBounds;

use super::Stream;
use crate::core::ops;
use crate::error::Result;
use crate::file::{IncomingFile, OutgoingFile};

impl Stream {
    /// Sends a range of a file (`..` is all of it as it is now) and returns how many octets that is. Read from the disk into memory that
    /// packets leave from, it is not copied; the file's position is neither used nor changed. As [`send`](Self::send) it waits for room,
    /// not for confirmation. Holes are sent as the zeros they read as.
    ///
    /// ```
    /// use std::io::{Read, Seek, Write};
    /// use xtp::{Config, Endpoint, paradigm};
    ///
    /// let server = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap()))?;
    /// let listener = server.listen_streams(100)?;
    /// let receiving = std::thread::spawn(move || -> Result<String, std::io::Error> {
    ///     let stream = listener.accept()?.into_stream();
    ///     let mut copy = tempfile::tempfile()?;
    ///     stream.recv_file(&copy, ..)?; // up to the end of the stream
    ///     let mut text = String::new();
    ///     copy.rewind()?;
    ///     copy.read_to_string(&mut text)?;
    ///     Ok(text)
    /// });
    ///
    /// let mut file = tempfile::tempfile()?;
    /// file.write_all(b"the first line\nthe second\n")?;
    /// let stream = Endpoint::client()?.open(server.local_addr(), paradigm::stream(100))?;
    /// assert_eq!(stream.send_file(&file, 15..)?, 11);
    /// stream.close()?;
    /// assert_eq!(receiving.join().unwrap()?, "the second\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::File`](crate::Error::File): before anything is sent if the range is not in the file or the file is none, later
    /// [`FileError::Shrunk`](crate::FileError::Shrunk) and [`FileError::Reading`](crate::FileError::Reading), after which the peer may wait for
    /// octets that do not come. As [`send`](Self::send).
    pub fn send_file(&self, file: &File, range: impl RangeBounds<u64>) -> Result<u64> {
        let mut outgoing = OutgoingFile::new(file, &range)?;
        while let Some(octets) = outgoing.read(file)? {
            self.send_all(octets, false)?;
        }
        Ok(outgoing.octets())
    }

    /// Receives octets into a range of a file and returns how many came: as many as the range has, or all up to the end of the stream where
    /// it is open (`0..`). They are written from where packets brought them, without a copy; the file's position is neither used nor
    /// changed, and what lies behind the range stays. Tags and ends of messages are passed over.
    ///
    /// While the disk works nothing drives the endpoint; for a slow one start a [driver](crate::Endpoint::spawn_driver).
    ///
    /// # Errors
    /// [`Error::File`](crate::Error::File): [`FileError::Writing`](crate::FileError::Writing) if the disk is full, [`FileError::Gap`](crate::FileError::Gap) on a
    /// stream that repeats nothing. [`Error::Incomplete`](crate::Error::Incomplete) if the stream ends before the range. As
    /// [`recv_chunk`](Self::recv_chunk); what came before lies in the file.
    pub fn recv_file(&self, file: &File, range: impl RangeBounds<u64>) -> Result<u64> {
        let mut incoming = IncomingFile::new(&range)?;
        let mut items = Vec::new();
        while incoming.wanted() > 0 {
            let (timeout, max) = (self.read_timeout.get(), incoming.wanted());
            self.wait("receiving a file", timeout, |core, now, id| {
                ops::trains(core, now, id, max, &mut items)
            })?;
            if !incoming.write(file, &items)? {
                break;
            }
            items.clear();
        }
        Ok(incoming.octets())
    }

    /// Fills `buffer`: octets are placed as they come, copied once from where packets brought them. Less than all of it comes only where the
    /// stream ends, fails, or the read timeout is over; the next call then tells which, 0 being the end.
    ///
    /// # Errors
    /// As [`recv_chunk`](Self::recv_chunk), if nothing was placed.
    pub fn recv_into(&self, buffer: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            let placed = self.wait("receiving", self.read_timeout.get(), |core, now, id| {
                ops::read(core, now, id, &mut buffer[filled..])
            });
            match placed {
                Ok(count @ 1..) => filled += count,
                Err(error) if filled == 0 => return Err(error),
                _ => break,
            }
        }
        Ok(filled)
    }
}
