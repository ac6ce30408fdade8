//! A bag of tasks: a master hands them out, workers bring results and ask for the next. Tasks take different times, so
//! nobody knows beforehand who will ask when.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome};
use crate::meter::{Meter, Reading};
use crate::patterns::mesh::{Arrived, Mesh, open};
use crate::patterns::message::{Link, Message, mix};
use crate::patterns::rank::{MESSAGES, STUCK};

/// A request that brings no result, and an answer without a task.
const NONE: u32 = u32::MAX;
/// A task takes up to so many rounds of [`mix`], some 5 ns each.
const LONGEST_TASK: u64 = 2_000;
/// Requests of a worker before those that count.
const WARMUP: usize = 5;

/// What the master says to a worker, by the number of the task: rounds to compute and where to begin.
fn task(number: u32) -> u64 {
    mix(u64::from(number) + 1)
}

/// The result of a task.
fn compute(task: u64) -> u64 {
    (0..task % LONGEST_TASK).fold(task, |value, round| mix(value ^ round))
}

/// One rank's part: number 0 is the master.
pub(crate) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    if job.ranks < 2 {
        return Err(Problem::new("a bag of tasks needs a master and a worker"));
    }
    let (mesh, _) = open(job, console)?;
    if job.rank == 0 {
        Master::new(job, mesh).run(job)
    } else {
        worker(job, mesh)
    }
}

struct Master {
    mesh: Box<dyn Mesh>,
    /// Tasks handed out.
    given: u32,
    total: u32,
    warmup: u32,
    /// The task each worker has; nothing for those that were told the end.
    working: BTreeMap<usize, u32>,
    results: Vec<Option<u64>>,
    missing: usize,
    meter: Option<(Meter, u64)>,
    reading: Option<(Reading, u64)>,
}

impl Master {
    fn new(job: &Job, mesh: Box<dyn Mesh>) -> Self {
        let total = job.total().min(u64::from(NONE - 1)) as u32;
        Self {
            mesh,
            given: 0,
            total,
            warmup: job.warmup as u32,
            working: (1..job.ranks).map(|rank| (rank, NONE)).collect(),
            results: vec![None; total as usize],
            missing: total as usize,
            meter: None,
            reading: None,
        }
    }

    fn run(mut self, job: &Job) -> Worked<Outcome> {
        let mut arrived = Arrived::new();
        let mut heard = Instant::now();
        while !self.working.is_empty() || !self.mesh.is_drained() {
            self.mesh.receive(STUCK, &mut arrived)?;
            if !arrived.is_empty() {
                heard = Instant::now();
            }
            for (origin, message) in arrived.drain(..) {
                self.asked(job, origin, message)?;
            }
            if heard.elapsed() > STUCK {
                let workers: Vec<String> = self
                    .working
                    .iter()
                    .map(|(rank, task)| stuck(*rank, *task))
                    .collect();
                let text = format!(
                    "the master waited {} s for {}",
                    STUCK.as_secs(),
                    workers.join(", ")
                );
                return Err(Problem::new(text + &self.mesh.trouble()));
            }
        }
        for (number, result) in self.results.iter().enumerate() {
            if *result != Some(compute(task(number as u32))) {
                return Err(Problem::new(format!("task {number} has the result {result:?}")));
            }
        }
        let (reading, calls) = self.reading.unwrap_or_default();
        let mut outcome = Outcome {
            operations: job.operations,
            seconds: reading.seconds,
            cpu_s: reading.cpu_s,
            softirq_s: reading.softirq_s,
            packets: reading.packets,
            syscalls: Some(calls),
            ..Outcome::default()
        };
        outcome.extra.insert(MESSAGES.to_owned(), job.operations as f64);
        Ok(outcome)
    }

    /// A worker brings a result and asks for the next task.
    fn asked(&mut self, job: &Job, origin: usize, message: Message) -> Worked<()> {
        let rank = usize::from(message.from);
        if self.working.get(&rank) != Some(&message.step) {
            let text = format!("rank {rank} brings a result nobody asked it for: {message:?}");
            return Err(Problem::new(text));
        }
        if message.step != NONE {
            self.results[message.step as usize] = Some(message.word);
            self.missing -= 1;
            if self.missing == 0 {
                let calls = self.mesh.calls();
                self.reading = self
                    .meter
                    .as_ref()
                    .map(|(meter, before)| (meter.read(), calls - before));
            }
        }
        let next = if self.given < self.total { self.given } else { NONE };
        if next == self.warmup {
            self.meter = Some((Meter::start(&job.interface), self.mesh.calls()));
        }
        if next == NONE {
            self.working.remove(&rank);
        } else {
            self.working.insert(rank, next);
            self.given += 1;
        }
        let answer = Message {
            from: 0,
            to: message.from,
            channel: 0,
            step: next,
            word: task(next),
        };
        self.mesh.reply(origin, &answer)
    }
}

fn stuck(rank: usize, task: u32) -> String {
    match task {
        NONE => format!("the first request of rank {rank}"),
        task => format!("rank {rank}'s result of task {task}"),
    }
}

/// Asks for tasks and computes them until there are no more. An operation is a request and its answer.
fn worker(job: &Job, mut mesh: Box<dyn Mesh>) -> Worked<Outcome> {
    let master = Link { rank: 0, channel: 0 };
    let mut request = Message {
        from: job.rank as u16,
        to: 0,
        channel: 0,
        step: NONE,
        word: 0,
    };
    let mut samples_ns = Vec::with_capacity(job.operations as usize);
    loop {
        let begin = Instant::now();
        mesh.send(master, &request)?;
        let answer = answer(job, &mut *mesh, request.step)?;
        samples_ns.push(begin.elapsed().as_nanos() as u64);
        if answer.step == NONE {
            break;
        }
        request.step = answer.step;
        request.word = compute(answer.word);
    }
    let calls = mesh.calls();
    samples_ns.drain(..WARMUP.min(samples_ns.len() - 1));
    Ok(Outcome {
        operations: samples_ns.len() as u64,
        samples_ns,
        syscalls: Some(calls),
        ..Outcome::default()
    })
}

fn answer(job: &Job, mesh: &mut dyn Mesh, asked_with: u32) -> Worked<Message> {
    let begin = Instant::now();
    let mut arrived = Arrived::new();
    loop {
        mesh.receive(STUCK, &mut arrived)?;
        match arrived.as_slice() {
            [] => {}
            [(_, message)] if usize::from(message.to) == job.rank && message.from == 0 => {
                return Ok(*message);
            }
            others => {
                let text = format!("rank {} expected an answer and got {others:?}", job.rank);
                return Err(Problem::new(text));
            }
        }
        if begin.elapsed() > STUCK {
            let text = format!(
                "rank {} waited {} s for the master's answer to {}",
                job.rank,
                STUCK.as_secs(),
                stuck(job.rank, asked_with)
            );
            return Err(Problem::new(text + &mesh.trouble()));
        }
    }
}

#[cfg(test)]
#[path = "bag_tests.rs"]
mod tests;
