//! The first of several addresses that answers, and messages to it, on a runtime.

use std::fmt::Debug;
use std::future::{Future, poll_fn};
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use xtp_engine::OpenOptions;

use super::endpoint::Endpoint;
use super::stream::Stream;
use super::within;
use crate::error::{Error, Result};
use crate::race::{ConnectionAttempt, Race};
use crate::reach::Attempts;
use crate::resolve::Destinations;

impl Race {
    /// As [`run`](Race::run). Dropping the future aborts what was begun.
    async fn drive(&mut self, what: &'static str, timeout: Option<Duration>) -> Result<ConnectionAttempt> {
        let shared = Arc::clone(self.shared());
        within(what, timeout, async {
            loop {
                let patience = self.patience(shared.look(|core| core.now()));
                let question = poll_fn(|context| {
                    let poll = |core: &mut _, now| {
                        let answer = self.poll(core, now);
                        self.remember(core, context.waker());
                        answer
                    };
                    shared.poll(poll, |_| ())
                });
                match within(what, patience, question).await {
                    Err(Error::Timeout { .. }) => {}
                    outcome => return outcome,
                }
            }
        })
        .await
    }
}

impl Endpoint {
    /// Opens a lasting association to the first address of a name, or of a list, that answers.
    ///
    /// # Errors
    /// As [`crate::Endpoint::connect`].
    pub async fn connect(
        &self,
        peer: impl ToSocketAddrs + Debug,
        options: &OpenOptions,
        timeout: Option<Duration>,
    ) -> Result<Stream> {
        let mut race = self.inner().race_for(&peer, options)?;
        let winner = race.drive("connecting", timeout).await?;
        let stream = crate::Stream::new(Arc::clone(race.shared()), winner.id);
        Ok(Stream::new(stream))
    }

    /// As [`crate::Endpoint::reach`].
    pub(super) async fn reach<T, F: Future<Output = Result<T>>>(
        &self,
        name: &(impl ToSocketAddrs + Debug),
        (what, timeout): (&'static str, Option<Duration>),
        options: impl Fn() -> OpenOptions,
        attempt: impl Fn(SocketAddr, Option<Duration>) -> F,
    ) -> Result<T> {
        let inner = self.inner();
        let left = match Destinations::of_name(name, inner.scope())? {
            Destinations::One(peer) => return attempt(peer, timeout).await,
            Destinations::Several(left) => left,
        };
        let now = || inner.shared.look(|core| core.now());
        let mut attempts = Attempts::new(left, now(), timeout);
        loop {
            let known = inner.shared.look(|core| attempts.known(core, core.now()));
            let peer = match known {
                Some(peer) => peer,
                None => {
                    let mut race = Race::for_answer(&inner.shared, attempts.left(), &options());
                    let winner = race.drive(what, attempts.time(now())).await;
                    winner.map_err(|error| attempts.told(error))?.peer
                }
            };
            let outcome = attempt(peer, attempts.time(now())).await;
            let judged = inner.shared.look(|core| {
                let now = core.now();
                attempts.judge(core, now, peer, outcome)
            });
            if let Some(outcome) = judged {
                return outcome;
            }
        }
    }
}
