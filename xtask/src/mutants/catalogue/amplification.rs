//! Three times what came from an address that has proved nothing, and no more.

use crate::mutants::Mutant;

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "data-four-times",
        "xtp-engine/src/context/peer.rs",
        "(!self.validated).then(|| («3» * self.received).saturating_sub(self.sent + RESERVED_FOR_CONTROL))",
        "4",
        "data goes out four times",
    ),
    Mutant::new(
        "data-takes-all",
        "xtp-engine/src/context/peer.rs",
        "saturating_sub(«self.sent + RESERVED_FOR_CONTROL»)",
        "self.sent",
        "nothing is left of the budget to ask with",
    ),
    Mutant::new(
        "control-four-times",
        "xtp-engine/src/context/peer.rs",
        "self.sent + octets <= «3» * self.received",
        "4",
        "control goes out four times",
    ),
    Mutant::new(
        "sent-not-counted",
        "xtp-engine/src/context/packets.rs",
        "«self.peer.sent += octets as u64;»",
        "",
        "every packet finds the whole budget",
    ),
    Mutant::new(
        "budget-without-a-last-look",
        "xtp-engine/src/context/packets.rs",
        "if «travel.to.is_none() && !self.peer.allows_control(octets as u64)» {",
        "false",
        "a packet larger than was thought leaves beyond the budget",
    ),
    Mutant::new(
        "anybody-pays",
        "xtp-engine/src/context/receive.rs",
        "if «input.src == self.peer.addr» { self.peer.received",
        "true",
        "what comes from one address is a budget for another",
    ),
    Mutant::new(
        "any-key-proves",
        "xtp-engine/src/context/receive.rs",
        "let disclosed = «header.key.is_returned()» && self.peer",
        "true",
        "an address is proved by whatever comes from it",
    ),
    Mutant::new(
        "key-proves-a-moved-port",
        "xtp-engine/src/context/receive.rs",
        "let disclosed = header.key.is_returned() && «self.peer.is_where_it_began()»;",
        "true",
        "a key that was told to one address proves another",
    ),
    Mutant::new(
        "old-echo-proves-a-moved-port",
        "xtp-engine/src/context/path.rs",
        "«self.writer.ring.renew();»",
        "",
        "an echo of what was sent to one port proves another",
    ),
    Mutant::new(
        "tail-beyond-the-budget",
        "xtp-engine/src/context/timeout.rs",
        "(Some(budget), Some((_, len))) => «u64::from(len) + 56 <= budget»,",
        "len > 0 || budget > 0",
        "repetitions go out beyond the budget",
    )
    .explained("what does not fit is dropped where packets are built, counts as lost and is sent again"),
    Mutant::new(
        "timer-beyond-the-budget",
        "xtp-engine/src/context/timeout.rs",
        "if «tight && self.role == Role::Responder» { match self.writer.blocked {",
        "false && tight",
        "WTIMER speaks where nothing may be sent",
    )
    .explained("what does not fit is dropped where packets are built, counts as lost and is sent again"),
    Mutant::new(
        "answer-beyond-the-budget",
        "xtp-engine/src/context/decide.rs",
        "self.role == Role::Initiator || «self.peer.allows_control(self.status_size())»",
        "true",
        "answers go out beyond the budget",
    ),
    Mutant::new(
        "path-beyond-the-budget",
        "xtp-engine/src/context/path.rs",
        "&& «!self.peer.allows_control(octets as u64)»",
        "false",
        "answers to challenges go out beyond the budget",
    )
    .explained("an answer is no larger than the challenge, which has just paid for three of it"),
    Mutant::new(
        "former-address-pays-nothing",
        "xtp-engine/src/context/path.rs",
        "if let Some(octets) = «spare» {",
        "spare.filter(|_| false)",
        "the address that was left is challenged although nobody proved it",
    ),
    Mutant::new(
        "former-address-without-limit",
        "xtp-engine/src/path/migration.rs",
        "let challenges = «(octets / CHALLENGE_OCTETS)».min(u64::from(WAY_BACK)) as u32;",
        "octets",
        "the address that was left is sent more than its budget",
    ),
];
