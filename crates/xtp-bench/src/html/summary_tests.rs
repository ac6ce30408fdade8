//! The summary counts every case once, against its strongest rival, and does not flatter.

use super::*;

fn row(transport: &str, size: u64, p50_us: f64) -> Row {
    Row {
        experiment: "pingpong".to_owned(),
        transport: transport.to_owned(),
        path: "loopback".to_owned(),
        size: Some(size),
        p50_us: Some(p50_us),
        ..Row::default()
    }
}

fn page(rows: Vec<Row>) -> Option<String> {
    let report = Report {
        rows,
        ..Report::default()
    };
    let palette = Palette::new(&report);
    section(&report, &palette).map(|section| section.to_string())
}

#[test]
fn the_strongest_rival_of_each_size_counts() {
    let rows = vec![
        row("xtp", 4, 10.0),
        row("tcp", 4, 20.0),
        row("quinn", 4, 90.0),
        row("xtp", 64, 10.0),
        row("tcp", 64, 40.0),
        row("quinn", 64, 8.0),
    ];
    let page = page(rows).expect("a summary");
    assert!(page.contains("1 of 2"), "{page}");
    assert!(
        page.contains("Where a rival is ahead") && page.contains("1.25× behind"),
        "{page}"
    );
    // sqrt(2.0 * 0.8)
    assert!(page.contains("1.26×"), "{page}");
}

#[test]
fn raw_udp_is_the_floor_and_variants_are_not_rivals() {
    let rows = vec![
        row("xtp", 4, 10.0),
        row("xtp-gbn", 4, 5.0),
        row("udp", 4, 8.0),
        row("tcp", 4, 20.0),
    ];
    let page = page(rows).expect("a summary");
    assert!(page.contains("1 of 1"), "{page}");
    assert!(
        page.contains("xtp beside raw UDP") && page.contains("0.80×"),
        "{page}"
    );
    assert!(!page.contains("Where a rival is ahead"), "{page}");
}

#[test]
fn per_round_ratios_come_before_ratios_of_medians() {
    let mut tcp = row("tcp", 4, 20.0);
    tcp.ratio_to_xtp = Some(1.5);
    let page = page(vec![row("xtp", 4, 10.0), tcp]).expect("a summary");
    assert!(page.contains("1.50×") && !page.contains("2.00×"), "{page}");
}

#[test]
fn more_is_better_in_throughput() {
    let rate = |transport: &str, gbit_s| Row {
        experiment: "bulk".to_owned(),
        p50_us: None,
        gbit_s: Some(gbit_s),
        ..row(transport, 65_536, 0.0)
    };
    let page = page(vec![rate("xtp", 30.0), rate("tcp", 40.0)]).expect("a summary");
    assert!(page.contains("1.33× behind"), "{page}");
}

#[test]
fn nothing_to_compare_is_no_summary() {
    assert_eq!(page(vec![row("xtp", 4, 10.0)]), None);
    assert_eq!(page(vec![row("tcp", 4, 10.0)]), None);
    assert_eq!(page(vec![row("xtp", 4, 0.0), row("tcp", 4, f64::NAN)]), None);
}
