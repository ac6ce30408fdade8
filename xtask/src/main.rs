//! Repository chores: `cargo xtask tidy` and `cargo xtask real`.
fn main() {}
