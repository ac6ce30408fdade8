//! Which mutants a condition leaves.

use super::super::catalogue::Mutant;
use super::*;
use crate::shard::Shard;

fn one(number: u32, concern: &str, name: &str, file: &str) -> Numbered {
    Numbered {
        number,
        concern: concern.to_owned(),
        mutant: Mutant {
            name: name.to_owned(),
            place: format!("{file}: f").into(),
            text: "a".to_owned(),
            becomes: "b".to_owned(),
            breaks: "a rule".to_owned(),
            explained: name.ends_with("unseen").then(|| "no clock".to_owned()),
        },
    }
}

fn some() -> Vec<Numbered> {
    vec![
        one(2, "flow", "credit", "xtp-engine/src/flow.rs"),
        one(3, "flow", "window-unseen", "xtp-engine/src/flow.rs"),
        one(4, "wire", "checksum", "xtp-wire/src/packet.rs"),
    ]
}

/// Numbers of the mutants that are chosen.
fn chosen(filter: &MutantFilter) -> Vec<u32> {
    let all = some();
    let numbers = all.iter().filter(|one| filter.chooses(one)).map(|one| one.number);
    numbers.collect()
}

fn changed(files: &[&str]) -> MutantFilter {
    MutantFilter {
        changed: Some(files.iter().map(|file| (*file).to_owned()).collect()),
        ..MutantFilter::default()
    }
}

#[test]
fn only_chooses_by_name_or_concern() {
    let only = |name: &str| MutantFilter {
        only: vec![name.to_owned()],
        ..MutantFilter::default()
    };
    assert_eq!(chosen(&MutantFilter::default()), [2, 3, 4]);
    assert_eq!(chosen(&only("credit")), [2]);
    assert_eq!(chosen(&only("flow")), [2, 3]);
    assert_eq!(only("flow").unknown(&some()), None);
    assert_eq!(only("float").unknown(&some()), Some("float"));
}

#[test]
fn quick_leaves_explained_mutants_out() {
    let quick = MutantFilter {
        quick: true,
        ..changed(&["crates/xtp-engine/src/flow.rs"])
    };
    assert_eq!(chosen(&quick), [2]);
}

#[test]
fn changed_chooses_by_source_or_concern() {
    assert_eq!(chosen(&changed(&[])), [0; 0]);
    assert_eq!(chosen(&changed(&["crates/xtp-engine/src/flow.rs"])), [2, 3]);
    assert_eq!(chosen(&changed(&["README.md", "./xtask/mutants/wire.toml"])), [4]);
    assert_eq!(chosen(&changed(&["xtp-engine/src/flow.rs", "flow.rs"])), [0; 0]);
}

#[test]
fn part_and_changed_are_a_union() {
    let all = some();
    for index in 0..3 {
        let part = Shard::parse(&format!("{index}/3")).ok();
        let alone = MutantFilter {
            part,
            ..MutantFilter::default()
        };
        let both = MutantFilter {
            part,
            ..changed(&["crates/xtp-wire/src/packet.rs"])
        };
        let numbers = chosen(&both);
        assert!(numbers.contains(&4));
        for one in &all[..2] {
            assert_eq!(numbers.contains(&one.number), alone.chooses(one));
        }
    }
}
