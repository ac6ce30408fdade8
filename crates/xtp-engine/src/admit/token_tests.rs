//! Vectors V17 and V21, and everything a token is bound to.

use core::net::SocketAddr;

use xtp_wire::{Body, Packet, Tlv, Token, Traffic};

use super::{EPOCH_SECONDS, TokenKind, TokenMint, UNIT};

/// Key, UTC second and service number of the vectors.
const KEY: u64 = 0x0123_4567_89ab_cdef;
const UTC: u64 = 0x0672_0a00 * 16;
const PORT: u16 = 10;
const V17: &str = "8123456789abcdef0000003200000018419900000000000000000000000000000300000006720a000b819c7d450bb000d76\
                   0d1b176f3cf73";
/// V21 without the zeros of its padding, which `v21` puts back.
const V21_HEAD: &str = "0123456789abcdef000c0022000000e0ae30000000000002000000000000000000100001c0000202c0000201000a9c40\
                        00c803800000049000000000000000000000000000000000000168000001680000000000001000000000018791a2b3c4\
                        000100180300000006720a000b819c7d450bb000d760d1b176f3cf73000b00180807060504030201000000000000002a\
                        00000000000000280000005c";
const V21_TAIL: &str = "7265717565737421";

fn octets(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let digit = |c: u8| (c as char).to_digit(16).expect("a hex digit") as u8;
    digits
        .chunks(2)
        .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
        .collect()
}

fn mint() -> TokenMint {
    TokenMint::at_epoch(core::array::from_fn(|n| n as u8), 3)
}

fn client() -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1], 40_000))
}

fn check(mint: &mut TokenMint, token: &Token, utc: u64) -> Option<TokenKind> {
    mint.check(token, utc, client(), KEY, 0, PORT)
}

#[test]
fn v17_is_the_cookie_we_mint() {
    let datagram = octets(V17);
    let packet = Packet::parse(&datagram).expect("a vector");
    let Body::Cookie(token) = packet.body else {
        panic!("V17 is a COOKIE")
    };
    assert_eq!(mint().cookie(UTC, client(), KEY, 0, PORT), token);
}

#[test]
fn v21_carries_a_token_that_fits() {
    let mut datagram = octets(V21_HEAD);
    let tail = octets(V21_TAIL);
    datagram.resize(256 - tail.len(), 0);
    datagram.extend(tail);
    let packet = Packet::parse(&datagram).expect("a vector");
    let Body::First(first) = packet.body else {
        panic!("V21 is a FIRST")
    };
    let Traffic::Extended(traffic) = first.traffic else {
        panic!("V21 has tformat 0x80")
    };
    let token = traffic.tlvs.iter().find_map(|tlv| {
        if let Tlv::Token(token) = tlv {
            Some(token)
        } else {
            None
        }
    });
    let token = token.expect("V21 has TLV 1");
    let key = packet.header.key.value();
    let port = first.address.port().expect("V21 names a service number");
    let proved = mint().check(&token, UTC, client(), key, first.address.domain(), port);
    assert_eq!(proved, Some(TokenKind::Cookie));
}

#[test]
fn a_cookie_is_bound_to_everything_it_names() {
    let mut mint = mint();
    let token = mint.cookie(UTC, client(), KEY, 0, PORT);
    assert_eq!(check(&mut mint, &token, UTC), Some(TokenKind::Cookie));
    let other_port = SocketAddr::from(([192, 0, 2, 1], 40_001));
    let other_host = SocketAddr::from(([192, 0, 2, 9], 40_000));
    assert_eq!(mint.check(&token, UTC, other_port, KEY, 0, PORT), None);
    assert_eq!(mint.check(&token, UTC, other_host, KEY, 0, PORT), None);
    assert_eq!(mint.check(&token, UTC, client(), KEY + 1, 0, PORT), None);
    assert_eq!(mint.check(&token, UTC, client(), KEY, 1, PORT), None);
    assert_eq!(mint.check(&token, UTC, client(), KEY, 0, PORT + 1), None);
    let mapped = SocketAddr::new("::ffff:192.0.2.1".parse().expect("an address"), 40_000);
    assert_eq!(
        mint.check(&token, UTC, mapped, KEY, 0, PORT),
        Some(TokenKind::Cookie),
        "the same host"
    );
}

