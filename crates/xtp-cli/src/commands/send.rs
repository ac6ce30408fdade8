//! `xtp send`: standard input as a message, as messages, or as a stream.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use serde::Serialize;
use xtp::{Confirm, ContextStats, Endpoint, OpenOptions, Stream, paradigm, service, service_numbers};

use crate::args::SendArgs;
use crate::common::{Address, Common, Failure, Input, Outcome, Piece, peer_text, rate_text, size_text};

/// Longest message: what `xtp listen` accepts by default.
const LONGEST: usize = 64 << 20;
/// Longest datagram (§4.8).
const LONGEST_DATAGRAM: usize = 1 << 20;
/// Longest wait for the confirmation of a stream's end: the engine notices a dead peer long before.
const CLOSE: Duration = Duration::from_secs(24 * 3_600);

/// The result for programs.
#[derive(Serialize)]
struct Report {
    ok: bool,
    address: String,
    peer: Option<String>,
    paradigm: &'static str,
    messages: Option<u64>,
    octets: u64,
    seconds: f64,
    confirmed: Option<&'static str>,
    packets_sent: u64,
    packets_received: u64,
}

/// What was sent.
#[derive(Default)]
struct Sent {
    messages: Option<u64>,
    octets: u64,
    stats: Option<ContextStats>,
    peer: Option<SocketAddr>,
}

/// Sends and reports.
pub(crate) fn run(args: &SendArgs, common: &Common) -> Outcome {
    let address = Address::peer(&args.address, service_numbers::MESSAGE)?;
    let peers = address.resolve()?;
    let mut config = common.config(None);
    config.broadcast = args.broadcast;
    let endpoint = common.endpoint(config)?;
    let doing = format!("cannot send to {address}");
    let failed = |error: &xtp::Error| Failure::of(&doing, error);
    let begin = Instant::now();
    let sent = if args.stream || args.lines {
        let sender = Sender {
            args,
            common,
            endpoint: &endpoint,
            doing: &doing,
        };
        sender.stream(&peers, address.service)?
    } else {
        let limit = if args.datagram { LONGEST_DATAGRAM } else { LONGEST };
        let data = message(args, common, limit)?;
        let octets = data.len() as u64;
        let options = options(args, common, address.service);
        let stats = endpoint
            .deliver(&peers[..], options, data, common.timeout())
            .map_err(|error| failed(&error))?;
        Sent {
            messages: Some(1),
            octets,
            stats: Some(stats),
            peer: peers.first().copied().filter(|_| peers.len() == 1),
        }
    };
    report(args, common, &address, &endpoint, &sent, begin.elapsed())
}

fn message(args: &SendArgs, common: &Common, limit: usize) -> Result<Bytes, Failure> {
    let data = match &args.message {
        Some(text) => Bytes::copy_from_slice(text.as_bytes()),
        None => Input::whole(common, limit)?,
    };
    if data.len() > limit {
        let (has, may) = (size_text(data.len() as u64), size_text(limit as u64));
        return Err(Failure::failed(format!(
            "the message has {has}, {may} are allowed; use --stream"
        )));
    }
    Ok(data)
}

fn options(args: &SendArgs, common: &Common, port: u16) -> OpenOptions {
    let mut options = if args.stream || args.lines {
        paradigm::stream(port)
    } else if args.datagram {
        paradigm::datagram(port)
    } else if args.acknowledged {
        paradigm::acknowledged_datagram(port)
    } else {
        paradigm::one_shot(port)
    };
    if args.stream {
        options.service = service::STREAM;
    }
    if args.delivered {
        options.confirm = Confirm::Delivered;
    }
    options.wait_for_listener = args.wait_for_listener;
    if args.wait_for_listener {
        // What was made before the listener began cannot be told from what an earlier one may have run.
        options.repeatable = true;
    }
    common.tune(&mut options.tuning);
    options
}

/// Sends over one lasting association.
struct Sender<'a> {
    args: &'a SendArgs,
    common: &'a Common,
    endpoint: &'a Endpoint,
    doing: &'a str,
}

