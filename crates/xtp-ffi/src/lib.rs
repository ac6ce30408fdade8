//! The C library of xtp: `libxtp.so.0`, `libxtp.a`, `xtp.h`.
//!
//! A thin layer over the crate `xtp`: it turns pointers into references, errors into numbers and panics into a status, and has no rule
//! of the protocol. What a C program needs to know stands in `include/xtp.h`, which is made of the comments here, and in
//! `docs/guides/c.md`.
//!
//! # Rules of every call
//!
//! * It returns [`XTP_OK`](status::XTP_OK) or a negative number of [`status`], and keeps a text for
//!   [`xtp_last_error`](last_error::xtp_last_error) of the same thread. No panic leaves.
//! * A pointer that must not be `NULL` and is gives `XTP_EINVAL`. What a call would give back is set to `NULL` or 0 first.
//! * Handles carry a mark of their kind and the process that made them: see [`handle`].
//!
//! # Safety
//!
//! All functions ask the same of their caller, once: pointers are `NULL` or lead to what their type and length say, for as long as the call
//! runs; handles come from this library; and no other call uses a handle while it is freed. The comments `SAFETY` below refer to this.
#![allow(non_camel_case_types, reason = "names of C")]
#![allow(clippy::missing_safety_doc, reason = "said once, above")]

pub mod call;
pub mod completion;
pub mod endpoint;
pub mod group;
pub mod handle;
pub mod last_error;
pub mod lent;
pub mod listener;
pub mod mesh;
pub mod octets;
pub mod options;
pub mod poll_set;
pub mod status;
pub mod stream;

mod fork;
mod guard;
