//! Acknowledgements, losses and round trips.

use crate::mutants::Mutant;

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "acknowledgement-of-the-unsent",
        "xtp-engine/src/context/receive.rs",
        "&& «control.rseq <= self.writer.nxt»",
        "true",
        "octets that were never sent count as acknowledged",
    ),
    Mutant::new(
        "span-of-the-unsent",
        "xtp-engine/src/context/receive.rs",
        "Body::Ecntl { spans, .. } => «spans .iter() .last() .is_none_or(|(_, right)| right <= self.writer.nxt)»",
        "true",
        "a span beyond what was sent is believed",
    ),
    Mutant::new(
        "span-of-the-unsent-extended",
        "xtp-engine/src/context/receive.rs",
        "Body::Xcntl(status) => «status .spans .iter() .last() .is_none_or(|(_, right)| right <= self.writer.nxt)»",
        "true",
        "a span of extended status beyond what was sent is believed",
    ),
    Mutant::new(
        "echo-of-the-future",
        "xtp-engine/src/context/receive.rs",
        "«!serial_gt(echo, out)»",
        "true",
        "an echo of a packet that was never sent is believed",
    ),
    Mutant::new(
        "echo-before-first",
        "xtp-engine/src/context/receive.rs",
        "&& «!serial_gt(self.writer.first_sync, echo)»",
        "true",
        "an echo from before the association is believed",
    ),
    Mutant::new(
        "stale-status-judged",
        "xtp-engine/src/context/control.rs",
        "if status.is_evidence(header) && «!stale» {",
        "true",
        "status that was overtaken declares losses",
    ),
    Mutant::new(
        "tcntl-is-evidence",
        "xtp-engine/src/context/control.rs",
        "if «status.is_evidence(header)» && !stale {",
        "true",
        "a TCNTL, or a packet with END, declares losses",
    ),
    Mutant::new(
        "sync-without-wrapping",
        "xtp-engine/src/context/reader.rs",
        "Some(newest) if «serial_gt(sync, newest)» =>",
        "sync > newest",
        "a sync that has wrapped is taken for an old one",
    ),
    Mutant::new(
        "echo-of-the-oldest",
        "xtp-engine/src/context/reader.rs",
        "Some(newest) if «serial_gt(sync, newest)» =>",
        "true",
        "the echo names the packet that came last, not the newest",
    ),
    Mutant::new(
        "judging-looks-at-all",
        "xtp-engine/src/send/inflight.rs",
        "let rest_is_newer = «run.seq >= self.ordered_from && serial_gt(run.sync, judge.echo)»;",
        "false",
        "judging looks at segments that are newer than the echo",
    )
    .explained("only the search takes longer: none of those segments can be lost by that echo"),
];
