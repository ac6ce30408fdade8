//! What the sender's user sees while it runs: a bar for the whole group, and a line for each event of a receiver.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use xtp::{Cast, GroupEvent, MemberId, MemberReport, MemberState};

use super::report::Invited;
use crate::common::{Output, ProgressUnit, peer_text, progress_bar, span_text};
use crate::files::tally::Tally;

/// How often the bar is drawn.
const LOOK: Duration = Duration::from_millis(100);

/// The view of one cast.
pub(super) struct View<'a> {
    out: &'a Output,
    cast: &'a Cast,
    bar: ProgressBar,
    /// Octets of content, where they are known beforehand; those that need not be sent are settled.
    total: Option<u64>,
    tally: &'a Tally,
    invited: Invited<'a>,
    /// When the first octet left.
    began: &'a OnceLock<Instant>,
    /// The bar shows a transfer, not a wait.
    is_running: Cell<bool>,
}

impl<'a> View<'a> {
    pub(super) fn new(
        out: &'a Output,
        cast: &'a Cast,
        (total, tally): (Option<u64>, &'a Tally),
        invited: Invited<'a>,
        began: &'a OnceLock<Instant>,
    ) -> Self {
        let missing = invited.missing(&[]);
        let label = waiting(missing).unwrap_or_else(|| "waiting".to_owned());
        if missing > 0 {
            out.note(&label);
        }
        Self {
            out,
            cast,
            bar: progress_bar(out, ProgressUnit::Octets, total.unwrap_or(0), &label),
            total,
            tally,
            invited,
            began,
            is_running: Cell::new(false),
        }
    }

    /// Looks until told to stop, and once more.
    pub(super) fn run(self, done: &AtomicBool) {
        while !done.load(Ordering::Relaxed) {
            self.look();
            std::thread::park_timeout(LOOK);
        }
        self.look();
        self.bar.finish_and_clear();
    }

    fn look(&self) {
        let Ok(stats) = self.cast.stats() else { return };
        if self.began.get().is_some() && !self.is_running.replace(true) {
            // The rate is that of the transfer: the wait for receivers is no part of it.
            self.bar.reset();
            let members = self.cast.members().unwrap_or_default();
            self.bar.set_message(format!("{} receivers", members.len()));
        }
        self.bar.set_length(match self.total {
            Some(total) => total.saturating_sub(self.tally.settled.get()),
            None => stats.position,
        });
        self.bar.set_position(stats.acknowledged);
        let mut members = None;
        while let Ok(Some(event)) = self.cast.try_event() {
            let members = members.get_or_insert_with(|| self.cast.members().unwrap_or_default());
            let waiting = match self.is_running.get() {
                true => None,
                false => waiting(self.invited.missing(members)),
            };
            let receivers = || format!("{} receivers", members.len());
            self.bar.set_message(waiting.clone().unwrap_or_else(receivers));
            if let Some(line) = line(&event, members) {
                let waiting = waiting.map_or_else(String::new, |text| format!(", {text}"));
                self.bar
                    .suspend(|| self.out.note(format_args!("{line}{waiting}")));
            }
        }
    }
}

/// What a cast waits for that has not begun, if it waits for receivers that are known.
fn waiting(missing: usize) -> Option<String> {
    (missing > 0).then(|| format!("waiting for {missing} more"))
}

/// One event in words.
fn line(event: &GroupEvent, members: &[MemberReport]) -> Option<String> {
    let who = |id: &MemberId| members.iter().find(|member| member.member == *id);
    Some(match event {
        GroupEvent::Joined(id) => format!("{} joined", shown(who(id)?)),
        GroupEvent::Laggard(id) => format!("{} fell behind", shown(who(id)?)),
        GroupEvent::Returned(id) => format!("{} is back", shown(who(id)?)),
        GroupEvent::Done(id) => {
            let member = who(id)?;
            let how = match member.state {
                MemberState::Done(true) => ", caught up",
                _ => "",
            };
            format!(
                "{} has everything after {}{how}",
                shown(member),
                span_text(member.time)
            )
        }
        GroupEvent::Dropped(id, reason) => {
            let member = who(id)?;
            let text = match member.text.as_str() {
                "" => String::new(),
                text => format!(" ({})", crate::files::names::cleaned(text.as_bytes())),
            };
            format!("{} is out: {reason}{text}", shown(member))
        }
        _ => return None,
    })
}

/// A receiver in words.
pub(super) fn shown(member: &MemberReport) -> String {
    match member.name.as_str() {
        "" => peer_text(member.address),
        name => format!(
            "{} ({})",
            peer_text(member.address),
            crate::files::names::shown(name.as_bytes())
        ),
    }
}
