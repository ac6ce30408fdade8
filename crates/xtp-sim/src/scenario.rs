//! A seed of a class, whole or a part of it: what a command names, runs and shows.

use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

use crate::cast::{self, CastPlan, GroupWorld};
use crate::hostile::{Injector, hostile_plan, run_hostile_plan};
use crate::keep::Keep;
use crate::mesh::{self, MeshPlan};
use crate::report::SeedReport;
use crate::run::{print_plan, print_run, run_plan_here};
use crate::seed::Plan;
use crate::world::World;

/// What kind of seed it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    /// Faults of links and hosts.
    #[default]
    Plain,
    /// The same, and somebody who injects packets; every second one is without any other fault.
    Hostile,
    /// Series of short exchanges with the faults of a plain seed, and nothing else.
    Exchange,
    /// One transmitter of a group and its receivers.
    Cast,
    /// Faults of a plain seed, and carriers and hosts that are rougher (`rough.rs`).
    Rough,
    /// A group, and parts are played that hosts of `Cast` do not play: liars and others (`cast/roles.rs`).
    Roles,
    /// Programs that exchange tagged messages, with faults of links and hosts, and sometimes a liar.
    Mesh,
}

/// What a seed draws.
pub enum Drawn {
    /// Associations, and who injects packets.
    Flows(Box<Plan>, Option<Box<Injector>>),
    /// A group.
    Group(Box<CastPlan>),
    /// A mesh.
    Mesh(Box<MeshPlan>),
}

impl Class {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Plain,
        Self::Hostile,
        Self::Exchange,
        Self::Cast,
        Self::Rough,
        Self::Roles,
        Self::Mesh,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Hostile => "hostile",
            Self::Exchange => "exchange",
            Self::Cast => "cast",
            Self::Rough => "rough",
            Self::Roles => "roles",
            Self::Mesh => "mesh",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Class {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let mut all = Self::ALL.into_iter();
        all.find(|class| class.name() == name)
            .ok_or_else(|| format!("no class of seeds is called {name:?}"))
    }
}

/// The world a run left behind.
pub(crate) enum Left {
    Flows(Box<World>),
    Group(Box<GroupWorld>),
}

/// Which seed, and how much of what it draws.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// The seed.
    pub seed: u64,
    /// What kind of seed.
    pub class: Class,
    /// What of it is kept; everything if nothing is said.
    pub keep: Option<Keep>,
}

impl Scenario {
    /// A whole seed.
    pub const fn new(seed: u64, class: Class) -> Self {
        Self {
            seed,
            class,
            keep: None,
        }
    }

    /// The command that shows it.
    pub fn command(&self) -> String {
        let mut command = format!("xtp sim --replay {}", self.seed);
        if self.class != Class::Plain {
            command += &format!(" --class {}", self.class);
        }
        if let Some(keep) = &self.keep {
            command += &format!(" --keep '{keep}'");
        }
        command
    }

    /// What is planned.
    ///
    /// # Errors
    /// What is kept is not in this seed.
    pub fn plan(&self) -> Result<Drawn, String> {
        let (mut plan, mut injector) = match self.class {
            Class::Plain => (Plan::draw(self.seed), None),
            Class::Exchange => (Plan::of_exchanges(self.seed), None),
            Class::Rough => (Plan::of_rough(self.seed), None),
            Class::Hostile => {
                let (plan, injector) = hostile_plan(self.seed);
                (plan, Some(injector))
            }
            Class::Cast | Class::Roles => {
                let mut plan = match self.class {
                    Class::Cast => CastPlan::draw(self.seed),
                    _ => CastPlan::of_roles(self.seed),
                };
                if let Some(keep) = &self.keep {
                    keep.apply_to_group(&mut plan)?;
                }
                return Ok(Drawn::Group(Box::new(plan)));
            }
            Class::Mesh => {
                return match self.keep {
                    None => Ok(Drawn::Mesh(Box::new(MeshPlan::draw(self.seed)))),
                    Some(_) => Err("a seed of this class is run whole".to_owned()),
                };
            }
        };
        if let Some(keep) = &self.keep {
            keep.apply(&mut plan, injector.as_mut())?;
        }
        Ok(Drawn::Flows(Box::new(plan), injector.map(Box::new)))
    }

    /// Runs it.
    pub fn run(&self) -> SeedReport {
        self.run_with(false).0
    }

    /// Runs it and shows the world it left behind, in which every packet is recorded if `records`.
    pub(crate) fn run_with(&self, records: bool) -> (SeedReport, Option<Left>) {
        let change = |world: &mut World| world.net.records = records.then(Vec::new);
        let (mut report, world) = match self.plan() {
            Ok(Drawn::Flows(plan, None)) => {
                let (report, world) = run_plan_here(&plan, self.seed, change);
                (report, world.map(|world| Left::Flows(Box::new(world))))
            }
            Ok(Drawn::Flows(plan, Some(injector))) => {
                let (report, world) = run_hostile_plan(&plan, self.seed, *injector, change);
                (report, world.map(|world| Left::Flows(Box::new(world))))
            }
            Ok(Drawn::Group(plan)) => {
                let (report, world) = cast::run_plan(&plan, self.seed, records);
                (report, world.map(|world| Left::Group(Box::new(world))))
            }
            Ok(Drawn::Mesh(plan)) => (mesh::run_plan(&plan, self.seed), None),
            Err(failure) => (SeedReport::failed(failure), None),
        };
        report.seed = self.seed;
        (report, world)
    }

    /// Prints what is planned.
    ///
    /// # Errors
    /// Whatever `out` says.
    pub fn describe(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.plan() {
            Ok(Drawn::Flows(plan, _)) => print_plan(&plan, out),
            Ok(Drawn::Group(plan)) => cast::print_plan(&plan, out),
            Ok(Drawn::Mesh(plan)) => mesh::print_plan(&plan, out),
            Err(wrong) => writeln!(out, "{wrong}"),
        }
    }

    /// Runs it and prints what was planned, every packet, and what was wrong.
    ///
    /// # Errors
    /// Whatever `out` says.
    pub fn replay(&self, out: &mut dyn Write) -> io::Result<SeedReport> {
        self.describe(out)?;
        let (report, left) = self.run_with(true);
        match &left {
            Some(Left::Flows(world)) => print_run(world, out)?,
            Some(Left::Group(world)) => world.print(out)?,
            None => {}
        }
        match &report.failure {
            Some(failure) => writeln!(out, "seed {} failed: {failure}", self.seed)?,
            None => writeln!(out, "seed {} passed", self.seed)?,
        }
        Ok(report)
    }
}
