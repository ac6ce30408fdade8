//! One of N parts of something exhaustive.

/// Part `index` of `count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shard {
    /// From 0, below `count`.
    index: u32,
    /// At least 1.
    count: u32,
}

impl Shard {
    /// From `K/N`.
    pub(crate) fn parse(word: &str) -> Result<Self, String> {
        let parsed = word.split_once('/').and_then(|(index, count)| {
            Some(Self {
                index: index.parse().ok()?,
                count: count.parse().ok()?,
            })
        });
        parsed
            .filter(|shard| shard.index < shard.count)
            .ok_or_else(|| format!("--part {word}: give K/N, K from 0 and below N, as in 0/8"))
    }

    pub(crate) fn index(self) -> u32 {
        self.index
    }

    pub(crate) fn count(self) -> u32 {
        self.count
    }

    /// Whether what has this name lies in it. Names of others do not matter.
    pub(crate) fn contains(self, name: &str) -> bool {
        fnv1a(name.as_bytes()) % u64::from(self.count) == u64::from(self.index)
    }
}

/// FNV-1a, 64 bits: the same on every machine and in every version.
fn fnv1a(octets: &[u8]) -> u64 {
    let mix = |hash: u64, octet: &u8| (hash ^ u64::from(*octet)).wrapping_mul(0x0000_0100_0000_01b3);
    octets.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

#[cfg(test)]
#[path = "shard_tests.rs"]
mod tests;
