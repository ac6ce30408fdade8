//! Trains of every shape through every way of sending and receiving.

use std::io::{ErrorKind, IoSlice};

use xtp_io::{MAX_DATAGRAM, MAX_PIECES, SendOutcome, SendTrain, SocketOptions};

use crate::support::{bind, bind4, every_way, lacking, loopbacks, pattern, receive};

const HEADER: usize = 32;

/// Interleaved headers and payloads of `total` octets, cut into datagrams of `segment`.
fn interleaved(octets: &[u8], segment: usize) -> Vec<IoSlice<'_>> {
    octets
        .chunks(segment)
        .flat_map(|datagram| {
            let (header, payload) = datagram.split_at(HEADER.min(datagram.len()));
            [IoSlice::new(header), IoSlice::new(payload)]
        })
        .collect()
}

/// Sends `octets` in datagrams of `segment` each way to each way, and compares.
fn check_everywhere(octets: &[u8], segment: usize, pieces: &[IoSlice<'_>]) {
    let expected: Vec<_> = octets.chunks(segment).map(<[u8]>::to_vec).collect();
    for ip in loopbacks() {
        for (sending, send_options) in every_way() {
            for (receiving, receive_options) in every_way() {
                let (sender, receiver) = (bind(ip, &send_options), bind(ip, &receive_options));
                let train = SendTrain::new(receiver.local_addr(), segment, pieces);
                assert_eq!(train.segments(), expected.len());
                assert_eq!(sender.send(&train).expect("sent"), SendOutcome::Sent);
                let arrived = receive(&receiver, expected.len());
                assert!(
                    arrived == expected,
                    "{ip}, {sending} to {receiving}, {segment} octets each"
                );
                assert_eq!(receiver.counters().truncated, 0);
            }
        }
    }
}

#[test]
fn interleaved_pieces_arrive_as_the_right_datagrams() {
    // One datagram, two, a short last one, a last one of a header only, a full call, several calls.
    for (segment, total) in [
        (1200, 1200),
        (1200, 2400),
        (1200, 11 * 1200 + 500),
        (1200, 5 * 1200 + HEADER),
        (600, 64 * 600),
        (300, 150 * 300 + 1),
        (HEADER + 1, 20 * (HEADER + 1)),
    ] {
        let octets = pattern(total, segment as u32);
        check_everywhere(&octets, segment, &interleaved(&octets, segment));
    }
}

#[test]
fn a_train_longer_than_one_call_may_be_is_cut() {
    let octets = pattern(11 * 8000 + 7, 1);
    check_everywhere(&octets, 8000, &interleaved(&octets, 8000));
}

#[test]
fn one_datagram_may_fill_a_call() {
    // IPv6 needs 48 octets of header in loopback's 65 536.
    let octets = pattern(65_400, 2);
    check_everywhere(&octets, octets.len(), &interleaved(&octets, octets.len()));
}

#[test]
fn pieces_may_end_anywhere_and_be_empty() {
    let octets = pattern(20_000, 3);
    let mut pieces = Vec::new();
    let mut rest = octets.as_slice();
    for length in (0..).map(|at| at * 37 % 101) {
        let (piece, left) = rest.split_at(length.min(rest.len()));
        pieces.push(IoSlice::new(piece));
        rest = left;
        if rest.is_empty() {
            break;
        }
    }
    check_everywhere(&octets, 700, &pieces);
}

#[test]
fn more_pieces_than_a_call_takes_become_several_calls() {
    let octets = pattern(5 * MAX_PIECES / 2, 4);
    let pieces: Vec<_> = octets.chunks(1).map(IoSlice::new).collect();
    check_everywhere(&octets, 100, &pieces);
}

#[test]
fn a_datagram_of_too_many_pieces_is_refused() {
    let octets = pattern(2 * (MAX_PIECES + 1), 5);
    let pieces: Vec<_> = octets.chunks(1).map(IoSlice::new).collect();
    for (name, options) in every_way() {
        let socket = bind4(&options);
        let error = socket.send(&SendTrain::new(socket.local_addr(), MAX_PIECES + 1, &pieces));
        assert_eq!(
            error.expect_err("too many").kind(),
            ErrorKind::InvalidInput,
            "{name}"
        );
        assert_eq!(socket.counters().datagrams_out, 0);
    }
}

#[test]
fn a_train_continues_where_it_stopped() {
    let octets = pattern(150 * 100 + 10, 6);
    let pieces = interleaved(&octets, 100);
    for (name, options) in every_way() {
        let (sender, receiver) = (bind4(&options), bind4(&SocketOptions::default()));
        let train = SendTrain::new(receiver.local_addr(), 100, &pieces);
        for first in [1, 70, 150] {
            assert_eq!(sender.send_from(&train, first).expect("sent"), SendOutcome::Sent);
            let expected: Vec<_> = octets.chunks(100).skip(first).map(<[u8]>::to_vec).collect();
            assert!(
                receive(&receiver, expected.len()) == expected,
                "{name} from {first}"
            );
        }
        let calls = sender.counters().send_calls;
        for beyond in [151, 1000, usize::MAX] {
            assert_eq!(
                sender.send_from(&train, beyond).expect("nothing left"),
                SendOutcome::Sent
            );
        }
        assert_eq!(sender.counters().send_calls, calls);
    }
}

#[test]
fn contradictory_trains_and_foreign_families_are_refused() {
    let pieces = [IoSlice::new(b"octets")];
    for (name, options) in every_way() {
        let socket = bind4(&options);
        let good = SendTrain::new(socket.local_addr(), 3, &pieces);
        let six = "[::1]:9".parse().expect("an address");
        for bad in [
            SendTrain { segment: 0, ..good },
            SendTrain { total: 7, ..good },
            SendTrain {
                total: 0,
                pieces: &[],
                ..good
            },
            SendTrain { dst: six, ..good },
        ] {
            let error = socket.send(&bad).expect_err("refused");
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{name}: {bad:?}");
        }
        assert_eq!(socket.counters().send_calls, 0);
    }
}

#[test]
fn a_segment_beyond_any_datagram_is_too_big_without_asking_the_kernel() {
    let octets = vec![0; 2 * (MAX_DATAGRAM + 1)];
    let pieces = [IoSlice::new(&octets)];
    for (name, options) in every_way() {
        let socket = bind4(&options);
        let train = SendTrain::new(socket.local_addr(), MAX_DATAGRAM + 1, &pieces);
        let outcome = socket.send(&train).expect("an outcome");
        assert_eq!(outcome, SendOutcome::TooBig { sent: 0, left: 2 }, "{name}");
        assert_eq!(socket.counters().send_calls, 0);
    }
}

#[test]
fn a_segment_longer_than_the_whole_train_is_one_datagram() {
    let pieces = [IoSlice::new(b"short")];
    for (name, options) in every_way() {
        let socket = bind4(&options);
        let train = SendTrain::new(socket.local_addr(), usize::MAX, &pieces);
        assert_eq!(socket.send(&train).expect("sent"), SendOutcome::Sent, "{name}");
        assert_eq!(receive(&socket, 1), [b"short"]);
    }
}

#[test]
fn a_mapped_destination_leaves_by_an_ipv4_socket() {
    let socket = bind4(&lacking(|l| l.gro = true));
    let port = socket.local_addr().port();
    let pieces = [IoSlice::new(b"mapped")];
    let dst = format!("[::ffff:127.0.0.1]:{port}").parse().expect("an address");
    assert_eq!(
        socket.send(&SendTrain::new(dst, 6, &pieces)).expect("sent"),
        SendOutcome::Sent
    );
    assert_eq!(receive(&socket, 1), [b"mapped"]);
}
