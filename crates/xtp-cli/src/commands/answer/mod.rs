//! `xtp answer`: each request is a program's standard input, its standard output the answer.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde::Serialize;
use xtp::{Arrival, Bytes, Endpoint, Error, Incoming, ListenOptions, Listener, service, service_numbers};

use crate::args::AnswerArgs;
use crate::common::{Address, Common, Failure, Outcome, REJECTED, peer_text, span_text};

mod program;

use program::{Ended, Environment, Program, check};

/// Requests that wait for a free place, per place.
const BACKLOG: usize = 64;

/// The result for programs.
#[derive(Serialize, Default)]
struct Report {
    ok: bool,
    listening_on: String,
    requests: u64,
    answered: u64,
    failed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// What the places that run programs share.
struct Office<'a> {
    args: &'a AnswerArgs,
    common: &'a Common,
    endpoint: &'a Endpoint,
    listener: &'a Listener,
    env: Environment,
    over: AtomicBool,
    report: Mutex<Report>,
}

/// Answers until told to end.
pub(crate) fn run(args: &AnswerArgs, common: &Common) -> Outcome {
    check(&args.program)?;
    let address = Address::parse(&args.address, service_numbers::CALL)?;
    let mut config = common.config(Some(address.bind()?));
    config.message_limit = args.max_request.max(1);
    let endpoint = common.server(config)?;
    let jobs = if args.once { 1 } else { usize::from(args.jobs) };
    let mut options = ListenOptions::new(address.service).serving(&[service::TRANSACTION]);
    options.backlog = jobs * BACKLOG;
    options.unconfirmed_response = args.unconfirmed;
    common.tune(&mut options.tuning);
    let listener = endpoint
        .listen_with(options)
        .map_err(|error| Failure::of(&format!("cannot listen for service {}", address.service), &error))?;
    // While all places run programs, acknowledgements and echoes go on.
    let driver = endpoint
        .spawn_driver()
        .map_err(|error| Failure::of("cannot answer", &error))?;
    let service = (address.service != service_numbers::CALL).then_some(address.service);
    common.announce(&endpoint, service);
    let office = Office {
        args,
        common,
        endpoint: &endpoint,
        listener: &listener,
        env: Environment {
            whole: args.keep_env,
            named: args.env.clone(),
        },
        over: AtomicBool::new(false),
        report: Mutex::default(),
    };
    let outcome = office.serve(jobs);
    drop(driver);
    office.conclude(outcome)
}

impl Office<'_> {
    /// Runs all places until the first of them ends; with one place on this very thread.
    fn serve(&self, jobs: usize) -> Outcome {
        thread::scope(|scope| {
            let places: Vec<_> = (0..jobs)
                .map(|_| {
                    thread::Builder::new()
                        .name("place".into())
                        .spawn_scoped(scope, || self.place())
                })
                .collect();
            let mut outcome = Ok(());
            for place in places {
                let ended = match place {
                    Ok(place) => place
                        .join()
                        .unwrap_or_else(|_| Err(Failure::failed("a place panicked"))),
                    Err(error) => Err(Failure::io("cannot start another thread", &error)),
                };
                if let (Ok(()), Err(failure)) = (&outcome, ended) {
                    outcome = Err(failure);
                }
            }
            outcome
        })
    }

    fn place(&self) -> Outcome {
        while !self.over.load(Ordering::Relaxed) {
            // Nobody waits here for a request that began and does not end.
            let answered = match self.listener.arrival() {
                Ok(Arrival::Message(request, incoming)) => self.one(&request, incoming),
                Ok(Arrival::Failed(peer, error)) => {
                    self.gave_up(&peer_text(peer), &error);
                    if self.args.once && !matches!(error, Error::MessageTooLong { .. }) {
                        // Never a request, and not the only one.
                        continue;
                    }
                    false
                }
                Err(error) => {
                    self.over.store(true, Ordering::Relaxed);
                    return Err(Failure::of("cannot take requests", &error));
                }
            };
            let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
            report.requests += 1;
            if answered {
                report.answered += 1;
            } else {
                report.failed += 1;
            }
            drop(report);
            if self.args.once {
                self.over.store(true, Ordering::Relaxed);
                if !answered && !self.common.signals.caught() {
                    return Err(Failure::failed(
                        "the only request was not answered; see above why",
                    ));
                }
            }
        }
        Ok(())
    }

    /// Answers one request; false if the caller got no answer.
    fn one(&self, request: &Bytes, incoming: Incoming) -> bool {
        let peer = peer_text(incoming.peer());
        let program = Program {
            command: &self.args.program,
            limit: self.args.max_response,
            timeout: self.common.timeout(),
            env: &self.env,
            asks: (&peer, incoming.service_number()),
        };
        let stream = incoming.stream();
        let ended = program.run(request, &|| {
            self.common.signals.caught() || stream.close_reason().is_some()
        });
        let answer = match ended {
            Ended::Answer(answer) => answer,
            Ended::Failed(why) => {
                self.remark(&peer, format_args!("{why}; the caller was told"));
                // The caller need not know what is run here.
                let name = self.args.program[0].to_string_lossy();
                incoming.reject(REJECTED, &why.replace(&format!("'{name}'"), "the program"));
                return false;
            }
            Ended::Unwanted => {
                self.remark(&peer, "stopped, because the caller has gone or a signal came");
                incoming.reject(REJECTED, "the server ends");
                return false;
            }
        };
        let (asked, told) = (request.len(), answer.len());
        let sent = if self.args.unconfirmed {
            incoming.respond_unconfirmed(answer)
        } else {
            incoming.respond(answer)
        };
        if let Err(error) = sent {
            self.remark(&peer, format_args!("the answer could not be sent: {error}"));
            return false;
        }
        self.common.out.detail(format_args!(
            "request from {peer}: {asked} octets, answer {told} octets"
        ));
        true
    }

    /// Says why there was no request.
    fn gave_up(&self, peer: &str, error: &Error) {
        match error {
            Error::MessageTooLong { limit } => self.remark(
                peer,
                format_args!("longer than {limit} octets and refused; see --max-request"),
            ),
            Error::Timeout { after, .. } => {
                self.remark(peer, format_args!("not complete after {}", span_text(*after)));
            }
            error => self.remark(peer, format_args!("did not arrive: {error}")),
        }
    }

    fn remark(&self, peer: &str, text: impl std::fmt::Display) {
        self.common.out.note(format_args!("request from {peer}: {text}"));
    }

    fn conclude(self, mut outcome: Outcome) -> Outcome {
        if !self.args.once {
            outcome = self.common.end_of_server(outcome);
        }
        if self.common.out.is_json() {
            let mut report = self.report.into_inner().unwrap_or_else(PoisonError::into_inner);
            report.ok = outcome.is_ok();
            report.listening_on = peer_text(self.endpoint.local_addr());
            report.error = outcome.as_ref().err().map(|failure| failure.message.clone());
            self.common.out.object(&report)?;
        }
        outcome
    }
}
