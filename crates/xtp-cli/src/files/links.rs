//! What becomes of the symbolic links of a source.

/// How a sender treats links. A receiver makes those it is sent, wherever they lead, and follows none.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Links {
    /// They are copied as links.
    #[default]
    Keep,
    /// Those that lead out of their source are left out.
    Inside,
    /// What they lead to is copied in their place.
    Follow,
    /// All are left out.
    Skip,
}

impl Links {
    const ALL: [Self; 4] = [Self::Keep, Self::Inside, Self::Follow, Self::Skip];

    /// Two bits.
    pub(crate) fn number(self) -> u16 {
        match self {
            Self::Keep => 0,
            Self::Inside => 1,
            Self::Follow => 2,
            Self::Skip => 3,
        }
    }

    /// Of the lower two bits.
    pub(crate) fn of(number: u16) -> Self {
        Self::ALL[usize::from(number & 3)]
    }
}
