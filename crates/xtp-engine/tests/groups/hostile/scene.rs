//! A transmitter and three receivers, and somebody who puts packets between them every few milliseconds.

use super::forge::View;
use crate::world::{ARRIVES, Copy, Fate, Sent, World, address, group, is_done};
use std::net::SocketAddr;
use std::time::Duration;
use xtp_engine::group::{
    BucketOptions, Fec, GroupClose, GroupId, MemberReport, Mode, ReceiverOptions, Slow, Target,
    TransmitterOptions,
};
use xtp_engine::{EngineConfig, Rate};
use xtp_wire::{Format, Packet};

/// Receivers are hosts 1 to 3.
pub(super) const RECEIVERS: usize = 3;
/// How often the attacker acts.
pub(super) const STEP: Duration = Duration::from_millis(5);
/// Octets of the stream.
pub(super) const LEN: usize = 300_000;
/// Octets a second.
const RATE: u64 = 500_000;
/// Symbols of a block.
pub(super) const SYMBOLS: u8 = 8;
/// For how long a silent member is waited for.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);
/// A run that is not over by then is given up.
const LIMIT: Duration = Duration::from_secs(60);

/// An address at which none of the hosts is.
pub(super) fn outside() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 66], 40_000))
}

/// How the group is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Parity.
    Coded,
    /// What is lost is sent again as it was.
    Plain,
    /// Mode B.
    Buckets,
}

pub(super) const KINDS: [Kind; 3] = [Kind::Coded, Kind::Plain, Kind::Buckets];

pub(super) fn options(kind: Kind) -> TransmitterOptions {
    let mut options = TransmitterOptions::default();
    options.expect = Some(RECEIVERS as u32);
    options.fec = (kind == Kind::Coded).then_some(Fec {
        symbols: SYMBOLS,
        rows: SYMBOLS,
        proactive: 0,
    });
    if kind == Kind::Buckets {
        options.mode = Mode::Bucket(BucketOptions::default());
    }
    options.rate = Rate {
        octets_per_second: RATE,
        burst: 16 << 10,
    };
    options.slow = Slow::CatchUp;
    options.window = 64 << 10;
    options.keep = u64::MAX;
    options.patience = PATIENCE;
    options
}

pub(super) fn join() -> ReceiverOptions {
    let mut join = ReceiverOptions::default();
    join.group = Some(group(1));
    join
}

pub(super) fn message() -> Vec<u8> {
    (0..LEN)
        .map(|place| (place / 3) as u8 ^ (place >> 10) as u8)
        .collect()
}

/// One in twenty packets of the stream does not reach host 1, others not host 2: so there is something to repair.
fn lossy() -> impl FnMut(&Copy) -> Fate {
    let mut came = [0; RECEIVERS + 2];
    move |copy| {
        came[copy.to] += usize::from(copy.format == Format::Data);
        let lost = copy.format == Format::Data && copy.to < RECEIVERS && came[copy.to] % 20 == 7 * copy.to;
        if lost { Fate::Lost } else { ARRIVES }
    }
}

/// A run.
pub(super) struct Scene<'a> {
    pub(super) world: World<'a>,
    pub(super) cast: GroupId,
    pub(super) receivers: Vec<(usize, GroupId)>,
    /// How often the attacker has acted.
    pub(super) turn: usize,
    began: xtp_engine::Time,
}

impl Scene<'_> {
    pub(super) fn new(options: TransmitterOptions) -> Self {
        Self::with(options, |_| {})
    }

    /// Of engines whose configuration is changed.
    pub(super) fn with(options: TransmitterOptions, change: impl Fn(&mut EngineConfig)) -> Self {
        let mut world = World::with(RECEIVERS + 2, change, lossy());
        world.tap = Some(Vec::new());
        let cast = world.cast(0, Target::Group(group(1)), options);
        let receivers: Vec<_> = (1..=RECEIVERS)
            .map(|host| (host, world.join(host, join())))
            .collect();
        // The whole message is taken at once: the rest is the transmitter's business.
        world.write(0, cast, &message(), true);
        let now = world.now;
        world.engine(0).group_finish(now, cast).unwrap();
        Self {
            began: now,
            world,
            cast,
            receivers,
            turn: 0,
        }
    }

    /// What a reader of the path knows by now.
    pub(super) fn view(&self) -> View {
        View::of(self.world.tap.as_deref().unwrap_or_default())
    }

    /// Runs to the end; every few milliseconds `attack` acts.
    pub(super) fn play(mut self, mut attack: impl FnMut(&mut Self)) -> Outcome {
        let end = self.began + LIMIT;
        while !self.world.is_over() && self.world.now < end {
            self.world.run_for(STEP);
            attack(&mut self);
            self.turn += 1;
        }
        self.outcome()
    }

    fn outcome(mut self) -> Outcome {
        let since = |at: Option<xtp_engine::Time>| at.map(|at| at.since(self.began));
        let parties = self
            .receivers
            .iter()
            .map(|(host, id)| self.world.party(*host, *id));
        let complete = parties
            .clone()
            .map(
                |party| match party.octets == message() && party.closed() == Some(&GroupClose::Normal) {
                    true => since(party.complete_at),
                    false => None,
                },
            )
            .collect();
        let transmitter = self.world.party(0, self.cast);
        Outcome {
            complete,
            ended: since(transmitter.closed_at),
            close: transmitter.closed().cloned(),
            members: self.world.members(0, self.cast),
            sent: self.world.tap.take().unwrap_or_default(),
        }
    }
}

/// What came of a run.
#[derive(Debug)]
pub(super) struct Outcome {
    /// When each receiver had everything, if it was whole and all was well at its end.
    pub(super) complete: Vec<Option<Duration>>,
    /// When the transmitter was done, and how.
    pub(super) ended: Option<Duration>,
    pub(super) close: Option<GroupClose>,
    pub(super) members: Vec<MemberReport>,
    /// Everything that left a host.
    pub(super) sent: Vec<Sent>,
}

impl Outcome {
    /// Packets of the transmitter's of these formats.
    pub(super) fn of(&self, formats: &[Format]) -> usize {
        let own = self.sent.iter().filter(|sent| sent.src == address(0));
        own.filter(|sent| formats.contains(&format_of(sent))).count()
    }

    /// Packets that hold octets or rows of the stream.
    pub(super) fn stream_packets(&self) -> usize {
        self.of(&[Format::Data, Format::Parity])
    }

    /// When the last receiver had everything; all of them had.
    #[track_caller]
    pub(super) fn last(&self) -> Duration {
        let all: Option<Vec<Duration>> = self.complete.iter().copied().collect();
        let all = all.unwrap_or_else(|| panic!("somebody is not whole: {:?}", self.complete));
        all.into_iter().max().expect("three receivers")
    }

    /// Everybody is whole, and the transmitter knows it.
    #[track_caller]
    pub(super) fn assert_good(&self) {
        self.last();
        assert_eq!(self.close, Some(GroupClose::Normal));
        let real = (1..=RECEIVERS).map(address);
        for receiver in real {
            let done = self
                .members
                .iter()
                .any(|one| one.address == receiver && is_done(one));
            assert!(done, "{receiver}: {:?}", self.members);
        }
    }
}

pub(super) fn format_of(sent: &Sent) -> Format {
    Packet::parse(&sent.octets).expect("well-formed").header.format
}

/// The run in which nobody interferes.
pub(super) fn quiet(options: TransmitterOptions) -> Outcome {
    let outcome = Scene::new(options).play(|_| {});
    outcome.assert_good();
    outcome
}
