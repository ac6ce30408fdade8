//! Who sends what to whom: every packet is taken in its own direction only, whatever else is set.

use proptest::prelude::*;

use super::*;
use crate::{DiagCode, DiagValue, GroupPoint, Span, Tlv, TlvWriter, Tlvs};
use crate::{ExtendedTraffic, service};

const HEADER: GroupHeader = GroupHeader {
    key: 0x0123_4567_89ab_cdef,
    sync: 7,
    seq: 58,
    options: Options::empty(),
};
const BLOCKS: &[GnackBlock] = &[GnackBlock::new(0, 1, 4), GnackBlock::new(2, 3, 64)];
const ADDRESS: Address = Address::Null { domain: 0 };
const PLAIN: Traffic<'static> = Traffic::None {
    service: service::MULTICAST_RELIABLE,
};
const CONTROL: Control = Control {
    rseq: 1,
    alloc: 2,
    echo: 3,
};
const POLL: GroupPoll = GroupPoll {
    modulus: 16,
    remainder: 5,
    size: 10,
    grtt_us: 1,
    feedback_rate: 2,
    hold_us: 3,
};

fn with_point(room: &mut [u8]) -> Traffic<'_> {
    let point = GroupPoint {
        group: 1,
        at: 2,
        live: 3,
    };
    let mut writer = TlvWriter::new(room);
    writer.tlv(&Tlv::Catchup(point)).unwrap();
    Traffic::Extended(ExtendedTraffic {
        tlvs: writer.finish().unwrap(),
        ..Default::default()
    })
}

fn first(data: &'static [u8]) -> First<'static> {
    First {
        address: ADDRESS,
        traffic: PLAIN,
        data: DataSegment { tag: None, data },
    }
}

const fn join(traffic: Traffic<'_>) -> ToTransmitter<'_> {
    ToTransmitter::Join {
        control: CONTROL,
        xkey: 5,
        address: ADDRESS,
        traffic,
    }
}

fn parity(symbol: &[u8; 12]) -> Parity<'_> {
    Parity {
        k: 4,
        row: 0,
        symbol_len: 4,
        scheme: Parity::SCHEME_BYTES,
        flags: 0,
        end: 58,
        symbol,
    }
}

fn to_group(which: usize) -> Option<ToGroup<'static>> {
    let all = [
        ToGroup::Announcement(first(b"")),
        ToGroup::Datagram(first(b"all of it")),
        ToGroup::Data(first(b"some").data),
        ToGroup::Parity(parity(&[1; 12])),
        ToGroup::Poll(POLL),
        ToGroup::Rows(BLOCKS),
        ToGroup::Question,
        ToGroup::Position,
        ToGroup::End,
    ];
    all.get(which).copied()
}

fn to_transmitter(which: usize) -> Option<ToTransmitter<'static>> {
    const SPANS: &[Span] = &[Span::new(3, 4)];
    let all = [
        join(PLAIN),
        ToTransmitter::Status(CONTROL),
        ToTransmitter::Spans {
            control: CONTROL,
            spans: Spans::new(1, SPANS).unwrap(),
        },
        ToTransmitter::Extended(Xcntl::default()),
        ToTransmitter::Need(Gnack::unsolicited(CONTROL, 4, BLOCKS)),
        ToTransmitter::Diag(Diag::new(
            DiagCode::ContextAbandoned,
            DiagValue::Unspecified,
            "no",
        )),
    ];
    all.get(which).copied()
}

proptest! {
    /// Whatever a user asks for besides, what is made is what is understood, on the wire too.
    #[test]
    fn what_is_made_is_understood(bits in any::<u32>(), which in 0_usize..9, key in 1_u64.., sync in any::<u32>()) {
        let unnamed = Options::BTAG | Options::END | Options::EOM | Options::SREQ | Options::WCLOSE;
        let options = Options::from_bits_truncate(bits) - unnamed;
        let header = GroupHeader { key, sync, seq: 58, options };
        let mut out = [0; 512];
        if let Some(said) = to_group(which) {
            let length = said.packet(header).encode(&mut out).unwrap();
            let heard = Packet::parse(&out[..length]).unwrap();
            prop_assert_eq!(ToGroup::of(&heard), Ok(said));
            prop_assert_eq!(heard.header.key, Key::own(key));
            prop_assert!(ToTransmitter::of(&heard).is_err() && ToMember::of(&heard).is_err());
        }
        if let Some(said) = to_transmitter(which) {
            let length = said.packet(header).encode(&mut out).unwrap();
            let heard = Packet::parse(&out[..length]).unwrap();
            prop_assert_eq!(ToTransmitter::of(&heard), Ok(said));
            prop_assert_eq!(heard.header.key, Key::returned(key));
            prop_assert!(ToGroup::of(&heard).is_err());
        }
        let mut room = [0; 64];
        let answer = ToMember::Answer { control: CONTROL, xkey: 5, address: ADDRESS, traffic: with_point(&mut room) };
        let length = answer.packet(header).encode(&mut out).unwrap();
        let heard = Packet::parse(&out[..length]).unwrap();
        prop_assert_eq!(ToMember::of(&heard), Ok(answer));
        prop_assert!(ToGroup::of(&heard).is_err());
        prop_assert!(heard.header.options.contains(Options::SREQ | Options::MULTI));
    }

    /// Classifying anything that parses panics nowhere, and what it takes can be made again.
    #[test]
    fn any_packet(mut octets in proptest::collection::vec(prop_oneof![3 => 0_u8..4, 1 => any::<u8>()], 32..200), format in 0_u8..32) {
        octets[11] = 0x20 | format;
        let dlen = u32::try_from(octets.len() - 32).unwrap();
        octets[12..16].copy_from_slice(&dlen.to_be_bytes());
        octets[8] |= 8;
        crate::seal(&mut octets, []);
        let Ok(packet) = Packet::parse(&octets) else { return Ok(()) };
        let header = GroupHeader { key: packet.header.key.value(), sync: 0, seq: 0, options: packet.header.options };
        if let Ok(said) = ToGroup::of(&packet) {
            prop_assert_eq!(ToGroup::of(&said.packet(header)), Ok(said));
        }
        if let Ok(said) = ToTransmitter::of(&packet) {
            prop_assert_eq!(ToTransmitter::of(&said.packet(header)), Ok(said));
        }
        if let Ok(said) = ToMember::of(&packet) {
            prop_assert_eq!(ToMember::of(&said.packet(header)), Ok(said));
        }
    }
}

