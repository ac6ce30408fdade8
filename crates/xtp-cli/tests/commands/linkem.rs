//! `xtp linkem` as far as it goes without privileges: arguments, and what is said where no link can be had. What
//! crosses a link is counted by `cargo xtask real linkem`.

use crate::support::xtp;

#[test]
fn settings_that_make_no_sense_are_usage_errors() {
    for args in [
        &["--rate", "fast"][..],
        &["--rate", "1mbit/2mbit/3mbit"],
        &["--rtt", "20ms", "--delay", "10ms"],
        &["--loss", "1%", "--burst-loss", "1%,2%,3%"],
        &["--burst-loss", "1%,2%"],
        &["--queue", "1MB"],
        &["--overtake"],
        &["--mtu", "1000"],
        &["--ber", "2"],
        &["--until", "middle"],
        &["--", "middle", "true"],
        &["--", "left"],
        &["--", "left", "true", "--", "right"],
        &["--until", "right", "--", "left", "true"],
    ] {
        let done = xtp(&[&["linkem"], args].concat()).expect(2);
        assert!(done.stdout.is_empty(), "{args:?}");
        assert!(!done.stderr.is_empty(), "{args:?}");
    }
}

/// As root the program is run without any capability, so that this is tested everywhere.
#[cfg(target_os = "linux")]
#[test]
fn whoever_may_not_make_a_namespace_is_told_so() {
    use std::process::Command;

    let program = env!("CARGO_BIN_EXE_xtp");
    let is_root = Command::new("id").arg("-u").output().expect("a user").stdout == b"0\n";
    let mut command = if is_root {
        let mut command = Command::new("setpriv");
        command.args(["--bounding-set=-all", "--inh-caps=-all", program]);
        command
    } else {
        Command::new(program)
    };
    command.args(["linkem", "--json", "-", "--", "left", "true"]);
    let done = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(125), "{said}");
    assert!(
        said.contains("not permitted to make a network namespace"),
        "{said}"
    );
    let object: serde_json::Value = serde_json::from_slice(&done.stdout).expect("an object");
    assert_eq!(object["exit_status"], 125);
}
