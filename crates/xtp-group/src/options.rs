//! What a user may choose of a group: as its transmitter, and as one of its receivers.

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

use xtp_core::Rate;
use xtp_core::user::Confirm;

/// To whom the packets of a transmitter go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A multicast address and port.
    Group(SocketAddr),
    /// Each of these gets a copy (§9.2): where the network forwards no multicast. 1 to 1 024 of them, none twice.
    Each(Vec<SocketAddr>),
}

impl From<SocketAddr> for Target {
    /// A group, or the one receiver that has this address.
    fn from(address: SocketAddr) -> Self {
        match address.ip().is_multicast() {
            true => Self::Group(address),
            false => Self::Each(vec![address]),
        }
    }
}

impl From<Vec<SocketAddr>> for Target {
    fn from(each: Vec<SocketAddr>) -> Self {
        Self::Each(each)
    }
}

/// Who must have everything before a transmitter is done.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Require {
    /// Everybody who joined.
    #[default]
    All,
    /// These, by their names or the text of their IP addresses; others may join and hold nobody up.
    List(Vec<String>),
    /// So many, whoever they are; at least 1.
    AnyOf(u32),
    /// Nobody: there are no joins, no reports and no repair, and what is lost stays lost (service 5).
    Nobody,
}

/// What becomes of a member that is slower than the others.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum Slow {
    /// The group waits for it.
    Wait,
    /// It fetches what it lacks by an association of its own (§9.7).
    #[default]
    CatchUp,
    /// It is out.
    Drop,
}

/// How receivers report.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum Mode {
    /// To the transmitter alone (mode U).
    #[default]
    Unicast,
    /// To the whole group, thinned out by one another, collected in buckets (mode B): at most 64 members, a group
    /// of any source.
    Bucket(BucketOptions),
}

/// When a bucket is opened.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum Cycle {
    /// At intervals.
    #[default]
    Timer,
    /// At the end of each message.
    Message,
}

/// How mode B collects reports.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct BucketOptions {
    /// How many buckets, 1..=64. Default 4.
    pub buckets: u8,
    /// When one is opened.
    pub cycle: Cycle,
    /// Ripe buckets wait for their turn, as in 1994. Default `false`.
    pub classic: bool,
    /// Answers are spread over time. Default `true`.
    pub slotting: bool,
    /// Who hears an answer that says as much as its own keeps it. Default `true`.
    pub damping: bool,
    /// What is missing is sent with all that follows it, and receivers keep nothing beyond a hole. Default `false`.
    pub go_back_n: bool,
}

impl Default for BucketOptions {
    fn default() -> Self {
        Self {
            buckets: 4,
            cycle: Cycle::Timer,
            classic: false,
            slotting: true,
            damping: true,
            go_back_n: false,
        }
    }
}

/// How blocks are coded (§9.5).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Fec {
    /// Symbols of a block, 1..=128. Default 64.
    pub symbols: u8,
    /// Parity rows of a block, from `symbols` to 256 - `symbols`. Default 64.
    pub rows: u8,
    /// Rows that follow each block without having been asked for. Default 0.
    pub proactive: u8,
}

impl Default for Fec {
    fn default() -> Self {
        Self {
            symbols: 64,
            rows: 64,
            proactive: 0,
        }
    }
}

