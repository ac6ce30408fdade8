//! An address that never asked for anything gets at most three times what somebody sent in its name (§7.3).

use core::net::SocketAddr;
use std::collections::BTreeMap;

/// What came from forged addresses, and what went there; by host and address.
#[derive(Clone, Debug, Default)]
pub struct ReflectionCheck {
    places: BTreeMap<(usize, SocketAddr), (u64, u64)>,
}

impl ReflectionCheck {
    /// `host` got a packet of `octets` that claims to come from `address`, where nobody is.
    pub fn received(&mut self, host: usize, address: SocketAddr, octets: u64) {
        self.places.entry((host, address)).or_default().0 += octets;
    }

    /// `host` sends a packet of `octets` to `to`; whatever is no forged address is no business of this check.
    ///
    /// # Errors
    /// More than three times what came from there.
    pub fn sent(&mut self, host: usize, to: SocketAddr, octets: u64) -> Result<(), String> {
        let Some((received, sent)) = self.places.get_mut(&(host, to)) else {
            return Ok(());
        };
        *sent += octets;
        if *sent <= 3 * *received {
            return Ok(());
        }
        Err(format!(
            "{sent} octets to {to}, in whose name {received} octets were forged"
        ))
    }

    /// Octets that went to forged addresses.
    pub fn reflected(&self) -> u64 {
        self.places.values().map(|(_, sent)| sent).sum()
    }
}

#[cfg(test)]
#[path = "reflection_tests.rs"]
mod tests;
