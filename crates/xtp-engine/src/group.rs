//! Groups, as programs and simulations name them.
//!
//! The parties and what they compute are the crate `xtp-group`; the engine's calls for them stand at [`Engine`](crate::Engine).

pub use xtp_group::{
    BucketOptions, CastStats, Cycle, DropReason, Fec, Feedback, GroupClose, GroupEvent, GroupId, HistoryItem,
    MemberId, MemberReport, MemberState, Mode, Progress, QuietBlocks, ReceiverOptions, Require, Slow,
    SubscriptionStats, Target, TransmitterOptions,
};
