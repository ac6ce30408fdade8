//! `xtp call`: one transaction.

use std::fs;
use std::time::Instant;

use bytes::Bytes;
use serde::Serialize;
use xtp::{CallOptions, CloseReason, Error, service_numbers};

use crate::args::CallArgs;
use crate::common::{Address, Common, Failure, Input, Outcome, Payload, Status, peer_text};

/// Longest request: what an endpoint puts together by default. The server usually accepts less.
const LONGEST: usize = 64 << 20;
/// Octets of an answer shown in the object of `--json`.
const SHOWN: usize = 16 << 20;

/// The result for programs.
#[derive(Serialize)]
struct Report {
    ok: bool,
    address: String,
    peer: String,
    request_octets: u64,
    seconds: f64,
    packets_sent: u64,
    packets_received: u64,
    /// Left out if it went to a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Payload>,
}

/// Calls and prints the answer.
pub(crate) fn run(args: &CallArgs, common: &Common) -> Outcome {
    let address = Address::peer(&args.address, service_numbers::CALL)?;
    let peers = address.resolve()?;
    let request = match &args.message {
        Some(text) => Bytes::copy_from_slice(text.as_bytes()),
        None => Input::whole(common, LONGEST)?,
    };
    let mut config = common.config(None);
    config.message_limit = args.max_size.max(1);
    let endpoint = common.endpoint(config)?;
    let request_octets = request.len() as u64;
    let begin = Instant::now();
    let answer = endpoint
        .call_for_answer(&peers[..], address.service, request, &options(args, common))
        .map_err(|error| failed(&address, &error))?;
    let span = begin.elapsed();
    let stats = endpoint.stats();
    common.out.detail(format_args!(
        "{} octets from {} in {span:.3?}, {} packets out, {} in",
        answer.response.len(),
        peer_text(answer.peer),
        stats.packets_sent(),
        stats.packets_received()
    ));
    if let Some(path) = &args.output {
        fs::write(path, &answer.response)
            .map_err(|error| Failure::io(format_args!("cannot write {}", path.display()), &error))?;
    }
    if common.out.is_json() {
        return common.out.object(&Report {
            ok: true,
            address: address.to_string(),
            peer: peer_text(answer.peer),
            request_octets,
            seconds: span.as_secs_f64(),
            packets_sent: stats.packets_sent(),
            packets_received: stats.packets_received(),
            answer: args.output.is_none().then(|| {
                let shown = &answer.response[..answer.response.len().min(SHOWN)];
                Payload::of(shown, answer.response.len() as u64)
            }),
        });
    }
    if args.output.is_none() {
        common.out.raw(&answer.response)
    } else {
        Ok(())
    }
}

fn options(args: &CallArgs, common: &Common) -> CallOptions {
    let mut options = CallOptions::default();
    options.timeout = common.timeout();
    options.limit = Some(args.max_size);
    options.expected_answer = u32::try_from(args.expect).unwrap_or(u32::MAX);
    options.slow_server = args.slow;
    options.repeatable = args.repeatable;
    options.wait_for_listener = args.wait_for_listener;
    if args.wait_for_listener {
        // What was made before the listener began cannot be told from what an earlier one may have run.
        options.repeatable = true;
    }
    common.tune(&mut options.tuning);
    options
}

fn failed(address: &Address, error: &Error) -> Failure {
    let doing = format!("cannot call {address}");
    match error {
        // `xtp answer` has no other way to say that its program did not succeed.
        Error::Closed(CloseReason::Aborted { .. } | CloseReason::RefusedByReader { .. }) => Failure::new(
            Status::Refused,
            format!(
                "{doing}: the request was rejected or its program failed; look at the messages of the other side"
            ),
        ),
        Error::MessageTooLong { limit } => Failure::failed(format!(
            "{doing}: the answer is longer than {}; allow more with --max-size",
            crate::common::size_text(*limit as u64)
        )),
        other => Failure::of(&doing, other),
    }
}
