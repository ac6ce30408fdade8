//! What nobody can have missed yet is noticed when it leaves again.

use super::*;

fn lacking(requests: &mut Requests, rseq: u64, spans: &[(u64, u64)], echo: u32) {
    let control = Control {
        rseq,
        alloc: u64::MAX,
        echo,
    };
    requests.lacks_octets(&control, spans.to_vec());
}

/// Three packets of ten octets, in packets 1 to 3.
fn three() -> Requests {
    let mut requests = Requests::default();
    for packet in 0..3 {
        requests.sent(10 * packet, 10 * packet + 10, packet as u32 + 1);
    }
    requests
}

#[test]
fn rows_are_asked_for_once() {
    let mut requests = Requests::default();
    requests.lacks_symbols(5, 2, 10);
    assert!(requests.row(4, 11, false).is_err(), "of another block");
    assert!(requests.row(5, 12, false).is_ok());
    assert!(requests.row(5, 13, false).is_ok());
    assert!(requests.row(5, 14, false).is_err(), "two were lacking");
    // Somebody has heard both and still lacks one.
    requests.lacks_symbols(5, 1, 14);
    assert!(requests.row(5, 15, false).is_ok());
    assert!(requests.row(5, 16, false).is_err());
    // Who has not heard them says nothing new.
    requests.lacks_symbols(5, 2, 11);
    assert!(requests.row(5, 17, false).is_err());
}

#[test]
fn rows_that_nobody_asked_for_come_first() {
    let mut requests = Requests::default();
    assert!(requests.row(0, 1, true).is_ok());
    assert!(requests.row(0, 2, true).is_ok());
    requests.lacks_symbols(0, 3, 0);
    assert!(requests.row(0, 3, false).is_ok(), "two are on the way");
    assert!(requests.row(0, 4, false).is_err());
    assert!(requests.row(0, 5, true).is_err(), "too late for that");
}

#[test]
fn octets_are_due_for_who_heard_what_left_after_them() {
    let mut requests = three();
    assert!(requests.again((10, 20), 4, None).is_err(), "nobody asked");
    let mut requests = three();
    lacking(&mut requests, 10, &[(20, 30)], 1);
    assert!(
        requests.again((10, 20), 4, None).is_err(),
        "it had not heard packet 2"
    );
    let mut requests = three();
    lacking(&mut requests, 10, &[(20, 30)], 3);
    assert!(requests.again((20, 30), 4, None).is_err(), "it has them");
    assert!(requests.again((0, 10), 4, None).is_err(), "these, too");
    assert!(requests.again((10, 20), 4, None).is_ok());
    assert!(requests.again((10, 20), 5, None).is_err(), "they are on the way");
    lacking(&mut requests, 10, &[(20, 30)], 5);
    assert!(requests.again((10, 20), 6, None).is_ok());
}

#[test]
fn what_follows_a_hole_is_due_where_repairs_go_back() {
    let mut requests = Requests {
        goes_back: true,
        ..three()
    };
    lacking(&mut requests, 10, &[(20, 30)], 3);
    assert!(requests.again((0, 10), 4, None).is_err(), "before the hole");
    assert!(requests.again((20, 30), 5, None).is_ok());
    assert!(requests.again((20, 30), 6, None).is_err(), "they are on the way");
}

#[test]
fn a_symbol_with_many_marks_follows_a_row_of_its_block() {
    let mut requests = three();
    requests.lacks_symbols(0, 2, 3);
    assert!(requests.row(0, 4, false).is_ok());
    assert!(requests.again((10, 20), 5, Some([0, 0])).is_ok());
    assert!(
        requests.again((10, 20), 6, Some([0, 0])).is_err(),
        "once for each repair of the block"
    );
    assert!(requests.row(0, 7, false).is_ok());
    assert!(requests.again((10, 20), 8, Some([0, 0])).is_ok());
}
