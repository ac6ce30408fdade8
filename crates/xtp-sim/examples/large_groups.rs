//! What comes to the transmitter of a very large group, and of a small one with much data.
//!
//! ```text
//! cargo run --release -p xtp-sim --example large_groups -- [SEED]
//! ```

use xtp_sim::cast::Throng;

fn main() {
    let seed = std::env::args()
        .nth(1)
        .and_then(|word| word.parse().ok())
        .unwrap_or(1);
    println!(
        "receivers  loss  told  joins/s  answers/s  confirmations/s  all/s  needs/block (most)  feedback  data + repairs  end"
    );
    for (receivers, loss, told) in [
        (10_000, 0.0, true),
        (2_500, 0.001, true),
        (10_000, 0.001, true),
        (2_500, 0.01, true),
        (10_000, 0.01, true),
        (2_500, 0.05, true),
        (10_000, 0.05, true),
        (10_000, 0.01, false),
    ] {
        show(&Throng {
            receivers,
            loss,
            blocks: 20,
            symbols: 64,
            told,
            rate: 5_000_000,
            seed,
        });
    }
    println!("12 000 data packets, 10 receivers");
    for loss in [0.0, 0.01, 0.05] {
        show(&Throng {
            receivers: 10,
            loss,
            blocks: 188,
            symbols: 64,
            told: true,
            rate: 6_250_000,
            seed,
        });
    }
}

fn show(throng: &Throng) {
    match throng.play() {
        Ok(figures) => {
            let end = figures
                .closed
                .as_ref()
                .map_or("never".to_owned(), |(after, why)| {
                    format!("{:.1} s, {why}", after.as_secs_f64())
                });
            println!(
                "{:>9} {:>5} {:>5} {:>8} {:>10} {:>16} {:>6} {:>12.1} ({:>3}) {:>9} {:>7} + {:<6} {end}, {} done",
                throng.receivers,
                throng.loss,
                throng.told,
                figures.joins,
                figures.answers,
                figures.confirmations,
                figures.packets,
                figures.needs_a_block,
                figures.most_needs,
                figures.stats.feedback_packets,
                figures.stats.data_packets,
                figures.stats.repair_packets,
                figures.done
            );
        }
        Err(what) => println!("{throng:?}: {what}"),
    }
}
