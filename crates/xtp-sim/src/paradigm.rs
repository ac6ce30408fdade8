//! The paradigms as flows: who opens how, what each user does.

use std::time::Duration;

use xtp_engine::{Confirm, paradigm};

use crate::app::{Script, Step};
use crate::flow::FlowSpec;

/// A paradigm, under the name the commands print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Paradigm {
    /// One packet, no answer (L1).
    Datagram,
    /// Several packets, whole or not at all (L1').
    LongDatagram,
    /// Confirmed when received (L2).
    AcknowledgedDatagram,
    /// Confirmed when delivered (L2d).
    AcknowledgedDelivered,
    /// Three packets (L3).
    OneShot,
    /// Request and confirmed response (L5).
    Transaction,
    /// Request and response kept for replay (L6).
    TransactionUnconfirmed,
    /// Request, status, and a response that takes its time (L7).
    TransactionSlow,
    /// Octets both ways (L8).
    ByteStream,
    /// Messages both ways.
    MessageStream,
    /// Octets of which some may be missing.
    UnreliableStream,
    /// Octets with tags beside them.
    Tags,
}

/// How much a flow carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Octets of one message.
    pub message: u32,
    /// Messages (streams only).
    pub count: u32,
    /// Octets of one message back.
    pub answer: u32,
    /// Time between two messages, and of a server at work.
    pub pause: Duration,
}

impl Paradigm {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Datagram,
        Self::LongDatagram,
        Self::AcknowledgedDatagram,
        Self::AcknowledgedDelivered,
        Self::OneShot,
        Self::Transaction,
        Self::TransactionUnconfirmed,
        Self::TransactionSlow,
        Self::ByteStream,
        Self::MessageStream,
        Self::UnreliableStream,
        Self::Tags,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Datagram => "datagram",
            Self::LongDatagram => "long-datagram",
            Self::AcknowledgedDatagram => "acknowledged-datagram",
            Self::AcknowledgedDelivered => "acknowledged-delivered",
            Self::OneShot => "one-shot",
            Self::Transaction => "transaction",
            Self::TransactionUnconfirmed => "transaction-unconfirmed",
            Self::TransactionSlow => "transaction-slow",
            Self::ByteStream => "byte-stream",
            Self::MessageStream => "message-stream",
            Self::UnreliableStream => "unreliable-stream",
            Self::Tags => "tags",
        }
    }

    /// Whether it is a lasting association.
    pub const fn is_stream(self) -> bool {
        matches!(
            self,
            Self::ByteStream | Self::MessageStream | Self::UnreliableStream | Self::Tags
        )
    }

    /// Whether everything sent must arrive.
    pub const fn is_reliable(self) -> bool {
        !matches!(self, Self::Datagram | Self::LongDatagram | Self::UnreliableStream)
    }

    /// A flow of it from host 0 to host 1.
    pub fn flow(self, size: Size) -> FlowSpec {
        let send = Step::Send {
            octets: size.message,
            eom: true,
        };
        let once = Script::new(vec![send, Step::CloseWriter]);
        let listen = Script::default();
        match self {
            Self::Datagram | Self::LongDatagram => FlowSpec::new(paradigm::datagram(0), once, listen),
            Self::AcknowledgedDatagram => FlowSpec::new(paradigm::acknowledged_datagram(0), once, listen),
            Self::AcknowledgedDelivered => {
                let mut open = paradigm::acknowledged_datagram(0);
                open.confirm = Confirm::Delivered;
                FlowSpec::new(open, once, listen)
            }
            Self::OneShot => FlowSpec::new(paradigm::one_shot(0), once, listen),
            Self::Transaction => transaction(once, size, Duration::ZERO),
            Self::TransactionUnconfirmed => {
                let mut flow = transaction(once, size, Duration::ZERO);
                flow.listen.unconfirmed_response = true;
                flow
            }
            Self::TransactionSlow => {
                let mut flow = transaction(once, size, size.pause);
                flow.open.status_on_first = true;
                flow
            }
            Self::ByteStream => byte_stream(size),
            Self::MessageStream => message_stream(size),
            Self::UnreliableStream => unreliable_stream(size),
            Self::Tags => tags(size),
        }
    }
}

fn transaction(request: Script, size: Size, work: Duration) -> FlowSpec {
    let mut steps = vec![Step::AwaitEnd];
    if work > Duration::ZERO {
        steps.push(Step::Wait(work));
    }
    steps.extend([
        Step::Send {
            octets: size.answer,
            eom: true,
        },
        Step::CloseWriter,
    ]);
    FlowSpec::new(paradigm::transaction(0), request, Script::new(steps))
}

/// `count` pieces with a pause before all but the first.
fn pieces(octets: u32, size: Size, eom: bool, mut before: impl FnMut(u32) -> Vec<Step>) -> Vec<Step> {
    let mut steps = Vec::new();
    for number in 0..size.count {
        if number > 0 && size.pause > Duration::ZERO {
            steps.push(Step::Wait(size.pause));
        }
        steps.extend(before(number));
        steps.push(Step::Send { octets, eom });
    }
    steps
}

fn byte_stream(size: Size) -> FlowSpec {
    let mut forward = pieces(size.message, size, false, |_| Vec::new());
    forward.push(Step::CloseWriter);
    let mut back = pieces(size.answer, size, false, |_| Vec::new());
    back.extend([Step::AwaitEnd, Step::CloseWriter]);
    FlowSpec::new(paradigm::stream(0), Script::new(forward), Script::new(back))
}

/// Each message is answered before the next.
fn message_stream(size: Size) -> FlowSpec {
    let mut forward = pieces(size.message, size, true, |number| {
        vec![Step::AwaitMessages(number)]
    });
    forward.extend([Step::AwaitMessages(size.count), Step::CloseWriter]);
    let still = Size {
        pause: Duration::ZERO,
        ..size
    };
    let mut back = pieces(size.answer, still, true, |number| {
        vec![Step::AwaitMessages(number + 1)]
    });
    back.extend([Step::AwaitEnd, Step::CloseWriter]);
    FlowSpec::new(paradigm::stream(0), Script::new(forward), Script::new(back))
}

fn unreliable_stream(size: Size) -> FlowSpec {
    let mut forward = pieces(size.message, size, true, |_| Vec::new());
    forward.push(Step::CloseWriter);
    let back = vec![Step::AwaitEnd, Step::CloseWriter];
    FlowSpec::new(
        paradigm::unreliable_stream(0),
        Script::new(forward),
        Script::new(back),
    )
}

fn tags(size: Size) -> FlowSpec {
    let tag = |number: u32| vec![Step::Tag(0x7461_6700_0000_0000 | u64::from(number))];
    let mut forward = pieces(size.message, size, true, tag);
    forward.push(Step::CloseWriter);
    let mut back = pieces(size.answer, size, true, tag);
    back.extend([Step::AwaitEnd, Step::CloseWriter]);
    FlowSpec::new(paradigm::stream(0), Script::new(forward), Script::new(back))
}