#[test]
fn without_multi_or_with_the_other_return_bit_it_is_none() {
    for said in (0..).map_while(to_group) {
        let mut packet = said.packet(HEADER);
        packet.header.key = Key::returned(9);
        assert_eq!(ToGroup::of(&packet), Err(WireError::BadGroup), "{said:?}");
        packet.header.key = Key::own(9);
        packet.header.options -= Options::MULTI;
        assert_eq!(ToGroup::of(&packet), Err(WireError::BadGroup), "{said:?}");
    }
    for said in (0..).map_while(to_transmitter) {
        let mut packet = said.packet(HEADER);
        packet.header.options -= Options::MULTI;
        let diag = matches!(said, ToTransmitter::Diag(_));
        assert_eq!(
            ToTransmitter::of(&packet).is_ok(),
            diag,
            "DIAG has no MULTI: {said:?}"
        );
        packet.header.options |= Options::MULTI;
        packet.header.key = Key::own(9);
        assert_eq!(ToTransmitter::of(&packet), Err(WireError::BadGroup), "{said:?}");
    }
}

#[test]
fn what_is_missing_makes_another_packet_or_none() {
    let mut poll = ToGroup::Poll(POLL).packet(HEADER);
    poll.header.options -= Options::SREQ;
    assert_eq!(ToGroup::of(&poll), Err(WireError::BadGroup), "a poll asks");
    let mut datagram = ToGroup::Datagram(first(b"all")).packet(HEADER);
    datagram.header.options -= Options::WCLOSE;
    assert_eq!(
        ToGroup::of(&datagram),
        Err(WireError::BadGroup),
        "FIRST holds all or nothing"
    );
    let mut end = ToGroup::End.packet(HEADER);
    end.header.options -= Options::END;
    assert_eq!(ToGroup::of(&end), Ok(ToGroup::Position));
    let mut question = ToGroup::Question.packet(HEADER);
    question.header.options -= Options::SREQ;
    assert_eq!(ToGroup::of(&question), Ok(ToGroup::Position));

    let asked = Gnack::answer(CONTROL, 1, 2, BLOCKS);
    let announced = Body::Gnack(Gnack::announcement(BLOCKS));
    let mut packet = ToTransmitter::Need(asked).packet(HEADER);
    packet.body = announced;
    assert_eq!(
        ToTransmitter::of(&packet),
        Err(WireError::BadGroup),
        "only the transmitter announces"
    );
    packet.body = Body::Gnack(asked);
    packet.header.key = Key::own(9);
    assert_eq!(
        ToGroup::of(&packet),
        Err(WireError::BadGroup),
        "and needs nothing"
    );
}

#[test]
fn an_answer_to_a_join_says_where() {
    let mut room = [0; 64];
    let traffic = with_point(&mut room);
    let answer = |xkey, traffic| ToMember::Answer {
        control: CONTROL,
        xkey,
        address: ADDRESS,
        traffic,
    };
    assert!(ToMember::of(&answer(5, traffic).packet(HEADER)).is_ok());
    let (empty, no_point) = (Tlvs::EMPTY, ExtendedTraffic::default());
    assert_eq!(no_point.tlvs, empty);
    for bad in [
        answer(0, traffic),
        answer(5, PLAIN),
        answer(5, Traffic::Extended(no_point)),
    ] {
        assert_eq!(
            ToMember::of(&bad.packet(HEADER)),
            Err(WireError::BadGroup),
            "{bad:?}"
        );
    }
    let mut unasked = answer(5, traffic).packet(HEADER);
    unasked.header.options -= Options::SREQ;
    assert_eq!(
        ToMember::of(&unasked),
        Err(WireError::BadGroup),
        "it is to be answered"
    );
    let nobody = ToTransmitter::Join {
        control: CONTROL,
        xkey: 0,
        address: ADDRESS,
        traffic: PLAIN,
    };
    assert_eq!(
        ToTransmitter::of(&nobody.packet(HEADER)),
        Err(WireError::BadGroup)
    );
    for said in [
        ToMember::End(CONTROL),
        ToMember::Diag(Diag::new(DiagCode::JoinRefused, DiagValue::JoinDenied, "")),
    ] {
        assert_eq!(ToMember::of(&said.packet(HEADER)), Ok(said));
    }
    let alive = ToTransmitter::Status(CONTROL).packet(HEADER);
    assert_eq!(
        ToMember::of(&alive),
        Err(WireError::BadGroup),
        "status goes the other way"
    );
}
