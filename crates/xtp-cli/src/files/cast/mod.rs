//! `xtp cast`: files or a stream to many receivers at once.
//!
//! What is sent are the records of the file protocol (docs/protocol/files.md, "To a group"): the sender's to the group, a
//! receiver's beside it.

mod files;
mod group;
mod inquiry;
mod past;
mod recv;
mod report;
mod return_path;
mod send;
mod stdout;
mod view;

pub(crate) use past::Past;
pub(crate) use return_path::{ReturnPath, no_reply};

use crate::args::{CastArgs, CastWay};
use crate::common::{Common, Outcome};

/// Sends or receives.
pub(crate) fn cast(args: &CastArgs, common: &Common) -> Outcome {
    match &args.way {
        CastWay::Send(args) => send::send(args, common),
        CastWay::Recv(args) => recv::recv(args, common),
    }
}
