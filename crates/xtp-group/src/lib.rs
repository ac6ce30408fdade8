//! Groups of XTP: one transmitter, many receivers (§9.1).
//!
//! Made for `xtp-engine`; programs use the crate `xtp`. [`GroupParties`] holds the parties of one endpoint: transmitters (`transmit`),
//! receivers (`receive`), and listeners that make a receiver for each transmitter (`groups`). They see of their endpoint what
//! [`GroupEnv`] holds. The other modules are what parties compute, tested by themselves and several against a naive model:
//! parity, what each member has, what is missing, what is under way, and when a member answers.
#![forbid(unsafe_code)]

mod bucket;
mod emit;
mod error;
mod event;
mod feedback;
mod field;
mod groups;
mod history;
mod layout;
mod members;
mod options;
mod parity;
mod receive;
mod reporting;
mod rows;
mod symbol;
mod transmit;
mod union;

pub use error::GroupError;
pub use event::{
    CastStats, DropReason, GroupClose, GroupEvent, GroupId, MemberId, MemberReport, MemberState,
    SubscriptionStats,
};
pub use feedback::Feedback;
pub use groups::{Fetch, GroupEnv, GroupParties, Supplied, SuppliedPiece, TakenKeys};
pub use history::HistoryItem;
pub use options::{
    BucketOptions, Cycle, Fec, Mode, ReceiverOptions, Require, Slow, Target, TransmitterOptions,
};
pub use parity::{Decoder, encode_row};
pub use reporting::{Progress, QuietBlocks};
pub use symbol::{DESCRIPTOR_LEN, Descriptor, Symbol, SymbolMark};

pub(crate) use bucket::{Bucket, BucketReply, Buckets, MOST_MEMBERS};
pub(crate) use feedback::{LONGEST, hold};
pub(crate) use layout::{BlockLayout, LayoutError, RowPlace};
pub(crate) use members::MemberIndex;
pub(crate) use rows::RowAccount;
pub(crate) use symbol::MARKS;
pub(crate) use union::{MissingUnion, Stretch};
