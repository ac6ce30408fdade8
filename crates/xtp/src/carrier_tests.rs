//! What errors and marks of the network mean.

use super::*;
use crate::frames::testing::sent_once;

#[test]
fn ecn_marks_survive_both_ways() {
    for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
        assert_eq!(from_io(class::to_io(ecn)), ecn);
    }
}

/// What arrives of three frames with heads of four octets, in memory with so much room before each.
fn sent_framed(room: usize) -> (Vec<Vec<u8>>, u64) {
    let any = "127.0.0.1:0".parse().expect("an address");
    let options = xtp_io::SocketOptions::default();
    let socket = Arc::new(UdpSocket::bind(any, &options).expect("loopback"));
    let peer = UdpSocket::bind(any, &options).expect("loopback");
    let mut carrier = Carrier::new(socket.clone(), Arc::new(Waker::new(socket.local_addr())), None);
    let mut out = TransmitBatch::new();
    let mut memory = xtp_io::FrameMemory::new(room, 5, 15);
    memory.frames_mut(0).for_each(|frame| frame.fill(7));
    out.arena = (0..12).collect();
    out.framed.push(sent_once(memory));
    out.pieces.push(Piece::Framed(xtp_engine::FramedRun {
        heads: 0,
        head: 4,
        of: 0,
        first: 0,
        count: 3,
        retained: true,
    }));
    out.trains.push(xtp_engine::Train {
        dst: peer.local_addr(),
        src: None,
        ecn: Ecn::NotEct,
        sort: None,
        segment: 9,
        total: 27,
        count: 3,
        probe: false,
        pieces: 0..1,
    });
    let mut engine = Engine::new(xtp_engine::EngineConfig::new([1; 32])).expect("a default configuration");
    carrier.send(Time::ZERO, &mut engine, &mut out);
    assert!(out.is_empty(), "sent");
    let (mut batch, mut came) = (RecvBatch::default(), Vec::new());
    while peer.recv(&mut batch).expect("looked") > 0 {
        came.extend(batch.iter().map(|datagram| datagram.data.to_vec()));
    }
    (came, carrier.copied)
}

#[test]
fn frames_leave_from_where_they_lie_or_gathered_if_heads_do_not_fit_their_room() {
    let expected: Vec<Vec<u8>> = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
        .map(|head| [&head[..], &[7; 5]].concat())
        .into();
    assert_eq!(sent_framed(4), (expected.clone(), 0));
    for room in [0, 2, 8] {
        assert_eq!(sent_framed(room), (expected.clone(), 27), "room for {room}");
    }
}
