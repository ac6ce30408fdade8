//! Every (state, event) cell, as a picture reviewers see change.

use super::{State, Transition};
use expect_test::expect;
use std::fmt::Write;

#[test]
fn every_cell() {
    let mut table = String::new();
    write!(table, "{:<12}", "").unwrap();
    for event in Transition::ALL {
        write!(table, " {:<13}", format!("{event:?}")).unwrap();
    }
    table = table.trim_end().to_owned() + "\n";
    for state in State::ALL {
        let mut row = format!("{:<12}", format!("{state:?}"));
        for event in Transition::ALL {
            let next = state
                .after(event)
                .map_or("-".to_owned(), |next| format!("{next:?}"));
            write!(row, " {next:<13}").unwrap();
        }
        table += row.trim_end();
        table.push('\n');
    }
    expect![[r#"
                     UserOpens     FirstAccepted PeerHeard     Handshake     Answered      Finished      Forgotten
        Quiescent    Opening       -             -             -             -             Gone          -
        Listening    -             Active        -             -             -             -             -
        Opening      -             -             Active        -             -             Inactive      -
        Active       -             -             -             InHandshake   -             Inactive      -
        InHandshake  -             -             -             -             Active        Inactive      -
        Inactive     -             -             -             -             -             -             Gone
        Gone         -             -             -             -             -             -             -
    "#]]
    .assert_eq(&table);
}

#[test]
fn nothing_leaves_the_end() {
    for event in Transition::ALL {
        assert_eq!(State::Gone.after(event), None);
    }
    assert!(
        State::ALL
            .iter()
            .filter(|state| state.is_live())
            .all(|state| *state != State::Inactive)
    );
}
