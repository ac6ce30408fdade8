//! Places and commands.

use std::net::{IpAddr, Ipv4Addr};
use std::process::Command;

use super::{Place, Stage, is_root, output};
use crate::error::Error;
use crate::plan::Path;

#[test]
fn a_place_is_entered_before_the_program() {
    let place = Place {
        enter: vec!["env".into(), "PLACE=there".into()],
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        interface: "lo".into(),
    };
    let said = place.run("sh", &["-c", "echo $PLACE"]).expect("runs");
    assert_eq!(said, "there\n");
}

#[test]
fn a_program_that_fails_is_named_with_what_it_said() {
    let mut command = Command::new("sh");
    command.args(["-c", "echo broken >&2; exit 3"]);
    let error = output(command).expect_err("fails");
    assert!(
        matches!(&error, Error::Tool { said, .. } if said == "broken"),
        "{error}"
    );
    let error = output(Command::new("no-such-program-here")).expect_err("is not there");
    assert!(matches!(&error, Error::Io { .. }), "{error}");
}

#[test]
fn a_path_between_namespaces_needs_root() {
    match Stage::new(Path::VethNooffload) {
        Err(error) => {
            assert!(!is_root(), "{error}");
            assert!(matches!(error, Error::NotRoot { .. }), "{error}");
        }
        Ok(stage) => {
            let features = stage.left.run("ethtool", &["-k", "veth0"]).expect("lists them");
            assert!(features.contains("tcp-segmentation-offload: off"), "{features}");
            assert!(features.contains("generic-receive-offload: off"), "{features}");
            stage
                .sysctl("net.ipv4.tcp_fastopen", "3")
                .expect("its own parameter");
            assert_eq!(stage.sysctl_value("net.ipv4.tcp_fastopen").as_deref(), Some("3"));
        }
    }
}
