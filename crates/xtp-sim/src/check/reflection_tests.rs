//! Three times what was forged, and no more.

use super::*;

fn victim(low: u8) -> SocketAddr {
    SocketAddr::from(([10, 9, 9, low], 36_036))
}

#[test]
fn three_times_and_no_more() {
    let mut check = ReflectionCheck::default();
    check.received(0, victim(1), 100);
    assert_eq!(check.sent(0, victim(1), 300), Ok(()));
    assert_eq!(check.reflected(), 300);
    let error = check.sent(0, victim(1), 1).expect_err("too much");
    assert!(error.contains("301 octets"), "{error}");
}

#[test]
fn another_host_and_another_address_have_budgets_of_their_own() {
    let mut check = ReflectionCheck::default();
    check.received(0, victim(1), 100);
    check.received(1, victim(1), 10);
    assert!(check.sent(1, victim(1), 31).is_err());
    assert_eq!(
        check.sent(0, victim(2), 1_000),
        Ok(()),
        "nobody forged that address"
    );
}
