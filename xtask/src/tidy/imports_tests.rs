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

#[test]
fn what_others_reach_by_a_file_is_told_from_what_it_uses() {
    let text = "pub use a::b;\npub(crate) use c::{d, e};\nuse f::g;\nfn h() -> impl Sized + use<> { pub_use::k() }\n";
    let file = Source::new("a.rs", text.to_owned());
    let found = imports(&file);
    let public: Vec<(&str, bool)> = found
        .iter()
        .map(|import| (import.path.as_str(), import.public))
        .collect();
    assert_eq!(
        public,
        [("a::b", true), ("c::d", true), ("c::e", true), ("f::g", false)]
    );
    let rest = without_imports(&file);
    assert_eq!(rest.len(), text.len());
    assert!(rest.contains("pub_use::k()") && !rest.contains("f::g"), "{rest}");
}
