//! Every state with every event, as a picture reviewers see change; where users stop; and what rest keeps.

use super::ReceiverStage::*;
use super::*;
use expect_test::expect;
use std::fmt::Write;
use xtp_core::fields::{FieldReader, FieldWriter};

const STAGES: [ReceiverStage; 12] = [
    Open { end_pending: false },
    Open { end_pending: true },
    SizeKnown {
        final_seq: 4,
        end_pending: false,
    },
    SizeKnown {
        final_seq: 4,
        end_pending: true,
    },
    Complete {
        final_seq: 4,
        told: false,
    },
    Complete {
        final_seq: 4,
        told: true,
    },
    refused(None, true, false),
    refused(None, true, true),
    refused(None, false, false),
    refused(None, false, true),
    refused(Some(4), false, false),
    refused(Some(4), false, true),
];

const fn refused(final_seq: Option<u64>, on_first: bool, told: bool) -> ReceiverStage {
    match final_seq {
        None => Refused { on_first, told },
        Some(final_seq) => RefusedSizeKnown {
            final_seq,
            on_first,
            told,
        },
    }
}

const EVENTS: [ReceiverEvent; 6] = [
    ReceiverEvent::NameEnd { final_seq: 9 },
    ReceiverEvent::EndEarly,
    ReceiverEvent::Complete,
    ReceiverEvent::Refuse { on_first: true },
    ReceiverEvent::Refuse { on_first: false },
    ReceiverEvent::RcloseLeft,
];

fn name(stage: ReceiverStage) -> String {
    let (mut name, end, marks) = match stage {
        Open { end_pending } => ("Open".to_owned(), None, [(end_pending, "END"), (false, "")]),
        SizeKnown {
            final_seq,
            end_pending,
        } => (
            "SizeKnown".to_owned(),
            Some(final_seq),
            [(end_pending, "END"), (false, "")],
        ),
        Complete { final_seq, told } => (
            "Complete".to_owned(),
            Some(final_seq),
            [(told, "told"), (false, "")],
        ),
        Refused { on_first, told } => ("Refused".to_owned(), None, [(on_first, "FIRST"), (told, "told")]),
        RefusedSizeKnown {
            final_seq,
            on_first,
            told,
        } => (
            "Refused".to_owned(),
            Some(final_seq),
            [(on_first, "FIRST"), (told, "told")],
        ),
    };
    if let Some(end) = end {
        write!(name, " {end}").unwrap();
    }
    for (_, mark) in marks.into_iter().filter(|(is, _)| *is) {
        write!(name, " {mark}").unwrap();
    }
    name
}

#[test]
fn every_cell() {
    let heads = [
        "NameEnd 9",
        "EndEarly",
        "Complete",
        "Refuse FIRST",
        "Refuse",
        "RcloseLeft",
    ];
    let mut table = String::new();
    write!(table, "{:<19}", "").unwrap();
    for head in heads {
        write!(table, " {head:<18}").unwrap();
    }
    for stage in STAGES {
        table = table.trim_end().to_owned();
        write!(table, "\n{:<19}", name(stage)).unwrap();
        for event in EVENTS {
            let next = stage.after(event);
            let next = if next == stage { "-".to_owned() } else { name(next) };
            write!(table, " {next:<18}").unwrap();
        }
    }
    table = table.trim_end().to_owned() + "\n";
    expect![[r#"
                            NameEnd 9          EndEarly           Complete           Refuse FIRST       Refuse             RcloseLeft
        Open                SizeKnown 9        Open END           -                  Refused FIRST      Refused            -
        Open END            SizeKnown 9 END    -                  -                  Refused FIRST      Refused            -
        SizeKnown 4         -                  SizeKnown 4 END    Complete 4         Refused 4 FIRST    Refused 4          -
        SizeKnown 4 END     -                  -                  Complete 4         Refused 4 FIRST    Refused 4          -
        Complete 4          -                  -                  -                  -                  -                  Complete 4 told
        Complete 4 told     -                  -                  -                  -                  -                  -
        Refused FIRST       Refused 9 FIRST    -                  -                  -                  -                  Refused FIRST told
        Refused FIRST told  Refused 9 FIRST told -                  -                  -                  -                  -
        Refused             Refused 9          -                  -                  -                  -                  Refused told
        Refused told        Refused 9 told     -                  -                  -                  -                  -
        Refused 4           -                  -                  -                  -                  -                  Refused 4 told
        Refused 4 told      -                  -                  -                  -                  -                  -
    "#]]
    .assert_eq(&table);
}

#[test]
fn what_each_state_answers() {
    let mut table = String::new();
    for stage in STAGES {
        let state = ReceiverState {
            stage,
            ..ReceiverState::OPEN
        };
        let said = [
            (state.is_open(), "open"),
            (state.is_endless(), "endless"),
            (state.final_seq().is_some(), "has an end"),
            (state.end_is_pending(), "END is pending"),
            (state.is_told(), "told"),
            (state.is_refused_later(), "refused later"),
            (state.refusal_is_untold(), "refusal untold"),
            (state.is_refused_on_data(false), "DATA refuses"),
            (state.is_refused_on_data(true), "XDATA refuses"),
        ];
        let said = said.into_iter().filter_map(|(is, word)| is.then_some(word));
        let said = said.collect::<Vec<_>>().join(", ");
        writeln!(table, "{}: {said}", name(stage)).unwrap();
    }
    expect![[r#"
        Open: open, endless
        Open END: open, endless, END is pending
        SizeKnown 4: open, has an end
        SizeKnown 4 END: open, has an end, END is pending
        Complete 4: has an end
        Complete 4 told: has an end, told
        Refused FIRST: DATA refuses, XDATA refuses
        Refused FIRST told: told, DATA refuses, XDATA refuses
        Refused: refused later, refusal untold, XDATA refuses
        Refused told: told, refused later, XDATA refuses
        Refused 4: has an end, refused later, refusal untold, XDATA refuses
        Refused 4 told: has an end, told, refused later, XDATA refuses
    "#]]
    .assert_eq(&table);
}

#[test]
fn a_user_that_stopped_takes_never_again() {
    let mut state = ReceiverState::OPEN;
    assert!(!state.has_stopped());
    state.stop_at(7);
    state.stop_at(9);
    assert_eq!((state.stopped_at(), state.has_stopped()), (7, true));
    state.stop_at(5);
    state.refuse(false);
    assert_eq!(state.stopped_at(), 5);
    assert!(state.is_refused_later());
}

#[test]
fn a_walk_takes_each_state_along() {
    for stage in STAGES {
        for stopped_at in [u64::MAX, 0, 5] {
            let mut fields = FieldWriter::new(Vec::new());
            let mut before = ReceiverState { stage, stopped_at };
            before.walk(&mut fields);
            let octets = fields.into_octets();
            let mut state = ReceiverState::OPEN;
            state.walk(&mut FieldReader::new(&octets));
            assert_eq!(state, ReceiverState { stage, stopped_at });
        }
    }
}
