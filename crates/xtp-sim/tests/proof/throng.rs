//! What comes to the transmitter of ten thousand.

use xtp_sim::cast::{Throng, ThrongFigures};

fn play(receivers: usize) -> ThrongFigures {
    let throng = Throng {
        receivers,
        loss: 0.05,
        blocks: 20,
        symbols: 64,
        told: true,
        rate: 5_000_000,
        seed: 1,
    };
    throng.play().expect("sound options")
}

/// The transmitter takes 2 000 packets of each kind a second, and a need that somebody has told is not told by many others.
#[test]
fn ten_thousand_do_not_drown_their_transmitter() {
    let (fewer, figures) = (play(2_500), play(10_000));
    assert_eq!(figures.done, 10_000);
    for (what, most) in [
        ("joins", figures.joins),
        ("answers", figures.answers),
        ("confirmations", figures.confirmations),
    ] {
        assert!(most <= 2_200, "{most} {what} in one second");
    }
    assert!(figures.most_needs <= 30, "{} of one block", figures.most_needs);
    let (few, many) = (fewer.needs_a_block, figures.needs_a_block);
    assert!(
        many <= 2.0 * few,
        "{many} needs a block, {few} of a quarter as many receivers"
    );
}

/// Who loses nothing is sent nothing again, and says so of the block that is being sent, too.
#[test]
fn without_loss_nothing_is_repaired() {
    for receivers in [2, 4, 10] {
        let throng = Throng {
            receivers,
            loss: 0.0,
            blocks: 20,
            symbols: 64,
            told: true,
            rate: 5_000_000,
            seed: 1,
        };
        let figures = throng.play().expect("sound options");
        assert_eq!((figures.done, figures.stats.repair_packets), (receivers, 0));
    }
}

/// Few receivers of a slow stream are whole soon after its last octet, as many as there are.
#[test]
fn few_are_whole_as_soon_as_many() {
    for (receivers, rate) in [(4, 100_000), (4, 1_000_000), (3, 200_000)] {
        let throng = Throng {
            receivers,
            loss: 0.01,
            blocks: 20,
            symbols: 64,
            told: true,
            rate,
            seed: 1,
        };
        let octets = u64::from(throng.blocks) * 64 * 1_472;
        let figures = throng.play().expect("sound options");
        let (after, _) = figures.closed.expect("it ends");
        let sent = std::time::Duration::from_millis(octets * 1_000 / rate);
        assert_eq!(figures.done, receivers);
        assert!(
            after < sent * 11 / 10 + std::time::Duration::from_secs(2),
            "{after:?}"
        );
    }
}
