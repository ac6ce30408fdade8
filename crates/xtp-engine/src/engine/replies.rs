//! Packets that belong to no context: DIAG, COOKIE, and the answers of tombstones (§2.3, §6.8, §7.5, §1.10).

use super::Engine;
use crate::admit::{AgeRefusal, TombstoneAnswer, may_be_answered};
use crate::time_wait::TimeWait;
use bytes::Bytes;
use xtp_core::transmit::{Datagram, Ecn, Route};
use xtp_wire::{Body, Diag, DiagCode, DiagValue, Format, Header, Key, Options, Packet, Token, size};

impl Engine {
    /// The DIAG of §2.3 to a FIRST: "certainly not executed", but for `ImproperState`.
    pub(super) fn refuse(&mut self, trigger: &Header, value: DiagValue, datagram: &Datagram<'_>) {
        let mut clock = String::new();
        let text = match value {
            DiagValue::ImproperState => {
                clock += &self.utc_ms().to_string();
                clock.as_str()
            }
            _ => "",
        };
        self.send_diag(trigger, DiagCode::ContextRefused, value, text, datagram);
    }

    /// DIAG(1,12) of what an instance before this one may have executed, and this one certainly not: our clock, and our name.
    pub(super) fn refuse_for_start(&mut self, trigger: &Header, datagram: &Datagram<'_>) {
        let text = AgeRefusal {
            utc_ms: self.utc_ms(),
            by: self.instance.introduce(self.now),
        }
        .to_string();
        let (code, value) = (DiagCode::ContextRefused, DiagValue::ImproperState);
        self.send_diag(trigger, code, value, &text, datagram);
    }

    /// DIAG 3: only for RTN=1 misses with SREQ (§7.5).
    pub(super) fn disown(&mut self, trigger: &Header, datagram: &Datagram<'_>) {
        // Whether somebody may be answered is judged by where the packet came to, and that was this endpoint alone.
        let alone = Header {
            options: trigger.options - Options::MULTI,
            ..*trigger
        };
        self.send_diag(
            &alone,
            DiagCode::InvalidContext,
            DiagValue::Unspecified,
            "",
            datagram,
        );
    }

    fn send_diag(
        &mut self,
        trigger: &Header,
        code: DiagCode,
        value: DiagValue,
        text: &str,
        datagram: &Datagram<'_>,
    ) {
        let diag = Diag::new(code, value, text);
        let octets = size::packet(diag.encoded_len());
        if !may_be_answered(trigger.format, trigger.options)
            || !self.diags.permit(self.now, octets, datagram.data.len())
        {
            return;
        }
        self.stats.diags_sent += 1;
        let key = Key::returned(trigger.key.value());
        self.reply(key, &Body::Diag(diag), datagram);
    }

    /// COOKIE: "say that again with this token"; no state is kept (§7.4).
    pub(super) fn send_cookie(&mut self, trigger: &Header, token: Token, datagram: &Datagram<'_>) {
        self.stats.cookies_sent += 1;
        let key = Key::returned(trigger.key.value());
        self.reply(key, &Body::Cookie(token), datagram);
    }

    /// What a tombstone says.
    pub(super) fn send_answer(&mut self, answer: TombstoneAnswer, datagram: &Datagram<'_>) {
        match answer {
            TombstoneAnswer::Silence => {}
            TombstoneAnswer::Control(numbers) => self.send_final(&numbers, datagram),
            TombstoneAnswer::Cached(numbers, packet) => self.send_cached(&numbers, &packet, datagram),
        }
    }

    fn send_final(&mut self, numbers: &TimeWait, datagram: &Datagram<'_>) {
        self.stats.replays += 1;
        let at = numbers.write(self.config.protection(), &mut self.replies);
        self.replies.push(route(datagram), false, at, &[]);
    }

    /// The cached response with a fresh sync.
    fn send_cached(&mut self, numbers: &TimeWait, packet: &Bytes, datagram: &Datagram<'_>) {
        self.stats.replays += 1;
        let Ok((mut header, body)) = Header::split(packet) else {
            return;
        };
        // A rejection belongs to no context and counts in none.
        if header.format != Format::Diag {
            header.sync = numbers.sync;
        }
        let at = self.replies.write_like(header, body, |_| {}, []);
        self.replies.push(route(datagram), false, at, &[]);
    }

    fn reply(&mut self, key: Key, body: &Body<'_>, datagram: &Datagram<'_>) {
        let header = Header {
            key,
            options: Options::empty(),
            format: Format::Cntl,
            dlen: 0,
            check: 0,
            sort: 0,
            sync: 0,
            seq: 0,
        };
        let packet = Packet {
            header,
            body: *body,
            padding: 0,
        };
        if let Some(at) = self.replies.write_packet(&packet, self.config.protection(), []) {
            self.replies.push(route(datagram), false, at, &[]);
        }
    }
}

/// Answers go where the trigger came from, from where it was sent to.
fn route(datagram: &Datagram<'_>) -> Route {
    Route {
        dst: datagram.src,
        src: datagram.dst,
        ecn: Ecn::NotEct,
        sort: None,
    }
}
