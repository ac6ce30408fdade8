//! The 24 option bits of a header and the packets they mean something on (§1.2).

use bitflags::bitflags;

use crate::Format;

bitflags! {
    /// Option bits. Values are those of the 24-bit field; reserved bits are dropped when parsed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct Options: u32 {
        /// The checksum covers the header only.
        const NOCHECK = 0x40_0000;
        /// A level; its change asks for status.
        const EDGE = 0x20_0000;
        /// The reader ignores gaps, nothing is sent again.
        const NOERR = 0x10_0000;
        /// The association is a group.
        const MULTI = 0x08_0000;
        /// The reader grants only what its user has posted.
        const RES = 0x04_0000;
        /// The sort field holds a priority.
        const SORT = 0x02_0000;
        /// The writer does not obey alloc.
        const NOFLOW = 0x01_0000;
        /// The reader reports gaps at once.
        const FASTNAK = 0x00_8000;
        /// Answer now with a control packet.
        const SREQ = 0x00_4000;
        /// Answer when everything up to this packet has been delivered.
        const DREQ = 0x00_2000;
        /// The reader accepts no more.
        const RCLOSE = 0x00_1000;
        /// The writer's stream ends.
        const WCLOSE = 0x00_0800;
        /// The last octet of this packet ends a message.
        const EOM = 0x00_0400;
        /// The association is over for the sender.
        const END = 0x00_0200;
        /// Eight octets of tag precede the data.
        const BTAG = 0x00_0100;
    }
}

impl Options {
    /// Modes of the writer, repeated in each of its data and control packets.
    pub const WRITER_MODES: Self = Self::NOERR
        .union(Self::MULTI)
        .union(Self::RES)
        .union(Self::NOFLOW)
        .union(Self::FASTNAK);

    /// The bits that mean something on a packet of this format; on any other packet a sender leaves them
    /// clear and a receiver ignores them (§1.2).
    #[must_use]
    pub const fn meaningful_on(format: Format) -> Self {
        const ANY: Options = Options::NOCHECK.union(Options::SORT);
        const ASKING: Options = ANY
            .union(Options::NOERR)
            .union(Options::RES)
            .union(Options::NOFLOW)
            .union(Options::FASTNAK)
            .union(Options::EDGE)
            .union(Options::SREQ)
            .union(Options::DREQ)
            .union(Options::RCLOSE)
            .union(Options::WCLOSE);
        match format {
            Format::First | Format::Data => Self::all(),
            Format::Xdata => ASKING.union(Self::EOM).union(Self::BTAG),
            Format::Cntl => ASKING.union(Self::MULTI).union(Self::END),
            Format::Ecntl | Format::Tcntl | Format::Jcntl | Format::Xcntl => ASKING.union(Self::MULTI),
            Format::Parity | Format::Gnack => ANY.union(Self::MULTI),
            Format::Diag => ANY.union(Self::END),
            Format::Cookie | Format::Path => ANY,
            Format::Join | Format::Sealed => Self::empty(),
        }
    }
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
