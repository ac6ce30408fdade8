//! Imports taken apart.

use super::*;

#[test]
fn groups_are_taken_apart_and_renamings_left_out() {
    let text = "use std::{\n    fmt,\n    net::{UdpSocket as U, SocketAddr},\n    time::{Duration, Instant},\n};\nuse a::b as c;\npub use d::*;\n";
    let found = imports(&Source::new("a.rs", text.to_owned()));
    let paths: Vec<(usize, &str)> = found
        .iter()
        .map(|import| (import.line, import.path.as_str()))
        .collect();
    let expected = [
        (1, "std::fmt"),
        (1, "std::net::UdpSocket"),
        (1, "std::net::SocketAddr"),
        (1, "std::time::Duration"),
        (1, "std::time::Instant"),
        (6, "a::b"),
        (7, "d::*"),
    ];
    assert_eq!(paths, expected);
}
