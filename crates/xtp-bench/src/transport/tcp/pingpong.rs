//! Round trips over one connection.

use rustix::event::PollFlags;

use super::unless_stopped;
use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome, Role};
use crate::lengths::Lengths;
use crate::transport::answering::{Serving, Timing};
use crate::transport::sockets::{prepare, read_exact, write_all};
use crate::transport::waiting::Waiter;

pub(super) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    match job.role {
        Role::Client => client(job, console),
        _ => server(job, console),
    }
}

fn client(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let mut waiter = Waiter::new(job.wait, console.stop());
    let mut stream = super::connect(job)?;
    prepare(&stream, &mut waiter)?;
    let mut lengths = Lengths::of(job);
    let messages = vec![7; lengths.most()];
    let mut answer = vec![0; lengths.most()];
    let mut timing = Timing::new(job);
    loop {
        let before = waiter.calls();
        let more = timing.one(
            || before,
            || -> Worked<()> {
                let length = lengths.next();
                write_all(&mut stream, &mut waiter, &messages[..length])?;
                match read_exact(&mut stream, &mut waiter, &mut answer[..length])? {
                    true => Ok(()),
                    false => Err(Problem::new("the server closed the connection")),
                }
            },
        )?;
        if !more {
            return Ok(timing.outcome(waiter.calls()));
        }
    }
}

fn server(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let mut waiter = Waiter::new(job.wait, console.stop());
    let listener = super::listen(job, &waiter)?;
    console.ready(listener.local_addr()?)?;
    let mut serving = Serving::new(job);
    let accepted = waiter.until(&listener, PollFlags::IN, || listener.accept());
    let Some((mut stream, _)) = unless_stopped(accepted)? else {
        return Ok(serving.outcome(waiter.calls()));
    };
    prepare(&stream, &mut waiter)?;
    let mut lengths = Lengths::of(job);
    let mut room = vec![0; lengths.most()];
    loop {
        let message = &mut room[..lengths.next()];
        let read = read_exact(&mut stream, &mut waiter, message);
        if unless_stopped(read)? != Some(true) {
            return Ok(serving.outcome(waiter.calls()));
        }
        write_all(&mut stream, &mut waiter, message)?;
        let calls = waiter.calls();
        if !serving.one(|| calls) {
            return Ok(serving.outcome(calls));
        }
    }
}
