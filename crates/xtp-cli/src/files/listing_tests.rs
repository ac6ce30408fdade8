//! Lists as people read them, and what a server may answer to a pattern.

use super::*;

#[test]
fn days_are_those_of_the_calendar() {
    for (seconds, expected) in [
        (0, "1970-01-01 00:00"),
        (-1, "1969-12-31 23:59"),
        (951_782_400, "2000-02-29 00:00"),
        (951_868_800, "2000-03-01 00:00"),
        (1_709_210_096, "2024-02-29 12:34"),
        (4_107_542_400, "2100-03-01 00:00"),
        (-62_135_596_800, "0001-01-01 00:00"),
    ] {
        assert_eq!(date(Stamp { seconds, nanos: 0 }), expected);
    }
}

#[test]
fn rights_are_written_as_ls_writes_them() {
    for (mode, expected) in [
        (0o755, "rwxr-xr-x"),
        (0o640, "rw-r-----"),
        (0o4755, "rwsr-xr-x"),
        (0o2644, "rw-r-Sr--"),
        (0o1777, "rwxrwxrwt"),
    ] {
        assert_eq!(rights(mode), expected);
    }
}

#[test]
fn only_what_was_asked_for_is_meant() {
    for (pattern, path, expected) in [
        ("/logs/*.gz", "logs/a.gz", true),
        ("/logs/*.gz", "logs/a.txt", false),
        ("/logs/*.gz", "other/a.gz", false),
        ("/logs/*", "logs/a/b", false),
        ("a[1]", "a[1]", true),
        ("a[1]", "a1", true),
    ] {
        assert_eq!(
            is_meant(pattern.as_bytes(), path.as_bytes()),
            expected,
            "{pattern} {path}"
        );
    }
}
