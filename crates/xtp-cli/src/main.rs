//! The `xtp` command.
fn main() {}
