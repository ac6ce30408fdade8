//! `xtp bench serve`: the other party of whoever measures against this host.

use std::path::Path;

use serde::Serialize;
use xtp::Wait;
use xtp_bench::{Error, Launcher, REMOTE_PORT, REMOTE_SERVICE, Serve};

use crate::args::BenchArgs;
use crate::common::{Address, Common, Failure, Outcome, peer_text};

/// The result for programs.
#[derive(Serialize)]
struct Report {
    ok: bool,
    listening_on: String,
    measurements: u64,
    refused: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Serves until told to end.
pub(super) fn run(args: &BenchArgs, common: &Common, launcher: &Launcher) -> Outcome {
    let text = args.listen.as_deref().unwrap_or("127.0.0.1");
    let address = Address::with_port(text, REMOTE_SERVICE, REMOTE_PORT)?;
    let mut config = common.config(Some(address.bind()?));
    // Beside what is measured it should not be noticed.
    config.wait = Wait::Block;
    config.message_limit = 64 << 10;
    let endpoint = common.server(config)?;
    let mut serve = Serve::new(&endpoint, launcher).map_err(|error| Failure::failed(error.to_string()))?;
    common.announce(&endpoint, None);
    let (mut measurements, mut refused) = (0, 0);
    let outcome = loop {
        match serve.step() {
            Ok(None) => {}
            Ok(Some(served)) => {
                match served.what.starts_with("refused: ") {
                    true => refused += 1,
                    false => measurements += 1,
                }
                common
                    .out
                    .note(format_args!("for {}: {}", peer_text(served.peer), served.what));
            }
            Err(Error::Interrupted) => break Err(Failure::interrupted()),
            Err(error) => break Err(Failure::failed(error.to_string())),
        }
    };
    let outcome = common.end_of_server(outcome);
    let report = Report {
        ok: outcome.is_ok(),
        listening_on: peer_text(endpoint.local_addr()),
        measurements,
        refused,
        error: outcome.as_ref().err().map(|failure| failure.message.clone()),
    };
    match args.json.as_deref() {
        None => {}
        Some(file) if file == Path::new("-") => common.out.object(&report)?,
        Some(file) => {
            let text = serde_json::to_string_pretty(&report)
                .map_err(|error| Failure::failed(format!("cannot write JSON: {error}")))?;
            super::put(file, &format!("{text}\n"))?;
        }
    }
    outcome
}
