//! What is said late is what was said last, with a new sync.

use super::*;
use xtp_wire::{Body, Packet};

fn said(wait: &TimeWait) -> (Header, Control) {
    let mut out = TransmitBatch::new();
    let at = wait.write(Protection::Packet, &mut out);
    let packet = Packet::parse(&out.arena[at..]).unwrap();
    let Body::Cntl(control) = packet.body else {
        panic!("{:?} is no CNTL", packet.header.format)
    };
    (packet.header, control)
}

#[test]
fn the_packet_says_the_numbers() {
    for echo in [9, 0] {
        let wait = TimeWait {
            sort: 7,
            echo: Some(echo),
            ..TimeWait::sample(77, 88)
        };
        let (header, control) = said(&wait);
        assert_eq!((header.key, header.sort), (wait.key, wait.sort));
        assert_eq!((header.options, header.format), (wait.options, Format::Cntl));
        assert_eq!((header.sync, header.seq), (wait.sync, wait.seq));
        let Control {
            rseq,
            alloc,
            echo: said,
        } = control;
        assert_eq!((rseq, alloc, said), (wait.rseq, wait.alloc, echo));
    }
}

#[test]
fn an_answer_echoes_the_greatest_sync_under_a_new_one() {
    let mut wait = TimeWait {
        echo: None,
        ..TimeWait::sample(77, 88)
    };
    let mut answered = |sync| {
        wait.answer(sync);
        let (header, control) = said(&wait);
        (header.sync, control.echo)
    };
    // The first is greater than none, whatever it is; the sync before was the last of its round.
    assert_eq!(answered(u32::MAX - 1), (0, u32::MAX - 1));
    assert_eq!(answered(3), (1, 3));
    assert_eq!(answered(u32::MAX), (2, 3));
}
