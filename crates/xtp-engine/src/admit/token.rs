//! Tokens: what a host can check later without having kept anything (§1.10).

use core::net::{IpAddr, SocketAddr};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use xtp_wire::Token;

use xtp_core::hash::address_octets;

/// Seconds a secret mints; the one before stays good for checking, so a token outlives its 10 minutes.
const EPOCH_SECONDS: u64 = 3_600;
/// Seconds of one unit of [`Token::time`].
const UNIT: u64 = 16;
/// A cookie is good for 32 s, whatever fraction of a unit it began in.
const COOKIE_UNITS: i32 = 2;
/// A source token is good for 600 s, likewise.
const SOURCE_UNITS: i32 = 38;

/// What a good token proves.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Kind 0: this very FIRST was repeated from its source address and port.
    Cookie,
    /// Kind 1: somebody at this address has received from us before.
    Source,
}

type Keyed = Hmac<Sha256>;

/// Mints and checks tokens under secrets that change every hour.
pub(crate) struct TokenMint {
    secret: [u8; 32],
    epoch: u8,
    current: Keyed,
    previous: Option<Keyed>,
    /// UTC second of the next change; `None` before the first look at a clock.
    rotate_at: Option<u64>,
    /// The source token made last, with what it depends on: address, time unit, epoch.
    latest: Option<((core::net::IpAddr, u64, u8), Token)>,
    /// The source token found good last, and from where it came: a client brings the same one with each association.
    proved: Option<(IpAddr, Token)>,
}

impl TokenMint {
    /// A mint whose first secret is `secret`, epoch 0. Every later one follows from it one way.
    pub(crate) fn new(secret: [u8; 32]) -> Self {
        Self {
            secret,
            epoch: 0,
            current: keyed(&secret),
            previous: None,
            rotate_at: None,
            latest: None,
            proved: None,
        }
    }

    #[cfg(test)]
    fn at_epoch(secret: [u8; 32], epoch: u8) -> Self {
        Self {
            epoch,
            ..Self::new(secret)
        }
    }

    /// Changes the secret if its hour is over. Call it now and then, at least before minting.
    pub(crate) fn advance(&mut self, utc_s: u64) {
        match self.rotate_at {
            Some(at) if utc_s < at => return,
            // A clock that leapt over two epochs has outlived every token: the older secret is of no use.
            Some(at) => {
                self.rotate();
                if utc_s >= at.saturating_add(EPOCH_SECONDS) {
                    self.previous = None;
                }
            }
            None => {}
        }
        self.rotate_at = Some(utc_s.saturating_add(EPOCH_SECONDS));
    }

    fn rotate(&mut self) {
        let mut step = self.current.clone();
        step.update(b"next token epoch");
        self.secret = step.finalize().into_bytes().into();
        let next = keyed(&self.secret);
        self.previous = Some(core::mem::replace(&mut self.current, next));
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// A cookie for a FIRST of `addr` with this key to service number `port` of `domain` (0 if it named none).
    pub(crate) fn cookie(&self, utc_s: u64, addr: SocketAddr, key: u64, domain: u8, port: u16) -> Token {
        self.mint(
            Token::COOKIE,
            utc_s,
            addr.ip(),
            &bound(addr.port(), key, domain, port),
        )
    }

    /// A source token for every later FIRST from `addr`, whatever its port. The latest one is kept: a client that
    /// opens thousands of associations a second is given the same token again until its time unit is over.
    pub(crate) fn source_token(&mut self, utc_s: u64, addr: SocketAddr) -> Token {
        let made = (addr.ip(), utc_s / UNIT, self.epoch);
        match &self.latest {
            Some((known, token)) if *known == made => *token,
            _ => {
                let token = self.mint(Token::SOURCE, utc_s, addr.ip(), &[]);
                self.latest = Some((made, token));
                token
            }
        }
    }

    /// What `token` proves about a FIRST from `addr` with this key to this service number; `None` if nothing.
    /// Compares in constant time.
    pub(crate) fn check(
        &mut self,
        token: &Token,
        utc_s: u64,
        addr: SocketAddr,
        key: u64,
        domain: u8,
        port: u16,
    ) -> Option<TokenKind> {
        let (kind, units, binding) = match token.kind {
            Token::COOKIE => (
                TokenKind::Cookie,
                COOKIE_UNITS,
                Some(bound(addr.port(), key, domain, port)),
            ),
            Token::SOURCE => (TokenKind::Source, SOURCE_UNITS, None),
            _ => return None,
        };
        // In this order the difference survives the wrap of the 32-bit field. One unit ahead is a clock set back.
        let age = ((utc_s / UNIT) as u32).wrapping_sub(token.time) as i32;
        if !(-1..=units).contains(&age) {
            return None;
        }
        let secret = if token.epoch == self.epoch {
            &self.current
        } else if token.epoch == self.epoch.wrapping_sub(1) {
            self.previous.as_ref()?
        } else {
            return None;
        };
        let known = self.proved.filter(|_| kind == TokenKind::Source);
        if known.is_some_and(|(from, proved)| from == addr.ip() && is_same(&proved, token)) {
            return Some(kind);
        }
        let bound = binding.as_ref().map_or(&[][..], |bound| &bound[..]);
        let mac = feed(secret, token.epoch, token.kind, token.time, addr.ip(), bound);
        mac.verify_truncated_left(&token.mac).ok()?;
        if kind == TokenKind::Source {
            self.proved = Some((addr.ip(), *token));
        }
        Some(kind)
    }

    fn mint(&self, kind: u8, utc_s: u64, addr: IpAddr, binding: &[u8]) -> Token {
        let time = (utc_s / UNIT) as u32;
        let whole = feed(&self.current, self.epoch, kind, time, addr, binding)
            .finalize()
            .into_bytes();
        let mut mac = [0; 16];
        mac.copy_from_slice(&whole[..16]);
        Token {
            epoch: self.epoch,
            kind,
            time,
            mac,
        }
    }
}

fn keyed(secret: &[u8; 32]) -> Keyed {
    // HMAC pads a key with zeros to the block of 64 octets; doing so here leaves no error to handle.
    let mut block = [0; 64];
    block[..32].copy_from_slice(secret);
    Keyed::new(&block.into())
}

/// What a cookie is bound to besides the address.
fn bound(udp_port: u16, key: u64, domain: u8, port: u16) -> [u8; 13] {
    let mut octets = [0; 13];
    octets[..2].copy_from_slice(&udp_port.to_be_bytes());
    octets[2..10].copy_from_slice(&key.to_be_bytes());
    octets[10] = domain;
    octets[11..].copy_from_slice(&port.to_be_bytes());
    octets
}

/// Compares in a time that says nothing of where they differ.
fn is_same(known: &Token, told: &Token) -> bool {
    let pairs = known.mac.iter().zip(&told.mac);
    let differs = pairs.fold(0, |all, (one, other)| all | (one ^ other));
    (known.epoch, known.kind, known.time) == (told.epoch, told.kind, told.time) && differs == 0
}

fn feed(secret: &Keyed, epoch: u8, kind: u8, time: u32, addr: IpAddr, binding: &[u8]) -> Keyed {
    let mut mac = secret.clone();
    mac.update(&[epoch, kind]);
    mac.update(&time.to_be_bytes());
    mac.update(&address_octets(addr));
    mac.update(binding);
    mac
}

#[cfg(test)]
#[path = "token_tests.rs"]
mod tests;
