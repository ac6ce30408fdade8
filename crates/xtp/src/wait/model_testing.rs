//! A model of a host with a few cores and a scheduler, on which parties wait for each other beside programs that compute: for tests
//! of the policies, which see the same on every machine.
//!
//! The scheduler is a fair one: the task that ran least goes first, for a slice; one that wakes takes the core of a task that ran
//! for much longer. Waking costs more on a core that is idle. Time goes by in microseconds.

use std::time::Duration;

use xtp_engine::Time;

use super::{Ledger, OngoingWait, Outlook, Step};
use crate::config::Wait;

/// Ticks of a slice, of waking on an idle core and on a busy one, of a message on its way, and of what a party does with one.
const SLICE: u64 = 3_000;
const WAKE_IDLE: u64 = 25;
const WAKE_BUSY: u64 = 4;
const FLIGHT: u64 = 1;
const WORK: u64 = 3;
/// A task that wakes has this advantage at most, and takes the core of one that is ahead by this.
const CREDIT: u64 = 1_500;
const AHEAD: u64 = 500;
/// What the kernel adds to a rest.
const SLACK: u64 = 50;

/// What a task does.
#[derive(Debug)]
enum Doing {
    /// Without end.
    Computing,
    /// For so many ticks, before it sends.
    Working(u64),
    Waiting(OngoingWait),
    /// The core is given away between two looks, since then.
    Giving(OngoingWait, u64),
    /// Until a message comes or this moment, after which it goes on waiting.
    Away(OngoingWait, Option<u64>),
}

#[derive(Debug)]
struct Task {
    doing: Doing,
    ran: u64,
    /// Cannot run before.
    from: u64,
    /// Ticks for which it was ready and had no core, in this wait.
    delayed: u64,
    /// When the message for it is there.
    mail: Option<u64>,
    ledger: Ledger,
    /// Exchanges, and when the last one began.
    times: Vec<u64>,
    began: u64,
}

/// Some cores, what runs on each and since when, and all tasks: parties first, two that talk to each other side by side.
#[derive(Debug)]
pub(super) struct Host {
    now: u64,
    cores: Vec<Option<(usize, u64)>>,
    tasks: Vec<Task>,
    parties: usize,
}

impl Host {
    pub(super) fn new(cores: usize, parties: usize, computing: usize, wait: Wait) -> Self {
        let task = |doing| Task {
            doing,
            ran: 0,
            from: 0,
            delayed: 0,
            mail: None,
            ledger: Ledger::new(wait),
            times: Vec::new(),
            began: 0,
        };
        let waits = |_| task(Doing::Waiting(OngoingWait::new(Time::ZERO, None)));
        let mut tasks: Vec<Task> = (0..parties).map(waits).collect();
        for pair in 0..parties / 2 {
            tasks[2 * pair].doing = Doing::Working(WORK);
        }
        tasks.extend((0..computing).map(|_| task(Doing::Computing)));
        Self {
            now: 0,
            cores: vec![None; cores],
            tasks,
            parties,
        }
    }

    /// Times of all exchanges in so many ticks, in order of size.
    pub(super) fn run(mut self, ticks: u64) -> Vec<u64> {
        for _ in 0..ticks {
            self.now += 1;
            self.wake();
            self.schedule();
            for task in 0..self.parties {
                let runs = self.cores.iter().flatten().any(|(other, _)| *other == task);
                let away = matches!(self.tasks[task].doing, Doing::Away(..));
                self.tasks[task].delayed += u64::from(!runs && !away);
            }
            for core in 0..self.cores.len() {
                if let Some((task, _)) = self.cores[core] {
                    self.tick(core, task);
                }
            }
        }
        let mut times: Vec<u64> = self.tasks.iter().flat_map(|task| task.times.clone()).collect();
        times.sort_unstable();
        times
    }

