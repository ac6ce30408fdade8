//! What stays the same in all of a run: hosts, limits, the kinds of associations that are opened.

use super::calls::Way;
use super::dice::Dice;
use super::world::address;
use crate::{Confirm, CongestionKind, EngineConfig, ListenOptions, OpenOptions, Tuning, paradigm};
use std::time::Duration;
use xtp_wire::Options;

/// The service number of the one listener, and of another.
pub(super) const PORT: u16 = 9;
const OTHER_PORT: u16 = 10;

/// Drawn from a seed.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    seed: u64,
    way: Way,
    pub(super) clients: usize,
    /// The carrier tells to which address a datagram was sent.
    pub(super) tells_destination: bool,
    kinds: Vec<OpenOptions>,
    lasting: Vec<OpenOptions>,
    /// Octets of most messages.
    pub(super) usual: usize,
    /// Answers need no confirmation.
    pub(super) unconfirmed: bool,
    /// One datagram in so many is changed; 0: none.
    pub(super) mutation: u64,
    /// The network does something else to one in so many.
    pub(super) disturbance: u64,
    /// Users ask for more while they wait for an answer.
    pub(super) says_more: bool,
    limits: Limits,
}

/// What is small.
#[derive(Clone, Debug, Default)]
struct Limits {
    contexts: bool,
    whole: u8,
    half_open: bool,
    source_rate: bool,
    time_waits: bool,
    tombstones: bool,
    backlog: bool,
    datagram: bool,
    train: bool,
    server: u8,
    /// The server speaks as the 1995 library did.
    legacy: bool,
}

impl Profile {
    pub(super) fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed ^ 0x5eed);
        let clients = match dice.below(10) {
            0..6 => 1,
            6..8 => 2,
            8 => 3,
            _ => 18,
        };
        let mut kinds: Vec<OpenOptions> = (0..*dice.pick(&[1, 1, 2, 3]))
            .map(|_| short_kind(&mut dice))
            .collect();
        if dice.one_in(3) {
            // Like the first in all but one thing.
            let mut twin = kinds[0].clone();
            vary(&mut twin, &mut dice);
            kinds.insert(1, twin);
        }
        let lasting = (0..*dice.pick(&[1, 1, 2]))
            .map(|_| lasting_kind(&mut dice))
            .collect();
        Self {
            seed,
            way: *dice.pick(&[Way::Driver, Way::Shortcuts]),
            clients,
            tells_destination: dice.one_in(3),
            kinds,
            lasting,
            usual: *dice.pick(&[1, 60, 60, 60, 300, 300, 1_040, 1_040, 1_040, 1_040, 2_500]),
            unconfirmed: dice.one_in(3),
            mutation: *dice.pick(&[0, 4, 12, 30, 100]),
            disturbance: *dice.pick(&[0, 0, 20, 60]),
            // Those before are witnesses of mutants (`xtask/src/mutants/witnesses`) and stay what they are.
            says_more: seed >= 500,
            limits: Limits {
                contexts: dice.one_in(8),
                whole: *dice.pick(&[0, 0, 0, 0, 1, 2, 3]),
                half_open: dice.one_in(8),
                source_rate: dice.one_in(5),
                time_waits: dice.one_in(8),
                tombstones: dice.one_in(8),
                backlog: dice.one_in(6),
                datagram: dice.one_in(8),
                train: dice.one_in(12),
                server: dice.below(36) as u8,
                legacy: false,
            },
        }
    }

    /// A server and a client that opens such associations, without small limits.
    pub(super) fn plain(kinds: Vec<OpenOptions>) -> Self {
        Self {
            seed: 1,
            way: Way::Shortcuts,
            clients: 1,
            tells_destination: false,
            kinds,
            lasting: vec![paradigm::stream(PORT)],
            usual: 60,
            unconfirmed: false,
            mutation: 0,
            disturbance: 0,
            says_more: false,
            limits: Limits::default(),
        }
    }

    /// How the engines of the one world are driven.
    pub(super) fn way(&self) -> Way {
        self.way
    }

    pub(super) fn driven(self, way: Way) -> Self {
        Self { way, ..self }
    }

    /// The server has no packets but the old ones.
    pub(super) fn with_legacy_server(mut self) -> Self {
        self.limits.legacy = true;
        self
    }

    /// The associations that last are of this kind.
    pub(super) fn with_lasting(mut self, options: OpenOptions) -> Self {
        self.lasting = vec![options];
        self
    }

    /// Few finished initiators are remembered.
    pub(super) fn with_few_records(mut self) -> Self {
        self.limits.time_waits = true;
        self
    }

    /// Whether contexts are parked at once: which one is next depends on the order of turns.
    pub(super) fn parks(&self) -> bool {
        self.limits.whole > 1
    }

    pub(super) fn config(&self, host: usize) -> EngineConfig {
        let mut config = EngineConfig::new([host as u8 + 1; 32]);
        let limits = &self.limits;
        // Creation times are far from nothing, and hosts do not agree to the millisecond.
        config.utc_offset_ms = 1_000_000 + host as i64 * 7;
        if self.seed.is_multiple_of(2) {
            config.own_addresses = (0..=self.clients).map(|host| address(host).ip()).collect();
        }
        if limits.contexts {
            config.max_contexts = 3;
        }
        match limits.whole {
            1 => config.overrides.max_whole = usize::MAX,
            2 => config.overrides.max_whole = 1,
            3 => config.overrides.max_whole = 2,
            _ => {}
        }
        if limits.half_open {
            config.overrides.max_half_open = 2;
        }
        if limits.source_rate {
            config.overrides.source_rate = 20;
        }
        if limits.time_waits {
            config.overrides.max_time_waits = 3;
        }
        if limits.tombstones {
            (
                config.overrides.max_tombstones,
                config.overrides.max_clients,
                config.overrides.max_validated,
            ) = (3, 2, 2);
        }
        if limits.datagram {
            (config.max_datagram, config.base_datagram) = (1_400, 700);
        }
        config.overrides.legacy = limits.legacy && host == 0;
        if limits.train {
            config.max_train = 2;
        }
        config.checksum_payload = self.seed.is_multiple_of(3);
        config.tombstone_life = Duration::from_secs(5);
        config
    }

    /// The first is the one who waits for associations.
    pub(super) fn listeners(&self) -> Vec<ListenOptions> {
        let mut options = ListenOptions::new(PORT);
        options.services = u32::MAX;
        if self.limits.backlog {
            options.backlog = 1;
        }
        match self.limits.server {
            1 => options.unconfirmed_response = true,
            2 | 12 => options.tuning.recv_capacity = 1_500,
            3 => options.tuning.send_capacity = 1_200,
            4 => options.tuning.overrides.max_data = 400,
            5 => options.refused = Options::DREQ,
            6 => options.services = 0b1_1001,
            7 => options.tuning.sort = Some(3),
            8 => options.tuning.recv_capacity = 40_000,
            13..18 => {
                options.tuning.recv_capacity = 1_300 + u64::from(self.limits.server % 3) * 1_500;
                options.tuning.recv_capacity_max = Some(options.tuning.recv_capacity);
            }
            9 => options.tuning.reserve = true,
            10 => options.tuning.congestion = CongestionKind::Cubic,
            11 => options.tuning.timeout = Duration::from_secs(2),
            _ => {}
        }
        vec![options, ListenOptions::new(OTHER_PORT)]
    }

    pub(super) fn kind(&self, number: usize) -> &OpenOptions {
        &self.kinds[number % self.kinds.len()]
    }

    /// The listener that most associations are for, by its place.
    pub(super) fn listener(&self) -> usize {
        usize::from(self.kinds[0].service_number == OTHER_PORT)
    }

    pub(super) fn lasting(&self, number: usize) -> &OpenOptions {
        &self.lasting[number % self.lasting.len()]
    }
}

