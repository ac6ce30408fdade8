//! Words to commands.

use super::*;

fn parse(line: &str) -> Result<Sides, String> {
    let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    Sides::parse(&words)
}

fn program(line: &str) -> Option<Program> {
    Some(Program(line.split_whitespace().map(OsString::from).collect()))
}

#[test]
fn both_sides_in_any_order_and_either_alone() {
    let both = Sides {
        left: program("ping -c 3 x"),
        right: program("iperf3 -s"),
    };
    assert_eq!(parse("left ping -c 3 x -- right iperf3 -s").as_ref(), Ok(&both));
    assert_eq!(parse("right iperf3 -s -- left ping -c 3 x").as_ref(), Ok(&both));
    let left = Sides {
        left: program("true"),
        right: None,
    };
    assert_eq!(parse("left true"), Ok(left));
    assert!(parse("").expect("nothing is fine").are_empty());
}

#[test]
fn a_command_keeps_its_own_dashes() {
    let sides =
        parse("left xtp answer -- tr a b -- left x -- right cat -- left -- right").expect("two commands");
    assert_eq!(sides.left, program("xtp answer -- tr a b -- left x"));
    assert_eq!(sides.right, program("cat -- left -- right"));
}

#[test]
fn what_is_no_side_is_an_error() {
    for (line, says) in [
        ("ping", "neither `left` nor `right`"),
        ("left", "no command behind `left`"),
        ("left -- right true", "no command behind `left`"),
        ("left true -- right", "no command behind `right`"),
    ] {
        let error = parse(line).expect_err(line);
        assert!(error.contains(says), "{line}: {error}");
    }
}

#[cfg(unix)]
#[test]
fn statuses_are_a_shells() {
    use std::os::unix::process::ExitStatusExt;
    assert_eq!(code(ExitStatus::from_raw(3 << 8)), 3);
    assert_eq!(code(ExitStatus::from_raw(9)), 137);
}
