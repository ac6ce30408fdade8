//! Many associations from one thread: one-shots in flight, and streams that stay open.

use std::time::{Duration, Instant};

use bytes::Bytes;
use xtp::{Confirm, Endpoint, Stream, paradigm};

use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome, Role};
use crate::meter::Meter;
use crate::transport::answering::Timing;
use crate::transport::many::{Draw, HOLD, Opened, Part, Served, WARM, number, resident, slab};

/// Messages on their way at once: less than a socket's buffer holds.
const GROUP: usize = 64;

pub(super) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    match (job.role, Part::of(job)) {
        (Role::Client, Part::Rate) => fly(job),
        (Role::Client, Part::Memory) => open(job),
        (Role::Client, Part::Random) => visit(job),
        (_, Part::Random) => answer(job, console),
        (_, part) => serve(job, console, part),
    }
}

/// One-shots as in the experiment of that name, a number of them in flight.
fn fly(job: &Job) -> Worked<Outcome> {
    let in_flight = number(job, "in_flight")?;
    let endpoint = super::endpoint(job)?;
    let peer = super::peer(job)?;
    let message = Bytes::from(vec![7; job.size as usize]);
    let mut options = paradigm::one_shot(super::SERVICE);
    options.confirm = Confirm::Delivered;
    let queue = endpoint.completion_queue();
    let mut done = Vec::new();
    let (mut submitted, mut ended) = (0, 0);
    let meter = Meter::start(&job.interface);
    let end = Instant::now() + Duration::from_secs_f64(job.seconds);
    loop {
        if Instant::now() < end {
            while submitted - ended < in_flight {
                queue.submit(peer, &options, message.clone(), submitted)?;
                submitted += 1;
            }
        }
        if submitted == ended {
            break;
        }
        queue.wait(&mut done, None)?;
        for completion in done.drain(..) {
            completion.result?;
            ended += 1;
        }
    }
    let reading = meter.read();
    Ok(Outcome {
        operations: ended,
        seconds: reading.seconds,
        cpu_s: reading.cpu_s,
        softirq_s: reading.softirq_s,
        packets: reading.packets,
        syscalls: Some(super::calls(&endpoint)),
        ..Outcome::default()
    })
}

fn open(job: &Job) -> Worked<Outcome> {
    let number = number(job, "associations")?;
    let endpoint = super::endpoint(job)?;
    let first = exchange(job, &endpoint, WARM)?;
    let (memory, kernel) = (resident(), slab());
    let begin = Instant::now();
    let streams = exchange(job, &endpoint, number)?;
    let seconds = begin.elapsed().as_secs_f64();
    let end = Instant::now() + HOLD;
    while Instant::now() < end {
        endpoint.progress_timeout(Duration::from_millis(10))?;
    }
    let opened = Opened {
        number,
        resident: [memory, resident()],
        slab: [kernel, slab()],
        seconds,
    };
    drop((first, streams));
    Ok(opened.outcome(false))
}

/// Round trips on a random one of the streams that are open.
fn visit(job: &Job) -> Worked<Outcome> {
    let endpoint = super::endpoint(job)?;
    let streams = exchange(job, &endpoint, number(job, "associations")?)?;
    let message = Bytes::from(vec![7; job.size as usize]);
    let mut draw = Draw::new(streams.len());
    let mut timing = Timing::new(job);
    loop {
        let stream = &streams[draw.next()];
        let more = timing.one(
            || super::calls(&endpoint),
            || -> Worked<()> {
                stream.send_message(message.clone())?;
                match stream.recv_message()? {
                    Some(answer) if answer.len() == message.len() => Ok(()),
                    _ => Err(Problem::new("the server answered something else")),
                }
            },
        )?;
        if !more {
            return Ok(timing.outcome(super::calls(&endpoint)));
        }
    }
}

/// Answers whichever stream has a message.
fn answer(job: &Job, console: &mut Console) -> Worked<Outcome> {
    const LISTENER: u64 = u64::MAX;
    let endpoint = super::endpoint(job)?;
    let listener = endpoint.listen_streams(super::SERVICE)?;
    super::stop_with(console, &endpoint);
    let set = endpoint.poll_set();
    set.add_listener(&listener, LISTENER)?;
    console.ready(endpoint.local_addr())?;
    let (mut streams, mut ready, mut outcome) = (Vec::<Stream>::new(), Vec::new(), Outcome::default());
    loop {
        ready.clear();
        match set.wait(&mut ready, None) {
            Err(error) if error.is_interrupted() => break,
            waited => waited?,
        }
        for &key in &ready {
            if key == LISTENER {
                let stream = listener.try_accept()?.into_stream();
                set.add(&stream, streams.len() as u64)?;
                streams.push(stream);
                continue;
            }
            let stream = &streams[key as usize];
            match stream.try_recv_message() {
                Ok(Some(message)) => {
                    stream.send_message(message)?;
                    outcome.operations += 1;
                }
                Ok(None) => set.remove(stream),
                Err(error) if error.is_would_block() => {}
                // The client ends, and all of its streams with it.
                Err(_) => set.remove(stream),
            }
        }
    }
    outcome.syscalls = Some(super::calls(&endpoint));
    outcome.cpu_s = crate::meter::cpu_seconds();
    Ok(outcome)
}

/// Opens streams and exchanges a message on each.
fn exchange(job: &Job, endpoint: &Endpoint, number: u64) -> Worked<Vec<Stream>> {
    let peer = super::peer(job)?;
    let message = Bytes::from(vec![7; job.size as usize]);
    let number = usize::try_from(number)?;
    let mut streams = Vec::with_capacity(number);
    while streams.len() < number {
        let from = streams.len();
        for _ in from..number.min(from + GROUP) {
            let stream = endpoint.open(peer, paradigm::stream(super::SERVICE))?;
            stream.send_message(message.clone())?;
            streams.push(stream);
        }
        for stream in &streams[from..] {
            match stream.recv_message()? {
                Some(answer) if answer == message => {}
                _ => return Err(Problem::new("the server answered something else")),
            }
        }
    }
    Ok(streams)
}

fn serve(job: &Job, console: &mut Console, part: Part) -> Worked<Outcome> {
    let endpoint = super::endpoint(job)?;
    let listener = match part {
        Part::Rate => endpoint.listen(super::SERVICE)?,
        Part::Memory | Part::Random => endpoint.listen_streams(super::SERVICE)?,
    };
    super::stop_with(console, &endpoint);
    console.ready(endpoint.local_addr())?;
    let mut served = Served::new(job)?;
    let mut streams = Vec::new();
    loop {
        let incoming = match listener.accept() {
            Err(error) if error.is_interrupted() => break,
            accepted => accepted?,
        };
        match part {
            Part::Rate => {
                incoming.receive()?;
            }
            Part::Memory | Part::Random => {
                let stream = incoming.into_stream();
                if let Some(message) = stream.recv_message()? {
                    stream.send_message(message)?;
                }
                streams.push(stream);
            }
        }
        served.one();
    }
    let mut outcome = served.outcome();
    outcome.syscalls = Some(super::calls(&endpoint));
    outcome.cpu_s = crate::meter::cpu_seconds();
    drop(streams);
    Ok(outcome)
}
