//! A symbol and what marks lie in it (§9.5).

use smallvec::SmallVec;

/// Octets of a descriptor.
pub const DESCRIPTOR_LEN: usize = xtp_wire::DESCRIPTOR_LEN;
/// Marks a descriptor has room for.
pub(crate) const MARKS: usize = 3;
/// A mark with this bit is a tag.
const TAG: u16 = 1 << 15;

const OVERFULL: u8 = 1;
const LAST: u8 = 2;

/// Something beside the octets of a stream, at an offset in its symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SymbolMark {
    /// One past an octet that ends a message.
    End(u16),
    /// A tag of eight octets begins here.
    Tag(u16),
}

impl SymbolMark {
    fn offset(self) -> u16 {
        match self {
            Self::End(offset) | Self::Tag(offset) => offset,
        }
    }
}

/// The marks of a symbol, and whether it is the stream's last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Descriptor {
    marks: SmallVec<[SymbolMark; MARKS]>,
    overfull: bool,
    last: bool,
}

impl Descriptor {
    /// Of a symbol with these marks, in order of their offsets. More than three do not fit: then it says so and holds
    /// none, and whoever lacks the symbol gets its DATA besides.
    ///
    /// `None` for marks that are out of order, or an offset of 2^15 or more, which has no place in a mark.
    #[must_use]
    pub fn new(marks: &[SymbolMark], last: bool) -> Option<Self> {
        let overfull = marks.len() > MARKS;
        let fits = marks.iter().all(|mark| mark.offset() < TAG) && ordered(marks);
        let kept = if overfull { &[] } else { marks };
        fits.then(|| Self {
            marks: SmallVec::from_slice(kept),
            overfull,
            last,
        })
    }

    /// The marks; none if there are more than three.
    #[must_use]
    pub fn marks(&self) -> &[SymbolMark] {
        &self.marks
    }

    /// Whether there are more marks than a descriptor can say.
    #[must_use]
    pub const fn is_overfull(&self) -> bool {
        self.overfull
    }

    /// Whether the stream ends in this symbol.
    #[must_use]
    pub const fn is_last(&self) -> bool {
        self.last
    }

    /// As it is coded.
    #[must_use]
    pub fn encode(&self) -> [u8; DESCRIPTOR_LEN] {
        let mut coded = [0; DESCRIPTOR_LEN];
        coded[0] = u8::try_from(self.marks.len()).unwrap_or(u8::MAX);
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        coded[1] = flag(self.overfull, OVERFULL) | flag(self.last, LAST);
        for (place, mark) in coded[2..].as_chunks_mut::<2>().0.iter_mut().zip(&self.marks) {
            *place = match mark {
                SymbolMark::End(offset) => *offset,
                SymbolMark::Tag(offset) => *offset | TAG,
            }
            .to_be_bytes();
        }
        coded
    }

    /// Reads what a decoder made. `None` for what nobody encodes: more marks than there is room for, marks beyond the
    /// symbol's `symbol_len` octets, or out of order.
    #[must_use]
    pub fn read(coded: [u8; DESCRIPTOR_LEN], symbol_len: usize) -> Option<Self> {
        let count = usize::from(coded[0]);
        let (places, _) = coded[2..].as_chunks::<2>();
        let marks: SmallVec<[SymbolMark; MARKS]> =
            places.get(..count)?.iter().map(|place| mark(*place)).collect();
        let sound = |mark: &SymbolMark| match mark {
            SymbolMark::End(offset) => *offset > 0 && usize::from(*offset) <= symbol_len,
            SymbolMark::Tag(offset) => usize::from(*offset) < symbol_len,
        };
        (ordered(&marks) && marks.iter().all(sound)).then_some(Self {
            marks,
            overfull: coded[1] & OVERFULL != 0,
            last: coded[1] & LAST != 0,
        })
    }
}

/// By offset; where a message ends and a tag begins at the same one, the end is first.
fn ordered(marks: &[SymbolMark]) -> bool {
    marks.is_sorted_by(|a, b| (a.offset(), a) < (b.offset(), b))
}

fn mark(place: [u8; 2]) -> SymbolMark {
    match u16::from_be_bytes(place) {
        tag if tag & TAG != 0 => SymbolMark::Tag(tag & !TAG),
        end => SymbolMark::End(end),
    }
}

/// Octets of one symbol, without the zeros that fill it, and what is beside them.
#[derive(Debug, Clone)]
pub struct Symbol<'a> {
    /// The octets there are.
    pub octets: &'a [u8],
    /// The marks in them.
    pub descriptor: Descriptor,
}

#[cfg(test)]
#[path = "symbol_tests.rs"]
mod tests;
