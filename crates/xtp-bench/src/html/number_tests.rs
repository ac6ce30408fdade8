//! Numbers as people read them.

use super::*;

#[test]
fn three_significant_digits() {
    let shown = [
        (8.534, "8.53"),
        (43.12, "43.1"),
        (715.4, "715"),
        (41_012.0, "41\u{202f}000"),
        (1_532_360.0, "1\u{202f}530\u{202f}000"),
        (0.34, "0.34"),
        (0.0034, "0.0034"),
        (0.0, "0"),
        (f64::NAN, "–"),
        (-1234.0, "-1\u{202f}230"),
    ];
    for (value, text) in shown {
        assert_eq!(short(value), text, "{value}");
    }
}

#[test]
fn sizes_in_powers_of_two() {
    let shown = [
        (4, "4 B"),
        (1000, "1000 B"),
        (4096, "4\u{202f}KiB"),
        (1 << 20, "1\u{202f}MiB"),
    ];
    for (octets, text) in shown {
        assert_eq!(size(octets), text);
    }
    assert_eq!(octets(3 << 30), "3\u{202f}Gi");
}

#[test]
fn factors_keep_what_matters() {
    let shown = [
        (1.066, "1.07×"),
        (12.34, "12.3×"),
        (123.4, "123×"),
        (5000.0, "5\u{202f}000×"),
    ];
    for (value, text) in shown {
        assert_eq!(factor(value), text);
    }
    assert_eq!(tick(0.25), "0.25");
    assert_eq!(tick(20_000.0), "20\u{202f}000");
}
