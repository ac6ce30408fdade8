//! Tests of the gates: what they let through at once is what a plan would find open packet by packet.

use super::*;
use xtp_wire::size;

/// Octets of data in the largest packet.
const SEGMENT: usize = 1_440;
/// Where the first octet of a train lies.
const SEQ: u64 = 1_000;

/// Limits that close before, within and behind a train of 16 packets, and none.
const LIMITS: [u64; 8] = [0, 1, 1_500, 2_881, 4_400, 23_200, 30_000, u64::MAX];

fn all_gates() -> impl Iterator<Item = Gates> {
    let budgets = [None, Some(100), Some(4_400), Some(60_000)];
    LIMITS.into_iter().flat_map(move |window| {
        LIMITS.into_iter().flat_map(move |rate| {
            LIMITS.into_iter().flat_map(move |span| {
                budgets.into_iter().flat_map(move |budget| {
                    [(rate, u64::MAX), (u64::MAX, rate)].map(|(tokens, pacer)| Gates {
                        window,
                        flight: 0,
                        edge: SEQ.saturating_add(span),
                        tokens,
                        pacer,
                        others: u64::MAX,
                        budget,
                    })
                })
            })
        })
    })
}

/// Sends a train of so many octets; whether every packet of it finds every gate open.
fn passes(mut gates: Gates, octets: u64) -> bool {
    let (mut seq, end, mut ahead) = (SEQ, SEQ + octets, XDATA_LEN);
    while seq < end {
        let len = ((end - seq) as usize).min(SEGMENT - ahead);
        let packet = size::packet(ahead + len) as u64;
        let open = gates.are_open() && gates.packets(packet, len as u64) > 0;
        if !open || seq + len as u64 > gates.edge {
            return false;
        }
        gates.take(packet, len as u64, 1);
        (seq, ahead) = (seq + len as u64, 0);
    }
    true
}

#[test]
fn what_is_permitted_finds_every_gate_open() {
    let mut permitted = 0;
    for packets in [1, 2, 3, 16] {
        for gates in all_gates() {
            let fits = (packets * SEGMENT - XDATA_LEN) as u64;
            let octets = gates.octets(SEQ, packets).min(fits);
            let all = octets == fits;
            permitted += u32::from(all);
            assert!(passes(gates, octets), "{octets} octets in {packets} packets");
        }
    }
    assert!(permitted > 0, "nothing lets a whole train pass");
}

#[test]
fn each_gate_alone_closes() {
    let open = || Gates {
        window: 1,
        flight: 0,
        edge: SEQ,
        tokens: 1,
        pacer: 1,
        others: u64::MAX,
        budget: None,
    };
    assert!(open().are_open());
    assert!(!Gates { flight: 1, ..open() }.are_open());
    assert!(!Gates { tokens: 0, ..open() }.are_open());
    assert!(!Gates { pacer: 0, ..open() }.are_open());
}
