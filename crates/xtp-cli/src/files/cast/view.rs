//! What the sender's user sees while it runs: a bar for the whole group, and a line for whatever happens to a receiver.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::ProgressBar;
use xtp::{Cast, GroupEvent, MemberId, MemberReport, MemberState};

use crate::common::{Output, ProgressUnit, peer_text, progress_bar, span_text};

/// How often the bar is drawn.
const LOOK: Duration = Duration::from_millis(100);

/// The view of one cast.
pub(super) struct View<'a> {
    out: &'a Output,
    cast: &'a Cast,
    bar: ProgressBar,
    /// The octets are known beforehand.
    sized: bool,
}

impl<'a> View<'a> {
    pub(super) fn new(out: &'a Output, cast: &'a Cast, total: Option<u64>) -> Self {
        Self {
            out,
            cast,
            bar: progress_bar(out, ProgressUnit::Octets, total.unwrap_or(0), "waiting"),
            sized: total.is_some(),
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
        if !self.sized {
            self.bar.set_length(stats.position);
        }
        self.bar.set_position(stats.acknowledged);
        let mut members = None;
        while let Ok(Some(event)) = self.cast.try_event() {
            let members = members.get_or_insert_with(|| self.cast.members().unwrap_or_default());
            self.bar.set_message(format!("{} receivers", members.len()));
            if let Some(line) = line(&event, members) {
                self.bar.suspend(|| self.out.note(line));
            }
        }
    }
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
