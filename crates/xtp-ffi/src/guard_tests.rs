//! Panics, time limits and memory at the border.

use std::ffi::CStr;

use super::*;
use crate::last_error::xtp_last_error;
use crate::status::{XTP_EINVAL, XTP_ETIMEDOUT, XTP_EWOULDBLOCK};

fn last() -> String {
    // SAFETY: it ends with a zero octet and stays until the next failure.
    let text = unsafe { CStr::from_ptr(xtp_last_error()) };
    text.to_str().expect("text").to_owned()
}

#[test]
fn no_panic_leaves() {
    assert_eq!(guard(|| panic!("one of our own")), XTP_EINTERNAL);
    assert_eq!(last(), "a bug of libxtp: one of our own");
    let number = 7;
    assert_eq!(guard(|| panic!("number {number}")), XTP_EINTERNAL);
    assert_eq!(last(), "a bug of libxtp: number 7");
    assert_eq!(guard(|| std::panic::panic_any(7)), XTP_EINTERNAL);
    assert_eq!(last(), "a bug of libxtp: no text");
    // What succeeds leaves the text as it is.
    assert_eq!(guard(|| Ok(())), XTP_OK);
    assert_eq!(last(), "a bug of libxtp: no text");
}

#[test]
fn a_text_with_zero_octets_is_told_without_them() {
    assert_eq!(guard(|| Err(Failure::invalid("a\0b"))), XTP_EINVAL);
    assert_eq!(last(), "ab");
}

#[test]
fn time_limits() {
    assert_eq!(Limit::of(-1).expect("no end"), Limit::Unlimited);
    assert_eq!(Limit::of(0).expect("at once"), Limit::AtOnce);
    assert_eq!(
        Limit::of(5).expect("a time"),
        Limit::Within(Duration::from_nanos(5))
    );
    assert_eq!(
        Limit::of(i64::MAX).expect("a time").as_timeout(),
        Some(Duration::from_nanos(i64::MAX as u64))
    );
    for wrong in [-2, i64::MIN] {
        assert_eq!(Limit::of(wrong).expect_err("no time").status, XTP_EINVAL);
    }
}

#[test]
fn late_without_waiting_is_nothing_to_do() {
    let late = || -> xtp::Result<()> {
        Err(xtp::Error::Timeout {
            what: "a message",
            after: Duration::ZERO,
        })
    };
    let status = |limit: Limit| limit.outcome(late()).expect_err("late").status;
    assert_eq!(status(Limit::AtOnce), XTP_EWOULDBLOCK);
    assert_eq!(status(Limit::Within(Duration::from_nanos(1))), XTP_ETIMEDOUT);
}

#[test]
fn room_for_texts_and_octets() {
    let mut memory = *b"xxxxxx";
    put_text("abc", &mut memory).expect("room");
    assert_eq!(&memory, b"abc\0xx");
    assert_eq!(
        put_text("abcdef", &mut memory).expect_err("no room").status,
        XTP_EROOM
    );
    assert_eq!(&memory, b"abc\0xx");
    let mut length = 0;
    put(b"ab", &mut memory, &mut length).expect("room");
    assert_eq!((length, &memory), (2, b"abc\0xx"));
    let failure = put(b"1234567", &mut memory, &mut length).expect_err("no room");
    assert_eq!((failure.status, length, &memory), (XTP_EROOM, 7, b"abc\0xx"));
}
