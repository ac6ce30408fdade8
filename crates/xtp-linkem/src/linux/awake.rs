//! Processors kept from halting while the emulator runs.
//!
//! A processor that halts between two packets wakes late: by tens of microseconds on bare hardware, by milliseconds in
//! a virtual machine whose host gives it to another meanwhile. What the emulator and the programs it joins do then says
//! more about the host than about the link.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// Whoever holds this file open after writing a latency keeps idle processors from states that wake more slowly (the
/// kernel's power management quality of service).
const LATENCY: &str = "/dev/cpu_dma_latency";

/// Processors are kept awake as long as this exists.
#[derive(Debug)]
pub(super) struct Awake {
    _held: File,
}

impl Awake {
    /// `None` where the kernel has no such file or this process may not write it.
    pub(super) fn hold() -> Option<Self> {
        Self::by(Path::new(LATENCY))
    }

    fn by(file: &Path) -> Option<Self> {
        let mut held = OpenOptions::new().write(true).open(file).ok()?;
        // A signed number of microseconds, as the processor has it.
        held.write_all(&0i32.to_ne_bytes()).ok()?;
        Some(Self { _held: held })
    }
}

#[cfg(test)]
#[path = "awake_tests.rs"]
mod tests;
