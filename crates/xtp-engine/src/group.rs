//! Groups, as programs and simulations name them.
//!
//! The parties and what they compute are the crate `xtp-group`; the engine's calls for them stand at [`Engine`](crate::Engine).

pub use xtp_group::{
    BucketOptions, CastOptions, CastStats, Cycle, DropReason, Fec, Feedback, GroupClose, GroupEvent, GroupId,
    HistoryItem, JoinOptions, MemberId, MemberReport, MemberState, Mode, Progress, QuietBlocks, Require,
    Slow, SubscriptionStats, Target,
};