    /// Tasks that were away and are not any more.
    fn wake(&mut self) {
        let least = self
            .tasks
            .iter()
            .filter(|task| !matches!(task.doing, Doing::Away(..)));
        let least = least.map(|task| task.ran).min().unwrap_or(0);
        for number in 0..self.parties {
            let now = self.now;
            let task = &mut self.tasks[number];
            let Doing::Away(_, until) = &task.doing else {
                continue;
            };
            let over = match until {
                Some(until) => *until <= now,
                None => task.mail.is_some_and(|at| at <= now),
            };
            if !over {
                continue;
            }
            let Doing::Away(waiting, _) = std::mem::replace(&mut task.doing, Doing::Computing) else {
                unreachable!("just seen");
            };
            task.doing = Doing::Waiting(waiting);
            task.ran = task.ran.max(least.saturating_sub(CREDIT));
            let ran = task.ran;
            if self.cores.iter().any(Option::is_none) {
                self.tasks[number].from = now + WAKE_IDLE;
                continue;
            }
            self.tasks[number].from = now + WAKE_BUSY;
            let ahead = |core: &usize| self.cores[*core].map_or(0, |(task, _)| self.tasks[task].ran);
            let core = (0..self.cores.len()).max_by_key(ahead);
            if let Some(core) = core.filter(|core| ahead(core) > ran + AHEAD) {
                self.cores[core] = Some((number, now));
            }
        }
    }

    /// Gives free cores, and those whose slice is over, to the tasks that ran least.
    fn schedule(&mut self) {
        for core in 0..self.cores.len() {
            let since = self.cores[core].map(|(_, since)| since);
            if since.is_some_and(|since| self.now - since < SLICE) {
                continue;
            }
            let runs = |task: usize| self.cores.iter().flatten().any(|(other, _)| *other == task);
            let ready = |task: &usize| {
                let one = &self.tasks[*task];
                !matches!(one.doing, Doing::Away(..)) && !runs(*task) && one.from <= self.now
            };
            let next = (0..self.tasks.len()).filter(ready).min_by_key(|task| {
                // It goes behind by a slice.
                let gave = matches!(self.tasks[*task].doing, Doing::Giving(..));
                self.tasks[*task].ran + u64::from(gave) * SLICE
            });
            let next = next.or(self.cores[core].map(|(task, _)| task));
            self.cores[core] = next.map(|task| (task, self.now));
        }
    }

    /// A task has a core for a tick.
    fn tick(&mut self, core: usize, number: usize) {
        let now = self.now;
        let at = |tick: u64| Time::from_nanos(1_000 * tick);
        let task = &mut self.tasks[number];
        if task.from > now {
            return;
        }
        task.ran += 1;
        if let Doing::Giving(..) = task.doing
            && let Doing::Giving(mut waiting, since) = std::mem::replace(&mut task.doing, Doing::Computing)
        {
            waiting.gave(Duration::from_micros(now - since - 1));
            task.doing = Doing::Waiting(waiting);
        }
        match &mut task.doing {
            Doing::Computing | Doing::Giving(..) | Doing::Away(..) => {}
            Doing::Working(left @ 2..) => *left -= 1,
            Doing::Working(_) => {
                task.doing = Doing::Waiting(OngoingWait::new(at(now), None));
                task.began = now;
                self.tasks[number ^ 1].mail = Some(now + FLIGHT);
            }
            Doing::Waiting(waiting) => {
                if task.mail.is_some_and(|mail| mail <= now) {
                    let delayed = Duration::from_micros(std::mem::take(&mut task.delayed));
                    waiting.came_delayed(&mut task.ledger, at(now), 1, delayed);
                    task.mail = None;
                    if task.began > 0 {
                        task.times.push(now - task.began);
                    }
                    task.doing = Doing::Working(WORK);
                    return;
                }
                let step = waiting.step(&mut task.ledger, at(now), Outlook::default);
                if step == Step::Again {
                    return;
                }
                let Doing::Waiting(waiting) = std::mem::replace(&mut task.doing, Doing::Computing) else {
                    unreachable!("just seen");
                };
                task.doing = match step {
                    Step::Again | Step::Yield => Doing::Giving(waiting, now),
                    Step::Sleep => Doing::Away(waiting, None),
                    Step::Rest(rest) => Doing::Away(waiting, Some(now + ticks(rest) + SLACK)),
                };
                self.cores[core] = None;
            }
        }
    }
}

fn ticks(span: Duration) -> u64 {
    span.as_micros() as u64
}
