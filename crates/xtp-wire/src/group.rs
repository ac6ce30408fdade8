//! The packets of a group, by who sends them to whom (§9.2).
//!
//! [`Packet::parse`] says that a packet is well-formed; these three say what it is between the parties of a group,
//! or that nobody of a group sends it that way. Each is made into a packet by the same table, so what is sent is
//! understood. Options that a packet has besides (WCLOSE, RCLOSE, SREQ where it is no must) stay in the header.

use crate::{
    Address, Body, Control, DELAY_NONE, DataSegment, Diag, First, Format, Gnack, GnackBlock, GnackFlags,
    GroupPoll, GroupTerms, Header, Key, Options, Packet, Parity, Spans, Traffic, WireError, Xcntl,
    XcntlFlags,
};

/// Key, numbers and further options of a packet that is to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GroupHeader {
    /// The key: the group's, the receiver's or the transmitter's for that receiver. Bit 63 is dropped.
    pub key: u64,
    /// Number of the packet.
    pub sync: u32,
    /// Position; see §1.1.
    pub seq: u64,
    /// Options besides those that the packet has by being what it is.
    pub options: Options,
}

/// From the transmitter to the group; the key is the group's, RTN is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToGroup<'a> {
    /// FIRST without data: the group exists. With SREQ receivers may join.
    Announcement(First<'a>),
    /// FIRST {WCLOSE EOM} that holds the whole of a datagram; with END nobody answers.
    Datagram(First<'a>),
    /// Octets of the stream.
    Data(DataSegment<'a>),
    /// A parity row.
    Parity(Parity<'a>),
    /// XCNTL {SREQ}: those whom it asks answer.
    Poll(GroupPoll),
    /// GNACK: these rows are going to be sent.
    Rows(&'a [GnackBlock]),
    /// CNTL {SREQ}: all answer to the group, and the answers are collected in a bucket (mode B).
    Question,
    /// CNTL: the transmitter lives; `seq` says where it is.
    Position,
    /// CNTL {END}: the group is over; `seq` is where the stream ended.
    End,
}

/// From a receiver to the transmitter; the key is the one the transmitter chose (in a join the group's), RTN is 1. In mode
/// B a status goes to the group, with the group's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToTransmitter<'a> {
    /// JCNTL. With SREQ somebody asks whether the transmitter lives; with RCLOSE it is the confirmation of a datagram.
    Join {
        /// What the receiver has and has room for.
        control: Control,
        /// By which key the receiver wants to be addressed; not 0.
        xkey: u64,
        /// Group and service.
        address: Address,
        /// The receiver's own limits.
        traffic: Traffic<'a>,
    },
    /// CNTL.
    Status(Control),
    /// ECNTL: what lies beyond the gaps.
    Spans {
        /// Status.
        control: Control,
        /// Ranges received beyond `rseq`.
        spans: Spans<'a>,
    },
    /// XCNTL without the tail of a poll.
    Extended(Xcntl<'a>),
    /// GNACK: symbols missing.
    Need(Gnack<'a>),
    /// DIAG.
    Diag(Diag<'a>),
}

/// From the transmitter to one receiver; the key is the receiver's, RTN is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToMember<'a> {
    /// JCNTL {SREQ} with TLV 13: the answer to a join, and later the word that a member is left behind or is back.
    Answer {
        /// Status; only the echo says something.
        control: Control,
        /// The key by which the transmitter knows the receiver; not 0.
        xkey: u64,
        /// Group and service.
        address: Address,
        /// Terms of the transmitter.
        traffic: Traffic<'a>,
    },
    /// CNTL {END}: the group is over; `seq` is where the stream ended.
    End(Control),
    /// DIAG: not admitted, or dropped.
    Diag(Diag<'a>),
}

const ALWAYS: Options = Options::MULTI;

/// Options without which a datagram to a group is none.
const WHOLE: Options = Options::WCLOSE.union(Options::EOM);

impl<'a> ToGroup<'a> {
    /// What a packet that came to the group's address is.
    ///
    /// # Errors
    ///
    /// [`WireError::BadGroup`]: no transmitter sends this to a group.
    pub fn of(packet: &Packet<'a>) -> Result<Self, WireError> {
        let options = packet.header.options;
        if packet.header.key.is_returned() || !options.contains(ALWAYS) {
            return Err(WireError::BadGroup);
        }
        match packet.body {
            Body::First(first) => match first.data {
                DataSegment { tag: None, data: [] } if !options.contains(Options::END) => {
                    Ok(Self::Announcement(first))
                }
                _ if options.contains(WHOLE) => Ok(Self::Datagram(first)),
                _ => Err(WireError::BadGroup),
            },
            Body::Data(data) => Ok(Self::Data(data)),
            Body::Parity(parity) => Ok(Self::Parity(parity)),
            Body::Xcntl(Xcntl { poll: Some(poll), .. }) if options.contains(Options::SREQ) => {
                Ok(Self::Poll(poll))
            }
            Body::Gnack(gnack) if gnack.flags.contains(GnackFlags::ANNOUNCEMENT) => {
                Ok(Self::Rows(gnack.blocks))
            }
            Body::Cntl(_) if options.contains(Options::END) => Ok(Self::End),
            Body::Cntl(_) if options.contains(Options::SREQ) => Ok(Self::Question),
            Body::Cntl(_) => Ok(Self::Position),
            _ => Err(WireError::BadGroup),
        }
    }

    /// The packet that is this.
    #[must_use]
    pub fn packet(self, header: GroupHeader) -> Packet<'a> {
        let (body, set, clear) = match self {
            Self::Announcement(first) => (Body::First(first), ALWAYS, Options::END | Options::EOM),
            Self::Datagram(first) => (Body::First(first), WHOLE, Options::empty()),
            Self::Data(data) => (Body::Data(data), ALWAYS, Options::empty()),
            Self::Parity(parity) => (Body::Parity(parity), ALWAYS, Options::empty()),
            Self::Poll(poll) => (Body::Xcntl(question(poll)), Options::SREQ, Options::empty()),
            Self::Rows(blocks) => (Body::Gnack(Gnack::announcement(blocks)), ALWAYS, Options::empty()),
            Self::Question => (Body::Cntl(Control::default()), Options::SREQ, Options::END),
            Self::Position => (
                Body::Cntl(Control::default()),
                ALWAYS,
                Options::END | Options::SREQ,
            ),
            Self::End => (Body::Cntl(Control::default()), Options::END, Options::empty()),
        };
        packet(header, Key::own(header.key), body, set, clear)
    }
}

impl<'a> ToTransmitter<'a> {
    /// What a packet that came to the transmitter's own address is.
    ///
    /// # Errors
    ///
    /// [`WireError::BadGroup`]: no receiver sends this.
    pub fn of(packet: &Packet<'a>) -> Result<Self, WireError> {
        let said = match packet.body {
            Body::Jcntl {
                control,
                xkey,
                address,
                traffic,
            } if xkey != 0 => Self::Join {
                control,
                xkey,
                address,
                traffic,
            },
            Body::Cntl(control) => Self::Status(control),
            Body::Ecntl { control, spans } => Self::Spans { control, spans },
            Body::Xcntl(status @ Xcntl { poll: None, .. }) => Self::Extended(status),
            Body::Gnack(gnack) if !gnack.flags.contains(GnackFlags::ANNOUNCEMENT) => Self::Need(gnack),
            Body::Diag(diag) => Self::Diag(diag),
            _ => return Err(WireError::BadGroup),
        };
        answers(packet).then_some(said).ok_or(WireError::BadGroup)
    }

    /// The packet that is this.
    #[must_use]
    pub fn packet(self, header: GroupHeader) -> Packet<'a> {
        let body = match self {
            Self::Join {
                control,
                xkey,
                address,
                traffic,
            } => Body::Jcntl {
                control,
                xkey,
                address,
                traffic,
            },
            Self::Status(control) => Body::Cntl(control),
            Self::Spans { control, spans } => Body::Ecntl { control, spans },
            Self::Extended(status) => Body::Xcntl(status),
            Self::Need(gnack) => Body::Gnack(gnack),
            Self::Diag(diag) => Body::Diag(diag),
        };
        packet(header, Key::returned(header.key), body, ALWAYS, Options::empty())
    }
}

impl<'a> ToMember<'a> {
    /// What a packet that came to a receiver's own address is.
    ///
    /// # Errors
    ///
    /// [`WireError::BadGroup`]: no transmitter sends this to one receiver.
    pub fn of(packet: &Packet<'a>) -> Result<Self, WireError> {
        let options = packet.header.options;
        let said = match packet.body {
            Body::Jcntl {
                control,
                xkey,
                address,
                traffic,
            } if xkey != 0 && options.contains(Options::SREQ) && has_point(&traffic)? => Self::Answer {
                control,
                xkey,
                address,
                traffic,
            },
            Body::Cntl(control) if options.contains(Options::END) => Self::End(control),
            Body::Diag(diag) => Self::Diag(diag),
            _ => return Err(WireError::BadGroup),
        };
        answers(packet).then_some(said).ok_or(WireError::BadGroup)
    }

    /// The packet that is this.
    #[must_use]
    pub fn packet(self, header: GroupHeader) -> Packet<'a> {
        let (body, set) = match self {
            Self::Answer {
                control,
                xkey,
                address,
                traffic,
            } => {
                let answer = Body::Jcntl {
                    control,
                    xkey,
                    address,
                    traffic,
                };
                (answer, Options::SREQ)
            }
            Self::End(control) => (Body::Cntl(control), Options::END),
            Self::Diag(diag) => (Body::Diag(diag), ALWAYS),
        };
        packet(header, Key::returned(header.key), body, set, Options::empty())
    }
}

/// A poll says nothing of a reader: the transmitter has none.
fn question(poll: GroupPoll) -> Xcntl<'static> {
    Xcntl {
        flags: XcntlFlags::POLL,
        delay_us: DELAY_NONE,
        poll: Some(poll),
        ..Xcntl::default()
    }
}

/// Whether it gives a key back and belongs to a group. DIAG has no MULTI (§1.2).
fn answers(packet: &Packet<'_>) -> bool {
    let header = packet.header;
    let of_group = header.options.contains(ALWAYS) || header.format == Format::Diag;
    header.key.is_returned() && of_group
}

/// Whether a specifier says where the member stands.
fn has_point(traffic: &Traffic<'_>) -> Result<bool, WireError> {
    match traffic {
        Traffic::Extended(extended) => Ok(GroupTerms::read(extended.tlvs)?.point.is_some()),
        _ => Ok(false),
    }
}

fn packet(header: GroupHeader, key: Key, body: Body<'_>, set: Options, clear: Options) -> Packet<'_> {
    let format = body.format();
    Packet {
        header: Header {
            key,
            options: ((header.options - clear) | set | ALWAYS) & Options::meaningful_on(format),
            format,
            dlen: 0,
            check: 0,
            sort: 0,
            sync: header.sync,
            seq: header.seq,
        },
        body,
        padding: 0,
    }
}

#[cfg(test)]
#[path = "group_tests.rs"]
mod tests;
