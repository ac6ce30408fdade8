//! Quantities as people write them.

use super::*;

#[test]
fn rates() {
    let good = [
        ("100mbit", 100_000_000),
        ("1gbit", 1_000_000_000),
        (" 2.5 Gbit/s ", 2_500_000_000),
        ("9600bit", 9_600),
        ("5MB", 40_000_000),
        ("5MB/s", 40_000_000),
        ("512KiB", 512 * 8_192),
        ("512kib", 512 * 8_192),
        ("0.5kbit", 500),
        (".5kbit", 500),
        ("5mbyte", 40_000_000),
        ("1tbit", 1_000_000_000_000),
        ("18446744073709551615bit", u64::MAX),
    ];
    for (text, expected) in good {
        assert_eq!(parse_rate(text), Ok(expected), "{text}");
    }
}

#[test]
fn durations() {
    let good = [
        ("100ms", Duration::from_millis(100)),
        ("20us", Duration::from_micros(20)),
        ("20µs", Duration::from_micros(20)),
        ("1.5s", Duration::from_millis(1_500)),
        ("2min", Duration::from_secs(120)),
        ("1h", Duration::from_secs(3_600)),
        ("7ns", Duration::from_nanos(7)),
        ("0", Duration::ZERO),
        ("0.0000000019s", Duration::from_nanos(1)),
    ];
    for (text, expected) in good {
        assert_eq!(parse_duration(text), Ok(expected), "{text}");
    }
}

#[test]
fn fractions_and_sizes() {
    for (text, expected) in [
        ("0.1%", 0.001),
        ("5 %", 0.05),
        ("0.25", 0.25),
        ("100%", 1.0),
        ("0", 0.0),
        ("1e-6", 1e-6),
        ("2.5E-3 %", 2.5e-5),
        ("1e+0", 1.0),
    ] {
        assert_eq!(parse_fraction(text), Ok(expected), "{text}");
    }
    for (text, expected) in [
        ("1500", 1_500),
        ("256kB", 256_000),
        ("4MiB", 4 << 20),
        ("1.5kib", 1_536),
    ] {
        assert_eq!(parse_octets(text), Ok(expected), "{text}");
    }
}

#[test]
fn what_is_not_a_number_is_told_from_a_wrong_unit_and_from_a_wrong_range() {
    let number = |result: Result<u64, UnitError>| matches!(result, Err(UnitError::Number { .. }));
    let unit = |result: Result<u64, UnitError>| matches!(result, Err(UnitError::Unit { .. }));
    let range = |result: Result<u64, UnitError>| matches!(result, Err(UnitError::Range { .. }));
    for text in ["", "mbit", "-1mbit", ".", "1.2.3mbit", "x5"] {
        assert!(number(parse_rate(text)), "{text}");
    }
    for text in [
        "5mbps", "5 megs", "5/m", "1e6bit", "9600", "5Mb", "5Mb/s", "5mb", "5M",
    ] {
        assert!(unit(parse_rate(text)), "{text}");
    }
    for text in ["18446744073709551616bit", "20000000tbit"] {
        assert!(range(parse_rate(text)), "{text}");
    }
    assert!(
        matches!(parse_duration("5"), Err(UnitError::Unit { .. })),
        "a time needs its unit"
    );
    assert!(matches!(
        parse_duration("99999999999999h"),
        Err(UnitError::Range { .. })
    ));
    for text in ["101%", "1.01"] {
        assert!(
            matches!(parse_fraction(text), Err(UnitError::Range { .. })),
            "{text}"
        );
    }
    for text in ["", "%", "1.2.3", "many"] {
        assert!(
            matches!(parse_fraction(text), Err(UnitError::Number { .. })),
            "{text}"
        );
    }
    for text in ["1e", "1e-", "1ex", "1e-6x"] {
        assert!(
            matches!(parse_fraction(text), Err(UnitError::Unit { .. })),
            "{text}"
        );
    }
    assert!(matches!(parse_fraction("e-6"), Err(UnitError::Number { .. })));
    assert!(matches!(parse_fraction("1e6"), Err(UnitError::Range { .. })));
    assert!(matches!(parse_fraction("5 percent"), Err(UnitError::Unit { .. })));
    assert!(matches!(parse_octets("5 pages"), Err(UnitError::Unit { .. })));
}

#[test]
fn errors_show_the_text_and_what_to_write() {
    let error = parse_duration("12 parsecs").map_err(|error| error.to_string());
    let expected = "`12 parsecs` has no unit known here: write a time such as 500ms, 20us, 5s, 2m or 1h";
    assert_eq!(error, Err(expected.to_owned()));
}
