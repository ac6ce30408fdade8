//! Users who take a long stretch of octets in one call, as a train of packets brought it.

use bytes::Bytes;
use xtp_engine::{Octets, Read};

use super::script::Stretch;
use super::task::{Task, Turn};

impl Task {
    /// Takes what lies there as octets and nothing else, at most `room`; how many that were.
    ///
    /// # Errors
    /// What was read and never written, or parts that do not make up the whole.
    pub(super) fn take_stretch(
        &mut self,
        turn: &mut Turn<'_>,
        stretch: Stretch,
        room: u64,
    ) -> Result<u64, String> {
        let before = self.reader.next;
        let mut came: Vec<(u64, Octets)> = Vec::new();
        // What went wrong, if anything, will be found again by the next look.
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let take = |offset, octets| came.push((offset, octets));
        let _ = turn.engine.command().read_plain(turn.now, self.id, room, take);
        for (mut offset, octets) in came {
            let whole = (octets.len(), octets.count(), octets.is_empty());
            let parts: Vec<Bytes> = match stretch {
                Stretch::Parts => octets.parts().map(Bytes::copy_from_slice).collect(),
                Stretch::Pieces => octets.into_parts().collect(),
            };
            let sum: usize = parts.iter().map(Bytes::len).sum();
            if whole != (sum, parts.len(), false) {
                return Err(format!(
                    "{sum} octets in {} parts; said were {whole:?}",
                    parts.len()
                ));
            }
            for bytes in parts {
                let next = offset + bytes.len() as u64;
                let eom = false;
                self.reader
                    .item(&Read::Data { offset, bytes, eom }, turn.theirs)?;
                offset = next;
            }
            self.whole = false;
        }
        let octets = self.reader.next - before;
        match octets > room as u64 {
            true => Err(format!("{octets} octets were read, {room} were asked for")),
            false => Ok(octets),
        }
    }
}
