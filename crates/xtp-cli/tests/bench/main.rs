//! `xtp bench` as a user meets it: small runs on this host. Packets and rows are counted; times are not looked at.
#![cfg(target_os = "linux")]

mod flow;
mod flows;
mod hosts;
mod interrupted;
mod run;
mod single;
mod usage;
