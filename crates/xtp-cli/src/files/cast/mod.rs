//! `xtp cast`: files or a stream to many receivers at once.
//!
//! What is sent are the records of the file protocol, one way (docs/protocol/files.md, "To a group").

mod group;
mod past;
mod recv;
mod report;
mod send;
mod view;

pub(crate) use past::Past;

use crate::args::{CastArgs, CastWay};
use crate::common::{Common, Outcome};

/// Sends or receives.
pub(crate) fn cast(args: &CastArgs, common: &Common) -> Outcome {
    match &args.way {
        CastWay::Send(args) => send::send(args, common),
        CastWay::Recv(args) => recv::recv(args, common),
    }
}
