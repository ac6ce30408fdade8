//! Several calls whose packets leave together.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::endpoint::Endpoint;
use crate::shared::Handle;

/// While it exists, calls on its endpoint that need not wait send nothing; when it is dropped everything leaves at
/// once. Packets of one length to one peer then share a system call, whatever associations they belong to, if their
/// messages were sent one after the other. What fills a system call, 64 KiB, leaves before: waiting longer would save
/// nothing, and its receivers can begin. The unconfirmed answer to a request, which is one packet and ends its
/// association, may leave at once.
///
/// For programs that have something for several peers, or several associations of one peer, at a time. A call that
/// has to wait sends what was held back before it waits, and so does any other thread's. Acknowledgements are held back
/// like everything else: whoever does nothing for long drops or [flushes](Self::flush) it before.
///
/// ```
/// use xtp::{Config, Endpoint, paradigm};
///
/// let server = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap()))?;
/// let listener = server.listen_streams(100)?;
/// let client = Endpoint::client()?;
/// let streams: Vec<_> = (0..8)
///     .map(|_| client.open(server.local_addr(), paradigm::stream(100)))
///     .collect::<Result<_, _>>()?;
///
/// let cork = client.cork();
/// for stream in &streams {
///     stream.send_message("all in one system call, where the system can")?;
/// }
/// drop(cork);
/// # for _ in 0..8 {
/// #     assert!(listener.accept()?.stream().recv_message()?.is_some());
/// # }
/// # Ok::<(), xtp::Error>(())
/// ```
#[must_use = "packets are held back only while it exists"]
pub struct Cork {
    shared: Arc<Handle>,
    /// It belongs to the thread that sends: kept across the pauses of a task it would hold back others.
    not_send: PhantomData<*const ()>,
}

impl Endpoint {
    /// Holds back what calls that need not wait would send, until the [`Cork`] is dropped.
    pub fn cork(&self) -> Cork {
        self.shared.cork();
        Cork {
            shared: Arc::clone(&self.shared),
            not_send: PhantomData,
        }
    }
}

impl Cork {
    /// Sends what was held back until now.
    pub fn flush(&self) {
        self.shared.flush();
    }
}

impl Drop for Cork {
    fn drop(&mut self) {
        self.shared.uncork();
    }
}

impl fmt::Debug for Cork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cork").finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "cork_tests.rs"]
mod tests;
