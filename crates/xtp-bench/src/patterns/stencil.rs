//! A field of values divided among ranks on a torus: in every iteration each exchanges its border with all 8 or 26
//! neighbours.

use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome};
use crate::patterns::message::Link;
use crate::patterns::rank::Rank;
use crate::patterns::torus::Torus;

/// How the job names the dimensions of the torus.
pub(crate) const DIMENSIONS: &str = "dimensions";

/// One rank's part.
pub(crate) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let dimensions = job.options.get(DIMENSIONS).and_then(|text| text.parse().ok());
    let Some(dimensions @ 1..=3) = dimensions else {
        return Err(Problem::new("a stencil needs 1 to 3 dimensions"));
    };
    let links = Torus::new(job.ranks, dimensions).links(job.rank);
    let (above, below): (Vec<Link>, Vec<Link>) = links.iter().partition(|link| link.rank > job.rank);
    let mut rank = Rank::open(job, console)?;
    // Links are made before the iterations, each by the lower rank.
    rank.exchange(&above, &below)?;
    rank.measure(job, |rank| rank.exchange(&links, &links))
}