impl Sender<'_> {
    fn failed(&self, error: &xtp::Error) -> Failure {
        Failure::of(self.doing, error)
    }

    fn stream(&self, peers: &[SocketAddr], port: u16) -> Result<Sent, Failure> {
        // Standard input may say nothing for long: acknowledgements and timers go on meanwhile.
        let driver = self
            .endpoint
            .spawn_driver()
            .map_err(|error| self.failed(&error))?;
        let options = options(self.args, self.common, port);
        let stream = match peers {
            // With one address there is nothing to try out: the first octets are the first packet.
            [peer] => self.endpoint.open(*peer, options),
            _ => self.endpoint.connect(peers, &options, self.common.timeout()),
        }
        .map_err(|error| self.failed(&error))?;
        stream.set_write_timeout(self.common.timeout());
        let pumped = match &self.args.message {
            Some(text) => self.message(&stream, text),
            None => self.pump(&stream),
        };
        let mut sent = match pumped {
            Ok(sent) => sent,
            Err(failure) => {
                // A stream that was cut must not look complete.
                stream.abort();
                return Err(failure);
            }
        };
        sent.peer = stream.peer_addr().ok();
        self.finish(stream, &mut sent)?;
        drop(driver);
        Ok(sent)
    }

    /// `--lines -m TEXT`: one message.
    fn message(&self, stream: &Stream, text: &str) -> Result<Sent, Failure> {
        let mut sent = Sent {
            messages: Some(0),
            ..Sent::default()
        };
        self.line(stream, Bytes::copy_from_slice(text.as_bytes()), &mut sent)?;
        Ok(sent)
    }

    fn pump(&self, stream: &Stream) -> Result<Sent, Failure> {
        let input = Input::open(self.common)?;
        let mut rest = BytesMut::new();
        let mut sent = Sent {
            messages: self.args.lines.then_some(0),
            ..Sent::default()
        };
        loop {
            match input.next(self.common) {
                Piece::Data(octets) if self.args.lines => {
                    rest.extend_from_slice(&octets);
                    self.lines(stream, &mut rest, &mut sent)?;
                }
                Piece::Data(octets) => {
                    sent.octets += octets.len() as u64;
                    stream.send(octets).map_err(|error| self.failed(&error))?;
                }
                Piece::End => break,
                Piece::Failed(error) => return Err(Failure::io("cannot read standard input", &error)),
                Piece::Interrupted => return Err(Failure::interrupted()),
            }
        }
        if !rest.is_empty() {
            self.line(stream, rest.freeze(), &mut sent)?;
        }
        if sent.octets == 0 {
            // The other side learns of an empty stream, and this one whether there is another side.
            stream
                .connect(self.common.timeout())
                .map_err(|error| self.failed(&error))?;
        }
        Ok(sent)
    }

    /// Sends the whole lines in `rest`, each with its newline.
    fn lines(&self, stream: &Stream, rest: &mut BytesMut, sent: &mut Sent) -> Outcome {
        while let Some(end) = rest.iter().position(|octet| *octet == b'\n') {
            let line = rest.split_to(end + 1).freeze();
            self.line(stream, line, sent)?;
        }
        if rest.len() > LONGEST {
            let may = size_text(LONGEST as u64);
            return Err(Failure::failed(format!(
                "a line is longer than {may}; use --stream"
            )));
        }
        Ok(())
    }

    fn line(&self, stream: &Stream, line: Bytes, sent: &mut Sent) -> Outcome {
        sent.octets += line.len() as u64;
        stream.send_message(line).map_err(|error| self.failed(&error))?;
        sent.messages = sent.messages.map(|count| count + 1);
        Ok(())
    }

    fn finish(&self, stream: Stream, sent: &mut Sent) -> Outcome {
        if self.args.delivered {
            stream
                .confirm(Confirm::Delivered)
                .map_err(|error| self.failed(&error))?;
        }
        sent.stats = stream.stats().ok();
        let deadline = self.common.timeout().unwrap_or(CLOSE);
        stream
            .close_timeout(deadline)
            .map_err(|error| self.failed(&error))
    }
}

fn report(
    args: &SendArgs,
    common: &Common,
    address: &Address,
    endpoint: &Endpoint,
    sent: &Sent,
    span: Duration,
) -> Outcome {
    let paradigm = match args {
        _ if args.stream => "byte-stream",
        _ if args.lines => "message-stream",
        _ if args.datagram => "datagram",
        _ if args.acknowledged => "acknowledged-datagram",
        _ => "one-shot",
    };
    let stats = endpoint.stats();
    common.out.detail(format_args!(
        "sent {} to {address} as {paradigm} in {span:.3?} ({}), {} packets out, {} in",
        size_text(sent.octets),
        rate_text(sent.octets, span),
        stats.packets_sent(),
        stats.packets_received()
    ));
    if let Some(association) = &sent.stats {
        common.out.detail(format_args!("{association:?}"));
    }
    if !common.out.is_json() {
        return Ok(());
    }
    let confirmed = match args {
        _ if args.datagram => None,
        _ if args.delivered => Some("delivered"),
        _ => Some("received"),
    };
    common.out.object(&Report {
        ok: true,
        address: address.to_string(),
        peer: sent.peer.map(peer_text),
        paradigm,
        messages: sent.messages,
        octets: sent.octets,
        seconds: span.as_secs_f64(),
        confirmed,
        packets_sent: stats.packets_sent(),
        packets_received: stats.packets_received(),
    })
}
