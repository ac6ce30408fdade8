//! Names of interfaces, and one that goes with its file.

use super::*;

#[test]
fn names_that_are_none() {
    for name in ["", "sixteen-octets--"] {
        let error = open_tun(name).expect_err("no name");
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{name}");
    }
}

#[test]
fn an_interface_goes_with_its_file() {
    let name = format!("xt{}", std::process::id());
    let is_there = || std::path::Path::new("/sys/class/net").join(&name).exists();
    let Ok(device) = open_tun(&name) else {
        eprintln!("no TUN devices here, or not root: nothing was tested");
        return;
    };
    assert!(is_there());
    let taken = io::Read::read(&mut &device, &mut [0; 100]);
    assert!(taken.is_err(), "it is down, and no packet waits: {taken:?}");
    drop(device);
    assert!(!is_there());
}
