//! What the engine tells of groups.

use core::net::SocketAddr;
use core::time::Duration;

/// Names a transmitter or a receiver of a group. Never reused within one engine.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupId(pub(crate) u64);

impl GroupId {
    /// A number unique among the group parties of one engine, for logs and maps.
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

/// Names a member to its transmitter: the order of joining, from 0.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemberId(pub u32);

/// Where a member stands (§9.3 of the transmitter's record).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum MemberState {
    /// It asked to join, and has not said that it heard the answer.
    Pending,
    /// It holds the window.
    Holder,
    /// It is behind and holds nothing up.
    Laggard,
    /// It has everything; `true`: and had been behind.
    Done(bool),
    /// It is out.
    Dropped(DropReason),
}

/// Why a member is out.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum DropReason {
    /// Nothing was heard of it for too long.
    #[error("silent")]
    Silent,
    /// Its host says that nobody listens on its port any more.
    #[error("unreachable: its program ended")]
    Unreachable,
    /// Slower than the others, and nobody wanted to wait.
    #[error("slower than the others")]
    Slow,
    /// What it lacks is no longer kept.
    #[error("too far behind: what it lacks is no longer kept")]
    Behind,
    /// Its user rejected what came.
    #[error("rejected by its user")]
    Rejected,
    /// Its user closed it before it had everything.
    #[error("left before it had everything")]
    Left,
    /// It goes on, but would take longer than the patience allows.
    #[error("too slow to wait for")]
    TooSlow,
    /// It lost its place to a later receiver of its name, or, without a name, of its address and port. That one has an entry of its own,
    /// behind this one.
    #[error("lost its place to a later one of the same name or address")]
    Replaced,
}

/// What a transmitter says of one member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberReport {
    /// Which one.
    pub member: MemberId,
    /// Its address; of a receiver of a datagram that of its first confirmation.
    pub address: SocketAddr,
    /// The name it gave itself; else empty.
    pub name: String,
    /// Where it stands.
    pub state: MemberState,
    /// Octets it is known to have without a gap.
    pub octets: u64,
    /// From its join until it was done or dropped, or until now.
    pub time: Duration,
    /// What its user said when it rejected; else empty. At most 255 octets.
    pub text: String,
}

/// Counters of a transmitter.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct CastStats {
    /// Packets of new data to the group.
    pub data_packets: u64,
    /// Packets to the group that repair: data again, or parity rows.
    pub repair_packets: u64,
    /// Announcements, polls and other control packets to the group and to members.
    pub control_packets: u64,
    /// Packets of members that came in.
    pub feedback_packets: u64,
    /// Words of receivers that have no place for this transmitter at present.
    pub busy_reports: u64,
    /// Packets that came to the pacemaker with a mark of congestion, by its reports.
    pub ce_reported: u64,
    /// Octets of UDP payload that left for the group or for members of it, catch-ups apart.
    pub octets_sent: u64,
    /// Octets the stream has had so far.
    pub position: u64,
    /// One past the last octet that all who hold the window have.
    pub acknowledged: u64,
    /// What leaves, octets a second, as the controller has it; 0: not limited.
    pub rate: u64,
    /// The greatest round trip of those that hold the window.
    pub round_trip: Option<Duration>,
}

/// Counters of a receiver.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct SubscriptionStats {
    /// The transmitter, once it was heard.
    pub transmitter: Option<SocketAddr>,
    /// Packets of data and parity that came.
    pub packets: u64,
    /// Octets received without a gap.
    pub octets: u64,
    /// Octets of data that were reconstructed from parity.
    pub decoded: u64,
    /// Status packets that left.
    pub reports: u64,
    /// Whether it fetches by itself what it lacks.
    pub is_behind: bool,
}

/// How a transmitter or a receiver of a group ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GroupClose {
    /// Receiver: everything came, and the transmitter knows. Transmitter: every member is done or dropped.
    #[error("closed; everything confirmed")]
    Normal,
    /// The transmitter was not heard for too long, or its host says that nobody is there.
    #[error("the transmitter is lost")]
    TransmitterLost,
    /// The transmitter refused or dropped this receiver.
    #[error("the transmitter dropped this receiver: {0}")]
    Dropped(xtp_wire::DiagReason),
    /// This end gave up.
    #[error("ended by this end")]
    Local,
    /// The group ended, and what is missing could not be had.
    #[error("the group ended; {missing} octets are missing")]
    Incomplete {
        /// Octets known to be missing.
        missing: u64,
    },
    /// Nobody joined within the time to wait.
    #[error("nobody joined")]
    Nobody,
    /// The transmitter broke the protocol.
    #[error("protocol error of the transmitter: {0}")]
    Protocol(&'static str),
}

/// Something the user of a group should know. Drained with
/// [`GroupParties::poll_event`](crate::GroupParties::poll_event).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupEvent {
    /// Transmitter: all who are expected are here, or the time to wait is over; data leaves from now on.
    Started,
    /// Transmitter: somebody joined.
    Joined(MemberId),
    /// Transmitter: this one fell behind and no longer holds the window.
    Laggard(MemberId),
    /// Transmitter: this one is back.
    Returned(MemberId),
    /// Transmitter: this one has everything.
    Done(MemberId),
    /// Transmitter: this one is out.
    Dropped(MemberId, DropReason),
    /// Transmitter: more can be written (after less was taken than offered).
    Writable,
    /// Receiver: a transmitter was heard; its address.
    Found(SocketAddr),
    /// Listener: it hears another transmitter, by this receiver, whose events follow.
    Heard(GroupId),
    /// Receiver: there is something to read (again after a read found nothing).
    Readable,
    /// Receiver: the stream is complete: with [`Confirm::Delivered`](xtp_core::user::Confirm::Delivered) its user is to confirm or to reject.
    Complete,
    /// It is over; nothing follows. What was received can still be read until it is released.
    Closed(GroupClose),
}
