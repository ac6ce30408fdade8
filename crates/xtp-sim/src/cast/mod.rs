//! Simulated groups: one transmitter, 1 to 64 receivers, each an engine of its own behind a driver (§9.1).
//!
//! Every host has one link to a bridge and one from it. What the transmitter sends to the group crosses its uplink once
//! (what is lost there everybody lacks) and is copied onto the downlink of every receiver (what is lost there only that one
//! lacks). [`Chat`] is several transmitters of one group. [`CastPlan`] is what a seed draws, [`GroupWorld`] is where it happens, and `run` says what was wrong.

mod accidents;
mod chat;
mod draw;
mod forged;
mod healthy;
mod judge;
mod liar;
mod machine;
mod manner;
mod member;
mod network;
mod part;
mod past;
mod plan;
mod requests;
mod roles;
mod run;
mod sender;
mod throng;
mod throng_receiver;
mod twin;
mod watch;
mod world;

pub use chat::{Chat, ChatFigures};
pub use judge::information_bound;
pub use liar::{LiarPlan, Lie};
pub(crate) use machine::Machine;
pub use member::Receiving;
pub use network::{Bridge, Travelling};
pub use past::{Memory, PastPlan};
pub use plan::{CastPlan, Disturbance, MemberPlan, Message, Reading, Target, Trouble, Verdict};
pub use run::{print_plan, run_plan};
pub use sender::Sending;
pub use throng::{Throng, ThrongFigures};
pub use twin::TwinPlan;
pub use world::{GroupWorld, MEMBER_PORT, group_address, member_address, transmitter_address};
