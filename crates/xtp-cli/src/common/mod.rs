//! What all commands share: options resolved, endpoints made, signals caught, outcomes reported.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use xtp::{Config, Endpoint, Framing, Rate, Trace, Tuning, Wait};

use crate::args::{CommonArgs, TraceFormat, WaitArg};

mod address;
#[cfg(unix)]
mod group_status;
mod host;
mod input;
mod limits;
mod logging;
mod outcome;
mod output;
mod patient;
mod places;
mod progress;
mod samples;
mod signals;
#[cfg(unix)]
mod status;
mod text;

pub(crate) use address::{Address, host_and_port};
#[cfg(all(unix, test))]
pub(crate) use group_status::SlowestLine;
#[cfg(unix)]
pub(crate) use group_status::{GroupLine, PartyLine, ReceiverLine, TransmitterLine};
pub(crate) use host::{host_name, system_text};
pub(crate) use input::{Input, Piece};
pub(crate) use limits::{descriptors, survive_size_limits};
pub(crate) use outcome::{Failure, Outcome, REJECTED, Status};
pub(crate) use output::{Output, standard_output};
pub(crate) use patient::{Patient, was_told_to_end};
pub(crate) use places::{PAUSE, Pace, may_enter};
pub(crate) use progress::{ProgressUnit, progress_bar};
pub(crate) use samples::{Samples, Spread};
pub(crate) use signals::Signals;
#[cfg(unix)]
pub(crate) use status::{
    AssociationLine, EndpointLine, Snapshot, StatusSocket, directory as status_directory,
};
pub(crate) use text::{Payload, base64, peer_text, rate_text, size_text, span_text};

/// Longest wait at the end of a command for the peer to confirm what was sent in the background.
const LINGER: Duration = Duration::from_secs(1);

/// The options of every command, and what they stand for.
pub(crate) struct Common {
    /// As given.
    pub(crate) args: CommonArgs,
    /// Where results and remarks go.
    pub(crate) out: Output,
    /// SIGINT, SIGTERM and SIGHUP.
    pub(crate) signals: Signals,
    trace: Option<Trace>,
    /// With `--status`.
    #[cfg(unix)]
    status: Option<StatusSocket>,
    begin: Instant,
}

impl Common {
    /// Catches signals, opens the trace, starts logging.
    ///
    /// # Errors
    /// If the trace cannot be written.
    pub(crate) fn new(args: CommonArgs) -> Result<Self, Failure> {
        logging::start(&args);
        let trace = match &args.trace {
            None => None,
            Some(path) => {
                let framing = match args.trace_format {
                    TraceFormat::Ip36 => Framing::Protocol36,
                    TraceFormat::Udp => Framing::Udp,
                };
                Some(Trace::create(path, framing).map_err(|error| Failure::failed(error.to_string()))?)
            }
        };
        Ok(Self {
            out: Output::new(args.prints_json(), args.quiet, args.verbose),
            signals: Signals::catch()?,
            #[cfg(unix)]
            status: args.status.then(StatusSocket::open).transpose()?,
            args,
            trace,
            begin: Instant::now(),
        })
    }

    /// The time limit the user gave.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.args.timeout
    }

    /// Whether to go on with something that takes no `--timeout` of its own.
    ///
    /// # Errors
    /// Status 130 after a signal, 3 when the time is over.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.signals.check()?;
        match self.args.timeout {
            Some(limit) if self.begin.elapsed() > limit => Err(Failure::new(
                Status::Unreachable,
                format!("not done after {}; allow more with --timeout", span_text(limit)),
            )),
            _ => Ok(()),
        }
    }

    /// A configuration with everything the common options decide.
    pub(crate) fn config(&self, bind: Option<SocketAddr>) -> Config {
        let mut config = bind.map_or_else(Config::client, Config::server);
        config.wait = match self.args.wait {
            WaitArg::Block => Wait::Block,
            WaitArg::Spin => Wait::Spin,
            WaitArg::Adaptive | WaitArg::For(_) => Wait::Adaptive,
        };
        config.linger = LINGER;
        config.trace = self.trace.clone();
        config
    }

    /// An endpoint that is interrupted by SIGINT, SIGTERM and SIGHUP: every waiting call ends with `Error::Interrupted`.
    ///
    /// # Errors
    /// If it cannot be bound.
    pub(crate) fn endpoint(&self, config: Config) -> Result<Endpoint, Failure> {
        let wanted = config.bind;
        let endpoint = Endpoint::bind(config).map_err(|error| Failure::bind(wanted, &error))?;
        self.signals.interrupts(&endpoint);
        #[cfg(unix)]
        if let Some(status) = &self.status {
            status.add(&endpoint);
        }
        Ok(endpoint)
    }

    /// An endpoint for talking to others.
    ///
    /// # Errors
    /// As [`endpoint`](Self::endpoint).
    pub(crate) fn client(&self) -> Result<Endpoint, Failure> {
        self.endpoint(self.config(None))
    }

    /// An endpoint that others talk to. Echo is answered in whatever call makes progress.
    ///
    /// # Errors
    /// As [`endpoint`](Self::endpoint).
    pub(crate) fn server(&self, config: Config) -> Result<Endpoint, Failure> {
        let endpoint = self.endpoint(config)?;
        endpoint
            .enable_echo()
            .map_err(|error| Failure::of("cannot answer echo", &error))?;
        Ok(endpoint)
    }

    /// Says that `endpoint` is ready, and what others on the network can see and do if they can reach it.
    pub(crate) fn announce(&self, endpoint: &Endpoint, service: Option<u16>) {
        let local = endpoint.local_addr();
        let shown = peer_text(local);
        match service {
            Some(service) => self.out.note(format_args!("listening on {shown}/{service}")),
            None => self.out.note(format_args!("listening on {shown}")),
        }
        if !local.ip().to_canonical().is_loopback() {
            self.out.note(
                "traffic is neither encrypted nor authenticated: whoever reaches this address is served",
            );
        }
    }

    /// Applies `--limit` to both directions of an association.
    pub(crate) fn tune(&self, tuning: &mut Tuning) {
        if let Some(rate) = self.rate() {
            tuning.out_rate = rate;
            tuning.in_rate = rate;
        }
    }

    /// `--limit` as rate and burst: a tenth of a second's octets, but room for a packet or two and no more than a
    /// MiB at once.
    pub(crate) fn rate(&self) -> Option<Rate> {
        let octets_per_second = self.args.limit?;
        let burst = u32::try_from(octets_per_second / 10).unwrap_or(u32::MAX);
        Some(Rate {
            octets_per_second,
            burst: burst.clamp(3_000, 1 << 20),
        })
    }

    /// How a server ended that serves until it is told to end. A service manager tells it by SIGTERM: that is a good
    /// end. Ctrl-C interrupts a server as it does every command.
    pub(crate) fn end_of_server(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Err(failure) if failure.status == Status::Interrupted && self.signals.terminated() => Ok(()),
            outcome => outcome,
        }
    }

    /// Reports how the command ended. Endpoints get their moment to confirm what was sent.
    pub(crate) fn conclude(self, outcome: Outcome) -> ExitCode {
        self.signals.release();
        #[cfg(unix)]
        if let Some(status) = &self.status {
            status.release();
        }
        let flushed = self.trace.as_ref().map_or(Ok(()), Trace::flush);
        let outcome = outcome.and_then(|()| flushed.map_err(|error| Failure::failed(error.to_string())));
        match outcome {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => failure.report(&self.out),
        }
    }
}
