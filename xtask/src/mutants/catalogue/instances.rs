//! Which instance of a responder a FIRST is meant for.

use crate::mutants::Mutant;

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "young-takes-old-copies",
        "xtp-engine/src/admit/instance.rs",
        "None => «!same_clock && self.is_young(now)»,",
        "false",
        "what the instance before may have executed is executed",
    ),
    Mutant::new(
        "young-refuses-its-own-host",
        "xtp-engine/src/admit/instance.rs",
        "None => «!same_clock» && self.is_young(now),",
        "true",
        "who shares the clock is refused although its time tells",
    ),
    Mutant::new(
        "any-instance-will-do",
        "xtp-engine/src/admit/instance.rs",
        "Some(_) => «self.name.is_some() && !self.is_called(name)»,",
        "false",
        "what names another instance is executed",
    ),
    Mutant::new(
        "young-for-ever",
        "xtp-engine/src/admit/instance.rs",
        "self.name.is_some() && «Duration::from_millis(self.age_ms(now)) < LIFE_OF_A_COPY»",
        "true",
        "an instance never takes what names nobody",
    ),
    Mutant::new(
        "nameless-is-everybody",
        "xtp-engine/src/admit/instance.rs",
        "«name.is_some()» && self.name == name",
        "true",
        "a FIRST that names nobody is taken for one of an instance without a name",
    )
    .explained("only who has a name is refused for its start or compares names"),
    Mutant::new(
        "never-ran-without-room",
        "xtp-engine/src/admit/instance.rs",
        "is_some_and(|(_, age)| «age - age / 16 > left»)",
        "age > left",
        "clocks that run a little apart make a request run twice",
    ),
    Mutant::new(
        "never-ran-anyhow",
        "xtp-engine/src/admit/instance.rs",
        "is_some_and(|(_, age)| «age - age / 16 > left»)",
        "age <= Duration::MAX",
        "a request that an instance before may have executed is repeated",
    ),
    Mutant::new(
        "named-too-shortly",
        "xtp-engine/src/admit/instance.rs",
        "«(LIFE_OF_A_COPY + MARGIN)».saturating_sub(age)",
        "Duration::ZERO",
        "an instance is named once and then forgotten",
    ),
    Mutant::new(
        "repeated-twice",
        "xtp-engine/src/context/restart.rs",
        "«opening.repeated» || opening.fell_back || opening.turned_back",
        "false",
        "a request that was repeated already is repeated again without end",
    ),
    Mutant::new(
        "repeated-without-a-number",
        "xtp-engine/src/context/restart.rs",
        "|| opening.turned_back || «opening.client.is_none()»",
        "false",
        "a request whose number nobody knows is repeated, and may run twice",
    ),
    Mutant::new(
        "repeated-after-the-formats-fell-back",
        "xtp-engine/src/context/restart.rs",
        "opening.repeated || «opening.fell_back || opening.turned_back» || opening.client",
        "false",
        "what left in two formats is repeated as if it had left once",
    ),
    Mutant::new(
        "never-ran-since-now",
        "xtp-engine/src/context/restart.rs",
        "refusal.never_ran(«now.since(first)»)",
        "now.since(first) * 0",
        "a FIRST that left before the instance was started counts as never run",
    ),
    Mutant::new(
        "another-name-forgotten",
        "xtp-engine/src/context/restart.rs",
        "«opening.instance = refusal.name();»",
        "",
        "the repetition names nobody, and is refused again",
    ),
    Mutant::new(
        "unprotected-is-refused",
        "xtp-engine/src/engine/admission.rs",
        "«(claim.time.is_some() || claim.instance.is_some())» && self .instance",
        "true",
        "legacy peers, which cannot name anybody, are refused for the first minute",
    ),
    Mutant::new(
        "called-and-refused",
        "xtp-engine/src/engine/admission.rs",
        "Verdict::RefuseStart if «self.instance.is_called(claim.instance)» => {}",
        "false",
        "who names this instance is refused for its clock",
    ),
];
