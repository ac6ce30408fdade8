//! A flow: one association as it is meant to be, with the users at both ends.

use core::time::Duration;

use xtp_engine::{ListenOptions, OpenOptions};
use xtp_wire::service;

use crate::app::Script;
use crate::check::stream::{Ledger, Promise};
use crate::trace::Side;

/// What is planned.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Host that opens.
    pub initiator: usize,
    /// Host that listens.
    pub responder: usize,
    /// How the initiator opens; its port is replaced by one of the flow's own.
    pub open: OpenOptions,
    /// How the responder listens; likewise.
    pub listen: ListenOptions,
    /// The initiator's user.
    pub initiator_script: Script,
    /// The responder's user.
    pub responder_script: Script,
    /// When the initiator opens, after the world began.
    pub start: Duration,
    /// Whether anyone listens.
    pub listening: bool,
    /// Flow in whose initiator's place this one's comes: it opens when that one is over.
    pub after: Option<usize>,
    /// The first flow of a series of associations of one message to one listener; the first one names itself.
    pub series: Option<usize>,
    /// Left out: nobody opens it and nobody listens, only its number is taken.
    pub left_out: bool,
    /// One of its users goes, or takes no more, before the end: that may end in any way.
    pub leaves_early: bool,
}

impl FlowSpec {
    /// A flow from host 0 to host 1 that begins at once.
    pub fn new(open: OpenOptions, initiator_script: Script, responder_script: Script) -> Self {
        Self {
            initiator: 0,
            responder: 1,
            open,
            listen: ListenOptions::every_service(0),
            initiator_script,
            responder_script,
            start: Duration::ZERO,
            listening: true,
            after: None,
            series: None,
            left_out: false,
            leaves_early: false,
        }
    }
}

/// What is planned and what has come of it.
#[derive(Clone, Debug)]
pub struct Flow {
    /// The plan.
    pub spec: FlowSpec,
    /// What each end has written, by [`Side::index`].
    pub ledgers: [Ledger; 2],
    /// Service number.
    pub port: u16,
    /// The initiator has opened.
    pub opened: bool,
    /// When, world time in nanoseconds.
    pub opened_at: u64,
    /// What its initiator took for UTC then, milliseconds.
    pub created_utc_ms: i64,
    /// When the reader at each end had read its stream to the end, by [`Side::index`].
    pub read_at: [Option<u64>; 2],
    /// How many contexts were accepted for it, over all lives of the responder.
    pub accepted: u32,
    /// The initiator's task.
    pub initiator_task: Option<usize>,
    /// The responder's tasks, one an accepted context.
    pub responder_tasks: Vec<usize>,
    /// Why the engine refused to open.
    pub open_error: Option<String>,
}

/// First service number given to a flow.
const FIRST_PORT: u16 = 1_000;

impl Flow {
    /// Flow number `number` of a world with this seed.
    pub fn new(mut spec: FlowSpec, number: usize, seed: u64) -> Self {
        let port = FIRST_PORT + spec.series.unwrap_or(number) as u16;
        spec.open.service_number = port;
        spec.listen.service_number = Some(port);
        let ledger = |side: u64| Ledger {
            key: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (number as u64) << 8 ^ side,
            ..Ledger::default()
        };
        let opened = spec.left_out;
        Self {
            spec,
            ledgers: [ledger(1), ledger(2)],
            port,
            opened,
            opened_at: 0,
            created_utc_ms: 0,
            read_at: [None; 2],
            accepted: 0,
            initiator_task: None,
            responder_tasks: Vec::new(),
            open_error: None,
        }
    }

    /// What the reader at `side` is promised about the other end's stream.
    pub fn promise(&self, side: Side) -> Promise {
        let datagram = self.spec.open.service == service::DATAGRAM;
        let no_error = match side {
            Side::Responder => self.spec.open.tuning.no_error,
            Side::Initiator => self.spec.listen.tuning.no_error,
        };
        match side {
            Side::Responder if datagram => Promise::Whole,
            _ if no_error => Promise::Gaps,
            _ => Promise::Reliable,
        }
    }
}