/// Options of a transmitter.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TransmitterOptions {
    /// Service number (dstport of the address segment): receivers that joined with another one do not answer. Default 0.
    pub service_number: u16,
    /// Who must have everything.
    pub require: Require,
    /// How many are expected: data leaves when they have joined. `None`: when `wait` is over. Default `None`.
    pub expect: Option<u32>,
    /// How long to wait for those who are expected. Default 30 s.
    pub wait: Duration,
    /// Members the group will have, as far as known: answers are spread accordingly. `None`: `expect`, or 1 024 until
    /// joins tell more. Default `None`.
    pub size: Option<u32>,
    /// What becomes of slow ones.
    pub slow: Slow,
    /// For how long a silent member is waited for. Default 30 s.
    pub patience: Duration,
    /// Octets kept for those who fell behind, beyond what is unacknowledged; `u64::MAX` = everything. Default 64 MiB.
    pub keep: u64,
    /// The user has what is no longer kept, and gives it back when it is asked
    /// (`Driver::poll_history` of the engine): with [`Slow::CatchUp`] no member is too far behind or too late. Default
    /// `false`.
    pub history: bool,
    /// Whether who is done has received everything, or its user has confirmed it.
    pub confirm: Confirm,
    /// How receivers report.
    pub mode: Mode,
    /// Parity repair; `None`: what is lost is sent again as it was. Default some.
    pub fec: Option<Fec>,
    /// Most that leaves, whatever the members can take. Default no limit.
    pub rate: Rate,
    /// Whether packets of the stream leave with ECT(0), and marks of congestion that the pacemaker reports slow the group down. Default
    /// `true`.
    pub ecn: bool,
    /// Octets of UDP payload of a full packet, 548..=65 507: a receiver that can not receive such packets never joins.
    /// Default 1 472.
    pub datagram: usize,
    /// Octets that may be unacknowledged. Default 16 MiB.
    pub window: u64,
    /// Octets that may be written and not yet sent. Default 4 MiB.
    pub send_capacity: u64,
    /// Status packets a second that this transmitter takes, at least 1. Default 2 000.
    pub feedback_rate: u32,
    /// A late one begins with the oldest octet that is kept (`true`), or with what is sent next. Default `true`.
    pub from_start: bool,
    /// Most members at once. Default 65 536. Four times as many may join in all.
    pub max_members: usize,
}

impl Default for TransmitterOptions {
    fn default() -> Self {
        Self {
            service_number: 0,
            require: Require::All,
            expect: None,
            wait: Duration::from_secs(30),
            size: None,
            slow: Slow::CatchUp,
            patience: Duration::from_secs(30),
            keep: 64 << 20,
            history: false,
            confirm: Confirm::Received,
            mode: Mode::Unicast,
            fec: Some(Fec::default()),
            rate: Rate::default(),
            ecn: true,
            datagram: 1_472,
            window: 16 << 20,
            send_capacity: 4 << 20,
            feedback_rate: 2_000,
            from_start: true,
            max_members: 1 << 16,
        }
    }
}

/// Options of a receiver.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReceiverOptions {
    /// The group; `None`: packets come to this endpoint's own address (a transmitter that copies, [`Target::Each`]).
    pub group: Option<SocketAddr>,
    /// Take only what this host transmits. Default `None`: whoever announces itself first.
    pub source: Option<IpAddr>,
    /// Service number, as [`TransmitterOptions::service_number`]. Default 0.
    pub service_number: u16,
    /// By which name the transmitter knows this receiver: at most 64 octets; empty: by its address and port. A join under the
    /// name of a member replaces it if that is asked and does not answer for 2 s.
    pub name: String,
    /// Octets buffered for the user. 1..=2^40. Default 32 MiB.
    pub capacity: u64,
    /// What the user's confirmation is worth: with [`Confirm::Delivered`] completeness is reported only after
    /// [`GroupParties::confirm`](crate::GroupParties::confirm).
    pub confirm: Confirm,
    /// Octets of the group socket's buffer, told to the transmitter, which never has more than half of that in flight.
    /// Default 0: not told.
    pub socket_buffer: u32,
    /// The largest packet this receiver takes, octets of UDP payload. Default 65 507.
    pub datagram: usize,
    /// How many transmitters a listener hears at a time ([`GroupParties::listen`](crate::GroupParties::listen)), 1..=256, of one host half as
    /// many; each has its share of `capacity`. Default 16.
    pub at_once: u16,
}

impl Default for ReceiverOptions {
    fn default() -> Self {
        Self {
            group: None,
            source: None,
            service_number: 0,
            name: String::new(),
            capacity: 32 << 20,
            confirm: Confirm::Received,
            socket_buffer: 0,
            datagram: 65_507,
            at_once: 16,
        }
    }
}
