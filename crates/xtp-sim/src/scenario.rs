//! A seed of a class, whole or a part of it: what a command names, runs and shows.

use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

use crate::hostile::{Injector, hostile_plan, run_hostile_plan};
use crate::keep::Keep;
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
}

impl Class {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Plain, Self::Hostile];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Hostile => "hostile",
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

    /// What is planned, and who injects.
    ///
    /// # Errors
    /// What is kept is not in this seed.
    pub fn plan(&self) -> Result<(Plan, Option<Injector>), String> {
        let (mut plan, mut injector) = match self.class {
            Class::Plain => (Plan::draw(self.seed), None),
            Class::Hostile => {
                let (plan, injector) = hostile_plan(self.seed);
                (plan, Some(injector))
            }
        };
        if let Some(keep) = &self.keep {
            keep.apply(&mut plan, injector.as_mut())?;
        }
        Ok((plan, injector))
    }

    /// Runs it.
    pub fn run(&self) -> SeedReport {
        self.run_with(|_| {}).0
    }

    /// Runs it in a world that `change` has seen, and shows the world it left behind.
    pub(crate) fn run_with(&self, change: impl FnOnce(&mut World)) -> (SeedReport, Option<World>) {
        let (mut report, world) = match self.plan() {
            Ok((plan, None)) => run_plan_here(&plan, self.seed, change),
            Ok((plan, Some(injector))) => run_hostile_plan(&plan, self.seed, injector, change),
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
            Ok((plan, _)) => print_plan(&plan, out),
            Err(wrong) => writeln!(out, "{wrong}"),
        }
    }

    /// Runs it and prints what was planned, every packet, and what was wrong.
    ///
    /// # Errors
    /// Whatever `out` says.
    pub fn replay(&self, out: &mut dyn Write) -> io::Result<SeedReport> {
        if let Ok((plan, _)) = self.plan() {
            print_plan(&plan, out)?;
        }
        let (report, world) = self.run_with(|world| world.net.records = Some(Vec::new()));
        if let Some(world) = &world {
            print_run(world, out)?;
        }
        match &report.failure {
            Some(failure) => writeln!(out, "seed {} failed: {failure}", self.seed)?,
            None => writeln!(out, "seed {} passed", self.seed)?,
        }
        Ok(report)
    }
}
