//! Meshes: messages among many peers, matched by tag with receives that were posted for them.

use std::collections::VecDeque;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::{Mutex, PoisonError, RwLock};

use xtp::Bytes;
use xtp::mesh::{From as Source, LossReason, Mesh, MeshCompletion, PeerNumber, Placed};

use crate::completion::{tags, xtp_tags};
use crate::endpoint::xtp_endpoint;
use crate::guard::{Limit, guard, input, output, put_text, room, text};
use crate::handle::{Opaque, free, handle, make, place, take};
use crate::lent::{Lent, xtp_free_function};
use crate::octets::xtp_octets;
use crate::options::{read, xtp_mesh_options};
use crate::status::{Failure, XTP_OK, status_of_loss};

/// Messages among many peers of one endpoint, as runtimes of parallel programs have them: sends never wait, receives are posted by tag, and
/// what is over comes in one list.
pub struct xtp_mesh {
    _private: (),
}

/// What lies behind [`xtp_mesh`].
pub(crate) struct MeshValue {
    mesh: Mesh,
    /// Peers by their numbers, of those that the program has met.
    peers: RwLock<Vec<Option<PeerNumber>>>,
    /// Completions that found no room in the caller's memory.
    left: Mutex<VecDeque<MeshCompletion>>,
}

impl Opaque for xtp_mesh {
    type Value = MeshValue;
    const MARK: u32 = 0x6d65_7368;
    const NAME: &'static str = "xtp_mesh";
}

/// Messages of every peer.
pub const XTP_ANY_PEER: u32 = u32::MAX;
/// The program itself: what is sent to it stays in the process.
pub const XTP_OWN_PEER: u32 = 0;

/// A message was sent.
pub const XTP_MESH_SENT: u32 = 1;
/// A receive has its message, or will have none.
pub const XTP_MESH_RECEIVED: u32 = 2;
/// All that was said to and by a peer, and is not complete, is lost. What follows begins anew.
pub const XTP_MESH_LOST: u32 = 3;

/// Something that was begun at a mesh is over.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct xtp_mesh_completion {
    /// The number that was given with it; 0 of XTP_MESH_LOST.
    pub token: u64,
    /// Of XTP_MESH_RECEIVED the octets, as many as the receive takes, to be released; else NULL.
    pub octets: *mut xtp_octets,
    /// The tag of a received message.
    pub tag: u64,
    /// The word beside it.
    pub word: u64,
    /// Octets of the whole message; of XTP_MESH_LOST, messages that were completed as sent and may not have come.
    pub length: u64,
    /// XTP_MESH_SENT, _RECEIVED or _LOST.
    pub kind: u32,
    /// The peer that sent the message, or that is lost.
    pub peer: u32,
    /// XTP_OK, or how the peer was lost.
    pub status: i32,
    /// 0.
    pub reserved: u32,
}

impl MeshValue {
    fn meet(&self, peer: PeerNumber) -> u32 {
        let number = peer.as_u32();
        let at = number as usize;
        let known = |peers: &[Option<PeerNumber>]| peers.get(at).copied().flatten().is_some();
        if known(&self.peers.read().unwrap_or_else(PoisonError::into_inner)) {
            return number;
        }
        let mut peers = self.peers.write().unwrap_or_else(PoisonError::into_inner);
        if peers.len() <= at {
            peers.resize(at + 1, None);
        }
        peers[at] = Some(peer);
        number
    }

    fn peer(&self, number: u32) -> Result<PeerNumber, Failure> {
        let peers = self.peers.read().unwrap_or_else(PoisonError::into_inner);
        let known = peers.get(number as usize).copied().flatten();
        known.ok_or_else(|| Failure::invalid(format!("no peer has the number {number}")))
    }

    fn told(&self, completion: MeshCompletion) -> xtp_mesh_completion {
        let mut told = xtp_mesh_completion {
            token: 0,
            octets: ptr::null_mut(),
            tag: 0,
            word: 0,
            length: 0,
            kind: XTP_MESH_SENT,
            peer: XTP_ANY_PEER,
            status: XTP_OK,
            reserved: 0,
        };
        match completion {
            MeshCompletion::Sent { token, outcome } => {
                told.token = token;
                told.status = outcome.map_or_else(|reason| lost(&reason), |()| XTP_OK);
            }
            MeshCompletion::Received {
                token,
                memory,
                outcome,
            } => {
                (told.kind, told.token) = (XTP_MESH_RECEIVED, token);
                match outcome {
                    Ok(placed) => self.received(memory, &placed, &mut told),
                    Err(reason) => told.status = lost(&reason),
                }
            }
            MeshCompletion::Lost {
                peer,
                unconfirmed,
                reason,
            } => {
                (told.kind, told.peer) = (XTP_MESH_LOST, self.meet(peer));
                (told.length, told.status) = (unconfirmed, lost(&reason));
            }
        }
        told
    }

    fn received(&self, mut memory: Vec<u8>, placed: &Placed, told: &mut xtp_mesh_completion) {
        memory.truncate(usize::try_from(placed.taken).unwrap_or(usize::MAX));
        told.octets = make(Bytes::from(memory));
        told.peer = self.meet(placed.label.peer);
        (told.tag, told.word, told.length) = (placed.label.tag, placed.label.word, placed.label.length);
    }
}

