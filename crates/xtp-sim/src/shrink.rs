//! Makes a failing scenario smaller as long as the same failure stays.

use crate::keep::{Accident, Keep};
use crate::scenario::{Drawn, Scenario};

/// Most runs; a scenario that needs more is small enough.
const MAX_RUNS: u32 = 3_000;
/// How often a size or a span is halved at most.
const MAX_HALVINGS: u32 = 12;

/// What is left of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// The smallest part that was found to fail.
    pub scenario: Scenario,
    /// Its failure.
    pub failure: String,
    /// How many parts were run.
    pub runs: u32,
}

/// What two failures have in common that are the same: everything but the numbers.
pub fn kind_of(failure: &str) -> String {
    let mut kind = String::new();
    for letter in failure.chars() {
        match letter.is_ascii_digit() {
            false => kind.push(letter),
            true if kind.ends_with('#') => {}
            true => kind.push('#'),
        }
    }
    // Where in time it was seen is a number, too, with or without a fraction.
    kind.replace("#.#", "#")
}

/// Shrinks `scenario`, which fails as `fails` says; nothing if it does not.
pub fn shrink(scenario: &Scenario, fails: impl FnMut(&Scenario) -> Option<String>) -> Option<Shrunk> {
    let drawn = scenario.plan().ok()?;
    let (all, injects) = match &drawn {
        Drawn::Flows(plan, injector) => (Keep::all(plan), injector.is_some()),
        Drawn::Group(plan) => (Keep::all_of_group(plan), false),
        Drawn::Mesh(_) => return None,
    };
    let keep = scenario.keep.clone().unwrap_or(all);
    let mut best = scenario.clone();
    best.keep = Some(keep);
    let mut search = Search {
        fails,
        kind: String::new(),
        failure: String::new(),
        best,
        runs: 1,
    };
    search.failure = (search.fails)(&search.best)?;
    search.kind = kind_of(&search.failure);
    if injects {
        search.name_injected();
    }
    loop {
        let before = search.best.clone();
        search.take_away();
        search.halve();
        if search.best == before || search.runs >= MAX_RUNS {
            break;
        }
    }
    Some(Shrunk {
        scenario: search.best,
        failure: search.failure,
        runs: search.runs,
    })
}

struct Search<F> {
    fails: F,
    kind: String,
    failure: String,
    best: Scenario,
    runs: u32,
}

impl<F: FnMut(&Scenario) -> Option<String>> Search<F> {
    /// Keeps a smaller part if it fails in the same way.
    fn fails_still(&mut self, keep: Keep) -> bool {
        if self.runs >= MAX_RUNS || self.best.keep.as_ref() == Some(&keep) {
            return false;
        }
        let mut smaller = self.best.clone();
        smaller.keep = Some(keep);
        self.runs += 1;
        match (self.fails)(&smaller) {
            Some(failure) if kind_of(&failure) == self.kind => {
                (self.best, self.failure) = (smaller, failure);
                true
            }
            _ => false,
        }
    }

    fn kept(&self) -> Keep {
        self.best.keep.clone().unwrap_or_default()
    }

    /// Injected packets have numbers from 1; beyond the last that is needed there is none.
    fn name_injected(&mut self) {
        let mut keep = self.kept();
        keep.injected = Some((1..=MAX_INJECTED).collect());
        self.fails_still(keep);
    }

    fn take_away(&mut self) {
        let flows: Vec<usize> = self.kept().flows.into_keys().collect();
        self.without(flows, |keep, flow| {
            keep.flows.remove(flow);
        });
        let faults: Vec<usize> = self.kept().faults.into_keys().collect();
        self.without(faults, |keep, fault| {
            keep.faults.remove(fault);
        });
        let injected: Vec<u64> = self.kept().injected.into_iter().flatten().collect();
        self.without(injected, |keep, number| {
            if let Some(all) = &mut keep.injected {
                all.remove(number);
            }
        });
        let links: Vec<Accident> = self.kept().links.into_iter().collect();
        self.without(links, |keep, accident| {
            keep.links.remove(accident);
        });
        for hosts in 2..self.kept().hosts {
            let mut keep = self.kept();
            keep.hosts = hosts;
            if self.fails_still(keep) {
                break;
            }
        }
    }

    /// Takes as many of `items` away as can go: all, then halves, quarters and so on down to one by one.
    fn without<T: Clone>(&mut self, mut items: Vec<T>, take: impl Fn(&mut Keep, &T)) {
        let mut size = items.len();
        while size > 0 {
            let mut at = 0;
            while at < items.len() {
                let end = (at + size).min(items.len());
                let mut keep = self.kept();
                items[at..end].iter().for_each(|item| take(&mut keep, item));
                if self.fails_still(keep) {
                    items.drain(at..end);
                } else {
                    at = end;
                }
            }
            size /= 2;
        }
    }

    fn halve(&mut self) {
        for flow in self.kept().flows.into_keys() {
            self.halve_one(|keep| keep.flows.get_mut(&flow));
        }
        for fault in self.kept().faults.into_keys() {
            self.halve_one(|keep| keep.faults.get_mut(&fault));
        }
    }

    fn halve_one(&mut self, times: impl Fn(&mut Keep) -> Option<&mut u32>) {
        loop {
            let mut keep = self.kept();
            let Some(times) = times(&mut keep).filter(|times| **times < MAX_HALVINGS) else {
                return;
            };
            *times += 1;
            if !self.fails_still(keep) {
                return;
            }
        }
    }
}

/// No injector injects more.
const MAX_INJECTED: u64 = 150;

#[cfg(test)]
#[path = "shrink_tests.rs"]
mod tests;
