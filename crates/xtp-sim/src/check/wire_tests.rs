//! How long an injected DIAG 3 was not answered.

use super::End;

#[test]
fn a_doubt_lasts_from_the_first_injected_diag_to_the_next_packet() {
    let mut end = End::default();
    end.hear(900, None);
    assert_eq!(end.longest_doubt(5_000), 0);
    end.doubt(1_000);
    end.doubt(1_200);
    assert_eq!(end.longest_doubt(1_250), 250);
    end.hear(1_300, None);
    end.doubt(2_000);
    end.hear(2_100, None);
    assert_eq!(end.longest_doubt(9_000), 300);
}
