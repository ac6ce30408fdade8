//! What the command reads from its user and from strangers: addresses, amounts, what to copy where, and records of the file service.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xtp_cli::fuzzing;

fuzz_target!(|input: &[u8]| {
    if let Ok(text) = std::str::from_utf8(input) {
        let _ = fuzzing::address(text);
        let _ = fuzzing::units(text);
        let _ = fuzzing::locations(text);
    }
    let _ = fuzzing::records(input.to_vec());
});
