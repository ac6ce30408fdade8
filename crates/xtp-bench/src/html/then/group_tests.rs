//! The thesis's numbers stand beside ours.

use super::{colours, figures, is_group};
use crate::papers::GROUP_PLOTS;
use crate::report::{Report, Series};

fn report() -> Report {
    let mut report = Report::default();
    let mut add = |plot: &str, transport: &str, y_label: &str, at: f64| {
        let points = [1_024.0, 2_048.0, 16_384.0].map(|size| (size, at));
        report.series.push(Series {
            plot: plot.to_owned(),
            transport: transport.to_owned(),
            x_label: "message size, octets (log)".to_owned(),
            y_label: y_label.to_owned(),
            points: points.to_vec(),
        });
    };
    add(GROUP_PLOTS[1], "unicast", "Mbit/s", 9.8);
    add(GROUP_PLOTS[1], "1-to-6", "Mbit/s", 9.5);
    add(GROUP_PLOTS[5], "neither", "control packets", 400.0);
    add(GROUP_PLOTS[5], "both", "control packets", 300.0);
    report
}

#[test]
fn each_plot_that_was_measured_is_drawn_with_both_numbers() {
    let drawn = figures(&report()).expect("two plots").to_string();
    assert_eq!(drawn.matches("<svg").count(), 2);
    assert!(
        drawn.contains(
            "0.985 Mbit/s to six with 2 KB, unicast 2.53. Here 9.50 and 9.80; in the way of 1991 –"
        ),
        "{drawn}"
    );
    assert!(drawn.contains("1991: 1-to-6") && drawn.contains("1991: unicast"));
    assert!(
        drawn.contains("both save 21 %, mean over message sizes. Here 25.0 %"),
        "{drawn}"
    );
    assert_eq!(figures(&Report::default()), None);
}

#[test]
fn what_a_plot_is_about_has_our_colour() {
    assert_eq!(colours(4).last(), Some("c-xtp"));
    assert_eq!(colours(9).count(), 9);
    assert!(GROUP_PLOTS.iter().all(|plot| is_group(plot)));
    assert!(!is_group("goodput over time, 100 ms"));
}
