//! `xtp cast` as people run it: real processes of the built command on the loopback interface, by multicast and by copies.
#![cfg(target_os = "linux")]

mod ends;
mod late;
mod resume;
mod strangers;
mod support;
mod transfers;
