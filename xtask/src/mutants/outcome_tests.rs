//! Verdicts and how they are told.

use super::super::Mutant;
use super::*;

static PLAIN: Mutant = Mutant::new("plain", "xtp-wire/src/a.rs", "a", "b", "says \"no\"");
static KNOWN: Mutant = Mutant::new("known", "xtp-wire/src/a.rs", "a", "b", "is slower").explained("no clock");

fn outcome(mutant: &'static Mutant, noticed: bool) -> Outcome {
    let notice = Notice {
        kind: Kind::Seeds,
        killer: "seeds".to_owned(),
        how: End::Failed("seed 3".to_owned()),
    };
    Outcome {
        mutant: Numbered {
            number: 4,
            concern: "wire",
            mutant,
        },
        noticed: noticed.then_some(notice).into_iter().collect(),
        asked: Kind::ALL.to_vec(),
        reached: true,
        seconds: 1.25,
    }
}

#[test]
fn an_explanation_holds_only_as_long_as_nobody_notices() {
    assert_eq!(outcome(&PLAIN, true).verdict(), Verdict::Killed);
    assert_eq!(outcome(&PLAIN, false).verdict(), Verdict::Survived);
    assert_eq!(outcome(&KNOWN, false).verdict(), Verdict::Explained);
    assert_eq!(outcome(&KNOWN, true).verdict(), Verdict::Contradicted);
    for (mutant, noticed, right) in [
        (&PLAIN, true, true),
        (&PLAIN, false, false),
        (&KNOWN, false, true),
        (&KNOWN, true, false),
    ] {
        let judged = super::super::judge(&[outcome(mutant, noticed)]);
        assert_eq!(judged.is_ok(), right, "{judged:?}");
    }
}

#[test]
fn lines_say_who_noticed() {
    let line = outcome(&PLAIN, true).line();
    assert!(line.contains("killed by seeds: seed 3  [seeds]"), "{line}");
    assert!(outcome(&PLAIN, false).line().contains("SURVIVED"));
}

#[test]
fn json_quotes_what_must_be() {
    let one = outcome(&PLAIN, true);
    let json = json_of(&one.mutant, Some(&one));
    assert!(json.contains(r#""breaks":"says \"no\"""#), "{json}");
    assert!(
        json.contains(r#""noticed":[{"kind":"seeds","killer":"seeds","what":"seed 3"}]"#),
        "{json}"
    );
    assert_eq!(text("a\nb\\"), r#""a\u000ab\\""#);
}