#[test]
fn a_source_token_is_bound_to_the_address_alone() {
    let mut mint = mint();
    let token = mint.source_token(UTC, client());
    let elsewhere = SocketAddr::from(([192, 0, 2, 1], 1));
    assert_eq!(
        mint.check(&token, UTC, elsewhere, 99, 5, 6),
        Some(TokenKind::Source)
    );
    let other_host = SocketAddr::from(([192, 0, 2, 9], 40_000));
    assert_eq!(mint.check(&token, UTC, other_host, KEY, 0, PORT), None);
}

#[test]
fn every_flipped_bit_is_noticed() {
    let mut mint = mint();
    for token in [
        mint.cookie(UTC, client(), KEY, 0, PORT),
        mint.source_token(UTC, client()),
    ] {
        assert!(check(&mut mint, &token, UTC).is_some());
        for bit in 0..128 {
            let mut forged = token;
            forged.mac[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(check(&mut mint, &forged, UTC), None);
        }
        for bit in 0..8 {
            assert_eq!(
                check(
                    &mut mint,
                    &Token {
                        kind: token.kind ^ 1 << bit,
                        ..token
                    },
                    UTC
                ),
                None
            );
            assert_eq!(
                check(
                    &mut mint,
                    &Token {
                        epoch: token.epoch ^ 1 << bit,
                        ..token
                    },
                    UTC
                ),
                None
            );
        }
        assert_eq!(
            check(
                &mut mint,
                &Token {
                    time: token.time + 1,
                    ..token
                },
                UTC
            ),
            None
        );
    }
}

#[test]
fn tokens_live_as_long_as_they_should() {
    let mut mint = mint();
    for fraction in 0..16 {
        let made = UTC + fraction;
        let cookie = mint.cookie(made, client(), KEY, 0, PORT);
        assert!(check(&mut mint, &cookie, made + 32).is_some());
        assert!(check(&mut mint, &cookie, made + 48).is_none());
        let source = mint.source_token(made, client());
        assert!(check(&mut mint, &source, made + 600).is_some());
        assert!(check(&mut mint, &source, made + 624).is_none());
        assert!(check(&mut mint, &source, made - 32).is_none(), "from the future");
    }
}

#[test]
fn time_wraps_without_harm() {
    let mut mint = mint();
    let wrap = (1_u64 << 32) * 16;
    let token = mint.cookie(wrap - 1, client(), KEY, 0, PORT);
    assert!(check(&mut mint, &token, wrap + 16).is_some());
    assert!(check(&mut mint, &token, wrap + 64).is_none());
}

#[test]
fn a_secret_serves_one_epoch_and_checks_in_the_next() {
    let mut mint = mint();
    mint.advance(UTC);
    let late = UTC + EPOCH_SECONDS - 10;
    mint.advance(late);
    let old = mint.source_token(late, client());
    assert_eq!(old.epoch, 3);
    mint.advance(UTC + EPOCH_SECONDS);
    let new = mint.source_token(late + 10, client());
    assert_eq!(new.epoch, 4);
    assert_ne!(old.mac, new.mac);
    assert!(check(&mut mint, &old, late + 300).is_some());
    assert!(check(&mut mint, &new, late + 300).is_some());
    mint.advance(UTC + 2 * EPOCH_SECONDS);
    assert!(check(&mut mint, &old, late + 300).is_none(), "two epochs ago");
    assert!(check(&mut mint, &new, late + 300).is_some());
    mint.advance(UTC + 9 * EPOCH_SECONDS);
    assert!(check(&mut mint, &new, late + 300).is_none(), "a clock that leapt");
}

#[test]
fn the_latest_source_token_is_given_again_and_to_nobody_else() {
    let mut mint = TokenMint::new([7; 32]);
    let fresh = |utc_s: u64, addr: SocketAddr| TokenMint::new([7; 32]).source_token(utc_s, addr);
    let other: SocketAddr = "192.0.2.200:9".parse().unwrap();
    for (utc_s, addr) in [
        (UTC, client()),
        (UTC, client()),
        (UTC, other),
        (UTC, client()),
        (UTC + 10 * UNIT, client()),
    ] {
        assert_eq!(mint.source_token(utc_s, addr), fresh(utc_s, addr));
    }
}
