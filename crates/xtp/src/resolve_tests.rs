//! Names and orders of addresses.

use super::*;

#[test]
fn literal_addresses_need_no_resolver() {
    let four = resolve("127.0.0.1", 9).expect("an address");
    assert_eq!(four, ["127.0.0.1:9".parse().expect("an address")]);
    for text in ["::1", "[::1]"] {
        let six = resolve(text, 9).expect("an address");
        assert_eq!(six, ["[::1]:9".parse().expect("an address")]);
    }
}

#[test]
fn nonsense_names_itself_in_the_error() {
    let error = resolve("no such name.invalid", 9).expect_err("a space is in no name");
    assert!(error.is_unreachable());
    assert!(error.to_string().contains("no such name.invalid"), "{error}");
}

#[test]
fn families_take_turns_beginning_with_the_resolvers_choice() {
    let parse = |text: &str| text.parse::<SocketAddr>().expect("an address");
    let found = [
        "[::1]:1",
        "[::2]:1",
        "[::1]:1",
        "[::3]:1",
        "10.0.0.1:1",
        "10.0.0.2:1",
    ]
    .map(parse);
    let ordered = interleave(found.to_vec());
    let expected = ["[::1]:1", "10.0.0.1:1", "[::2]:1", "10.0.0.2:1", "[::3]:1"].map(parse);
    assert_eq!(ordered, expected);
    assert_eq!(interleave(Vec::new()), []);
}
