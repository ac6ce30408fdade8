//! Groups to which no route leads: by the only interface there is, and otherwise both ends say so and which there are.

use std::io::Read;
use std::path::Path;

use super::world::end;
use crate::real::namespace::{Namespace, Process, join};

const GROUP: &str = "239.36.5.9";
const LINK_LOCAL: &str = "ff02::36:5";
/// Of a transmitter that finds nobody.
const SOON: [&str; 2] = ["--for", "200ms"];

pub(super) fn without(program: &Path, folder: &Path) -> Result<(), String> {
    let host = Namespace::new("routeless")?;
    let other = Namespace::new("beside")?;
    let tries = Tries {
        host: &host,
        program: &program.to_string_lossy(),
        folder: &folder.to_string_lossy(),
    };
    tries.both_say(GROUP, 3, "(up: lo (127.0.0.1))")?;
    join(
        &host,
        &other,
        ["left", "to-left"],
        ["10.36.6.1/24", "10.36.6.2/24"],
    )?;
    tries.sends(GROUP, 3, "nobody came")?;
    tries.receives(GROUP)?;
    join(
        &host,
        &other,
        ["right", "to-right"],
        ["10.36.7.1/24", "10.36.7.2/24"],
    )?;
    let two = "name one of its interfaces: left (10.36.6.1), right (10.36.7.1)";
    tries.both_say(GROUP, 3, two)?;
    tries.both_say(LINK_LOCAL, 3, "name one of its interfaces: left (fe80:")?;
    tries.sends(&format!("{GROUP}%right"), 3, "nobody came")?;
    tries.receives(&format!("{GROUP}%right"))
}

struct Tries<'a> {
    host: &'a Namespace,
    program: &'a str,
    folder: &'a str,
}

impl Tries<'_> {
    fn start(&self, words: &[&str]) -> Result<Process, String> {
        Process::start(self.host.command(self.program, words))
    }

    fn both_say(&self, group: &str, status: i32, text: &str) -> Result<(), String> {
        self.sends(group, status, text)?;
        let receiver = self.start(&["cast", "recv", group, self.folder])?;
        said(receiver, status, text).map_err(|error| format!("a receiver of {group}: {error}"))
    }

    fn sends(&self, group: &str, status: i32, text: &str) -> Result<(), String> {
        let file = format!("{}/file", self.folder);
        let words = [&["cast", "send", &file, group][..], &SOON].concat();
        said(self.start(&words)?, status, text).map_err(|error| format!("a transmitter to {group}: {error}"))
    }

    /// A receiver waits.
    fn receives(&self, group: &str) -> Result<(), String> {
        let words = ["cast", "recv", group, self.folder, "--timeout", "200ms"];
        let waits = format!("waiting for a sender to {group}");
        said(self.start(&words)?, 3, &waits).map_err(|error| format!("a receiver of {group}: {error}"))
    }
}

/// It ends with `status`, and says `text`.
fn said(mut process: Process, status: i32, text: &str) -> Result<(), String> {
    let mut stream = process.child().stderr.take().ok_or("no errors")?;
    let reading = std::thread::spawn(move || {
        let mut said = String::new();
        stream.read_to_string(&mut said).map(|_| said)
    });
    end(process, status)?;
    let said = reading.join().map_err(|_| "not read")?;
    let said = said.map_err(|error| error.to_string())?;
    match said.contains(text) {
        true => Ok(()),
        false => Err(format!("{said:?} and not {text:?}")),
    }
}
