//! What several tests need: the reference packets.

/// The reference packets in order, by name.
pub(crate) fn vectors() -> Vec<(&'static str, Vec<u8>)> {
    include_str!("../vectors.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(vector)
        .collect()
}

fn vector(line: &'static str) -> (&'static str, Vec<u8>) {
    let mut words = line.split(' ');
    let (name, length, hex) = (
        words.next().unwrap(),
        words.next().unwrap(),
        words.next().unwrap(),
    );
    let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    let octets: Vec<u8> = (0..hex.len()).step_by(2).map(digit).collect();
    assert_eq!(octets.len(), length.parse::<usize>().unwrap(), "{name}");
    (name, octets)
}
