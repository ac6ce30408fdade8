//! The way from a receiver of a group back to its transmitter: an association beside the group.
//!
//! A transfer does without it: a transmitter that does not listen sends everything to the group.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use xtp::{Endpoint, Stream};

use crate::files::channel::Inbox;
use crate::files::problem::{Code, Problem};
use crate::files::record::{Record, VERSION, Wish};
use crate::files::session::{PATIENCE, open_options};

/// Longest wait for room for an answer.
const ROOM: Duration = Duration::from_secs(5);

/// The association, if there is one.
pub(crate) struct ReturnPath {
    stream: Option<Stream>,
    broken: AtomicBool,
}

impl ReturnPath {
    /// Opens it; nothing is waited for.
    pub(super) fn open(endpoint: &Endpoint, transmitter: SocketAddr) -> Self {
        let opened = endpoint.open(transmitter, open_options(PATIENCE));
        let stream = opened
            .map_err(|error| tracing::debug!(%error, "no way back to the transmitter"))
            .ok();
        let path = Self {
            stream,
            broken: AtomicBool::new(false),
        };
        if let Some(stream) = &path.stream {
            stream.set_read_timeout(Some(PATIENCE));
            stream.set_write_timeout(Some(ROOM));
        }
        let mut greeting = Vec::new();
        let hello = Record::Hello {
            version: VERSION,
            wish: Wish::Beside,
        };
        hello.encode(&mut greeting);
        path.send(greeting);
        path
    }

    /// Sends a message of records. Where none can be sent, none is sent any more.
    pub(crate) fn send(&self, message: impl Into<Bytes>) {
        let Some(stream) = &self.stream else { return };
        if self.broken.load(Ordering::Relaxed) {
            return;
        }
        if let Err(error) = stream.send_message(message) {
            tracing::debug!(%error, "the transmitter takes no answers");
            self.broken.store(true, Ordering::Relaxed);
        }
    }

    /// What the transmitter replies; nothing if it does not listen.
    pub(crate) fn inbox(&self) -> Option<Inbox<'_>> {
        let stream = self.stream.as_ref()?;
        (!self.broken.load(Ordering::Relaxed)).then(|| Inbox::new(stream))
    }
}

/// A transmitter that does not reply, and the group is not sent what is missing here.
pub(crate) fn no_reply(label: &str) -> Problem {
    let text = "the other receivers have what is missing here, and the sender cannot be asked for it; have it sent with \
                --no-resume";
    Problem::new(Code::NotFound, format!("{label}: {text}"))
}

impl Drop for ReturnPath {
    fn drop(&mut self) {
        // Everything that matters was said in the group: nothing is waited for.
        if let Some(stream) = self.stream.take() {
            stream.abort();
        }
    }
}
