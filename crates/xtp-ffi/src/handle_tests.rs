//! Handles of other kinds, freed ones, and those of a parent.

use std::sync::Arc;

use super::*;
use crate::status::XTP_EINVAL;

#[derive(Debug)]
struct One(());
#[derive(Debug)]
struct Other(());

impl Opaque for One {
    type Value = Arc<u32>;
    const MARK: u32 = 1;
    const NAME: &'static str = "one";
}

impl Opaque for Other {
    type Value = u64;
    const MARK: u32 = 2;
    const NAME: &'static str = "other";
}

#[test]
fn a_handle_leads_to_its_value_until_it_is_freed() {
    let value = Arc::new(5);
    let made = make::<One>(Arc::clone(&value));
    // SAFETY: `make` made it, and it is freed once below.
    unsafe {
        assert_eq!(**handle(made).expect("the value"), 5);
        assert_eq!(Arc::strong_count(&value), 2);
        let other = handle(made.cast::<Other>()).expect_err("of another kind");
        assert_eq!(other.status, XTP_EINVAL);
        assert_eq!(
            free(made.cast::<Other>()).expect_err("of another kind").status,
            XTP_EINVAL
        );
        free(made).expect("freed");
    }
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn no_handle_at_all() {
    // SAFETY: neither pointer is followed.
    unsafe {
        assert_eq!(handle::<One>(ptr::null()).expect_err("NULL").status, XTP_EINVAL);
        let odd = ptr::without_provenance::<One>(3);
        assert_eq!(handle(odd).expect_err("misaligned").status, XTP_EINVAL);
        free::<One>(ptr::null_mut()).expect("NULL is none");
        assert!(place::<One>(ptr::null_mut()).is_err());
    }
}

#[cfg(debug_assertions)]
#[test]
fn a_freed_handle_is_told_while_its_head_is_kept() {
    let made = make::<One>(Arc::new(5));
    // SAFETY: a debug build keeps the head.
    unsafe {
        free(made).expect("freed");
        assert_eq!(handle(made).expect_err("freed").status, XTP_EFREED);
        assert_eq!(free(made).expect_err("freed").status, XTP_EFREED);
    }
    // Many more than are kept: their memory goes back, and none of it twice.
    for _ in 0..10_000 {
        let other = make::<Other>(7);
        // SAFETY: `make` made it.
        unsafe { free(other).expect("freed") };
    }
}