fn lost(reason: &LossReason) -> c_int {
    crate::last_error::keep(Failure::new(status_of_loss(reason), reason.to_string()))
}

/// A mesh on an endpoint. options may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_mesh_new(
    endpoint: *const xtp_endpoint,
    options: *const xtp_mesh_options,
    mesh: *mut *mut xtp_mesh,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (mesh, value, options) = unsafe { (place(mesh)?, handle(endpoint)?, read(options)?) };
        mesh.fill(MeshValue {
            mesh: value.endpoint.mesh(options.mesh()?)?,
            peers: RwLock::new(vec![Some(PeerNumber::OWN)]),
            left: Mutex::default(),
        });
        Ok(())
    })
}

/// The number of the peer at an address, where it serves its own mesh. No packet leaves, and nothing has to be there yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_mesh_peer(
    mesh: *const xtp_mesh,
    address: *const c_char,
    peer: *mut u32,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (peer, value, address) =
            unsafe { (output(peer, "peer")?, handle(mesh)?, text(address, "address")?) };
        *peer = value.meet(value.mesh.peer(address)?);
        Ok(())
    })
}

/// Where a peer is, as a text: XTP_ADDRESS_ROOM octets have room for any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_mesh_address(
    mesh: *const xtp_mesh,
    peer: u32,
    address: *mut c_char,
    length: usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (memory, value) = unsafe { (room(address.cast(), length)?, handle(mesh)?) };
        put_text(&value.mesh.address(value.peer(peer)?)?.to_string(), memory)
    })
}

/// Sends a message of no octets or more; never waits. XTP_MESH_SENT follows. word comes with the message and is not looked at. release and
/// context: as for xtp_send_lent(); NULL for release copies the octets.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_mesh_send(
    mesh: *const xtp_mesh,
    peer: u32,
    tag: u64,
    word: u64,
    data: *const c_void,
    length: usize,
    token: u64,
    release: xtp_free_function,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the caller's word.
    let lent = release.map(|_| unsafe { Lent::new(data, length, release, context) });
    guard(|| {
        // SAFETY: the caller's word.
        let (octets, value) = unsafe {
            let octets = match lent {
                Some(lent) => lent.octets()?,
                None => Bytes::copy_from_slice(input(data, length)?),
            };
            (octets, handle(mesh)?)
        };
        Ok(value.mesh.send(value.peer(peer)?, tag, word, octets, token)?)
    })
}

/// Posts a receive for one message of a peer, or of XTP_ANY_PEER, of which it takes at most longest octets. It gets the message that came
/// first of those that wait, else the next one behind the receives posted before. XTP_MESH_RECEIVED follows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_mesh_receive(
    mesh: *const xtp_mesh,
    peer: u32,
    wanted: *const xtp_tags,
    longest: usize,
    token: u64,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (value, wanted) = unsafe { (handle(mesh)?, tags(wanted)?) };
        let from = match peer {
            XTP_ANY_PEER => Source::Any,
            peer => Source::Peer(value.peer(peer)?),
        };
        let mut memory = Vec::new();
        memory
            .try_reserve_exact(longest)
            .map_err(|_| Failure::invalid(format!("no memory has {longest} octets")))?;
        memory.resize(longest, 0);
        value.mesh.receive(from, wanted, memory, token)?;
        Ok(())
    })
}

/// Waits until something is over and puts up to room completions into completions; count gets how many. What finds no room comes with the
/// next call. Octets of completions are to be released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_mesh_wait(
    mesh: *const xtp_mesh,
    completions: *mut xtp_mesh_completion,
    room: usize,
    timeout: i64,
    count: *mut usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (count, value) = unsafe { (output(count, "count")?, handle(mesh)?) };
        let limit = Limit::of(timeout)?;
        if completions.is_null() || !completions.is_aligned() || room == 0 {
            return Err(Failure::invalid("completions has no room"));
        }
        let is_empty = value
            .left
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_empty();
        let mut done = Vec::new();
        match (is_empty, limit) {
            (false, _) => {}
            (true, Limit::AtOnce) => {
                if value.mesh.poll(&mut done)? == 0 {
                    return Err(xtp::Error::WouldBlock.into());
                }
            }
            (true, _) => {
                value.mesh.wait(&mut done, limit.as_timeout())?;
            }
        }
        let mut left = value.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.extend(done);
        *count = left.len().min(room);
        for (place, completion) in left.drain(..*count).enumerate() {
            // SAFETY: `room` completions have place there: the caller's word.
            unsafe { completions.add(place).write(value.told(completion)) };
        }
        Ok(())
    })
}

/// Leaves: what was told as sent is confirmed first, peers are told. Frees the mesh, whatever it returns; after XTP_ETIMEDOUT the rest goes
/// on in the background.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_mesh_leave(mesh: *mut xtp_mesh, timeout: i64) -> c_int {
    guard(|| {
        let limit = Limit::of(timeout)?;
        // SAFETY: the caller's word.
        let value = unsafe { take(mesh)? };
        Ok(value.mesh.leave(limit.as_timeout())?)
    })
}

/// Frees a mesh, which leaves in the background; NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_mesh_free(mesh: *mut xtp_mesh) -> c_int {
    // SAFETY: the caller's word.
    guard(|| unsafe { free(mesh) })
}