/// An association of one message.
fn short_kind(dice: &mut Dice) -> OpenOptions {
    let mut options = match dice.below(12) {
        0..3 => paradigm::one_shot(PORT),
        3..8 => paradigm::transaction(PORT),
        8 => {
            let mut options = paradigm::one_shot(PORT);
            options.confirm = Confirm::Delivered;
            options
        }
        9 => paradigm::acknowledged_datagram(PORT),
        10 if dice.one_in(3) => paradigm::datagram(PORT),
        10 => paradigm::one_shot(PORT),
        _ => paradigm::transaction(OTHER_PORT),
    };
    vary(&mut options, dice);
    options
}

/// Perhaps one thing about it is unusual.
fn vary(options: &mut OpenOptions, dice: &mut Dice) {
    match dice.below(48) {
        0..3 => options.status_on_first = true,
        3 => options.expected_answer = 900,
        4 => options.tuning.overrides.max_data = 300,
        5 => options.tuning.recv_capacity = 900,
        12..15 => {
            options.tuning.recv_capacity = *dice.pick(&[900, 2_000]);
            options.tuning.recv_capacity_max = Some(options.tuning.recv_capacity);
        }
        15..18 => options.tuning.congestion = CongestionKind::Kdd,
        6 => options.tuning.send_capacity = 500,
        7 => options.repeatable = true,
        8 => options.confirm = Confirm::Delivered,
        9 => options.tuning.sort = Some(2),
        10 => options.wait_for_listener = true,
        11 => options.tuning.congestion = CongestionKind::Cubic,
        _ => {}
    }
}

fn lasting_kind(dice: &mut Dice) -> OpenOptions {
    let mut options = paradigm::stream(PORT);
    options.tuning.congestion = *dice.pick(&[
        CongestionKind::Auto,
        CongestionKind::Auto,
        CongestionKind::Cubic,
        CongestionKind::Model,
        CongestionKind::Fixed,
        CongestionKind::Kdd,
    ]);
    let tuning: &mut Tuning = &mut options.tuning;
    match dice.below(16) {
        0 => tuning.recv_capacity = 3_000,
        9 | 10 => tuning.recv_capacity = 1_300,
        11..14 => {
            // And it stays so.
            tuning.recv_capacity = *dice.pick(&[1_300, 2_100, 5_000]);
            tuning.recv_capacity_max = Some(tuning.recv_capacity);
        }
        1 => tuning.send_capacity = 2_000,
        2 => tuning.fast_nak = true,
        3 => tuning.no_error = true,
        4 => tuning.overrides.max_data = 500,
        5 => tuning.overrides.ecn = false,
        6 => tuning.overrides.probe_mtu = false,
        7 => options.expected_answer = 100,
        8 => tuning.timeout = Duration::from_secs(1),
        _ => {}
    }
    options
}
