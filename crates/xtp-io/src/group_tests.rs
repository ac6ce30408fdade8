//! Which interface a group without a route is reached by.

use super::*;

fn up(name: &str, index: u32, address: &str, carries_groups: bool) -> sys::Up {
    sys::Up {
        name: name.to_owned(),
        index,
        address: address.parse().unwrap(),
        carries_groups,
    }
}

fn choice(group: &str, own: Option<&str>, up: &[sys::Up]) -> Result<Interface, String> {
    let own = own.map(|own| own.parse().unwrap());
    let reason = io::Error::from_raw_os_error(libc::ENETUNREACH);
    choose(group.parse().unwrap(), own, up, reason).map_err(|error| error.to_string())
}

const FOUR: &str = "239.1.2.3:36036";
const SIX: &str = "[ff15::1]:36036";

#[test]
fn the_only_usable_interface_is_used() {
    let mut all = vec![
        up("lo", 1, "127.0.0.1", false),
        up("lo", 1, "::1", false),
        up("eth0", 2, "10.0.0.1", true),
        up("eth0", 2, "10.0.0.2", true),
        up("eth1", 3, "fe80::1", true),
    ];
    assert_eq!(choice(FOUR, None, &all), Ok(Interface::Index(2)));
    assert_eq!(choice(SIX, None, &all), Ok(Interface::Index(3)));
    all.reverse();
    assert_eq!(choice(FOUR, None, &all), Ok(Interface::Index(2)));
}

#[test]
fn of_several_none_is_guessed_and_all_are_named() {
    let all = [
        up("eth1", 3, "10.1.0.1", true),
        up("lo", 1, "127.0.0.1", false),
        up("eth0", 2, "10.0.0.1", true),
    ];
    let said = choice(FOUR, None, &all).unwrap_err();
    let unreachable =
        "no route leads from this host to 239.1.2.3:36036: Network is unreachable (os error 101)";
    assert_eq!(
        said,
        format!("{unreachable}; name one of its interfaces: eth0 (10.0.0.1), eth1 (10.1.0.1)")
    );
    let said = choice(FOUR, None, &all[1..2]).unwrap_err();
    assert_eq!(
        said,
        format!(
            "{unreachable}; none of its interfaces carries groups to other hosts (up: lo (127.0.0.1)); connect it, or \
             name one of them"
        )
    );
    assert!(choice(FOUR, None, &[]).unwrap_err().contains("(up: none)"));
}

#[test]
fn the_address_an_endpoint_is_bound_to_names_the_interface() {
    let all = [up("eth0", 2, "10.0.0.1", true), up("eth1", 3, "10.1.0.1", true)];
    let address = |text: &str| Ok(Interface::Address(text.parse().unwrap()));
    assert_eq!(choice(FOUR, Some("10.1.0.1"), &all), address("10.1.0.1"));
    for own in ["0.0.0.0", "fd00::1"] {
        assert!(choice(FOUR, Some(own), &all).is_err(), "{own} says nothing");
    }
}
