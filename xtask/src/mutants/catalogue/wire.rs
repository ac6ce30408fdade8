//! Packets: what is not checked, and what is written wrongly.

use crate::mutants::Mutant;

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "checksum-not-looked-at",
        "xtp-wire/src/packet.rs",
        "if «!checksum::verifies(head, covered)» { return Err(WireError::BadChecksum)",
        "false",
        "a damaged packet is believed",
    ),
    Mutant::new(
        "checksum-of-header-only",
        "xtp-wire/src/packet.rs",
        "let covered = if «header.options.contains(Options::NOCHECK)» { &[] }",
        "true",
        "damage of the payload is not noticed",
    ),
    Mutant::new(
        "checksum-although-nocheck",
        "xtp-wire/src/packet.rs",
        "let covered = «if header.options.contains(Options::NOCHECK) { &[] } else { payload }»",
        "payload",
        "a packet whose payload is not covered is refused",
    ),
    Mutant::new(
        "checksum-odd-place",
        "xtp-wire/src/checksum.rs",
        "self.sum += u64::from(if «self.odd» { folded.swap_bytes() }",
        "false",
        "pieces behind one of odd length are summed with their octets exchanged",
    ),
    Mutant::new(
        "version-not-looked-at",
        "xtp-wire/src/header.rs",
        "if «(command >> 5) & 7 != VERSION» {",
        "false",
        "packets of other versions are taken for XTP 4",
    ),
    Mutant::new(
        "header-run-sync-stands",
        "xtp-wire/src/header.rs",
        "sync = «sync.wrapping_add(1)»;",
        "sync",
        "all packets of a run have the same sync",
    ),
    Mutant::new(
        "length-beyond-datagram",
        "xtp-wire/src/exchange.rs",
        "let its = raw.is(Format::Xdata) && !raw.options().contains(Options::BTAG); \
         if «!its || usize::try_from(raw.dlen()) != Ok(payload.len())» {",
        "!its",
        "an XDATA packet whose length field lies about it is taken",
    ),
    Mutant::new(
        "exchange-checksum-not-looked-at",
        "xtp-wire/src/exchange.rs",
        "«checksum::verifies(octets, covered)».then_some((head, data))",
        "true",
        "a damaged XDATA packet of an exchange is believed",
    ),
    Mutant::new(
        "plain-tag-taken-for-data",
        "xtp-wire/src/exchange.rs",
        "header.format == format && «!header.options.contains(Options::BTAG)»",
        "true",
        "the tag of a DATA packet becomes data",
    ),
    Mutant::new(
        "spans-may-touch",
        "xtp-wire/src/spans.rs",
        "if «left <= end» || right <= left {",
        "left < end",
        "a span without a gap before it is taken",
    ),
    Mutant::new(
        "spans-may-be-empty",
        "xtp-wire/src/spans.rs",
        "if left <= end || «right <= left» {",
        "right < left",
        "an empty span is taken",
    ),
    Mutant::new(
        "control-with-rest",
        "xtp-wire/src/packet.rs",
        "let (raw, rest): (RawControl, _) = take(payload).ok_or(WireError::BadLength)?; «all_read(rest)?;» Self::Cntl",
        "",
        "a CNTL packet may have anything behind its segment",
    ),
    Mutant::new(
        "run-key-not-compared",
        "xtp-wire/src/run.rs",
        "let same = «here[0] == next[0]»",
        "true",
        "a packet of another association is taken as the next of a run",
    ),
    Mutant::new(
        "run-seq-not-compared",
        "xtp-wire/src/run.rs",
        "&& «here[3] == next[3]»;",
        "true",
        "a packet from elsewhere in the stream is taken as the next of a run",
    ),
    Mutant::new(
        "run-checksum-not-looked-at",
        "xtp-wire/src/run.rs",
        "if !same || «!checksum::verifies(head, if covered { payload } else { &[] })» {",
        "false",
        "a damaged packet in a run is believed",
    ),
];
