//! Which datagrams of a round lie side by side.

use std::net::{Ipv4Addr, SocketAddr};

use super::*;
use crate::train::EcnCodepoint;

fn came(filled: usize) -> Option<RecvMeta> {
    Some(RecvMeta {
        src: SocketAddr::from((Ipv4Addr::LOCALHOST, 1)),
        dst: None,
        interface: None,
        ecn: EcnCodepoint::NotEct,
        filled,
        stride: None,
    })
}

fn changed(change: impl FnOnce(&mut RecvMeta)) -> Option<RecvMeta> {
    let mut arrival = came(1_400)?;
    change(&mut arrival);
    Some(arrival)
}

#[test]
fn equal_datagrams_and_a_shorter_last_one_are_a_run() {
    let run = |lengths: &[usize]| {
        let arrived: Vec<_> = lengths.iter().map(|length| came(*length)).collect();
        joined(&arrived, 1_400)
    };
    assert_eq!(run(&[1_400; 5]), 5);
    assert_eq!(run(&[1_400, 1_400, 7]), 3);
    assert_eq!(run(&[1_400, 7, 1_400]), 2, "what is behind a shorter one is not");
    assert_eq!(run(&[1_400, 1_401]), 1);
    assert_eq!(run(&[1_401, 1_400]), 0);
    assert_eq!(run(&[7, 1_400]), 1);
    assert_eq!(run(&[1_400, 0]), 1, "an empty one has no place");
    assert_eq!(run(&[]), 0);
}

#[test]
fn what_is_not_alike_ends_a_run() {
    let behind = |other| joined(&[came(1_400), other, came(1_400)], 1_400);
    assert_eq!(behind(changed(|_| ())), 3);
    assert_eq!(behind(changed(|one| one.ecn = EcnCodepoint::Ce)), 1);
    assert_eq!(behind(changed(|one| one.interface = Some(2))), 1);
    assert_eq!(
        behind(changed(|one| one.stride = Some(700))),
        1,
        "joined by the kernel"
    );
    assert_eq!(behind(None), 1, "it did not fit its slab");
}
