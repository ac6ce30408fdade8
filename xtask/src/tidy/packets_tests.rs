//! Who may know how packets look.

use super::*;

fn lines(path: &str, is_test: bool, text: &str) -> Vec<usize> {
    let mut findings = Vec::new();
    check(&Source::new(path, text.to_owned()), is_test, &mut findings);
    findings.into_iter().map(|finding| finding.line).collect()
}

#[test]
fn layouts_and_checksums_belong_to_the_wire() {
    let text = "//! HEADER_LEN.\nuse xtp_wire::{HEADER_LEN, Header};\nlet at = 2 * xtp_wire::HEADER_LEN;\nxtp_wire::seal(octets, []);\n\
                let sum = Checksum::new(); // seal\nlet sealed = resealed(\"seal\");\n";
    for path in [
        "crates/xtp-engine/src/context/plan.rs",
        "crates/xtp-core/src/transmit.rs",
        "crates/xtp/src/carrier.rs",
    ] {
        assert_eq!(lines(path, false, text), [2, 3, 4, 5], "{path}");
        assert_eq!(lines(path, true, text), [0; 0], "{path}: a test may");
    }
    for path in [
        "crates/xtp-wire/src/writer.rs",
        "crates/xtp-sim/src/hostile/forge.rs",
        "crates/xtp-engine/tests/floods.rs",
        "fuzz/src/mend.rs",
    ] {
        assert_eq!(lines(path, false, text), [0; 0], "{path}");
    }
    // How memory for packets is laid out, but not what is in them.
    assert_eq!(lines("crates/xtp/src/frames.rs", false, text), [4, 5]);
}

#[test]
fn option_bits_are_for_those_who_carry_out_the_rules() {
    let text = "//! A.\nlet ends = options.contains(Options::END);\nlet all = Options::empty();\nlet more = Options::ENDS;\n";
    for path in [
        "crates/xtp-engine/src/context/close.rs",
        "crates/xtp-group/src/transmit/close.rs",
        "crates/xtp-engine/src/engine/responder/first.rs",
        "crates/xtp-engine/src/engine/initiator.rs",
        "crates/xtp-engine/src/admit/tombstone.rs",
    ] {
        assert_eq!(lines(path, false, text), [0; 0], "{path}");
    }
    for path in [
        "crates/xtp-core/src/send/queue.rs",
        "crates/xtp-engine/src/engine/opening.rs",
        "crates/xtp-engine/src/driver/input.rs",
        "crates/xtp/src/carrier.rs",
    ] {
        assert_eq!(lines(path, false, text), [2], "{path}");
    }
}
