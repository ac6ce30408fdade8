//! Many associations: one-shots a second from one thread with a number of them in flight, and the memory of those
//! that stay open, each having exchanged one message; and round trips on a random one of these.

use crate::context::Context;
use crate::error::Error;
use crate::job::{Job, Role};
use crate::launch::{Pair, pair};
use crate::plan::{Experiment, Path};
use crate::rounds::{Figures, Main, alternate, figures, rows};
use crate::row::Row;
use crate::stage::Stage;
use crate::transport::many::Part;
use crate::transport::{self, Transport};

/// One-shots in flight, unless the option `in_flight` says otherwise.
const IN_FLIGHT: u64 = 64;
/// Associations open at once, unless the option `associations` says otherwise.
const ASSOCIATIONS: u64 = 10_000;
/// Most associations: more ports than one pair of addresses has.
const MOST: u64 = 1_000_000;
/// Most connections QUIC is asked to keep open: it sets up too few a second for more.
const QUIC: u64 = 1_000;
/// Octets of a message.
const SIZE: u64 = 64;
/// Seconds all rounds of one-shots may take.
const BUDGET: f64 = 5.0;
/// How rows of round trips on a random one of those that are open name their experiment.
const RANDOM: &str = "random";
/// Round trips on a random one of those that are open, in a round.
const VISITS: u64 = 20_000;
/// Seconds opening may take; beyond that it is a failure.
const OPENING: f64 = 60.0;

/// Measures it on the paths and at the sizes of the plan.
///
/// # Errors
/// [`Error`], if a path cannot be made or an option makes no sense, or [`Error::Interrupted`].
pub(crate) fn run(context: &mut Context<'_>, experiment: Experiment) -> Result<(), Error> {
    let plan = context.plan;
    let in_flight = plan.option("in_flight")?.unwrap_or(IN_FLIGHT);
    let associations = plan.option("associations")?.unwrap_or(ASSOCIATIONS);
    if !(1..=MOST).contains(&in_flight) || !(1..=MOST).contains(&associations) {
        return Err(Error::Plan(format!("associations are 1 to {MOST}")));
    }
    let transports = transport::chosen(&plan.rivals, experiment);
    let sizes = if plan.sizes.is_empty() {
        vec![SIZE]
    } else {
        plan.sizes.clone()
    };
    let visited = transports.iter().filter(|transport| is_visited(transport.name));
    let each = u64::from(plan.runs) * (transports.len() + visited.count()) as u64;
    context.expect(each * (sizes.len() * plan.paths.len()) as u64);
    for &path in &plan.paths {
        let stage = Stage::new(path)?;
        for note in &stage.notes {
            context.note(note.clone());
        }
        for &size in &sizes {
            one_size(
                context,
                &stage,
                (path, size),
                &transports,
                [in_flight, associations],
            )?;
        }
    }
    Ok(())
}

