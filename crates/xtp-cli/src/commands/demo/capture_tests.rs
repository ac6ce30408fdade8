//! Records of a capture.

use super::{RECORD_HEADER, frame};

#[test]
fn records_are_found_when_they_are_whole() {
    for (network_order, length) in [(true, 3_u32.to_be_bytes()), (false, 3_u32.to_le_bytes())] {
        let mut octets = vec![0; RECORD_HEADER];
        octets[8..12].copy_from_slice(&length);
        assert_eq!(frame(&octets, 0, network_order), None);
        octets.extend([7, 8, 9]);
        assert_eq!(frame(&octets, 0, network_order), Some(&[7, 8, 9][..]));
        assert_eq!(frame(&octets, 1_000, network_order), None);
    }
}
