//! A mesh: messages among many peers, matched by tag with receives that were posted for them.
//!
//! What runtimes of parallel programs stand on. Peers are addresses and have small numbers; nothing that sends or receives waits, and what
//! is over comes in one list. See [`Mesh`].

use std::fmt::{self, Debug};
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use xtp_engine::Tags;

pub use xtp_mesh::{
    ClaimId, From, Label, LossReason, MeshError, MeshOptions, PeerNumber, Placed, ReceiveId, SERVICE,
};

use crate::endpoint::Endpoint;
use crate::error::Result;
use crate::shared::Handle;

/// What is over at a [`Mesh`], with the memory of receives.
pub type MeshCompletion = xtp_mesh::MeshCompletion<Vec<u8>>;

/// Messages among many peers.
///
/// [`send`](Self::send) never waits: a message of at most 16 KiB leaves at once, a longer one is announced and goes when a receive for it is
/// there, so that no message waits behind another one without a receive, and memory stays bounded on both sides. [`receive`](Self::receive) posts
/// memory for a message from one peer or any, with a tag or one like it; a message goes to the receive posted first of those for it, and
/// those of one peer are matched in the order in which they were sent. Ends of both come in one list ([`poll`](Self::poll),
/// [`wait`](Self::wait)), by tokens that the program gives.
///
/// Associations begin with the first message and are the mesh's business: a peer that computes for minutes without a call gets
/// everything when it comes back, once and in order.
///
/// ```
/// use xtp::mesh::{From, MeshCompletion, MeshOptions};
/// use xtp::{Config, Endpoint, Tags};
///
/// let one = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap()))?;
/// let two = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap()))?;
/// let there = two.local_addr();
///
/// let working = std::thread::spawn(move || -> xtp::Result<()> {
///     let mesh = two.mesh(MeshOptions::default())?;
///     mesh.receive(From::Any, Tags::exact(7), vec![0; 100], 1)?;
///     let mut done = Vec::new();
///     while !done.iter().any(|end| matches!(end, MeshCompletion::Received { .. })) {
///         mesh.wait(&mut done, None)?;
///     }
///     let Some(MeshCompletion::Received { memory, outcome: Ok(placed), .. }) = done.pop() else { panic!() };
///     assert_eq!(&memory[..placed.taken as usize], b"hello");
///     mesh.send(placed.label.peer, 8, 0, "hello yourself", 2)?;
///     mesh.leave(None)
/// });
///
/// let mesh = one.mesh(MeshOptions::default())?;
/// let peer = mesh.peer(there)?;
/// mesh.receive(peer, Tags::exact(8), vec![0; 100], 1)?;
/// mesh.send(peer, 7, 0, "hello", 2)?;
/// let mut done = Vec::new();
/// while !done.iter().any(|end| matches!(end, MeshCompletion::Received { .. })) {
///     mesh.wait(&mut done, None)?;
/// }
/// // The other end's farewell is confirmed while this thread waits for its thread.
/// let driver = one.spawn_driver()?;
/// working.join().unwrap()?;
/// # drop(driver);
/// # Ok::<(), xtp::Error>(())
/// ```
///
/// Dropping it is [`leave`](Self::leave) in the background, as long as the endpoint lives and lingers.
pub struct Mesh {
    shared: Arc<Handle>,
    number: u32,
}

impl Endpoint {
    /// A mesh on this endpoint: one for each service number.
    ///
    /// # Errors
    /// [`Error::Command`](crate::Error::Command) if its service number is taken, [`Error::Entropy`](crate::Error::Entropy),
    /// [`Error::Carrier`](crate::Error::Carrier).
    pub fn mesh(&self, options: MeshOptions) -> Result<Mesh> {
        let number = self.shared.command(|core, _| core.open_mesh(options))?;
        Ok(Mesh {
            shared: Arc::clone(&self.shared),
            number,
        })
    }
}

