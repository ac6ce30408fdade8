//! What happens to one of three receivers while the others receive.

use std::time::Duration;

use super::world::{Receiving, World, end, number};
use crate::real::host::output;

/// When it happens; the whole file takes some two seconds, so that there is time for it.
const HAPPENS: Duration = Duration::from_millis(700);
const SLOWLY: [&str; 2] = ["--limit", "1500KB"];
/// The others are done after some two seconds, whatever becomes of it.
const GOES_ON: Duration = Duration::from_secs(4);
/// The number of the host of the last of them.
const LAST: usize = 2;

pub(super) fn all(world: &World) -> Result<(), String> {
    killed(world).map_err(|error| format!("one killed: {error}"))?;
    stopped(world).map_err(|error| format!("one stopped: {error}"))?;
    off(world).map_err(|error| format!("one switched off: {error}"))?;
    late(world).map_err(|error| format!("one late: {error}"))?;
    broken(world).map_err(|error| format!("all killed and started again: {error}"))
}

/// Receivers on so many hosts.
fn receivers(world: &World, group: &str, names: &[&str]) -> Result<Vec<Receiving>, String> {
    let each = names.iter().enumerate();
    each.map(|(number, name)| world.receive(number, name, group, &[]))
        .collect()
}

/// It is killed: the others are whole, and the sender names it.
fn killed(world: &World) -> Result<(), String> {
    let group = "239.36.5.3";
    let mut receivers = receivers(world, group, &["one", "other", "victim"])?;
    let sender = world.send(group, &[&["--expect", "3"], &SLOWLY[..]].concat())?;
    let victim = receivers.pop().ok_or("no victim")?;
    std::thread::sleep(HAPPENS);
    drop(victim.process);
    dropped(&end(sender, 1)?, "victim")?;
    receivers
        .into_iter()
        .try_for_each(|receiver| world.check(receiver))
}

/// One receiver is out, and it is the one of this name.
fn dropped(report: &str, name: &str) -> Result<(), String> {
    match report.matches("\"state\":\"dropped\"").count() {
        1 if report.contains(name) => Ok(()),
        _ => Err(report.to_owned()),
    }
}

/// It is stopped until the others have everything, and continued: it catches up.
fn stopped(world: &World) -> Result<(), String> {
    let group = "239.36.5.5";
    let mut receivers = receivers(world, group, &["one", "other", "sleeper"])?;
    let sender = world.send(group, &[&["--expect", "3"], &SLOWLY[..]].concat())?;
    let sleeper = receivers.last_mut().ok_or("no sleeper")?;
    let process = sleeper.process.child().id().to_string();
    std::thread::sleep(HAPPENS);
    output("kill", &["-STOP", &process])?;
    std::thread::sleep(GOES_ON);
    output("kill", &["-CONT", &process])?;
    let report = end(sender, 0)?;
    if report.matches("\"state\":\"caught-up\"").count() != 1 {
        return Err(report);
    }
    receivers
        .into_iter()
        .try_for_each(|receiver| world.check(receiver))
}

/// Its host falls silent: the others are whole, and the sender gives it up after its patience.
fn off(world: &World) -> Result<(), String> {
    let group = "239.36.5.7";
    let mut receivers = receivers(world, group, &["one", "other", "silent"])?;
    let patient = ["--expect", "3", "--patience", "2s"];
    let sender = world.send(group, &[&patient, &SLOWLY[..]].concat())?;
    let silent = receivers.pop().ok_or("nobody to switch off")?;
    std::thread::sleep(HAPPENS);
    world.connect(LAST, false)?;
    let report = end(sender, 1);
    drop(silent.process);
    world.connect(LAST, true)?;
    dropped(&report?, "silent")?;
    receivers
        .into_iter()
        .try_for_each(|receiver| world.check(receiver))
}

/// It begins when the others have a part: it gets everything, too.
fn late(world: &World) -> Result<(), String> {
    let group = "239.36.5.8";
    let mut receivers = receivers(world, group, &["one", "other"])?;
    let sender = world.send(group, &[&["--expect", "2"], &SLOWLY[..]].concat())?;
    std::thread::sleep(HAPPENS);
    receivers.push(world.receive(LAST, "late", group, &[])?);
    let report = end(sender, 0)?;
    if !report.contains("\"late\"") {
        return Err(report);
    }
    receivers
        .into_iter()
        .try_for_each(|receiver| world.check(receiver))
}

/// One is killed, and then the others and their sender: started again, the group is sent what the first of them lacks.
fn broken(world: &World) -> Result<(), String> {
    let (group, names) = ("239.36.5.9", ["one", "other", "first"]);
    let mut receivers = receivers(world, group, &names)?;
    let sender = world.send(group, &[&["--expect", "3"], &SLOWLY[..]].concat())?;
    let first = receivers.pop().ok_or("no first")?;
    // On a busy machine that takes a while: the file is slow enough for it.
    first.wait_for_octets()?;
    drop(first.process);
    std::thread::sleep(HAPPENS / 2);
    drop((sender, receivers));
    let receivers = names.iter().enumerate();
    let receivers = receivers
        .map(|(number, name)| world.receive_again(number, name, group, &[]))
        .collect::<Result<_, _>>()?;
    let report = world.everybody(group, &[], receivers)?;
    let (sent, there) = (number(&report, "bytes"), number(&report, "resumed_from"));
    match there > 0 && sent + there == world.data.len() as u64 {
        true => Ok(()),
        false => Err(report),
    }
}
