//! Long, slow and lossy links: whole runs over a grid of them, flows that share one, transfers from beginning to end, and
//! the experiments of the paper of 1995 (retained buffers, error recovery, rate control).

mod buffers;
mod cell;
mod flow;
mod goodput;
mod grid;
mod link;
mod manner;
mod pace;
mod recovery;
mod sharing;
mod transfers;

use crate::context::Context;
use crate::error::Error;
use crate::plan::{Experiment, Plan, Rivals};
use crate::row::Row;

pub(crate) use flow::work;

/// A part of the experiment: the name of its rows, and who measures it.
type Part = (&'static str, fn(&mut Context<'_>) -> Result<(), Error>);

const PARTS: [Part; 6] = [
    ("wan", grid::run),
    ("sharing", sharing::run),
    ("transfers", transfers::run),
    ("buffers", buffers::run),
    ("gbn", recovery::run),
    ("ratecontrol", pace::run),
];

/// Measures the parts that the plan's option `part` lists, by default the grid.
///
/// # Errors
/// [`Error`].
pub(crate) fn run(context: &mut Context<'_>, _: Experiment) -> Result<(), Error> {
    for (_, measure) in parts(context.plan)? {
        measure(context)?;
    }
    Ok(())
}

fn parts(plan: &Plan) -> Result<Vec<Part>, Error> {
    let Some(list) = plan.options.get("part") else {
        return Ok(vec![PARTS[0]]);
    };
    let mut chosen = Vec::new();
    for name in list.split(',').map(str::trim) {
        match (name, PARTS.iter().find(|part| part.0 == name)) {
            ("all", _) => chosen.extend(PARTS),
            ("papers", _) => chosen.extend(&PARTS[3..]),
            (_, Some(part)) => chosen.push(*part),
            (_, None) => {
                let known = PARTS.map(|part| part.0).join(", ");
                return Err(Error::Plan(format!(
                    "'{name}' is no part of 'wan'; choose of {known}, papers, all"
                )));
            }
        }
    }
    Ok(chosen)
}

/// The transports of a part: xtp, then those of `all` that the plan wants; `more` only if it names them.
fn transports(plan: &Plan, all: &[&'static str], more: &[&'static str]) -> Vec<&'static str> {
    let mut names = vec!["xtp"];
    let every = all.iter().chain(more).copied();
    match &plan.rivals {
        Rivals::All => names.extend(all),
        Rivals::None => {}
        Rivals::Some(named) => names.extend(every.filter(|name| named.iter().any(|wanted| wanted == name))),
    }
    names.dedup();
    names
}

/// Seconds of a run: the plan's option `seconds`, or as usual.
///
/// # Errors
/// [`Error::Plan`] outside of 0.1 to 600.
fn seconds(plan: &Plan, usual: f64) -> Result<f64, Error> {
    match plan.option::<f64>("seconds")? {
        None => Ok(usual),
        Some(seconds) if (0.1..=600.0).contains(&seconds) => Ok(seconds),
        Some(seconds) => Err(Error::Plan(format!(
            "a run takes 0.1 to 600 seconds, not {seconds}"
        ))),
    }
}

/// What all rows of a part over a link share.
fn template(context: &Context<'_>, experiment: &str, path: String) -> Row {
    Row {
        experiment: experiment.to_owned(),
        path,
        wait: Some(context.plan.wait.name().to_owned()),
        ..Row::default()
    }
}

#[cfg(test)]
#[path = "mod_tests.rs"]
mod tests;
