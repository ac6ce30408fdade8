//! Suite `multicast`: `xtp bench multicast` with a few receivers, and what it leaves when it is interrupted.
//!
//! A row is a file that reached every receiver octet by octet. What is looked at is that there is a row for each
//! transport, that slotting and damping save control packets (mode B), and that neither namespaces nor files stay behind; no figure of
//! time is judged.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::host::{Host, output};

/// Where the benchmark has its files, and how its directory is called.
const MEMORY: &str = "/dev/shm";
const FOLDER: &str = "xtp-multicast-";
/// After this a run that should end counts as hanging. Generous: nothing is measured by it.
const HANGS: Duration = Duration::from_secs(60);
/// How often it is looked whether something is so.
const LOOK: Duration = Duration::from_millis(20);

/// Receivers of messages in mode B; with four, too few answers meet on a busy host.
const RECEIVERS: usize = 10;
/// Sizes of the messages.
const SIZES: &str = "64,1024,4096";
/// What slotting with damping has to save of the control packets without them, percent: the mean over the sizes.
const SAVED: f64 = 15.0;

/// Receivers, file, uplink, loss.
const CLEAN: &str = "3-1MiB-20mbit-0%";
const LOSSY: &str = "3-256KiB-max-5%";

pub(super) fn run(host: &Host) -> Result<String, String> {
    let program = host.program("xtp-cli", "xtp")?;
    let rows = host.scratch("multicast")?.join("rows.json");
    let mut shown = vec!["without loss"];
    let mut cells = CLEAN.to_owned();
    if output("nft", &["--version"]).is_ok() {
        cells = format!("{CLEAN},{LOSSY}");
        shown.push("with loss");
    }
    let child = start(&program, &["--cells", &cells], &rows)?;
    let json = finish(child).and_then(|()| read(&rows))?;
    let expected = [
        ("xtp", shown.len()),
        ("tcp", shown.len()),
        ("raw", shown.len()),
        ("uftp", 0),
    ];
    for (transport, times) in expected {
        if json.matches(&format!("\"transport\": \"{transport}\"")).count() != times {
            return Err(format!("not {times} rows of {transport} in {json}"));
        }
    }
    interrupt(&program, &rows)?;
    shown.push("interrupted");
    let child = start(
        &program,
        &["--part", "messages", "--quick", "--size", SIZES],
        &rows,
    )?;
    let json = finish(child).and_then(|()| read(&rows))?;
    let saved = saved(&json, RECEIVERS)?;
    Ok(format!(
        "a file to three hosts, every octet compared: {}; slotting and damping save {saved:.0} % of the control packets of ten",
        shown.join(", ")
    ))
}

/// How many percent of the control packets slotting with damping saves with so many receivers, mean over the sizes.
fn saved(json: &str, receivers: usize) -> Result<f64, String> {
    let path = format!("\"path\": \"1-to-{receivers} 10mbit\"");
    let control = |transport: &str| -> Vec<f64> {
        let transport = format!("\"transport\": \"{transport}\"");
        let rows = json
            .split("\n  {")
            .filter(|row| row.contains(&path) && row.contains(&transport));
        rows.filter_map(|row| number(row, "feedback_packets")).collect()
    };
    let (with, without) = (control("xtp-bucket"), control("xtp-bucket-plain"));
    let sizes = SIZES.split(',').count();
    if (with.len(), without.len()) != (sizes, sizes) {
        return Err(format!(
            "not a row for each size of messages to {receivers}: {json}"
        ));
    }
    let saved = with
        .iter()
        .zip(&without)
        .map(|(with, without)| 1.0 - with / without);
    let mean = 100.0 * saved.sum::<f64>() / sizes as f64;
    match mean >= SAVED {
        true => Ok(mean),
        false => Err(format!(
            "1 to {receivers}: {with:?} control packets, and {without:?} without slotting and damping"
        )),
    }
}

/// A number of a row.
fn number(row: &str, field: &str) -> Option<f64> {
    let (_, rest) = row.split_once(&format!("\"{field}\": "))?;
    rest.split([',', '\n']).next()?.trim().parse().ok()
}

/// A run that is told to end ends, and leaves nothing.
fn interrupt(program: &Path, rows: &Path) -> Result<(), String> {
    // At this rate it would take minutes.
    let child = start(program, &["--cells", "2-16MiB-1mbit-0%"], rows)?;
    let begin = Instant::now();
    let process = child.id();
    while left(process).is_none() {
        if begin.elapsed() > HANGS {
            return Err("it made no file to send".to_owned());
        }
        std::thread::sleep(LOOK);
    }
    output("kill", &["-INT", &process.to_string()])?;
    if finish(child).is_ok() {
        return Err("an interrupted run was a success".to_owned());
    }
    nothing_left(process)?;
    let after = begin.elapsed();
    match after > HANGS {
        true => Err(format!(
            "it ended {:.0} s after it was told to",
            after.as_secs_f64()
        )),
        false => Ok(()),
    }
}

fn start(program: &Path, what: &[&str], rows: &Path) -> Result<Child, String> {
    let mut command = Command::new(program);
    command.args(["-q", "bench", "multicast", "--runs", "1", "--rivals", "tcp,raw"]);
    command.args(what).arg("--json").arg(rows);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    child.map_err(|error| format!("xtp: {error}"))
}

/// Waits for its end, which has to be a success that leaves nothing.
fn finish(child: Child) -> Result<(), String> {
    let process = child.id();
    let done = child.wait_with_output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&done.stderr);
    match done.status.success() {
        true => nothing_left(process),
        false => Err(format!("{}: {said}", done.status)),
    }
}

fn nothing_left(process: u32) -> Result<(), String> {
    match left(process) {
        Some(folder) => Err(format!("{folder} stayed behind")),
        None => Ok(()),
    }
}

/// The directory of a run, if it is there.
fn left(process: u32) -> Option<String> {
    let folder = format!("{MEMORY}/{FOLDER}{process}");
    Path::new(&folder).exists().then_some(folder)
}

fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

#[cfg(test)]
#[path = "multicast_tests.rs"]
mod tests;
