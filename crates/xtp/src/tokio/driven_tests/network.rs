//! What is between the endpoints: time, losses, copies, and another order.

use std::collections::BTreeMap;

use xtp_io::Wire;

use super::Rng;

/// Octets of joined datagrams.
const JOINED: usize = 60_000;

pub(super) struct Network {
    rng: Rng,
    /// Nanoseconds of a way, and what is added at random.
    delay: u64,
    jitter: u64,
    /// Percent.
    loss: u64,
    copies: u64,
    joins: bool,
    /// By the moment of arrival: where from and where to, and the octets.
    under_way: BTreeMap<(u64, u64), (usize, usize, Vec<u8>)>,
    serial: u64,
    pub(super) delivered: u64,
}

impl Network {
    pub(super) fn draw(seed: u64) -> Self {
        let mut rng = Rng::new(seed, 1);
        let lossy = rng.percent(50);
        Self {
            delay: rng.pick(&[5_000, 50_000, 1_000_000, 10_000_000, 40_000_000]),
            jitter: rng.pick(&[0, 2_000, 100_000, 5_000_000]),
            loss: if lossy { rng.range(1, 12) } else { 0 },
            copies: if lossy { rng.range(0, 3) } else { 0 },
            joins: rng.percent(60),
            rng,
            under_way: BTreeMap::new(),
            serial: 0,
            delivered: 0,
        }
    }

    /// Takes what was sent.
    pub(super) fn collect(&mut self, now: u64, wires: &[&'static Wire]) {
        for (from, wire) in wires.iter().enumerate() {
            for (dst, octets) in wire.take() {
                let to = wires.iter().position(|wire| wire.address() == dst);
                let to = to.expect("packets go to the other");
                if self.rng.percent(self.loss) {
                    continue;
                }
                let copies = 1 + u64::from(self.rng.percent(self.copies));
                for _ in 0..copies {
                    let late = self.delay + self.rng.range(0, self.jitter);
                    self.serial += 1;
                    self.under_way
                        .insert((now + late, self.serial), (from, to, octets.clone()));
                }
            }
        }
    }

    /// When the next arrives.
    pub(super) fn next(&self) -> Option<u64> {
        self.under_way.keys().next().map(|&(at, _)| at)
    }

    /// Delivers what has arrived.
    pub(super) fn deliver(&mut self, now: u64, wires: &[&'static Wire]) {
        let mut joined: Option<(usize, usize, Vec<u8>, usize)> = None;
        while let Some(first) = self.under_way.first_entry() {
            if first.key().0 > now {
                break;
            }
            let (from, to, octets) = first.remove();
            self.delivered += 1;
            if let Some((src, dst, before, stride)) = &mut joined
                && (*src, *dst) == (from, to)
                && before.len() % *stride == 0
                && octets.len() <= *stride
                && before.len() + octets.len() <= JOINED
                && self.joins
            {
                before.extend_from_slice(&octets);
                continue;
            }
            let stride = octets.len();
            if let Some((src, dst, octets, stride)) = joined.replace((from, to, octets, stride)) {
                wires[dst].put(wires[src].address(), octets, stride);
            }
        }
        if let Some((src, dst, octets, stride)) = joined {
            wires[dst].put(wires[src].address(), octets, stride);
        }
    }
}
