//! A delay and error generator: two network namespaces joined by an emulated link in user space.
#![forbid(unsafe_code)]
