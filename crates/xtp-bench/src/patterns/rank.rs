//! One of several processes that exchange messages in steps.

use std::time::{Duration, Instant};

use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome};
use crate::meter::Meter;
use crate::patterns::inbox::Inbox;
use crate::patterns::mesh::{self, Arrived, Manner, Mesh};
use crate::patterns::message::{Link, Message};

/// A rank that hears nothing for so long is stuck.
pub(crate) const STUCK: Duration = Duration::from_secs(10);

pub(crate) struct Rank {
    me: usize,
    pub(crate) manner: Manner,
    pub(crate) mesh: Box<dyn Mesh>,
    inbox: Inbox,
    step: u32,
    arrived: Arrived,
    /// Messages received until now.
    messages: u64,
}

impl Rank {
    /// Opens the transport and learns where the others are.
    pub(crate) fn open(job: &Job, console: &mut Console) -> Worked<Self> {
        let (mesh, manner) = mesh::open(job, console)?;
        Ok(Self {
            me: job.rank,
            manner,
            mesh,
            inbox: Inbox::new(job.rank),
            step: 0,
            arrived: Arrived::new(),
            messages: 0,
        })
    }

    /// One step: a message on each link of `to`, and one received from each link of `from`.
    pub(crate) fn exchange(&mut self, to: &[Link], from: &[Link]) -> Worked<()> {
        self.step += 1;
        for link in to {
            let message = Message {
                from: self.me as u16,
                to: link.rank as u16,
                channel: link.channel,
                step: self.step,
                word: 0,
            };
            self.mesh.send(*link, &message)?;
        }
        self.inbox.begin(self.step, from)?;
        let begin = Instant::now();
        while !self.inbox.is_complete() {
            self.receive()?;
            if begin.elapsed() > STUCK {
                return Err(self.inbox.stuck(STUCK.as_secs_f64(), &self.mesh.trouble()));
            }
        }
        self.messages += from.len() as u64;
        Ok(())
    }

    fn receive(&mut self) -> Worked<()> {
        self.arrived.clear();
        self.mesh.receive(STUCK, &mut self.arrived)?;
        for (_, message) in self.arrived.drain(..) {
            self.inbox.take(message)?;
        }
        Ok(())
    }

    /// Waits until everything sent was handed to the transport.
    pub(crate) fn drain(&mut self) -> Worked<()> {
        let begin = Instant::now();
        while !self.mesh.is_drained() {
            self.receive()?;
            if begin.elapsed() > STUCK {
                let text = format!("rank {} could not send for {} s", self.me, STUCK.as_secs());
                return Err(Problem::new(text + &self.mesh.trouble()));
            }
        }
        Ok(())
    }

    /// Ends the links of a channel once everything was sent on them.
    pub(crate) fn leave(&mut self, channel: u32) -> Worked<()> {
        self.drain()?;
        self.mesh.leave(channel)
    }

    /// Repeats an operation as the job says, and times those that count.
    pub(crate) fn measure(
        mut self,
        job: &Job,
        mut operation: impl FnMut(&mut Self) -> Worked<()>,
    ) -> Worked<Outcome> {
        for _ in 0..job.warmup {
            operation(&mut self)?;
        }
        let (calls, messages) = (self.mesh.calls(), self.messages);
        let mut samples_ns = Vec::with_capacity(job.operations as usize);
        let meter = Meter::start(&job.interface);
        for _ in 0..job.operations {
            let begin = Instant::now();
            operation(&mut self)?;
            samples_ns.push(begin.elapsed().as_nanos() as u64);
        }
        let reading = meter.read();
        let mut outcome = Outcome {
            samples_ns,
            operations: job.operations,
            seconds: reading.seconds,
            cpu_s: reading.cpu_s,
            softirq_s: reading.softirq_s,
            // Everybody sees the same interface; one counts.
            packets: reading.packets.filter(|_| job.rank == 0),
            syscalls: Some(self.mesh.calls() - calls),
            ..Outcome::default()
        };
        let messages = self.messages - messages;
        outcome.octets = messages * job.size;
        outcome.extra.insert(MESSAGES.to_owned(), messages as f64);
        self.drain()?;
        Ok(outcome)
    }
}

/// How an outcome names the messages received.
pub(crate) const MESSAGES: &str = "messages";
