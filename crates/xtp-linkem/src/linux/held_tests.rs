//! A namespace is another one, and goes with its owner.

use super::*;

#[test]
fn a_namespace_goes_with_what_holds_it() {
    let Ok(network) = HeldNetwork::new() else {
        eprintln!("not root: no network namespaces, nothing was tested");
        return;
    };
    let shown = network.command("ip").args(["-o", "link", "show", "up"]).output();
    let shown = String::from_utf8(shown.expect("it runs").stdout).expect("text");
    assert!(shown.contains("lo:") && shown.lines().count() == 1, "{shown}");
    let own = fs::read_link("/proc/self/ns/net").expect("there");
    let place = format!("/proc/{}/ns/net", network.process());
    assert_ne!(fs::read_link(&place).expect("there"), own);
    drop(network);
    assert!(fs::read_link(place).is_err());
}
