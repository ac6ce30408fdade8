//! What a group's transmitter and receivers compute: parity, who has how much, what is missing, what is under way,
//! and when whoever answers does.
//!
//! Data structures, tested by themselves, several against a naive model. The parties that use them are in `engine/group`, beside the
//! contexts and behind the same calls. What stands on the wire is §9.1 to §9.7.

mod bucket;
mod error;
mod event;
mod feedback;
mod field;
mod history;
mod layout;
mod members;
mod options;
mod parity;
mod reporting;
mod rows;
mod symbol;
mod union;

pub use bucket::{Bucket, Buckets, MOST_MEMBERS, Reply};
pub use error::GroupError;
pub use event::{
    CastStats, DropReason, GroupClose, GroupEvent, GroupId, MemberId, MemberReport, MemberState,
    SubscriptionStats,
};
pub use feedback::{Feedback, LONGEST, hold};
pub use history::HistoryItem;
pub use layout::{Layout, LayoutError, RowPlace, SymbolPlace};
pub use members::{MemberIndex, Place};
pub use options::{BucketOptions, CastOptions, Cycle, Fec, JoinOptions, Mode, Require, Slow, Target};
pub use parity::{Decoder, encode_row};
pub use reporting::{Progress, QuietBlocks};
pub use rows::{NextRow, RowAccount};
pub use symbol::{DESCRIPTOR_LEN, Descriptor, MARKS, Mark, Symbol};
pub use union::{MissingUnion, Stretch};
