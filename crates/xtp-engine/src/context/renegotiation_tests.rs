//! When a TCNTL is due, and until when it is repeated.

use super::*;

fn seen(state: &Renegotiation) -> (bool, bool, bool) {
    (state.is_due(), state.asks(), state.is_open())
}

#[test]
fn a_limit_is_told_until_it_is_confirmed() {
    let mut state = Renegotiation::default();
    state.limit_set(false);
    assert_eq!(seen(&state), (false, true, false), "FIRST states it");
    state.limit_set(true);
    assert_eq!(seen(&state), (true, true, false));
    state.answered(7);
    state.left(9);
    assert_eq!(seen(&state), (false, true, true));
    state.answered(8);
    assert_eq!(seen(&state), (false, true, true), "it has not seen that");
    state.answered(9);
    assert_eq!(state, Renegotiation::default());
}

#[test]
fn a_peer_that_asks_is_answered_and_not_asked() {
    let mut state = Renegotiation::default();
    state.peer_told(false);
    assert_eq!(seen(&state), (false, false, false));
    state.peer_told(true);
    state.peer_told(false);
    assert_eq!(seen(&state), (true, false, false));
    state.left(3);
    assert_eq!(state, Renegotiation::default());
}
