//! Packets made by hand: well-formed, with the right checksum, and wrong in one thing.

use xtp_wire::{Body, Control, Diag, Format, HEADER_LEN, Header, Key, Options, Packet, Token, seal};

use crate::packet::Seen;
use crate::rng::Rng;

/// Where the control segment has rseq and alloc.
const RSEQ: usize = HEADER_LEN;
const ALLOC: usize = HEADER_LEN + 8;
const ECHO: usize = HEADER_LEN + 16;
/// Where the header has its options, sync and seq.
const OPTIONS: usize = 8;
const SYNC: usize = 20;
const SEQ: usize = 24;

/// A recorded packet that is changed.
pub(super) struct Draft(Vec<u8>);

impl Draft {
    pub(super) fn of(octets: &[u8]) -> Self {
        Self(octets.to_vec())
    }

    fn put(mut self, at: usize, octets: &[u8]) -> Self {
        self.0[at..at + octets.len()].copy_from_slice(octets);
        self
    }

    pub(super) fn key(self, key: Key) -> Self {
        self.put(0, &key.to_wire().to_be_bytes())
    }

    /// Clears options, of whatever stands there.
    pub(super) fn without(self, cleared: Options) -> Self {
        let old = u32::from_be_bytes([0, self.0[OPTIONS], self.0[OPTIONS + 1], self.0[OPTIONS + 2]]);
        let new = (old & !cleared.bits()).to_be_bytes();
        self.put(OPTIONS, &new[1..])
    }

    pub(super) fn sync(self, sync: u32) -> Self {
        self.put(SYNC, &sync.to_be_bytes())
    }

    pub(super) fn seq(self, seq: u64) -> Self {
        self.put(SEQ, &seq.to_be_bytes())
    }

    pub(super) fn control(self, control: Control) -> Self {
        self.put(RSEQ, &control.rseq.to_be_bytes())
            .put(ALLOC, &control.alloc.to_be_bytes())
            .put(ECHO, &control.echo.to_be_bytes())
    }

    /// A FIRST goes to this service: the address segment, which tells its length, ends with two ports.
    pub(super) fn service(self, port: u16) -> Self {
        let length = u16::from_be_bytes([self.0[HEADER_LEN], self.0[HEADER_LEN + 1]]);
        self.put(HEADER_LEN + usize::from(length) - 4, &port.to_be_bytes())
    }

    /// Every octet behind the header is another one.
    pub(super) fn other_octets(mut self) -> Self {
        self.0[HEADER_LEN..].iter_mut().for_each(|octet| *octet = !*octet);
        self
    }

    /// With the checksum mended; nothing if it is shorter than its header says.
    pub(super) fn finish(mut self) -> Option<Vec<u8>> {
        let dlen = Header::parse(&self.0).ok()?.dlen as usize;
        let packet = self.0.get_mut(..HEADER_LEN + dlen)?;
        seal(packet, []);
        Some(self.0)
    }
}

/// A packet from nothing.
fn make(key: Key, options: Options, sync: u32, seq: u64, body: Body<'_>) -> Option<Vec<u8>> {
    let header = Header {
        key,
        options,
        format: Format::Cntl,
        dlen: 0,
        check: 0,
        sort: 0,
        sync,
        seq,
    };
    let packet = Packet {
        header,
        body,
        padding: 0,
    };
    let mut octets = vec![0; packet.encoded_len()];
    let len = packet.encode(&mut octets).ok()?;
    octets.truncate(len);
    Some(octets)
}

pub(super) fn cntl(key: Key, options: Options, sync: u32, control: Control) -> Option<Vec<u8>> {
    make(key, options, sync, 0, Body::Cntl(control))
}

/// Says that everything this packet carried was received.
pub(super) fn confirmation(seen: &Seen) -> Control {
    Control {
        rseq: seen.end(),
        alloc: seen.end(),
        echo: seen.sync,
    }
}

pub(super) fn diag(key: Key, code: u32, rng: &mut Rng) -> Option<Vec<u8>> {
    let text = rng.pick(&["", "no", "1790000000000 5 20", "1200"]);
    let val = rng.range(0, 14) as u32;
    // 2 is obeyed with END, and only with the right key.
    let options = match code == 2 && rng.percent(50) {
        true => Options::END,
        false => Options::empty(),
    };
    make(key, options, 0, 0, Body::Diag(Diag { code, val, text }))
}

pub(super) fn cookie(key: Key, rng: &mut Rng) -> Option<Vec<u8>> {
    let mut mac = [0; 16];
    mac.copy_from_slice(&rng.entropy()[..16]);
    let token = Token {
        epoch: rng.range(0, 3) as u8,
        kind: rng.range(0, 1) as u8,
        time: rng.number() as u32,
        mac,
    };
    make(key, Options::empty(), 0, 0, Body::Cookie(token))
}
