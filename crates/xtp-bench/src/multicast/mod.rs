//! One sender, many receivers, everyone whole: files beside rivals, messages of many sizes, and the figures of the thesis of
//! 1991.
//!
//! All parties are processes in network namespaces on one bridge; the thesis's figures are in virtual time.

mod cell;
mod copies;
mod disk;
mod files;
mod messages;
mod network;
mod party;
mod programs;
mod raw;
mod run;
mod thesis;

use std::net::Ipv4Addr;

use crate::console::Console;
use crate::context::Context;
use crate::error::{Error, Problem, Worked};
use crate::job::{Job, Outcome};
use crate::plan::{Experiment, Plan};

/// The group, and the port of parties of our own.
const GROUP: Ipv4Addr = Ipv4Addr::new(239, 36, 36, 36);
const PORT: u16 = 36_036;

/// A part of the experiment: its name, and who measures it.
type Part = (&'static str, fn(&mut Context<'_>) -> Result<(), Error>);

const PARTS: [Part; 3] = [
    ("files", files::run),
    ("messages", messages::run),
    ("thesis", thesis::run),
];

/// Measures the parts that the plan's option `part` lists: by default all, or the files alone if their cases are named.
///
/// # Errors
/// [`Error`], if a case or the network cannot be, or [`Error::Interrupted`].
pub(crate) fn run(context: &mut Context<'_>, _: Experiment) -> Result<(), Error> {
    for (_, measure) in parts(context.plan)? {
        measure(context)?;
    }
    Ok(())
}

fn parts(plan: &Plan) -> Result<Vec<Part>, Error> {
    let list = match plan.options.get("part") {
        Some(list) => list,
        None if plan.options.contains_key("cells") => "files",
        None => "all",
    };
    let mut chosen = Vec::new();
    for name in list.split(',').map(str::trim) {
        match (name, PARTS.iter().find(|part| part.0 == name)) {
            ("all", _) => chosen.extend(PARTS),
            (_, Some(part)) => chosen.push(*part),
            (_, None) => {
                let known = PARTS.map(|part| part.0).join(", ");
                return Err(Error::Plan(format!(
                    "'{name}' is no part of 'multicast'; choose of {known}, all"
                )));
            }
        }
    }
    Ok(chosen)
}

/// The part of a party of our own.
pub(crate) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    match job.transport.as_str() {
        "tcp" => copies::work(job, console),
        "raw" => raw::work(job, console),
        name if name.starts_with("xtp") => messages::work(job, console),
        other => Err(Problem::new(format!("{other} is a program of its own"))),
    }
}

/// An option that a party of our own cannot do without.
fn option<'a>(job: &'a Job, name: &str) -> Worked<&'a str> {
    let missing = || Problem::new(format!("nobody said '{name}'"));
    job.options.get(name).map(String::as_str).ok_or_else(missing)
}

#[cfg(test)]
#[path = "mod_tests.rs"]
mod tests;
