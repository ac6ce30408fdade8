//! The same endpoint for programs on the [tokio](https://docs.rs/tokio) runtime (feature `tokio`).
//!
//! Names are those of the synchronous API; calls that wait are `async`. One task an endpoint takes packets and runs
//! timers, sleeping on the socket and on the engine's next deadline; sending happens in the task that sends, without
//! a channel in between. Timers of the runtime have a resolution of 1 ms, so rates are kept in bursts of that length.
//!
//! # Cancellation
//!
//! Every future here can be dropped at any await point:
//! - what was received stays with the stream and is found by the next call, half messages included;
//! - what [`Stream::send`] and [`Stream::send_message`] were given either was not taken at all, or is sent to its
//!   last octet even if the future is dropped;
//! - a dropped [`Endpoint::call`] aborts the transaction; whether the server ran it is not known.
//!
//! # The end
//!
//! Dropping the last handle does not block: the driver task waits for the last confirmations, up to
//! [`Config::linger`](crate::Config::linger). A runtime that ends before has them waited for where it is dropped, so that what was
//! written is delivered as by a kernel, which outlives its programs; after `shutdown_background`, or `exit`, it may not be.
//! [`Endpoint::shutdown`] waits for the confirmations and tells which are missing; `shutdown` of a stream
//! ([`AsyncWrite`](::tokio::io::AsyncWrite)) returns when the peer's host has acknowledged all of it.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> xtp::Result<()> {
//! use xtp::Config;
//! use xtp::tokio::Endpoint;
//!
//! let server = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap()))?;
//! let listener = server.listen(10)?;
//! let answering = tokio::spawn(async move {
//!     let (request, incoming) = listener.recv_message().await?;
//!     incoming.respond(request.to_ascii_uppercase()).await
//! });
//!
//! let client = Endpoint::client()?;
//! let answer = client.call(server.local_addr(), 10, "hello", &Default::default()).await?;
//! assert_eq!(answer, "HELLO");
//! answering.await.unwrap()?;
//! # Ok(())
//! # }
//! ```

mod calls;
mod driver;
mod endpoint;
mod file;
mod group;
mod listener;
mod mark;
mod matching;
mod message_reader;
mod reach;
mod retained;
mod stream;
mod tuning;

pub use endpoint::Endpoint;
pub use group::{Cast, GroupListener, Subscription};
pub use listener::{Arrival, Incoming, Listener};
pub use mark::Mark;
pub use matching::PostedReceive;
pub use message_reader::MessageReader;
pub use retained::Retained;
pub use stream::Stream;
pub use tuning::StreamTuning;

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use xtp_engine::{ContextId, Time};

use crate::core::Core;
use crate::error::{Error, Result};
use crate::shared::Handle;

/// Asks about one association until there is an answer.
fn ask<'a, T: 'a>(
    shared: &'a Arc<Handle>,
    id: ContextId,
    mut question: impl FnMut(&mut Core, Time) -> Poll<Result<T>> + 'a,
) -> impl Future<Output = Result<T>> + 'a {
    poll_fn(move |context| ask_once(shared, id, context, &mut question))
}

/// Asks once; the task is woken when anything happens to the association.
fn ask_once<T>(
    shared: &Arc<Handle>,
    id: ContextId,
    context: &mut Context<'_>,
    question: impl FnOnce(&mut Core, Time) -> Poll<Result<T>>,
) -> Poll<Result<T>> {
    shared.poll(question, |core| {
        if let Ok(slot) = core.slot(id) {
            slot.remember(context.waker());
        }
    })
}

/// Lets a future run for `timeout` at most.
async fn within<T>(
    what: &'static str,
    timeout: Option<Duration>,
    future: impl Future<Output = Result<T>>,
) -> Result<T> {
    match timeout {
        None => future.await,
        Some(after) => match ::tokio::time::timeout(after, future).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Error::Timeout { what, after }),
        },
    }
}
