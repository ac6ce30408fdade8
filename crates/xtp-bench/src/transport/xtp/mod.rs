//! xtp as a program uses it.

use std::net::SocketAddr;

use ::xtp::{Config, Endpoint, OpenOptions, Wait, paradigm};

use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome};
use crate::plan::{Experiment, WaitPolicy};
use crate::transport::{Transport, always, controller, fresh};

mod bulk;
mod many;
mod mesh;
mod pingpong;
mod single;

/// The service number measured.
const SERVICE: u16 = 100;

pub(super) static XTP: Transport = Transport {
    name: "xtp",
    experiments: Experiment::ALL,
    obstacle: always,
    work,
};

/// From memory like any other, without room for headers.
pub(super) static PLAIN: Transport = Transport {
    name: "xtp-plain",
    experiments: &[Experiment::Bulk],
    obstacle: always,
    work,
};

/// From fresh memory.
pub(super) static FRESH: Transport = fresh::row(fresh::OURS, work);

/// The same as most programs do it: `write_all` and `read`.
pub(super) static WRITE: Transport = Transport {
    name: "xtp-write-read",
    experiments: &[Experiment::Pingpong, Experiment::Bulk],
    obstacle: always,
    work,
};

/// Messages by a mesh.
pub(super) static MESH: Transport = Transport {
    name: "xtp-mesh",
    experiments: &[
        Experiment::Pingpong,
        Experiment::Stencil,
        Experiment::Bag,
        Experiment::Phases,
    ],
    obstacle: always,
    work,
};

/// With the controller of RFC 9438.
pub(super) static CUBIC: Transport = Transport {
    name: "xtp-cubic",
    experiments: &[],
    obstacle: always,
    work,
};

/// With receivers that discard what comes out of order.
pub(super) static GBN: Transport = Transport {
    name: "xtp-gbn",
    experiments: &[],
    obstacle: always,
    work,
};

/// With the controller of the 1995 library: the receiver computes the window.
pub(super) static KDD: Transport = Transport {
    name: "xtp-kdd",
    experiments: &[],
    obstacle: always,
    work,
};

/// The same with receivers that discard what comes out of order.
pub(super) static KDD_GBN: Transport = Transport {
    name: "xtp-kdd-gbn",
    experiments: &[],
    obstacle: always,
    work,
};

/// A stream under the controller the job names.
fn stream(job: &Job) -> Worked<OpenOptions> {
    let mut options = paradigm::stream(SERVICE);
    if let Some(name) = job.options.get("controller") {
        options.tuning.congestion = controller(name)?;
    }
    Ok(options)
}

fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    match job.experiment {
        Experiment::Pingpong if job.transport == MESH.name => mesh::work(job, console),
        Experiment::Pingpong => pingpong::work(job, console),
        Experiment::Oneshot | Experiment::Transaction => single::work(job, console),
        Experiment::Bulk | Experiment::Wan => bulk::work(job, console),
        Experiment::Scale => many::work(job, console),
        other => Err(Problem::new(format!("xtp has no '{other}' here"))),
    }
}

/// An endpoint on the job's address that waits as the job says.
fn endpoint(job: &Job) -> Worked<Endpoint> {
    let mut config = Config::server(job.any_port());
    config.wait = match job.wait {
        WaitPolicy::Block => Wait::Block,
        WaitPolicy::Spin => Wait::Spin,
        WaitPolicy::Adaptive => Wait::Adaptive,
    };
    Ok(Endpoint::bind(config)?)
}

/// Where the server is.
fn peer(job: &Job) -> Worked<SocketAddr> {
    Ok(job.peer.parse()?)
}

/// Ends what waits on the endpoint when the coordinator says stop.
fn stop_with(console: &Console, endpoint: &Endpoint) {
    let endpoint = endpoint.clone();
    console.on_stop(move || endpoint.interrupt());
}

/// System calls made on the endpoint's socket.
fn calls(endpoint: &Endpoint) -> u64 {
    endpoint.stats().system_calls()
}
