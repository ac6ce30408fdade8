//! Verdicts and how they are told.

use super::super::catalogue::Mutant;
use super::*;

/// A mutant that some killer must notice, or one that none can.
fn mutant(explained: bool) -> Numbered {
    Numbered {
        number: 4,
        concern: "wire".to_owned(),
        mutant: Mutant {
            name: "plain".to_owned(),
            place: "xtp-wire/src/a.rs: parse".to_owned().into(),
            text: "a".to_owned(),
            becomes: "b".to_owned(),
            breaks: "says \"no\"".to_owned(),
            explained: explained.then(|| "no clock".to_owned()),
        },
    }
}

fn outcome(mutant: &Numbered, noticed: bool) -> Outcome<'_> {
    let notice = Notice {
        kind: Kind::Seeds,
        killer: "seeds".to_owned(),
        how: End::Failed("seed 3".to_owned()),
    };
    Outcome {
        mutant,
        noticed: noticed.then_some(notice).into_iter().collect(),
        asked: Kind::ALL.to_vec(),
        reached: true,
        seconds: 1.25,
    }
}

#[test]
fn an_explanation_holds_only_as_long_as_no_killer_notices() {
    let (plain, known) = (mutant(false), mutant(true));
    assert_eq!(outcome(&plain, true).verdict(), Verdict::Killed);
    assert_eq!(outcome(&plain, false).verdict(), Verdict::Survived);
    assert_eq!(outcome(&known, false).verdict(), Verdict::Explained);
    assert_eq!(outcome(&known, true).verdict(), Verdict::Contradicted);
    for (mutant, noticed, right) in [
        (&plain, true, true),
        (&plain, false, false),
        (&known, false, true),
        (&known, true, false),
    ] {
        let judged = super::super::judge(&[outcome(mutant, noticed)]);
        assert_eq!(judged.is_ok(), right, "{judged:?}");
    }
}

#[test]
fn lines_name_the_killer() {
    let plain = mutant(false);
    let line = outcome(&plain, true).line();
    assert!(line.contains("killed by seeds: seed 3  [seeds]"), "{line}");
    assert!(outcome(&plain, false).line().contains("SURVIVED"));
}

#[test]
fn json_quotes_what_must_be() {
    let plain = mutant(false);
    let json = json_of(&plain, Some(&outcome(&plain, true)));
    assert!(json.contains(r#""breaks":"says \"no\"""#), "{json}");
    assert!(
        json.contains(r#""noticed":[{"kind":"seeds","killer":"seeds","what":"seed 3"}]"#),
        "{json}"
    );
    assert_eq!(text("a\nb\\"), r#""a\u000ab\\""#);
}
