//! What went wrong in a group, as far as it had an effect: so it can be counted whether everything is drawn that may happen.

use std::collections::BTreeSet;
use std::time::Duration;

use xtp_engine::group::{MemberReport, MemberState};
use xtp_link::LinkStats;

use super::liar;
use super::member::Receiving;
use super::plan::{Disturbance, Reading};
use super::roles::SERVED;
use super::world::GroupWorld;
use crate::app::nanos;

/// A pause that is long for a program.
const LONG: Duration = Duration::from_secs(10);

impl GroupWorld {
    /// Names of troubles and accidents that had an effect.
    pub fn accidents(&self) -> BTreeSet<&'static str> {
        let mut names: BTreeSet<_> = self.happened.iter().map(|trouble| trouble.what.name()).collect();
        let mut add = |holds: bool, name: &'static str| {
            if holds {
                names.insert(name);
            }
        };
        let (uplink, _) = self.bridge.stats(0);
        let links: Vec<_> = (1..=self.members.len())
            .map(|host| self.bridge.stats(host))
            .collect();
        let on_way_down = |is: fn(&LinkStats) -> bool| links.iter().any(|(_, down)| is(down));
        add(uplink.dropped.loss > 0, "group: shared loss");
        add(
            on_way_down(|link| link.dropped.loss > 0),
            "receiver loses by itself",
        );
        add(
            links.iter().any(|(up, _)| up.dropped.loss > 0),
            "receiver's answers lost",
        );
        add(on_way_down(|link| link.reordered > 0), "receiver: reordering");
        add(on_way_down(|link| link.duplicated > 0), "receiver: duplication");
        add(
            on_way_down(|link| link.dropped.queue_full > 0),
            "receiver: queue full",
        );
        self.parts(&mut add);
        add(self.full_sockets > 0, "receiver: socket full");
        let started = self.sender.started;
        let any = |is: &dyn Fn(&Receiving) -> bool| self.members.iter().any(is);
        let late = |member: &Receiving| {
            member.found && started.is_some_and(|started| nanos(member.plan.at) > started)
        };
        add(any(&late), "receiver joins late");
        add(any(&|member| member.now.rejected), "receiver rejects");
        add(
            any(&|member| member.plan.down.rate_bits_per_s.is_some()),
            "receiver: slow link",
        );
        add(
            any(&|member| matches!(member.plan.reading, Reading::Slow { .. })),
            "receiver reads slowly",
        );
        add(
            any(&|member| member.plan.down.jitter > Duration::ZERO),
            "receiver: jitter",
        );
        add(!self.sender.laggards.is_empty(), "receiver is behind");
        add(
            self.sender.memory.given > 0,
            "transmitter: its user gave the past",
        );
        add(self.sender.memory.is_lost, "transmitter: the past is lost");
        let symbol = self.watch.coding.map(|coding| coding.symbol);
        let lies_in_two =
            |&(at, _): &(u64, u64)| symbol.is_some_and(|symbol| at / symbol != (at + 7) / symbol);
        add(
            self.sender.ledger.tags.iter().any(lies_in_two),
            "group: a tag in two symbols",
        );
        names
    }

    /// Names of the odd parts that were played (`roles.rs`).
    fn parts(&self, add: &mut impl FnMut(bool, &'static str)) {
        let neighbours = |nameless: bool| {
            let mut members = self.plan.members.iter();
            members.any(|own| own.beside.is_some() && (!nameless || own.join.name.is_empty()))
        };
        add(neighbours(false), "receivers behind one address");
        add(neighbours(true), "receivers without names behind one address");
        let slept = |of_member: bool| {
            let mut happened = self.happened.iter();
            happened.any(|trouble| {
                let sleeps = matches!(
                    trouble.what,
                    Disturbance::Pause { .. } | Disturbance::TransmitterPause { .. }
                );
                let long = trouble.what.span() >= LONG;
                sleeps && long && trouble.what.member().is_some() == of_member
            })
        };
        add(slept(true), "receiver paused for 10 s");
        add(slept(false), "transmitter paused for 10 s");
        add(
            self.sender.laggards.len() > SERVED,
            "group: more are behind than are served",
        );
        add(
            self.liar.as_ref().is_some_and(|liar| liar.said > 0),
            "group: a member lies",
        );
        let out = |report: &MemberReport| {
            report.address == liar::address() && matches!(report.state, MemberState::Dropped(_))
        };
        add(
            self.sender.reports.iter().any(out),
            "group: a member that lies is out",
        );
    }
}
