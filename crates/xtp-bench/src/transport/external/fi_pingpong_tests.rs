//! What fi_pingpong of libfabric 1.17 prints.

use super::parse;

const PRINTED: &str = "\
bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec
64      1k      =1k      125k        2.76s      0.05    1378.85       0.00
";

#[test]
fn the_time_of_a_transfer_is_read() {
    assert_eq!(parse(PRINTED).ok(), Some(1_378.85));
}

#[test]
fn of_several_lines_the_last_counts() {
    let more =
        format!("{PRINTED}128     1k      =1k      250k        0.02s     12.80      10.00       0.10\n");
    assert_eq!(parse(&more).ok(), Some(10.0));
}

#[test]
fn anything_else_is_a_failure() {
    let heading = PRINTED.lines().next().expect("a line");
    for text in ["", "fi_getinfo(): No data available", heading] {
        assert!(parse(text).is_err(), "{text}");
    }
    assert!(parse(&PRINTED.replace("1378.85", "nothing")).is_err());
}
