//! `xtp linkem`: programs on both sides of an emulated link.

use std::fs::File;
use std::io::Write;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use xtp_linkem::{Config, Damage, Emulator, LinkConfig, Loss, Report};

use crate::args::{LinkemArgs, Pair, Until, Way};
use crate::common::{Common, Failure, Outcome, Status};

mod sides;
mod summary;

use sides::Sides;

/// Status of this command itself, told from those of the programs it runs, as `timeout` and `env` have it.
const NO_LINK: Status = Status::Other(125);
/// How often ended programs and signals are looked for.
const LOOK: Duration = Duration::from_millis(5);

/// Sets the link up, runs the commands, says what the link did.
pub(crate) fn run(args: &LinkemArgs, common: &Common) -> Outcome {
    let sides = Sides::parse(&args.words).map_err(Failure::usage)?;
    let until = until(args.until, &sides)?;
    let file = create(args, common)?;
    let emulator = Emulator::start(config(args)).map_err(no_link)?;
    let (left, right) = (emulator.left(), emulator.right());
    let places = format!(
        "left is {} ({}), right is {} ({}); enter with `ip netns exec NAME COMMAND`",
        left.name, left.address, right.name, right.address
    );
    if sides.are_empty() {
        common.out.note(places);
    } else {
        common.out.detail(places);
    }
    let ended = together(&emulator, &sides, until, args.head_start, common);
    left.end_processes();
    right.end_processes();
    let report = emulator.stop().map_err(no_link)?;
    tell(&report, file, common)?;
    match ended? {
        0 => Ok(()),
        // The program has said why.
        status => Err(Failure::new(Status::Other(status), "")),
    }
}

fn no_link(error: xtp_linkem::Error) -> Failure {
    Failure::new(NO_LINK, error.to_string())
}

/// Whose end ends the run. It must be somebody's who runs.
fn until(wanted: Option<Until>, sides: &Sides) -> Result<Until, Failure> {
    let runs = |until: Until| match until {
        Until::Left => sides.left.is_some(),
        Until::Right => sides.right.is_some(),
        Until::Both | Until::Any => true,
    };
    match wanted {
        None if sides.left.is_some() => Ok(Until::Left),
        None => Ok(Until::Any),
        Some(wanted) if runs(wanted) => Ok(wanted),
        Some(_) => Err(Failure::usage("--until names a side that has no command")),
    }
}

/// The link that is asked for.
fn config(args: &LinkemArgs) -> Config {
    let mut config = Config {
        seed: args.seed,
        mtu: args.mtu,
        damage: if args.deliver_damaged {
            Damage::Deliver
        } else {
            Damage::Drop
        },
        priority: args.priority,
        keep_cores_awake: !args.let_cores_halt,
        core: args.core,
        ..Config::default()
    };
    config.left_to_right = direction(args, Way::ToTheRight);
    config.right_to_left = direction(args, Way::ToTheLeft);
    config
}

fn direction(args: &LinkemArgs, way: Way) -> LinkConfig {
    let delay = match args.rtt {
        Some(rtt) => rtt / 2,
        None => of(args.delay, way).unwrap_or_default(),
    };
    let random = of(args.loss, way).map_or(Loss::None, Loss::Random);
    LinkConfig {
        rate_bits_per_s: of(args.rate, way),
        delay,
        jitter: of(args.jitter, way).unwrap_or_default(),
        in_order: !args.overtake,
        loss: of(args.burst_loss, way).unwrap_or(random),
        bit_error_rate: of(args.ber, way).unwrap_or_default(),
        duplicate: of(args.duplicate, way).unwrap_or_default(),
        reorder: of(args.reorder, way).unwrap_or_default(),
        reorder_delay: args.reorder_delay.of(way),
        queue_octets: of(args.queue, way),
        ecn_mark_threshold: of(args.ecn, way),
        ..LinkConfig::default()
    }
}

fn of<T: Copy>(pair: Option<Pair<T>>, way: Way) -> Option<T> {
    pair.map(|pair| pair.of(way))
}

/// Runs the commands until the one that is waited for has ended; its status.
fn together(
    emulator: &Emulator,
    sides: &Sides,
    until: Until,
    head_start: Duration,
    common: &Common,
) -> Result<u8, Failure> {
    // Two programs cannot share a keyboard; the left one has it.
    let alone = sides.left.is_none();
    let mut right = match &sides.right {
        Some(command) => Some(command.start(emulator.right(), alone, &common.out)?),
        None => None,
    };
    if right.is_some() && sides.left.is_some() {
        let begin = Instant::now();
        while begin.elapsed() < head_start {
            common.check()?;
            thread::sleep(LOOK.min(head_start));
        }
    }
    let mut left = match &sides.left {
        Some(command) => Some(command.start(emulator.left(), true, &common.out)?),
        None => None,
    };
    loop {
        let (one, other) = (status(left.as_mut())?, status(right.as_mut())?);
        let ended = match until {
            Until::Left => one,
            Until::Right => other,
            Until::Any => one.or(other),
            Until::Both => match (one, other) {
                (Some(0), other) if right.is_some() => other,
                (one, None) if right.is_none() => one,
                (None, other) if left.is_none() => other,
                (one, other) => other.and(one),
            },
        };
        if let Some(status) = ended {
            return Ok(status);
        }
        common.check()?;
        thread::sleep(LOOK);
    }
}

/// How a program ended, if it did.
fn status(child: Option<&mut Child>) -> Result<Option<u8>, Failure> {
    let Some(child) = child else { return Ok(None) };
    let ended = child
        .try_wait()
        .map_err(|error| Failure::new(NO_LINK, format!("a command cannot be waited for: {error}")))?;
    Ok(ended.map(sides::code))
}

/// What the link did: for people on standard error, for programs where they want it.
fn tell(report: &Report, file: Option<File>, common: &Common) -> Outcome {
    for line in summary::lines(report) {
        common.out.note(line);
    }
    if let Some(mut file) = file {
        let text = serde_json::to_string_pretty(report)
            .map_err(|error| Failure::new(NO_LINK, format!("cannot write JSON: {error}")))?;
        file.write_all((text + "\n").as_bytes())
            .map_err(|error| Failure::io("cannot write the report", &error))?;
    }
    if common.out.is_json() {
        common.out.object(report)?;
    }
    Ok(())
}

/// The file for the report. Before the run, because afterwards a mistake in its name would cost the run.
fn create(args: &LinkemArgs, common: &Common) -> Result<Option<File>, Failure> {
    let Some(path) = args.json.as_ref().filter(|_| !common.out.is_json()) else {
        return Ok(None);
    };
    File::create(path)
        .map(Some)
        .map_err(|error| Failure::io(format_args!("cannot write {}", path.display()), &error))
}
