//! Every state with every event, as a picture reviewers see change; and what rest keeps.

use super::SenderEvent::*;
use super::SenderStage::*;
use super::*;
use expect_test::expect;
use std::fmt::Write;
use xtp_core::fields::{FieldReader, FieldWriter};

const STAGES: [SenderStage; 5] = [
    Open,
    Closing {
        final_seq: 4,
        told: false,
    },
    Closing {
        final_seq: 4,
        told: true,
    },
    Acknowledged { final_seq: 4 },
    Refused {
        final_seq: 4,
        not_taken: 2,
    },
];

const EVENTS: [SenderEvent; 5] = [
    Close { final_seq: 9 },
    WcloseLeft,
    RepeatWclose,
    Acknowledge,
    Refuse {
        final_seq: 7,
        not_taken: 3,
    },
];

fn name(stage: SenderStage) -> String {
    match stage {
        Open => "Open".to_owned(),
        Closing { final_seq, told } => format!("Closing {final_seq}{}", if told { " told" } else { "" }),
        Acknowledged { final_seq } => format!("Acknowledged {final_seq}"),
        Refused { final_seq, not_taken } => format!("Refused {final_seq} -{not_taken}"),
    }
}

#[test]
fn every_cell() {
    let heads = [
        "Close 9",
        "WcloseLeft",
        "RepeatWclose",
        "Acknowledge",
        "Refuse 7 -3",
    ];
    let mut table = String::new();
    write!(table, "{:<15}", "").unwrap();
    for head in heads {
        write!(table, " {head:<14}").unwrap();
    }
    for stage in STAGES {
        table = table.trim_end().to_owned();
        write!(table, "\n{:<15}", name(stage)).unwrap();
        for event in EVENTS {
            let next = stage.after(event);
            let next = if next == stage { "-".to_owned() } else { name(next) };
            write!(table, " {next:<14}").unwrap();
        }
    }
    table = table.trim_end().to_owned() + "\n";
    expect![[r#"
                        Close 9        WcloseLeft     RepeatWclose   Acknowledge    Refuse 7 -3
        Open            Closing 9      -              -              -              Refused 7 -3
        Closing 4       -              Closing 4 told -              Acknowledged 4 Refused 7 -3
        Closing 4 told  -              -              Closing 4      Acknowledged 4 Refused 7 -3
        Acknowledged 4  -              -              -              -              -
        Refused 4 -2    -              -              -              -              -
    "#]]
    .assert_eq(&table);
}

#[test]
fn what_each_state_answers() {
    let mut table = String::new();
    for stage in STAGES {
        let state = SenderState { stage };
        let said = [
            (state.is_open(), "open"),
            (state.is_closing(), "closing"),
            (state.is_closed(), "closed"),
            (state.is_untold(), "untold"),
            (state.is_told(), "told"),
            (state.closes_at(4), "closes at 4"),
            (state.closes_at(5), "closes at 5"),
            (state.final_seq().is_some(), "has an end"),
            (state.not_taken().is_some(), "was refused"),
        ];
        let said = said.into_iter().filter_map(|(is, word)| is.then_some(word));
        writeln!(table, "{}: {}", name(stage), said.collect::<Vec<_>>().join(", ")).unwrap();
    }
    expect![[r#"
        Open: open
        Closing 4: closing, untold, closes at 4, has an end
        Closing 4 told: closing, told, closes at 4, has an end
        Acknowledged 4: closed, has an end
        Refused 4 -2: closed, has an end, was refused
    "#]]
    .assert_eq(&table);
}

#[test]
fn a_walk_takes_each_state_along() {
    for stage in STAGES {
        let mut fields = FieldWriter::new(Vec::new());
        SenderState { stage }.walk(&mut fields);
        let octets = fields.into_octets();
        let mut state = SenderState::OPEN;
        state.walk(&mut FieldReader::new(&octets));
        assert_eq!(state, SenderState { stage });
    }
}
