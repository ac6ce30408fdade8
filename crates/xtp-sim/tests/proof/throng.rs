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
