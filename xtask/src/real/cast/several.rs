//! Several hosts that send at the same time to receivers that take all that comes.

use super::world::{World, end};
use crate::real::host::output;
use crate::real::namespace::Process;

const GROUP: &str = "239.36.5.10";
const RECEIVERS: usize = 5;
const SENDERS: usize = 3;
const OCTETS: usize = 500_000;

/// Each of three hosts sends a file of its own to five others, all at once: everybody has all of them, and each sender knows.
pub(super) fn senders(world: &World) -> Result<(), String> {
    let mut receivers = Vec::new();
    for number in 0..RECEIVERS {
        receivers.push(world.receive(number, &format!("s{number}"), GROUP, &["--forever"])?);
    }
    let program = world.program.to_string_lossy();
    let expect = RECEIVERS.to_string();
    let mut sending = Vec::new();
    for sender in 0..SENDERS {
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
        let report = end(sender, 0)?;
        let complete = report.matches("\"state\":\"complete\"").count()
            + report.matches("\"state\":\"caught-up\"").count();
        if complete != RECEIVERS {
            return Err(format!("{complete} of {RECEIVERS} are complete: {report}"));
        }
    }
    for mut receiver in receivers {
        let process = receiver.process.child().id().to_string();
        output("kill", &["-TERM", &process])?;
        end(receiver.process, 0)?;
        for sender in 0..SENDERS {
            let file = receiver.place.join(format!("of{sender}"));
            let got = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            if got != content(world, sender) {
                return Err(format!("{} differs", file.display()));
            }
        }
    }
    Ok(())
}

fn content(world: &World, sender: usize) -> &[u8] {
    let from = sender * OCTETS;
    &world.data[from..from + OCTETS]
}
