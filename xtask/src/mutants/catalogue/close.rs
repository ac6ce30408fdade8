//! How associations end.

use crate::mutants::Mutant;

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "data-beyond-the-final",
        "xtp-engine/src/context/receive.rs",
        "return if «end > known» { Err(()) }",
        "false",
        "data beyond the announced end is taken",
    ),
    Mutant::new(
        "final-below-what-is-stored",
        "xtp-engine/src/context/receive.rs",
        "if «self.reader.store.highest() > end» { return Err(());",
        "false",
        "an end below what was received is believed",
    ),
    Mutant::new(
        "end-hides-the-unconfirmed",
        "xtp-engine/src/context/close.rs",
        "let unconfirmed = «self.unconfirmed()»; let reason",
        "0",
        "END of a peer that has not received everything is a normal end",
    ),
    Mutant::new(
        "end-hides-a-hole",
        "xtp-engine/src/context/close.rs",
        "let reason = if «missing > 0» && !(self.reader.refusal",
        "false",
        "END of a peer whose stream has a hole is a normal end",
    ),
    Mutant::new(
        "end-refused-is-confirmed",
        "xtp-engine/src/context/close.rs",
        "} else if unconfirmed > 0 && «!rclose» {",
        "false",
        "END without RCLOSE is taken for a refusal of what is unconfirmed",
    ),
    Mutant::new(
        "foreign-diag-ends",
        "xtp-engine/src/context/close.rs",
        "if «!header.key.is_returned()» { return; } let opening",
        "false",
        "a DIAG whose key is not ours is believed",
    ),
    Mutant::new(
        "refusal-of-an-open-association",
        "xtp-engine/src/context/close.rs",
        "Ok(DiagCode::RequestRefused) if «opening» =>",
        "true",
        "a DIAG \"request refused\" ends an association that is open",
    ),
    Mutant::new(
        "context-refused-when-open",
        "xtp-engine/src/context/close.rs",
        "Ok(DiagCode::ContextRefused) if «opening» => { self.finish",
        "true",
        "a DIAG \"context refused\" ends an association that is open",
    ),
    Mutant::new(
        "abandoned-without-end",
        "xtp-engine/src/context/close.rs",
        "Ok(DiagCode::ContextAbandoned) if «header.options.contains(Options::END)» =>",
        "true",
        "a DIAG \"context abandoned\" without END ends an association",
    ),
    Mutant::new(
        "unreachable-port-ends",
        "xtp-engine/src/context/close.rs",
        "if confirmed && self.reader.state == ReaderState::Done { self.finish(CloseReason::Normal, env); } \
         else { «self.raise_doubt();» }",
        "self.finish(CloseReason::Lost, env);",
        "\"port unreachable\" ends an open association without asking its peer",
    ),
    Mutant::new(
        "unreachable-port-ends-normally",
        "xtp-engine/src/context/close.rs",
        "if «confirmed && self.reader.state == ReaderState::Done» { self.finish(CloseReason::Normal, env);",
        "true",
        "\"port unreachable\" ends an open association as if all was well",
    ),
];
