//! Fewer actions that still make both worlds go apart.

use super::action::Action;
use super::compare::{Divergence, run};
use super::profile::Profile;

/// Runs a shrinking may take.
const BUDGET: usize = 1_500;

/// Leaves out what is not needed; the rest, and what differs then.
pub(super) fn shrink(
    profile: &Profile,
    mut actions: Vec<Action>,
    mut found: Divergence,
) -> (Vec<Action>, Divergence) {
    actions.truncate(found.step + 1);
    let mut budget = BUDGET;
    let mut chunk = actions.len().div_ceil(2);
    while chunk > 0 {
        let mut at = 0;
        let mut shorter = false;
        while at < actions.len() && budget > 0 {
            budget -= 1;
            let mut rest = actions.clone();
            rest.drain(at..rest.len().min(at + chunk));
            match run(profile, &rest) {
                Err(other) => {
                    rest.truncate(other.step + 1);
                    (actions, found, shorter) = (rest, other, true);
                }
                Ok(_) => at += chunk,
            }
        }
        if !(shorter && chunk == 1) {
            chunk /= 2;
        }
        if budget == 0 {
            break;
        }
    }
    (actions, found)
}
