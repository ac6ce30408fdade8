//! The short ways of associations of one message.

use crate::mutants::Mutant;

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "guest-amplifies",
        "xtp-engine/src/engine/responder/answer.rs",
        "&& «(responder.terms.kind.validated || modest())»",
        "true",
        "the short way answers an address that proved nothing beyond three times what came",
    ),
    Mutant::new(
        "guest-special-terms",
        "xtp-engine/src/engine/responder/first.rs",
        "&& «!claim.is_special»",
        "true",
        "the short way does not see what a specifier asks beside",
    )
    .explained(
        "no such term changes an answer of one packet, and the context is made of the whole FIRST in any case",
    ),
    Mutant::new(
        "known-source",
        "xtp-engine/src/engine/responder/known.rs",
        "let same = «(datagram.src, datagram.dst) == (kind.src, kind.dst)»",
        "true",
        "a FIRST from another address is taken for the known client's",
    ),
    Mutant::new(
        "known-listener-gone",
        "xtp-engine/src/engine/responder/known.rs",
        "if «changes != self.listeners.changes()» {",
        "false",
        "a FIRST like the last is taken although its listener is gone",
    ),
    Mutant::new(
        "known-there-already",
        "xtp-engine/src/engine/responder/known.rs",
        "if «self.demux.foreign(datagram.src, header.key.value()).is_some()» {",
        "false",
        "the repeated FIRST of a live association is taken for a new one",
    ),
    Mutant::new(
        "answered-not-remembered",
        "xtp-engine/src/engine/pending.rs",
        "let waits = record.is_to_have_turn(); «self.remember(slot);» if waits {",
        "",
        "the FIRST that was answered is not known before its END comes",
    ),
    Mutant::new(
        "deferred-end-stays",
        "xtp-engine/src/driver/mod.rs",
        "if «self.end_due().is_some()» {",
        "false",
        "an END that waits never leaves",
    ),
    Mutant::new(
        "posted-other-listener",
        "xtp-engine/src/engine/expected.rs",
        "«listener == at» && octets <= limit",
        "true",
        "who waits at a listener is handed what came at another",
    ),
    Mutant::new(
        "posted-too-long",
        "xtp-engine/src/engine/expected.rs",
        "listener == at && «octets <= limit»",
        "true",
        "who waits for a message is handed one that is longer than it takes",
    ),
    Mutant::new(
        "posted-other-answer",
        "xtp-engine/src/engine/expected.rs",
        "«id == of» && octets <= limit",
        "true",
        "who waits for an answer is handed that to another association",
    ),
    Mutant::new(
        "posted-held",
        "xtp-engine/src/engine/responder/end.rs",
        "if «!self.contexts.responder(slot).is_some_and(is_held)» && self.meets",
        "true",
        "the end of an association that its user still holds is told to nobody",
    ),
    Mutant::new(
        "answer-source",
        "xtp-engine/src/engine/initiator/ending.rs",
        "&& «datagram.src == context.peer.addr» && header.seq",
        "true",
        "what follows is learned of an answer from any address",
    )
    .explained(
        "the packet goes the general way in any case, and what is learned of it has to agree with what the context said after it",
    ),
    Mutant::new(
        "answer-echo",
        "xtp-engine/src/engine/initiator/ending.rs",
        "control.rseq == context.writer.nxt && «control.echo == context.writer.sync_out»",
        "true",
        "what follows is learned of an answer to another FIRST",
    )
    .explained(
        "of one packet only its own echo is plausible; of a request in several everything goes the general way",
    ),
    Mutant::new(
        "answer-of-part",
        "xtp-engine/src/engine/initiator/ending.rs",
        "«control.rseq == context.writer.nxt» && control.echo",
        "true",
        "what follows is learned of an answer that does not acknowledge the request",
    )
    .explained(
        "the packet goes the general way in any case, and what is learned of it has to agree with what the context said after it",
    ),
    Mutant::new(
        "answer-beyond-alloc",
        "xtp-engine/src/engine/initiator/ending.rs",
        "&& «data.len() as u64 <= context.reader.alloc»",
        "true",
        "what follows is learned of an answer beyond the grant",
    )
    .explained(
        "the packet goes the general way in any case, and what is learned of it has to agree with what the context said after it",
    ),
    Mutant::new(
        "answer-at-once-source",
        "xtp-engine/src/engine/initiator/ending.rs",
        "&& «datagram.src == pending.peer» && header.packet_len()",
        "true",
        "an answer from another address is handed over",
    ),
    Mutant::new(
        "answer-at-once-echo",
        "xtp-engine/src/engine/initiator/ending.rs",
        "&& «echo.is_none_or(|echo| echo == pending.sync())»",
        "true",
        "an answer to another FIRST is handed over",
    ),
    Mutant::new(
        "answer-at-once-numbers",
        "xtp-engine/src/engine/initiator/ending.rs",
        "let fits = «numbers == kind.alloc.map(|alloc| (kind.rseq, alloc))» && echo",
        "true",
        "an answer is handed over whatever it acknowledges and grants",
    ),
    Mutant::new(
        "end-of-stay-source",
        "xtp-engine/src/engine/responder/end.rs",
        "&& «(datagram.src, datagram.dst) == (kind.src, kind.dst)»",
        "true",
        "END from another address confirms the answer",
    )
    .explained(
        "a record is found by the address that END comes from, and to which of ours it came changes nothing of what is left",
    ),
    Mutant::new(
        "end-of-stay-sync",
        "xtp-engine/src/engine/responder/end.rs",
        "&& «header.sync == self.sync.wrapping_add(1)»",
        "true",
        "an END with another sync confirms the answer",
    ),
    Mutant::new(
        "parted-end-echo",
        "xtp-engine/src/engine/responder/end.rs",
        "&& «echo == self.newest_sync()»",
        "true",
        "END that echoes another packet lets the association go",
    ),
    Mutant::new(
        "parted-end-numbers",
        "xtp-engine/src/engine/responder/end.rs",
        "&& «rseq == self.answer_len()»",
        "true",
        "END of a client that has not all of the answer lets the association go",
    ),
    Mutant::new(
        "parted-end-largest-grant",
        "xtp-engine/src/engine/responder/end.rs",
        "&& «alloc - rseq <= crate::plausible::MAX_GRANT»",
        "true",
        "END with a grant of any size is believed",
    ),
    Mutant::new(
        "launch-beyond-room",
        "xtp-engine/src/engine/initiator/template.rs",
        "&& «initiator.request.len() <= self.room»",
        "true",
        "a request leaves in one packet whatever its length",
    ),
    Mutant::new(
        "initiator-waits-for-ever",
        "xtp-engine/src/engine/pending.rs",
        "&& «until <= self.now»",
        "false",
        "an initiator without a context never repeats its FIRST",
    ),
    Mutant::new(
        "initiator-hears-of-no-port",
        "xtp-engine/src/engine/pending.rs",
        "&& «self.contexts.pending(*slot).map(Pending::peer) == Some(peer)»",
        "false",
        "what the carrier reports of a peer is nothing to an initiator without a context",
    ),
    Mutant::new(
        "waiting-limit-of-whole",
        "xtp-engine/src/engine/initiator/turn.rs",
        "limit != usize::MAX && «whole <= limit»",
        "true",
        "initiators without a context are more than associations may be whole",
    ),
    Mutant::new(
        "parted-end-grant-below",
        "xtp-engine/src/engine/responder/end.rs",
        "&& «alloc >= rseq» && alloc - rseq",
        "true",
        "END with a grant below what was received is believed",
    ),
    Mutant::new(
        "handed-before-replies",
        "xtp-engine/src/engine/turn.rs",
        "self.config.overrides.express && self.is_at_rest() && «self.replies.is_empty()» && !self.has_timer_due(now)",
        "true",
        "an answer overtakes replies that wait",
    ),
];
