//! Real sockets over loopback: what leaves in trains arrives as the right datagrams.

mod counters;
mod errors;
mod marks;
mod slabs;
mod support;
mod trains;
mod waiting;
