//! The short ways of messages on an association that lasts.

use crate::mutants::Mutant;

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "express-source",
        "xtp-engine/src/context/express.rs",
        "&& «datagram.src == self.peer.addr»",
        "true",
        "the short way takes a message from any address",
    ),
    Mutant::new(
        "express-destination",
        "xtp-engine/src/context/express.rs",
        "&& «(datagram.dst.is_none() || datagram.dst == self.peer.local)»",
        "true",
        "the short way does not notice that the peer sends to another address of ours",
    ),
    Mutant::new(
        "express-place",
        "xtp-engine/src/context/express.rs",
        "&& «header.seq == reader.store.next()» && len > 0",
        "true",
        "the short way takes a duplicate, or what lies beyond a hole",
    ),
    Mutant::new(
        "express-beyond-alloc",
        "xtp-engine/src/context/express.rs",
        "&& «header.seq + len as u64 <= reader.alloc»",
        "true",
        "the short way stores beyond the grant",
    ),
    Mutant::new(
        "express-old-sync",
        "xtp-engine/src/context/express.rs",
        "is_some_and(|newest| «serial_gt(header.sync, newest)»)",
        "true",
        "the short way takes a packet that was overtaken",
    )
    .explained(
        "how old a packet is decides about modes, edge and echo; a regular association's packets state the modes and \
         the edge there are, and the echo is note_sync's, which every way calls",
    ),
    Mutant::new(
        "express-acknowledges-less",
        "xtp-engine/src/context/express.rs",
        "&& «control.rseq == self.writer.nxt»",
        "true",
        "the short way takes a message that does not acknowledge ours for one that does",
    ),
    Mutant::new(
        "express-echo",
        "xtp-engine/src/context/express.rs",
        "&& «control.echo == self.writer.sync_out»",
        "true",
        "the short way takes any echo",
    ),
    Mutant::new(
        "express-largest-grant",
        "xtp-engine/src/context/express.rs",
        "&& «control.alloc - control.rseq <= crate::plausible::MAX_GRANT»",
        "true",
        "the short way takes a grant of any size",
    ),
    Mutant::new(
        "express-grant-below",
        "xtp-engine/src/context/express.rs",
        "&& «control.alloc >= control.rseq» && control.alloc - control.rseq",
        "true",
        "the short way takes a grant below what was received",
    ),
    Mutant::new(
        "express-options",
        "xtp-engine/src/context/express.rs",
        "&& «header.options - (Options::EOM | Options::NOCHECK) == plain»",
        "true",
        "the short way does not see what is asked",
    ),
    Mutant::new(
        "express-own-credit",
        "xtp-engine/src/context/express.rs",
        "&& «writer.nxt + octets <= writer.credit.alloc»",
        "true",
        "the short way sends beyond the credit",
    ),
    Mutant::new(
        "express-own-pacer",
        "xtp-engine/src/context/express.rs",
        "&& «writer.pacer.available() > 0» && now",
        "true",
        "the short way does not keep the pace",
    ),
    Mutant::new(
        "express-own-window",
        "xtp-engine/src/context/express.rs",
        "&& «writer.control.window() > 0» && writer.pacer",
        "true",
        "the short way does not look at the window",
    )
    .explained(
        "no controller's window is below two segments, and nothing is in flight where this is asked",
    ),
    Mutant::new(
        "express-idle",
        "xtp-engine/src/context/express.rs",
        "&& «now < self.idle_from()»",
        "true",
        "the short way uses a window that should have decayed",
    ),
    Mutant::new(
        "express-in-flight",
        "xtp-engine/src/context/express.rs",
        "&& «(acknowledged || writer.inflight.is_empty())»",
        "true",
        "the short way sends over what is under way",
    ),
    Mutant::new(
        "express-rates",
        "xtp-engine/src/context/express.rs",
        "&& «writer.peer_bucket.is_off()» && writer.own_bucket",
        "true",
        "the short way does not keep the peer's limit of rate",
    ),
    Mutant::new(
        "express-unproved",
        "xtp-engine/src/context/express.rs",
        "&& «self.peer.validated» && self.peer_key",
        "true",
        "the short way speaks to an address that proved nothing",
    )
    .explained(
        "an association whose peer has not proved its address is half-open, which is_quiet asks for too",
    ),
    Mutant::new(
        "train-source",
        "xtp-engine/src/context/express_train.rs",
        "&& «datagram.src == self.peer.addr»",
        "true",
        "the short way takes the rest of a message from any address",
    ),
    Mutant::new(
        "train-place",
        "xtp-engine/src/context/express_train.rs",
        "&& «header.seq == reader.store.next()»",
        "true",
        "the short way takes a duplicate for the rest of a message",
    ),
    Mutant::new(
        "train-beyond-alloc",
        "xtp-engine/src/context/express_train.rs",
        "&& «header.seq + data.data.len() as u64 <= reader.alloc»",
        "true",
        "the short way stores the rest of a message beyond the grant",
    ),
    Mutant::new(
        "train-old-sync",
        "xtp-engine/src/context/express_train.rs",
        ".is_some_and(|newest| «serial_gt(header.sync, newest)»)",
        "true",
        "the short way takes an old packet for the rest of a message",
    )
    .explained(
        "as `express-old-sync`",
    ),
    Mutant::new(
        "train-options",
        "xtp-engine/src/context/express_train.rs",
        "&& «header.options - (Options::EOM | Options::NOCHECK) == plain»",
        "true",
        "the short way does not see what the rest of a message asks",
    ),
    Mutant::new(
        "message-of-another-key",
        "xtp-engine/src/context/exchange.rs",
        "if «header.key != Key::returned(self.key)» || header",
        "false",
        "a message for another association is handed over",
    ),
    Mutant::new(
        "message-before-unread",
        "xtp-engine/src/context/exchange.rs",
        "|| «!self.reader.store.is_empty()» { return None;",
        "false",
        "a message is handed over before what came first",
    ),
    Mutant::new(
        "message-part-place",
        "xtp-engine/src/context/exchange.rs",
        "&& «(header.seq, header.sync) == (seq, sync)»;",
        "true",
        "parts of a message are put together whatever their place",
    ),
    Mutant::new(
        "message-beyond-alloc",
        "xtp-engine/src/context/exchange.rs",
        "|| «seq > reader.alloc» ||",
        "false",
        "a message in parts is taken beyond the grant",
    ),
    Mutant::new(
        "message-train-credit",
        "xtp-engine/src/context/exchange.rs",
        "«writer.nxt + (len + size) as u64 <= writer.credit.alloc»",
        "true",
        "a message in parts leaves beyond the credit",
    )
    .explained(
        "the spare segment is caution: may_depart asks whether the message fits the credit, and what fits leaves alike",
    ),
    Mutant::new(
        "message-train-window",
        "xtp-engine/src/context/exchange.rs",
        "&& «((first + before_last) as u64) < writer.control.window()»",
        "true",
        "a message in parts leaves beyond the window",
    )
    .explained(
        "a train is three packets, the last of which begins within two segments; no window is less",
    ),
    Mutant::new(
        "answer-credit",
        "xtp-engine/src/context/leeway.rs",
        ".min(«writer.credit.alloc.saturating_sub(writer.nxt)»)",
        "u64::MAX",
        "an answer leaves at once beyond the credit",
    ),
    Mutant::new(
        "answer-room",
        "xtp-engine/src/context/leeway.rs",
        "&& «octets <= self.leeway as usize»",
        "true",
        "an answer leaves at once whatever its length",
    ),
    Mutant::new(
        "run-source",
        "xtp-engine/src/context/arrivals.rs",
        "&& «datagram.src == self.peer.addr»;",
        "true",
        "a run of packets from any address is taken",
    ),
    Mutant::new(
        "run-old-sync",
        "xtp-engine/src/context/arrivals.rs",
        ".is_some_and(|sync| «serial_gt(header.sync, sync)»)",
        "true",
        "a run of packets that was overtaken is taken",
    ),
    Mutant::new(
        "run-place",
        "xtp-engine/src/context/arrivals.rs",
        "&& «header.seq == reader.store.next()»",
        "true",
        "a run of duplicates is taken as new",
    ),
    Mutant::new(
        "run-over-a-hole",
        "xtp-engine/src/context/arrivals.rs",
        "&& «!reader.store.has_holes()»;",
        "true",
        "a run fills a hole without looking at what lies behind",
    ),
];
