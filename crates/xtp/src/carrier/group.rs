//! Sockets of groups beside the endpoint's own: each receives what is sent to one group, and nothing leaves by it.

use std::net::SocketAddr;
use std::sync::Arc;

use xtp_engine::{Driver, LEAST_DATAGRAM, Time};
use xtp_io::{GroupSending, SocketOptions, UdpSocket};

use super::Carrier;
use super::hand_in::Batch;
use super::memberships::{JoinedGroup, Membership};
use crate::clock::Clock;
use crate::error::{Error, Result};

/// Octets asked for as the buffer of a group's socket: a receiver that rests, or whose disk does, loses what comes beyond.
const BUFFER: usize = 16 << 20;
/// Batches of a group's socket that are taken at once, where each is full: 128 datagrams.
const BATCHES: usize = 8;

impl Carrier {
    /// Whether there are sockets of groups to be looked at.
    #[inline]
    pub(crate) fn has_groups(&self) -> bool {
        !self.groups.joined.is_empty()
    }

    /// The sockets of groups, to wait for them with the endpoint's own.
    pub(crate) fn group_sockets(&self) -> Arc<[Arc<UdpSocket>]> {
        Arc::clone(&self.groups.sockets)
    }

    /// Joins, or shares the socket that has; returns the octets its buffer holds.
    pub(crate) fn join(&mut self, membership: &Membership, options: &SocketOptions) -> Result<usize> {
        let groups = &mut self.groups;
        if let Some(joined) = groups
            .joined
            .iter_mut()
            .find(|joined| joined.membership == *membership)
        {
            joined.users += 1;
            return Ok(joined.socket.capabilities().recv_buffer);
        }
        let mut socket = options.clone();
        socket.recv_buffer = options.recv_buffer.max(BUFFER);
        socket.send_buffer = 0;
        // Nothing is sent by it that the network could say anything about.
        socket.report_errors = false;
        let options = xtp_io::MembershipOptions {
            interface: membership.interface.clone(),
            source: membership.source,
            socket,
        };
        let socket = Arc::new(UdpSocket::join(membership.group, &options)?);
        let buffer = socket.capabilities().recv_buffer;
        groups.joined.push(JoinedGroup {
            membership: membership.clone(),
            socket,
            users: 1,
        });
        groups.listed();
        Ok(buffer)
    }

    /// One subscription more of a group that is joined.
    pub(crate) fn share(&mut self, membership: &Membership) {
        let mut joined = self.groups.joined.iter_mut();
        if let Some(joined) = joined.find(|joined| joined.membership == *membership) {
            joined.users += 1;
        }
    }

    /// One subscription less; the last one leaves the group.
    pub(crate) fn leave(&mut self, membership: &Membership) {
        let groups = &mut self.groups;
        let Some(at) = groups
            .joined
            .iter()
            .position(|joined| joined.membership == *membership)
        else {
            return;
        };
        groups.joined[at].users -= 1;
        if groups.joined[at].users == 0 {
            groups.joined.remove(at);
            groups.listed();
        }
    }

    /// Octets of the longest datagram to `peer`, as far as this host knows.
    ///
    /// # Errors
    /// [`Error::Narrow`] for a group whose interface carries less than any packet may have. Of a single host the kernel may
    /// have been told so by anybody: there the engine's least is tried.
    pub(crate) fn longest_to(&mut self, now: Time, peer: SocketAddr) -> Result<usize> {
        let peer = xtp_io::canonical(peer);
        let (octets, _) = self.routes.carries(now, &self.socket, peer, None);
        match peer.ip().is_multicast() && octets < LEAST_DATAGRAM {
            true => Err(Error::Narrow {
                peer,
                octets,
                least: LEAST_DATAGRAM,
            }),
            false => Ok(octets.max(LEAST_DATAGRAM)),
        }
    }

    /// Has the endpoint's socket send to groups in this way; false if there are transmitters that want another.
    pub(crate) fn send_to_groups(&mut self, sending: &GroupSending) -> Result<bool> {
        match &mut self.groups.sending {
            Some((other, _)) if other != sending => return Ok(false),
            Some((_, users)) => *users += 1,
            none => {
                self.socket.send_to_groups(sending)?;
                *none = Some((sending.clone(), 1));
            }
        }
        Ok(true)
    }

    /// Has the endpoint's socket send what a receiver says to a group in this way, unless a transmitter told it another.
    pub(crate) fn answer_to_groups(&self, sending: &GroupSending) -> Result<()> {
        if self.groups.sending.is_none() {
            self.socket.send_to_groups(sending)?;
        }
        Ok(())
    }

    /// One transmitter less.
    pub(crate) fn sends_no_more(&mut self) {
        if let Some((_, users)) = &mut self.groups.sending {
            *users -= 1;
            if *users == 0 {
                self.groups.sending = None;
            }
        }
    }

    /// Takes what is in each group's socket without waiting, some batches of it at most; returns how many datagrams came and
    /// when the last did.
    pub(crate) fn receive_groups(
        &mut self,
        clock: Clock,
        driver: &mut Driver,
    ) -> Result<Option<(usize, Time)>> {
        let groups = &mut self.groups;
        let batch = groups.batch.get_or_insert_default();
        let (mut total, mut at) = (0, None);
        for joined in &groups.joined {
            for _ in 0..BATCHES {
                let count = self.reception.counted(joined.socket.recv_within(batch, 1))?;
                if count == 0 {
                    break;
                }
                let now = clock.now();
                let local = joined.membership.group;
                let mut arrivals = Batch::new(batch, self.trace.as_ref(), local, None, 0);
                driver.receive_from_group(now, local, &mut arrivals);
                total += count;
                at = Some(now);
                if !batch.is_full() {
                    break;
                }
            }
        }
        Ok(at.map(|at| (total, at)))
    }
}
