//! What is shown: each paradigm, what it carries, and the number of packets its ladder says (§8.1).

/// How the sender and the receiver of a paradigm behave.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Datagram,
    Acknowledged,
    OneShot,
    Transaction,
    Unconfirmed,
    Slow,
    ByteStream,
    MessageStream,
    UnreliableStream,
    Tags,
}

/// The same job done by the kernel's protocols.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Job {
    /// Octets one way; nobody is told.
    OneWay = 1,
    /// Octets one way; the sender learns that they arrived.
    Confirmed = 2,
    /// A request and its answer.
    Transaction = 3,
    /// The same with a server that takes [`WORK_MS`].
    Slow = 4,
    /// [`MESSAGES`] messages, each answered.
    Messages = 5,
    /// [`MESSAGES`] messages one way, of which the last is answered.
    Burst = 6,
    /// A file, answered by its hash.
    File = 7,
}

impl Job {
    /// The job with this code.
    pub(super) fn from_code(code: u8) -> Option<Self> {
        let all = [
            Self::OneWay,
            Self::Confirmed,
            Self::Transaction,
            Self::Slow,
            Self::Messages,
            Self::Burst,
            Self::File,
        ];
        all.into_iter().find(|job| *job as u8 == code)
    }
}

/// One paradigm.
#[derive(Copy, Clone, Debug)]
pub(super) struct Paradigm {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// Service number at the receiver.
    pub(super) port: u16,
    /// Octets of each message.
    pub(super) size: usize,
    /// Packets of one exchange, both directions together.
    pub(super) expected_packets: u64,
    /// What TCP does instead; `None` where it has no counterpart.
    pub(super) tcp: Option<Job>,
    /// What UDP does instead.
    pub(super) udp: Option<Job>,
}

/// Octets of a message that fits a packet.
const SMALL: usize = 100;
/// Largest packet of the exchanges shown: what is sent on a path nothing is known of (§5.5), so that the
/// number of packets of a long datagram does not depend on what this host's loopback could carry.
pub(super) const PACKET: usize = 1_200;
/// Octets of user data in a packet of this size.
const SEGMENT: usize = PACKET - 32;
/// Packets of the long datagram.
const LONG_PACKETS: usize = 10;
/// Octets of the long datagram. FIRST holds some 100 octets less than DATA because of its address and traffic
/// segments, and the last packet is about half full.
const LONG: usize = LONG_PACKETS * SEGMENT - SEGMENT / 2;
/// Messages over one association.
pub(super) const MESSAGES: usize = 4;
/// Time the slow server works.
pub(super) const WORK_MS: u64 = 2;
/// The tag sent beside the octets.
pub(super) const TAG: u64 = 0x7461_6773;
/// Service number of the file's receiver.
pub(super) const FILE_PORT: u16 = 1_100;

/// All paradigms, in the order they are shown.
pub(super) const PARADIGMS: [Paradigm; 11] = [
    // L1: FIRST with everything, and nothing comes back.
    paradigm(
        "datagram",
        Kind::Datagram,
        0,
        1,
        Some(Job::OneWay),
        Some(Job::OneWay),
    ),
    // L1': n packets, and nothing comes back.
    Paradigm {
        size: LONG,
        ..paradigm(
            "long-datagram",
            Kind::Datagram,
            1,
            LONG_PACKETS as u64,
            Some(Job::OneWay),
            Some(Job::OneWay),
        )
    },
    // L2: FIRST, CNTL {END}.
    paradigm(
        "acknowledged-datagram",
        Kind::Acknowledged,
        2,
        2,
        Some(Job::Confirmed),
        Some(Job::Confirmed),
    ),
    // L3: FIRST, CNTL, CNTL {END}: the receiver learns that the sender knows.
    paradigm("one-shot", Kind::OneShot, 3, 3, Some(Job::Confirmed), None),
    // L5: FIRST with the request, DATA with the response, CNTL {END}.
    paradigm(
        "transaction",
        Kind::Transaction,
        4,
        3,
        Some(Job::Transaction),
        Some(Job::Transaction),
    ),
    // L6: FIRST with the request, DATA {END} with the response.
    paradigm(
        "transaction-unconfirmed",
        Kind::Unconfirmed,
        5,
        2,
        Some(Job::Transaction),
        Some(Job::Transaction),
    ),
    // L7 with SREQ in FIRST: L5 and a CNTL that acknowledges the request while the server works.
    paradigm(
        "transaction-slow",
        Kind::Slow,
        6,
        4,
        Some(Job::Slow),
        Some(Job::Slow),
    ),
    paradigm(
        "byte-stream",
        Kind::ByteStream,
        7,
        STREAM,
        Some(Job::Confirmed),
        None,
    ),
    paradigm(
        "message-stream",
        Kind::MessageStream,
        8,
        PING_PONG,
        Some(Job::Messages),
        None,
    ),
    paradigm(
        "unreliable-stream",
        Kind::UnreliableStream,
        9,
        BURST,
        None,
        Some(Job::Burst),
    ),
    paradigm("tags", Kind::Tags, 10, STREAM, None, None),
];

/// L8 with one data packet: FIRST with the octets, TCNTL; then the close with independent halves: {SREQ WCLOSE}, {RCLOSE},
/// {SREQ RCLOSE WCLOSE}, {RCLOSE WCLOSE END}. The writer learned that there is nothing more to write only after the last
/// octet had left, so the first of these is a packet of its own.
const STREAM: u64 = 1 + 1 + CLOSE;
const CLOSE: u64 = 4;
/// L8 and L8x: FIRST with the first message, TCNTL, XDATA with its answer; two packets for each further message and its
/// answer, which acknowledge each other; and the close.
const PING_PONG: u64 = 3 + 2 * (MESSAGES as u64 - 1) + CLOSE;
/// L8: FIRST with the first message, DATA with the others, of which nobody asks to know what became of them; TCNTL, and
/// the close.
const BURST: u64 = MESSAGES as u64 + 1 + CLOSE;

const fn paradigm(
    name: &'static str,
    kind: Kind,
    number: u16,
    expected_packets: u64,
    tcp: Option<Job>,
    udp: Option<Job>,
) -> Paradigm {
    Paradigm {
        name,
        kind,
        port: 1_000 + number,
        size: SMALL,
        expected_packets,
        tcp,
        udp,
    }
}

/// The paradigm that is served at this service number.
pub(super) fn served_at(port: u16) -> Option<&'static Paradigm> {
    PARADIGMS.iter().find(|paradigm| paradigm.port == port)
}
