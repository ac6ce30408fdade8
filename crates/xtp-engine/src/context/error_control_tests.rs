//! When a change takes effect.

use super::*;
use ErrorControl::{GoBackN, Selective};

#[test]
fn a_change_waits_until_there_are_no_holes() {
    let mut control = ReaderErrorControl::new(Selective);
    assert!(control.is_settled());
    control.want(GoBackN);
    control.settle(true);
    assert_eq!((control.in_force(), control.is_settled()), (Selective, false));
    control.settle(false);
    assert_eq!((control.in_force(), control.is_settled()), (GoBackN, true));
    control.want(Selective);
    control.want(GoBackN);
    assert!(control.is_settled(), "the user changed its mind");
}
