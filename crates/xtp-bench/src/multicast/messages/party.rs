//! A transmitter and a receiver of messages, as a program is one.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use xtp::{
    BucketOptions, CastOptions, Config, Endpoint, Interface, JoinOptions, MemberState, Mode, Wait, paradigm,
};

use super::{BUCKET, DAMPING, EIGHT, NAMED, PLAIN, SLOTTING, STREAM, TWO};
use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome, Role};
use crate::multicast::{GROUP, PORT, option};
use crate::plan::WaitPolicy;

/// Packets of receivers from the first octet to the last confirmation.
pub(super) const CONTROL: &str = "control";
/// Number of the service of an association.
const SERVICE: u16 = 7;

/// How long the end of an association stays for a peer that did not hear it.
const LINGER: Duration = Duration::from_secs(2);

/// The part of one host.
pub(crate) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    match (job.role, job.transport.as_str()) {
        (Role::Client, STREAM) => stream(job),
        (Role::Client, _) => cast(job),
        (_, STREAM) => accept(job, console),
        (_, _) => join(job, console),
    }
}

/// How a group of this name reports.
pub(super) fn mode(transport: &str) -> Worked<Mode> {
    let usual = BucketOptions::default();
    let spread = |slotting, damping| BucketOptions {
        slotting,
        damping,
        ..usual
    };
    let count = |buckets| BucketOptions { buckets, ..usual };
    Ok(Mode::Bucket(match transport {
        NAMED => return Ok(Mode::Unicast),
        BUCKET => usual,
        PLAIN => spread(false, false),
        SLOTTING => spread(true, false),
        DAMPING => spread(false, true),
        TWO => count(2),
        EIGHT => count(8),
        other => return Err(Problem::new(format!("nobody sends messages by '{other}'"))),
    }))
}

fn endpoint(job: &Job, port: u16) -> Worked<Endpoint> {
    let mut config = Config::server(SocketAddr::new(job.bind, port));
    // Nobody was here before, whom a sender that starts within the same moment could have meant.
    config.fresh_start = true;
    config.wait = match job.wait {
        WaitPolicy::Block => Wait::Block,
        WaitPolicy::Spin => Wait::Spin,
        WaitPolicy::Adaptive => Wait::Adaptive,
    };
    Ok(Endpoint::bind(config)?)
}

/// All messages, one after the other; the octets of the stream may end within the last one.
fn messages(job: &Job) -> Worked<(u64, impl Iterator<Item = Bytes>)> {
    let octets: u64 = option(job, "octets")?.parse()?;
    let message = Bytes::from(vec![7; usize::try_from(job.size)?]);
    let whole = octets / job.size.max(1);
    let rest = message.slice(..usize::try_from(octets % job.size.max(1))?);
    let rest = (!rest.is_empty()).then_some(rest);
    Ok((octets, (0..whole).map(move |_| message.clone()).chain(rest)))
}

fn sent(octets: u64, begin: Instant, control: Option<u64>) -> Outcome {
    let extra = control.map(|packets| (CONTROL.to_owned(), packets as f64));
    Outcome {
        octets,
        seconds: begin.elapsed().as_secs_f64(),
        extra: extra.into_iter().collect(),
        ..Outcome::default()
    }
}

fn cast(job: &Job) -> Worked<Outcome> {
    let endpoint = endpoint(job, 0)?;
    let options = CastOptions::new()
        .expect(option(job, "receivers")?.parse()?)
        .mode(mode(&job.transport)?)
        .interface(Interface::Address(job.bind));
    let group: SocketAddr = (GROUP, PORT).into();
    let cast = endpoint.cast(group, options)?;
    cast.wait_started()?;
    let before = cast.stats()?.feedback_packets;
    let (octets, messages) = messages(job)?;
    let begin = Instant::now();
    for message in messages {
        cast.send_message(message)?;
    }
    let members = cast.finish()?;
    let outcome = sent(octets, begin, Some(cast.stats()?.feedback_packets - before));
    let lacks = |member: &&xtp::MemberReport| !matches!(member.state, MemberState::Done(_));
    match members.iter().find(lacks) {
        None => Ok(outcome),
        Some(member) => Err(Problem::new(format!("{} has not got everything", member.address))),
    }
}

fn join(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let endpoint = endpoint(job, 0)?;
    let options = JoinOptions::new().interface(Interface::Address(job.bind));
    let group: SocketAddr = (GROUP, PORT).into();
    let subscription = endpoint.join(group, options)?;
    console.ready(endpoint.local_addr())?;
    let mut octets = 0;
    while let Some(message) = subscription.recv_message()? {
        octets += message.len() as u64;
    }
    subscription.close()?;
    Ok(Outcome {
        octets,
        ..Outcome::default()
    })
}

fn stream(job: &Job) -> Worked<Outcome> {
    let endpoint = endpoint(job, 0)?;
    let peer: SocketAddr = option(job, "peer")?.parse()?;
    let stream = endpoint.open(peer, paradigm::stream(SERVICE))?;
    let (octets, messages) = messages(job)?;
    let begin = Instant::now();
    for message in messages {
        stream.send_message(message)?;
    }
    stream.confirm(xtp::Confirm::Received)?;
    let outcome = sent(octets, begin, None);
    stream.close()?;
    Ok(outcome)
}

fn accept(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let endpoint = endpoint(job, PORT)?;
    let listener = endpoint.listen_streams(SERVICE)?;
    console.ready(endpoint.local_addr())?;
    let stream = listener.accept()?.into_stream();
    let mut octets = 0;
    while let Some(message) = stream.recv_message()? {
        octets += message.len() as u64;
    }
    stream.close()?;
    // The sender may have to ask for its last acknowledgement again.
    endpoint.shutdown(LINGER)?;
    Ok(Outcome {
        octets,
        ..Outcome::default()
    })
}
