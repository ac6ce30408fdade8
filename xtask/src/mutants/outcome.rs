//! What became of a mutant, as a line for people and as JSON.

use super::catalogue::Numbered;
use super::killer::End;
use super::kind::Kind;

/// What the killers found of one mutant.
#[derive(Debug)]
pub(super) struct Outcome<'m> {
    pub(super) mutant: &'m Numbered,
    /// The killers that noticed it, and how, in order.
    pub(super) noticed: Vec<Notice>,
    /// The kinds that were asked, completely or until one noticed.
    pub(super) asked: Vec<Kind>,
    /// Whether any killer came to its place.
    pub(super) reached: bool,
    /// How long it took.
    pub(super) seconds: f64,
}

/// One killer's answer.
#[derive(Debug, Clone)]
pub(super) struct Notice {
    pub(super) kind: Kind,
    pub(super) killer: String,
    pub(super) how: End,
}

impl Notice {
    /// The test or seed, and how the program died if it did.
    pub(super) fn what(&self) -> String {
        match &self.how {
            End::Passed => String::new(),
            End::Failed(test) => test.clone(),
            End::Died(how, test) if test.is_empty() => how.clone(),
            End::Died(how, test) => format!("{how} in {test}"),
        }
    }

    /// The test or seed that notices it alone; empty if the program died in an unknown one.
    pub(super) fn test(&self) -> &str {
        match &self.how {
            End::Passed => "",
            End::Failed(test) | End::Died(_, test) => test,
        }
    }
}

/// What that means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Killed,
    Survived,
    /// No killer noticed it, and the catalogue says why none can.
    Explained,
    /// The catalogue says that no killer can notice it, and one did.
    Contradicted,
}

impl Outcome<'_> {
    pub(super) fn verdict(&self) -> Verdict {
        match (self.noticed.is_empty(), &self.mutant.mutant.explained) {
            (false, None) => Verdict::Killed,
            (true, None) => Verdict::Survived,
            (true, Some(_)) => Verdict::Explained,
            (false, Some(_)) => Verdict::Contradicted,
        }
    }

    /// The line of the table.
    pub(super) fn line(&self) -> String {
        let Numbered { concern, mutant, .. } = self.mutant;
        let word = match self.verdict() {
            Verdict::Killed => "killed by",
            Verdict::Survived if self.reached => "SURVIVED",
            Verdict::Survived => "SURVIVED, and nothing came to its place",
            Verdict::Explained => "explained:",
            Verdict::Contradicted => "NOT AS EXPLAINED, killed by",
        };
        let how = match (self.noticed.first(), &mutant.explained) {
            (Some(notice), _) => format!("{}: {}", notice.killer, notice.what()),
            (None, Some(reason)) => reason.clone(),
            (None, None) => String::new(),
        };
        let line = format!("{concern:<9} {:<40} {word} {how}", mutant.name);
        format!("{}{}", line.trim_end(), self.kinds())
    }

    /// The kinds that noticed it, if every kind that judges it was asked.
    fn kinds(&self) -> String {
        let file = &self.mutant.mutant.place.file;
        let judges = Kind::ALL.into_iter().filter(|kind| kind.judges(file)).count();
        if self.asked.len() < judges {
            return String::new();
        }
        let kinds = Kind::ALL.into_iter().filter(|kind| self.noticed_by(*kind));
        let names: Vec<&str> = kinds.map(Kind::name).collect();
        if names.is_empty() {
            return String::new();
        }
        format!("  [{}]", names.join(" "))
    }

    pub(super) fn noticed_by(&self, kind: Kind) -> bool {
        self.noticed.iter().any(|notice| notice.kind == kind)
    }
}

/// A mutant as one object; `None` before it ran.
pub(super) fn json_of(one: &Numbered, outcome: Option<&Outcome<'_>>) -> String {
    let mutant = &one.mutant;
    let mut fields = vec![
        ("mutant", text(&mutant.name)),
        ("number", one.number.to_string()),
        ("concern", text(&one.concern)),
        ("file", text(&mutant.place.file)),
        ("breaks", text(&mutant.breaks)),
        (
            "explained",
            mutant.explained.as_deref().map_or("null".to_owned(), text),
        ),
    ];
    if let Some(outcome) = outcome {
        let verdict = format!("{:?}", outcome.verdict()).to_lowercase();
        let notices = outcome.noticed.iter().map(|notice| {
            let what = notice.what();
            let [kind, killer, what] = [notice.kind.name(), &notice.killer, &what].map(text);
            format!("{{\"kind\":{kind},\"killer\":{killer},\"what\":{what}}}")
        });
        let asked = outcome.asked.iter().map(|kind| text(kind.name()));
        fields.extend([
            ("verdict", text(&verdict)),
            ("reached", outcome.reached.to_string()),
            ("asked", format!("[{}]", asked.collect::<Vec<_>>().join(","))),
            ("noticed", format!("[{}]", notices.collect::<Vec<_>>().join(","))),
            ("seconds", format!("{:.1}", outcome.seconds)),
        ]);
    }
    let fields = fields.iter().map(|(name, value)| format!("\"{name}\":{value}"));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

fn text(text: &str) -> String {
    let mut quoted = String::from("\"");
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            char if u32::from(char) < 0x20 => quoted.push_str(&format!("\\u{:04x}", u32::from(char))),
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;