impl Mesh {
    /// The number of the peer at an address: where it serves its own mesh. No packet leaves, and nobody has to be there yet.
    ///
    /// # Errors
    /// [`Error::Resolve`](crate::Error::Resolve), [`Error::Address`](crate::Error::Address), [`Error::Mesh`](crate::Error::Mesh) at
    /// [`MeshOptions::max_peers`].
    pub fn peer(&self, address: impl ToSocketAddrs + Debug) -> Result<PeerNumber> {
        let address = crate::reach::nearest(&self.shared, &address)?;
        self.shared
            .look(|core| Ok(core.mesh(self.number)?.peer(address)?))
    }

    /// Where a peer is, of those there are.
    ///
    /// # Errors
    /// [`Error::Mesh`](crate::Error::Mesh) if there is none of this number.
    pub fn address(&self, peer: PeerNumber) -> Result<SocketAddr> {
        self.shared.look(|core| {
            let address = core.mesh(self.number)?.address(peer);
            Ok(address.ok_or(MeshError::NoPeer)?)
        })
    }

    /// Sends a message, of no octets or more; never waits. [`MeshCompletion::Sent`] follows: of a short one as soon as the peer may be sent it,
    /// which says that it will be there unless [`MeshCompletion::Lost`] follows; of a long one when the peer's host has all that its
    /// receive wanted. `word` comes with the message and is not looked at.
    ///
    /// # Errors
    /// [`Error::Mesh`](crate::Error::Mesh) if there is no such peer, or the message is longer than 2^40 octets.
    pub fn send(
        &self,
        peer: PeerNumber,
        tag: u64,
        word: u64,
        octets: impl Into<Bytes>,
        token: u64,
    ) -> Result<()> {
        let octets = octets.into();
        self.shared
            .command(|core, _| Ok(core.mesh(self.number)?.send(peer, tag, word, octets, token)?))
    }

    /// Posts a receive of at most `memory.len()` octets for one message that matches. It gets the message that came first of those that wait; if none
    /// does, the next one, behind the receives posted before for which it is, too. Of a longer message it gets the beginning.
    /// [`MeshCompletion::Received`] follows, with `memory`. The name is there to [`cancel`](Self::cancel) it; `None` if it has its message already.
    ///
    /// # Errors
    /// [`Error::Mesh`](crate::Error::Mesh) if there is no such peer, and at [`MeshOptions::max_posted`].
    pub fn receive(
        &self,
        from: impl Into<From>,
        tags: Tags,
        memory: Vec<u8>,
        token: u64,
    ) -> Result<Option<ReceiveId>> {
        let from = from.into();
        self.shared.command(|core, _| {
            let posted = core.mesh(self.number)?.receive(from, tags, memory, token);
            Ok(posted.map_err(|(error, _)| error)?)
        })
    }

    /// Takes a posted receive back; its memory if it has no message, or beginning of one, yet. Then no completion follows.
    pub fn cancel(&self, receive: ReceiveId) -> Option<Vec<u8>> {
        self.shared
            .look(|core| core.mesh(self.number).ok()?.cancel(receive))
    }

