//! Packets to single receivers: where they stand, that the group is over, that they are refused or out (§9.10).

use super::Transmitter;
use crate::emit;
use crate::groups::PartyEnv;
use core::net::{IpAddr, SocketAddr};
use std::collections::VecDeque;
use xtp_core::transmit::{Ecn, Route, TransmitBatch};
use xtp_wire::{Control, Diag, DiagCode, DiagValue, GroupHeader, GroupPoint, Options, Protection, ToMember};

/// Packets that wait; more are not noted, since whoever misses one asks again.
const MOST: usize = 4_096;
/// Of these leave in one flush.
const A_FLUSH: usize = 64;

/// One packet to one receiver.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum UnicastReply {
    /// JCNTL to whom this T was given: it is admitted, or this is where it stands.
    Standing(u64),
    /// CNTL {END} to whom this T was given.
    End(u64),
    /// DIAG to who has this key there.
    Refusal {
        to: SocketAddr,
        local: Option<IpAddr>,
        key: u64,
        code: DiagCode,
        value: DiagValue,
    },
}

impl UnicastReply {
    pub(super) fn refusal(
        (to, local): (SocketAddr, Option<IpAddr>),
        key: u64,
        code: DiagCode,
        value: DiagValue,
    ) -> Self {
        Self::Refusal {
            to,
            local,
            key,
            code,
            value,
        }
    }
}

/// What waits for the next flush.
#[derive(Debug, Default)]
pub(super) struct Replies(VecDeque<UnicastReply>);

impl Replies {
    pub(super) fn push(&mut self, reply: UnicastReply) {
        if self.0.len() < MOST && self.0.back() != Some(&reply) {
            self.0.push_back(reply);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// To whom a packet goes, and how.
#[derive(Copy, Clone, Debug)]
struct Letter {
    to: SocketAddr,
    local: Option<IpAddr>,
    header: GroupHeader,
    /// Number of the packet of the receiver's own that this answers.
    echo: u32,
}

impl Transmitter {
    /// Sends what waits, so many at most.
    pub(super) fn send_replies(&mut self, env: &mut PartyEnv<'_>, out: &mut TransmitBatch) {
        for _ in 0..A_FLUSH {
            let Some(reply) = self.replies.0.pop_front() else {
                return;
            };
            match reply {
                UnicastReply::Standing(own) => self.say_standing(own, env, out),
                UnicastReply::End(own) => self.say_end(own, env, out),
                UnicastReply::Refusal {
                    to,
                    local,
                    key,
                    code,
                    value,
                } => {
                    let letter = Letter {
                        to,
                        local,
                        header: GroupHeader {
                            key,
                            ..GroupHeader::default()
                        },
                        echo: 0,
                    };
                    self.say_to(letter, ToMember::Diag(Diag::new(code, value, "")), out);
                }
            }
        }
    }

    fn say_standing(&mut self, own: u64, env: &mut PartyEnv<'_>, out: &mut TransmitBatch) {
        let Some((letter, live)) = self.letter(own, env) else {
            return;
        };
        let mut room = core::mem::take(&mut self.room);
        let point = GroupPoint {
            group: self.line.key,
            at: self.lowest_supplied(),
            live,
        };
        let told = (Some(point), self.bucket_terms());
        if let Some(traffic) = self.terms.specifier(&self.feedback(), told, 0, &mut room) {
            let answer = ToMember::Answer {
                control: Control {
                    echo: letter.echo,
                    ..Control::default()
                },
                xkey: own,
                address: self.line.address(self.options.service_number),
                traffic,
            };
            let octets = answer.packet(letter.header).encoded_len() as u64;
            if self.joins.may_send(own, octets) {
                self.say_to(letter, answer, out);
            }
        }
        self.room = room;
    }

    fn say_end(&mut self, own: u64, env: &mut PartyEnv<'_>, out: &mut TransmitBatch) {
        if let Some((mut letter, _)) = self.letter(own, env) {
            letter.header.seq = self.stream.nxt;
            letter.header.options = self.line.ending;
            let control = Control {
                echo: letter.echo,
                ..Control::default()
            };
            self.say_to(letter, ToMember::End(control), out);
        }
    }

    /// A packet to whom this T was given, and its `live`.
    fn letter(&mut self, own: u64, env: &PartyEnv<'_>) -> Option<(Letter, u64)> {
        let lowest = self.lowest_begin();
        if let Some(pending) = self.joins.get_mut(own) {
            pending.sync = pending.sync.wrapping_add(1);
            pending.told = env.now;
            let header = GroupHeader {
                key: pending.key,
                sync: pending.sync,
                // What a receiver has already of what lies above the join point is its own.
                seq: match self.options.from_start {
                    true => lowest,
                    false => pending.rseq,
                },
                options: Options::empty(),
            };
            let letter = Letter {
                to: pending.address,
                local: pending.local,
                header,
                echo: pending.heard_sync,
            };
            return Some((letter, pending.live));
        }
        let member = self.members.get_mut(self.members.by_own(own)?);
        member.sync = member.sync.wrapping_add(1);
        member.told = env.now;
        let header = GroupHeader {
            key: member.key,
            sync: member.sync,
            seq: member.rseq,
            options: Options::empty(),
        };
        let letter = Letter {
            to: member.address,
            local: member.local,
            header,
            echo: member.heard_sync,
        };
        Some((letter, member.live))
    }

    fn say_to(&mut self, letter: Letter, said: ToMember<'_>, out: &mut TransmitBatch) {
        let route = Route {
            dst: letter.to,
            src: letter.local,
            ecn: Ecn::NotEct,
            sort: None,
        };
        let packet = said.packet(letter.header);
        self.line.stats.control_packets += 1;
        self.line.stats.octets_sent += emit::push(out, &[route], &packet, &[], Protection::Packet) as u64;
    }
}
