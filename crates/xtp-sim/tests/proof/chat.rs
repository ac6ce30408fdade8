//! Several transmitters of one group (§9.12): nothing is missing, and nothing comes twice.

use std::time::Duration;

use xtp_sim::cast::Chat;

const MILLIS: Duration = Duration::from_millis(1);

fn chat(hosts: usize, things: u32) -> Chat {
    Chat {
        hosts,
        things,
        every: 10 * MILLIS,
        datagrams: false,
        at_once: 16,
        loss: 0.03,
        delay: MILLIS,
        limit: Duration::from_secs(120),
    }
}

fn runs(chat: &Chat, seed: u64) {
    if let Err(what) = chat.run(seed) {
        panic!("seed {seed} of {chat:?}: {what}");
    }
}

#[test]
fn eight_hosts_stream_a_thousand_messages_each() {
    runs(&chat(8, 1_000), 1);
}

#[test]
fn eight_hosts_send_a_thousand_datagrams_each() {
    let chat = Chat {
        datagrams: true,
        ..chat(8, 1_000)
    };
    runs(&chat, 2);
}

/// All at once, over slow and lossy ways.
#[test]
fn what_is_said_at_once_comes_all_the_same() {
    for seed in 0..20 {
        for datagrams in [false, true] {
            let chat = Chat {
                every: Duration::ZERO,
                datagrams,
                loss: [0.0, 0.1, 0.2][seed as usize % 3],
                delay: [0, 5, 40][seed as usize / 3 % 3] * MILLIS,
                ..chat(2 + seed as usize % 6, 20)
            };
            runs(&chat, seed);
        }
    }
}

/// Hosts that hear one another in turn: each datagram waits for its place.
#[test]
fn datagrams_come_in_turn() {
    for seed in 0..20 {
        let chat = Chat {
            datagrams: true,
            at_once: 1,
            loss: [0.0, 0.1][seed as usize % 2],
            ..chat(2 + seed as usize % 4, 10)
        };
        runs(&chat, seed);
    }
}