    /// The message that a receive for these would get if it were posted now, after a look at the socket. Its length is that of the
    /// whole message.
    ///
    /// # Errors
    /// [`Error::Carrier`](crate::Error::Carrier).
    pub fn peek(&self, from: impl Into<From>, tags: Tags) -> Result<Option<Label>> {
        let from = from.into();
        let found = self.shared.attempt(|core, now| {
            core.serve_mesh_events(now);
            let found = core.mesh(self.number).map(|mesh| mesh.peek(from, tags));
            found.map_or_else(
                |error| Poll::Ready(Err(error)),
                |found| found.map_or(Poll::Pending, |label| Poll::Ready(Ok(label))),
            )
        });
        match found {
            Ok(label) => Ok(Some(label)),
            Err(error) if error.is_would_block() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sets the message aside that [`peek`](Self::peek) would find: no receive gets it but [`receive_claimed`](Self::receive_claimed).
    pub fn claim(&self, from: impl Into<From>, tags: Tags) -> Option<(ClaimId, Label)> {
        let from = from.into();
        self.shared
            .look(|core| core.mesh(self.number).ok()?.claim(from, tags))
    }

    /// Receives a message that was claimed.
    ///
    /// # Errors
    /// [`Error::Mesh`](crate::Error::Mesh) if it was received or discarded, or its peer is lost.
    pub fn receive_claimed(&self, claim: ClaimId, memory: Vec<u8>, token: u64) -> Result<()> {
        self.shared.command(|core, _| {
            let received = core.mesh(self.number)?.receive_claimed(claim, memory, token);
            Ok(received.map_err(|(error, _)| error)?)
        })
    }

    /// Throws a claimed message away.
    ///
    /// # Errors
    /// As [`receive_claimed`](Self::receive_claimed).
    pub fn discard(&self, claim: ClaimId) -> Result<()> {
        self.shared
            .command(|core, _| Ok(core.mesh(self.number)?.discard(claim)?))
    }

    /// Takes what came, sends what is to be sent, and appends what is over to `done`; returns how many. Does not wait.
    ///
    /// # Errors
    /// [`Error::Carrier`](crate::Error::Carrier).
    pub fn poll(&self, done: &mut Vec<MeshCompletion>) -> Result<usize> {
        let number = self.number;
        let taken = self
            .shared
            .attempt(|core, now| match core.take_mesh_completions(now, number, done) {
                Ok(0) => Poll::Pending,
                taken => Poll::Ready(taken),
            });
        match taken {
            Err(error) if error.is_would_block() => Ok(0),
            taken => taken,
        }
    }

    /// As [`poll`](Self::poll), and waits until something is over, at most `timeout`.
    ///
    /// # Errors
    /// [`Error::Timeout`](crate::Error::Timeout), [`Error::Interrupted`](crate::Error::Interrupted),
    /// [`Error::Carrier`](crate::Error::Carrier).
    pub fn wait(&self, done: &mut Vec<MeshCompletion>, timeout: Option<Duration>) -> Result<usize> {
        let number = self.number;
        self.shared.wait("messages of the mesh", timeout, |core, now| {
            match core.take_mesh_completions(now, number, done) {
                Ok(0) => Poll::Pending,
                taken => Poll::Ready(taken),
            }
        })
    }

    /// Messages here without a receive, and octets of them; see [`MeshOptions::max_unexpected`].
    pub fn unexpected(&self) -> (usize, u64) {
        self.shared
            .look(|core| core.mesh(self.number).map_or((0, 0), |mesh| mesh.unexpected()))
    }

    /// Leaves: what was told as sent is confirmed first, peers are told. What is not over never will be.
    /// A peer confirms when its endpoint is driven; one that is dead is tried for the patience of the mesh ([`MeshOptions`]).
    ///
    /// # Errors
    /// [`Error::Timeout`](crate::Error::Timeout): the rest goes on in the background. [`Error::Interrupted`](crate::Error::Interrupted),
    /// [`Error::Carrier`](crate::Error::Carrier).
    pub fn leave(self, timeout: Option<Duration>) -> Result<()> {
        let number = self.number;
        self.shared.command(|core, now| core.leave_mesh(now, number));
        self.shared.wait("the end of the mesh", timeout, |core, now| {
            core.serve_mesh_events(now);
            match core.has_mesh(number) {
                true => core
                    .check_carrier()
                    .map_or_else(|error| Poll::Ready(Err(error)), |()| Poll::Pending),
                false => Poll::Ready(Ok(())),
            }
        })
    }
}

impl fmt::Debug for Mesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mesh")
            .field("unexpected", &self.unexpected())
            .finish_non_exhaustive()
    }
}

impl Drop for Mesh {
    fn drop(&mut self) {
        self.shared.command(|core, now| core.leave_mesh(now, self.number));
    }
}
