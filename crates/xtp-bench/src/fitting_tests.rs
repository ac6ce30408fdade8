//! Timings into lines.

use super::Timings;
use crate::plan::{Experiment, Path, WaitPolicy};

#[test]
fn fifty_operations_are_one_timing() {
    let mut timings = Timings::default();
    for size in [4_u64, 1_004, 2_004] {
        // 10 us and 10 ns an octet; one of fifty was interrupted for a millisecond.
        let mut samples = vec![10_000 + 10 * size; 120];
        samples[7] += 1_000_000;
        timings.add("udp", size, &samples);
    }
    timings.add("tcp", 4, &[1; 500]);
    let fits = timings.fits(Experiment::Pingpong, Path::Veth, WaitPolicy::Spin);
    assert_eq!(fits.len(), 1, "one size is no line: {fits:?}");
    let fit = &fits[0];
    assert_eq!(
        (fit.transport.as_str(), fit.path.as_str(), fit.wait.as_str()),
        ("udp", "veth", "spin")
    );
    assert_eq!(fit.timings, 6, "what is left over is not counted");
    assert!((fit.overhead_us - 10.0).abs() < 1e-6, "{fit:?}");
    assert!((fit.per_octet_us - 0.01).abs() < 1e-9, "{fit:?}");
}
