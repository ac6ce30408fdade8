//! Several hosts that send at the same time to receivers that take all that comes.

use std::io::Write;

use super::world::{World, end};
use crate::real::host::output;
use crate::real::namespace::Process;

const GROUP: &str = "239.36.5.10";
const RECEIVERS: usize = 5;
const SENDERS: usize = 3;
const OCTETS: usize = 500_000;

/// An open stream blocks no other transfer: meanwhile each of two hosts sends a file of its own to the same five others. Every receiver has
/// all of it, and each sender knows.
pub(super) fn senders(world: &World) -> Result<(), String> {
    let mut receivers = Vec::new();
    for number in 0..RECEIVERS {
        receivers.push(world.receive(number, &format!("s{number}"), GROUP, &["--forever"])?);
    }
    let program = world.program.to_string_lossy();
    let expect = RECEIVERS.to_string();
    let mut sending = Vec::new();
    let words = [
        "cast", "send", "-", GROUP, "--json", "--quiet", "--expect", &expect,
    ];
    let mut open = Process::start(world.receivers[RECEIVERS].command(&program, &words))?;
    let mut feed = open.child().stdin.take().ok_or("no input")?;
    let (half, rest) = content(world, 0).split_at(OCTETS / 2);
    feed.write_all(half).map_err(|error| error.to_string())?;
    for sender in 1..SENDERS {
        let file = world.folder.join(format!("of{sender}"));
        std::fs::write(&file, content(world, sender)).map_err(|error| error.to_string())?;
        let file = file.to_string_lossy();
        let words = [
            "cast", "send", &file, GROUP, "--json", "--quiet", "--expect", &expect,
        ];
        sending.push(Process::start(
            world.receivers[RECEIVERS + sender].command(&program, &words),
        )?);
    }
    for sender in sending {
        complete(sender)?;
    }
    feed.write_all(rest).map_err(|error| error.to_string())?;
    drop(feed);
    complete(open)?;
    for mut receiver in receivers {
        let process = receiver.process.child().id().to_string();
        output("kill", &["-TERM", &process])?;
        end(receiver.process, 0)?;
        for sender in 0..SENDERS {
            let name = match sender {
                0 => "stdin".to_owned(),
                sender => format!("of{sender}"),
            };
            let file = receiver.place.join(name);
            let got = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            if got != content(world, sender) {
                return Err(format!("{} differs", file.display()));
            }
        }
    }
    Ok(())
}

/// Waits for a sender, all of whose receivers must have everything.
fn complete(sender: Process) -> Result<(), String> {
    let report = end(sender, 0)?;
    let complete =
        report.matches("\"state\":\"complete\"").count() + report.matches("\"state\":\"caught-up\"").count();
    match complete == RECEIVERS {
        true => Ok(()),
        false => Err(format!("{complete} of {RECEIVERS} are complete: {report}")),
    }
}

fn content(world: &World, sender: usize) -> &[u8] {
    let from = sender * OCTETS;
    &world.data[from..from + OCTETS]
}