fn one_size(
    context: &mut Context<'_>,
    stage: &Stage,
    (path, size): (Path, u64),
    transports: &[&'static Transport],
    [in_flight, associations]: [u64; 2],
) -> Result<(), Error> {
    let mut names = Vec::new();
    for transport in transports {
        match (transport.obstacle)(stage, Experiment::Scale, size) {
            None => names.push(transport.name),
            Some(obstacle) => context.note(format!("{} is left out: {obstacle}", transport.name)),
        }
    }
    let share = BUDGET / (f64::from(context.plan.runs) * names.len().max(1) as f64);
    let job = |name: &str, part: Part| {
        let most = if name.starts_with("quinn") { QUIC } else { MOST };
        let mut options = context.plan.options.clone();
        options.insert("part".to_owned(), part.name().to_owned());
        options.insert("in_flight".to_owned(), in_flight.to_string());
        options.insert("associations".to_owned(), associations.min(most).to_string());
        Job {
            role: Role::Client,
            experiment: Experiment::Scale,
            transport: name.to_owned(),
            wait: context.plan.wait,
            size,
            least: None,
            // Nearly all were used a few times before it counts.
            warmup: if part == Part::Random { 4 * associations } else { 0 },
            operations: if part == Part::Random { VISITS } else { u64::MAX },
            seconds: if part == Part::Rate {
                share.clamp(0.1, 1.0)
            } else {
                OPENING
            },
            core: None,
            bind: stage.left.address,
            interface: String::new(),
            peer: String::new(),
            rank: 0,
            ranks: 0,
            options,
            flow: None,
        }
    };
    let what = format!("{} {size} {path}", Experiment::Scale);
    let rounds = alternate(context, &what, &names, |context, name, round| {
        let rate = job(name, Part::Rate);
        let pair_of = |job: &Job| pair(context.launcher, &stage.left, &stage.right, job);
        let mut figures = one_shots(&pair_of(&rate)?);
        if round == 0 {
            // Memory is not noisy, and opening takes its time.
            add_memory(&mut figures, &pair_of(&job(name, Part::Memory))?);
        }
        Ok(figures)
    })?;
    let template = Row {
        experiment: Experiment::Scale.name().to_owned(),
        path: path.name().to_owned(),
        size: Some(size),
        wait: Some(context.plan.wait.name().to_owned()),
        ..Row::default()
    };
    context.report.rows.extend(rows(&template, Main::Rate, &rounds));
    let visits = |name: &str| job(name, Part::Random);
    random(context, stage, names, (&template, associations), visits)
}

/// Round trips on a random one of those that are open; rows like `like`.
fn random(
    context: &mut Context<'_>,
    stage: &Stage,
    mut names: Vec<&str>,
    (like, associations): (&Row, u64),
    job: impl Fn(&str) -> Job,
) -> Result<(), Error> {
    names.retain(|name| is_visited(name));
    let what = format!("{RANDOM} {} {}", like.size.unwrap_or_default(), like.path);
    let rounds = alternate(context, &what, &names, |context, name, _| {
        let visits = pair(context.launcher, &stage.left, &stage.right, &job(name))?;
        Ok(Figures {
            note: Some(format!("a random one of {associations}")),
            // Servers count calls, but not what they answer.
            syscalls_per_op: None,
            ..figures(Experiment::Scale, &visits)
        })
    })?;
    let template = Row {
        experiment: RANDOM.to_owned(),
        ..like.clone()
    };
    context.report.rows.extend(rows(&template, Main::Time, &rounds));
    Ok(())
}

/// Whether round trips on a random one of many are measured of it.
fn is_visited(name: &str) -> bool {
    !name.starts_with("quinn")
}

fn one_shots(pair: &Pair) -> Figures {
    let client = &pair.client;
    Figures {
        ops_per_s: (client.seconds > 0.0).then(|| client.operations as f64 / client.seconds),
        ..figures(Experiment::Scale, pair)
    }
}

/// Adds what open associations cost: memory of the side that needs more, and how fast they were set up.
fn add_memory(figures: &mut Figures, pair: &Pair) {
    let octets = |extra: &std::collections::BTreeMap<String, f64>, name| extra.get(name).copied();
    let (client, server) = (&pair.client.extra, &pair.server.extra);
    let sides = [octets(client, "octets_each"), octets(server, "octets_each")];
    let kernel = octets(client, "kernel_octets_each");
    let larger = sides.iter().flatten().copied().max_by(f64::total_cmp);
    figures.octets_per_association = larger.map(|octets| octets + kernel.unwrap_or(0.0));
    let setups = pair.client.operations as f64 / pair.client.seconds.max(1e-9);
    figures.setups_per_s = Some(setups);
    let show = |octets: Option<f64>| octets.map_or("?".to_owned(), |octets| format!("{octets:.0}"));
    let mut note = format!(
        "{} open, {setups:.0} set-ups/s; octets each: client {}, server {}",
        pair.client.operations,
        show(sides[0]),
        show(sides[1])
    );
    if kernel.is_some() {
        note.push_str(&format!(", kernel {} a side", show(kernel)));
    }
    figures.note = Some(note);
}

#[cfg(test)]
#[path = "scale_tests.rs"]
mod tests;
