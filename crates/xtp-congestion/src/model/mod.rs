//! A controller that models the path: how much it delivers, and how long its round trip is without a queue.
//!
//! Of the family of BBR. It sends at the rate the path was seen to deliver, with about one product of bandwidth and
//! round trip in flight; now and then it sends faster to see whether there is more, and lets the queue that makes
//! run empty again. Loss by itself does not slow it down; loss together with a queue, heavy loss, and marks of
//! congestion bound what may be in flight. What is ours and why stands in
//! `docs/decisions/congestion-control.md`.

mod bounds;
mod ceiling;
mod estimate;
mod phase;
mod policer;
mod probe;
mod round;
mod sampler;
mod startup;

use core::time::Duration;

use xtp_wire::size;

use super::{Ack, Controller, INITIAL_PACKETS, LEAST_PACKETS, Lost, SentPacket};
use bounds::{Bounds, Chance, is_congested, is_heavy};
use ceiling::{Ceiling, QueueState};
use estimate::{Bandwidth, LeastRtt};
use phase::{ModelPhase, ProbeCycle, View};
use policer::{Finding, Policer};
use probe::BandwidthProbe;
use round::Round;
use sampler::Sampler;
use startup::{Startup, StartupVerdict, floor};
use xtp_core::Time;
use xtp_core::path::rtt::NEAR;

/// Share of the bandwidth at which the phases send. 2.77 = 4 ln 2 lets the rate double every round.
const STARTUP_GAIN: f64 = 2.77;
const DRAIN_GAIN: f64 = 0.5;
const UP_GAIN: f64 = 1.25;
const DOWN_GAIN: f64 = 0.75;
/// Cruising with a standing queue: slower by this for each least round trip it is long, down to the least gain.
const SLOWING: f64 = 0.6;
const SLOWEST_GAIN: f64 = 0.8;
/// Behind a policer: what a full bucket lets pass is no bandwidth, and the least that exceeds its rate is lost.
const POLICED_UP_GAIN: f64 = 1.1;
const POLICED_GAIN: f64 = 0.98;
/// A longer queue, in least round trips, is not made of windows like ours: others hold it, and giving way would not end it. There the
/// window covers what waits in it, and a little more.
const DEEP: f64 = 1.5;
const COVER: f64 = 1.2;
/// On nearer paths a few packets that were let pass at once are many round trips, and windows are no measure of what others hold.
const DEEP_FROM: Duration = Duration::from_millis(10);
/// Products of bandwidth and round trip that may be in flight.
const WINDOW_GAIN: f64 = 2.0;
const STARTUP_WINDOW_GAIN: f64 = 2.4;
const UP_WINDOW_GAIN: f64 = 2.25;
const PROBE_RTT_GAIN: f64 = 0.5;
/// What is in flight to a near peer waits in its socket's buffer, of which 6 MiB or so are of use: more in flight is more lost
/// when it rests for a moment.
const NEAR_WINDOW: u64 = 4 << 20;
/// On nearer paths a probe's queue is not told from chance, and the next probe is near, too.
const FAR: Duration = Duration::from_millis(4);
/// From this round of a cruise on losses are not of what a probe sent.
const UNDISTURBED: u64 = 3;
/// Rounds after which a verdict stays.
const ACQUITTAL: u32 = 3;
/// Reports asked for in a round trip, about.
const REPORTS: u64 = 16;
/// Octets after which a report is due on fast paths; more where they pass in less than a millisecond.
const MOST_UNREPORTED: u64 = 128 * 1_024;

/// A verdict that may be taken back, because what was taken for lost may have been overtaken only.
#[derive(Copy, Clone, Debug)]
struct Accused {
    bounds: Bounds,
    ceiling: Ceiling,
    /// It ended startup.
    startup: bool,
    /// Octets lost in that round, and how many had arrived after all.
    lost: u64,
    came: u64,
    /// Rounds since.
    rounds: u32,
}

/// Everything known about a path.
#[derive(Clone, Debug)]
pub struct Model {
    segment: u64,
    /// Octets that may be in flight.
    window: u64,
    /// The window before ProbeRtt made it small.
    prior_window: u64,
    sampler: Sampler,
    bandwidth: Bandwidth,
    least: LeastRtt,
    round: Round,
    /// Least round trip of the round before.
    last_least: Option<Duration>,
    startup: Startup,
    /// Startup: packets begin to wait.
    queue_begins: bool,
    bounds: Bounds,
    chance: Chance,
    ceiling: Ceiling,
    /// Octets a second that arrived in the round before.
    came: u64,
    cycle: ProbeCycle,
    probe: BandwidthProbe,
    policer: Policer,
    /// The bandwidth before a test for a policer.
    untested: Bandwidth,
    /// Loss without a queue ended startup in the round before.
    startled: bool,
    /// The round before lost much, but in a burst.
    burst: bool,
    /// The path carries much more than was thought: a probe met no end, or startup ended in error.
    endless: bool,
    /// What a round that seemed congested by loss alone has changed, and what there was before it.
    accused: Option<Accused>,
    /// Startup ended in doubt, which a probe must clear.
    urgent: bool,
    touched: bool,
}

impl Model {
    /// Knows nothing; ten packets.
    pub fn new(segment: u32) -> Self {
        let segment = u64::from(segment.max(1));
        Self {
            segment,
            window: INITIAL_PACKETS * segment,
            prior_window: 0,
            sampler: Sampler::default(),
            bandwidth: Bandwidth::default(),
            least: LeastRtt::default(),
            round: Round::default(),
            last_least: None,
            startup: Startup::default(),
            queue_begins: false,
            bounds: Bounds::default(),
            chance: Chance::default(),
            ceiling: Ceiling::default(),
            came: 0,
            cycle: ProbeCycle::new(),
            probe: BandwidthProbe::default(),
            policer: Policer::default(),
            untested: Bandwidth::default(),
            startled: false,
            burst: false,
            endless: false,
            accused: None,
            urgent: false,
            touched: false,
        }
    }

    /// Whether it sends faster than the path was seen to carry, to see whether it carries more.
    pub(super) fn is_probing(&self) -> bool {
        matches!(self.cycle.phase, ModelPhase::Startup | ModelPhase::Up)
    }

    /// The least round trip of the path, without a queue.
    pub fn least_round_trip(&self) -> Option<Duration> {
        self.least.get()
    }

    fn initial(&self) -> u64 {
        INITIAL_PACKETS * self.segment
    }

    fn smallest(&self) -> u64 {
        2 * LEAST_PACKETS * self.segment
    }

    /// Bandwidth times least round trip, octets; `None` as long as one of them is unknown.
    fn product(&self) -> Option<u64> {
        let least = self.least.get()?;
        let bandwidth = Some(self.bandwidth.get()).filter(|&rate| rate > 0)?;
        let octets = u128::from(bandwidth) * least.as_nanos() / 1_000_000_000;
        Some(u64::try_from(octets).unwrap_or(u64::MAX))
    }

    /// What a window is never reduced below: the product, and what is under way besides where packets come when they like.
    fn worth_keeping(&self) -> Option<u64> {
        let beyond = self.least.usual().as_secs_f64() * self.bandwidth.get() as f64;
        Some(self.product()?.saturating_add(beyond as u64))
    }

    /// Octets after which a report is worth asking for.
    fn report_after(&self) -> u64 {
        let most = MOST_UNREPORTED.max(self.bandwidth.get() / 1_000);
        let least = 2 * LEAST_PACKETS * self.segment;
        // Four of the largest datagrams are more than is ever left unreported elsewhere.
        (self.product().unwrap_or(self.window) / REPORTS).clamp(least, most.max(least))
    }

    /// What trains and reports keep in flight beside the product: two reports and a millisecond.
    fn slack(&self) -> u64 {
        2 * self.report_after() + self.bandwidth.get() / 1_000
    }

    fn gain(&self) -> f64 {
        match self.cycle.phase {
            ModelPhase::Startup => STARTUP_GAIN,
            ModelPhase::Drain => DRAIN_GAIN,
            ModelPhase::Up if self.policer.is_known() => POLICED_UP_GAIN,
            ModelPhase::Up => UP_GAIN,
            ModelPhase::Down => DOWN_GAIN,
            ModelPhase::Cruise if self.is_deep() => 1.0,
            ModelPhase::Cruise if self.policer.is_known() => POLICED_GAIN,
            ModelPhase::Cruise => (1.0 - SLOWING * self.queue()).max(SLOWEST_GAIN),
            ModelPhase::Refill | ModelPhase::ProbeRtt => 1.0,
        }
    }

    /// How long every packet of this round and of the one before waited, in least round trips; 0 if hardly.
    fn queue(&self) -> f64 {
        let (Some(recent), Some(last)) = (self.round.recent_least(), self.last_least) else {
            return 0.0;
        };
        let waited = self.least.queued(recent.min(last));
        let waited = waited.saturating_sub(floor(&self.least, 16));
        let least = self.least.get().unwrap_or_default().max(Duration::from_millis(1));
        waited.as_secs_f64() / least.as_secs_f64()
    }

    /// Whether the queue is so long that others hold it.
    fn is_deep(&self) -> bool {
        self.queue() > DEEP && self.may_be_deep()
    }

    /// Whether a queue that is long in round trips is long.
    fn may_be_deep(&self) -> bool {
        self.least.get().is_some_and(|least| least >= DEEP_FROM)
    }

    /// Whether the last few packets waited.
    fn queue_now(&self) -> bool {
        let recent = self.round.recent_least();
        recent.is_none_or(|rtt| self.least.excess(rtt) > floor(&self.least, 8))
    }

    fn end_round(&mut self, limited: bool, now: Time) -> bool {
        let delivered = self.round.delivered(self.sampler.delivered());
        let rate = self.round.rate(self.sampler.delivered(), now);
        let round = self.round.next(self.sampler.delivered(), now);
        self.last_least = round.least;
        self.cycle.on_round();
        self.came = rate;
        if matches!(self.cycle.phase, ModelPhase::Up | ModelPhase::Down) {
            self.probe.came(rate);
        }
        if self.cycle.phase == ModelPhase::Up {
            self.probe.on_round(self.cycle.rounds(), &self.bandwidth);
        }
        if self.cycle.phase == ModelPhase::Startup {
            self.startup.watch(self.queue_begins, &round, &self.least);
            if !limited {
                self.startup.on_round(self.bandwidth.get(), &round, &self.least);
            }
        }
        let queue = self.round.recent_least().map(|rtt| self.least.waited(rtt));
        let usual = round.least.is_some_and(|rtt| self.least.is_usual(rtt));
        let waited = queue.is_none_or(|queue| queue > floor(&self.least, 16)) && !usual;
        let far = self.least.get().is_some_and(|least| least >= FAR);
        let verdict = self.startup.judge(self.bandwidth.get(), &round);
        self.urgent |= far && verdict == Some(StartupVerdict::Open);
        let wrong = self.was_misled(&round) || verdict == Some(StartupVerdict::Wrong);
        self.endless = far && (self.probe.met_no_end(waited, &self.bandwidth) || wrong);
        // A full bucket lets a probe pass.
        self.endless &= !self.policer.is_known();
        let waited = round.longest.map_or(Duration::ZERO, |rtt| self.least.excess(rtt));
        let queued = waited > floor(&self.least, 8);
        let congested = is_congested(&round, delivered, self.segment, &self.least, &mut self.chance);
        // What goes on in the next round is no burst, but for the end of one that began in this.
        let burst = congested && !round.marked && round.lost_in_bursts(self.segment);
        let congested = congested && (!burst || (self.burst && round.gaps > 0));
        self.burst = burst;
        self.look_for_a_policer(&round, (delivered, rate), congested, queued);
        if std::mem::take(&mut self.startled) && !is_heavy(round.lost, delivered) {
            // It may have been a burst: a probe must tell.
            self.urgent |= far;
        }
        self.accused = self.accused.filter(|accused| accused.rounds < ACQUITTAL);
        if let Some(accused) = &mut self.accused {
            accused.rounds += 1;
        }
        if congested {
            if !round.marked && self.accused.is_none() {
                self.accused = Some(Accused {
                    bounds: self.bounds,
                    ceiling: self.ceiling,
                    startup: self.cycle.phase == ModelPhase::Startup,
                    lost: round.lost,
                    came: 0,
                    rounds: 0,
                });
            }
            self.touched = true;
            let target = self
                .worth_keeping()
                .map_or(self.window, |octets| octets.max(self.smallest()));
            match self.cycle.phase {
                ModelPhase::Startup | ModelPhase::Up | ModelPhase::Refill => {
                    self.startled = self.cycle.phase == ModelPhase::Startup && !queued && !round.marked;
                    self.startup.end();
                    self.bounds.probe_failed(round.most_in_flight, target);
                }
                _ => self.bounds.reduce(round.most_in_flight, target),
            }
        }
        self.give_way(&round, congested, queued);
        congested
    }

    /// A round is over: whether it shows that jitter ended startup.
    fn was_misled(&mut self, round: &Round) -> bool {
        // A queue that startup made is drained by now: round trips near the least show that it ended well. Where they stay longer, but no
        // longer than usual, it was jitter that ended it.
        let near = floor(&self.least, 16);
        if round.least.is_none_or(|rtt| self.least.excess(rtt) <= near) {
            self.startup.settle();
        }
        let usual = round.least.is_some_and(|rtt| self.least.is_usual(rtt));
        usual && round.lost == 0 && self.startup.was_ended_by_waiting()
    }

    /// A round is over; `queued`: packets waited in it.
    fn give_way(&mut self, round: &Round, congested: bool, queued: bool) {
        // An overflow after a probe is that probe's; of a link that nobody else uses it takes from nobody.
        let counts = match self.cycle.phase {
            ModelPhase::Cruise => self.cycle.rounds() >= UNDISTURBED,
            ModelPhase::Down => self.probe.took(),
            _ => false,
        };
        // A queue that marks is not full yet, and neither jitter nor a policer is a queue.
        let certain = !round.marked && !self.policer.is_known() && self.least.jitter().is_zero();
        let waited = round.least.map_or(Duration::MAX, |rtt| self.least.excess(rtt));
        let queue = match congested {
            // Giving way would not end a queue that others hold.
            true if counts && queued && certain && !self.is_deep() => QueueState::Full,
            false if waited <= floor(&self.least, 16).max(self.least.usual()) => QueueState::Empty,
            _ => QueueState::Between,
        };
        self.ceiling.on_round(queue, self.bandwidth.get());
    }

    /// A round is over that delivered so many octets, and so many a second.
    fn look_for_a_policer(&mut self, round: &Round, came: (u64, u64), congested: bool, queued: bool) {
        let tested = self.policer.is_known();
        let before = self.bandwidth;
        match self
            .policer
            .on_round(round, came, self.segment, congested, queued)
        {
            Finding::Nothing => {}
            Finding::Lower => {
                if !tested {
                    self.untested = before;
                }
                self.bandwidth.cap(came.1);
            }
            Finding::Restore => self.bandwidth = self.untested,
        }
    }

    /// What was taken for loss was not: the last round that seemed congested by it was none.
    fn acquit(&mut self) {
        let Some(before) = self.accused.take() else { return };
        self.bounds = before.bounds;
        self.ceiling = before.ceiling;
        if before.startup && self.cycle.phase != ModelPhase::Startup {
            self.endless = true;
        }
    }

    fn measure(&mut self, ack: &Ack) -> bool {
        self.round.most_in_flight = self.round.most_in_flight.max(ack.in_flight_before);
        let sample = self.sampler.on_ack(ack.now, ack.echo, ack.octets);
        if let Some(rtt) = ack.rtt {
            self.least.sample(rtt, ack.now);
            let waited = self.least.waited(rtt) > floor(&self.least, 8);
            self.round.sample(rtt, waited);
            let seen = self.cycle.seen.map_or(rtt, |seen| seen.min(rtt));
            self.cycle.seen = Some(seen);
            if self.cycle.phase == ModelPhase::Startup {
                self.queue_begins = self
                    .startup
                    .on_rtt(self.bandwidth.get(), &self.round, &self.least);
            }
        }
        let Some(sample) = sample else {
            return false;
        };
        // What came in less than a round trip says more about how reports travel than about the path.
        let long_enough = self.least.get().is_none_or(|least| sample.interval >= least);
        let telling = self.cycle.phase != ModelPhase::Down || !self.probe.was_in_vain();
        if telling && long_enough && (!sample.limited || sample.rate() > self.bandwidth.get()) {
            self.bandwidth.sample(sample.rate().min(self.policer.limit()));
        }
        self.round.is_over(sample.prior) && self.end_round(sample.limited, ack.now)
    }

    fn advance(&mut self, ack: &Ack, congested: bool) {
        let in_flight = ack.in_flight_before.saturating_sub(ack.octets);
        let product = self.product().unwrap_or(self.window);
        let view = View {
            now: ack.now,
            in_flight,
            product: product.max(self.smallest()),
            little: self.little(product),
            full: self.startup.is_full(),
            endless: std::mem::take(&mut self.endless) && !congested,
            urgent: self.urgent,
            congested,
            queue: !self.policer.is_known() || self.queue_now(),
            patience: self.policer.patience(),
            window: self.window,
            probing: self.probe.goes_on(),
            least: &self.least,
            round: &self.round,
            chance: self.sampler.delivered() ^ ack.now.as_nanos(),
        };
        let before = self.cycle;
        match self.cycle.step(&view) {
            Some(ModelPhase::Refill) => {
                self.urgent = false;
                self.startup.settle();
                self.policer.on_probe();
                let before = self.bandwidth.get();
                self.bandwidth.advance();
                self.ceiling.follow(before, self.bandwidth.get(), self.came);
                self.bounds.probe();
            }
            Some(ModelPhase::Startup) => self.resume_startup(),
            Some(ModelPhase::Up) => {
                self.probe = BandwidthProbe::begin(self.queue(), self.came, &self.bandwidth)
            }
            Some(ModelPhase::Down) => self.probe.end(&mut self.bandwidth),
            Some(ModelPhase::ProbeRtt) => self.prior_window = self.window,
            _ => {}
        }
        if before.phase == ModelPhase::ProbeRtt && self.cycle.phase != ModelPhase::ProbeRtt {
            self.least.renew(before.seen, ack.now);
            self.window = self.window.max(self.prior_window);
        }
        if self.cycle.phase == ModelPhase::Up && !congested {
            self.bounds.raise(in_flight, ack.octets);
        }
    }

    /// There is more than was found.
    fn resume_startup(&mut self) {
        self.startup.resume(self.bandwidth.get());
        self.bounds.forget();
        self.ceiling = Ceiling::default();
    }

    /// What was found is of another path, of which this one may have been the wider part: its losses, marks and bounds are none of this
    /// one's, and its bandwidth is the least of this one. Where that is less than a new flow begins with it tells nothing, and startup
    /// goes on; else a probe must tell.
    fn is_another_path(&mut self, now: Time) {
        self.round.next(self.sampler.delivered(), now);
        self.chance = Chance::default();
        self.policer = Policer::default();
        (self.startled, self.burst, self.accused) = (false, false, None);
        if self.cycle.phase == ModelPhase::ProbeRtt {
            self.window = self.window.max(self.prior_window);
        }
        self.window = self.window.max(self.initial());
        if self.product().is_none_or(|product| product < self.initial()) {
            self.cycle.start_again(now);
            self.resume_startup();
        } else {
            self.bounds.forget();
            self.ceiling = Ceiling::default();
            self.urgent = true;
        }
    }

    fn little(&self, product: u64) -> u64 {
        ((product as f64 * PROBE_RTT_GAIN) as u64).max(self.smallest())
    }

    /// What is under way at the measured bandwidth if every packet waits as long as those of this round and of the one before.
    fn cover(&self) -> u64 {
        let (Some(recent), Some(last)) = (self.round.recent_least(), self.last_least) else {
            return 0;
        };
        if !self.may_be_deep() {
            return 0;
        }
        (COVER * self.bandwidth.get() as f64 * recent.min(last).as_secs_f64()) as u64
    }

    fn set_window(&mut self, ack: &Ack) {
        let product = self.product();
        let gain = match self.cycle.phase {
            ModelPhase::Startup => STARTUP_WINDOW_GAIN,
            ModelPhase::Up => UP_WINDOW_GAIN,
            _ => WINDOW_GAIN,
        };
        let slack = match self.cycle.phase {
            ModelPhase::Startup => 0,
            _ => self.slack(),
        };
        let target = product.map_or(u64::MAX, |product| {
            ((product as f64 * gain) as u64)
                .saturating_add(slack)
                .max(self.initial())
        });
        let target = match self.cycle.phase {
            ModelPhase::Startup => target,
            _ => target.max(self.cover().saturating_add(slack)),
        };
        let grown = self.window.saturating_add(ack.octets);
        self.window = match self.cycle.phase {
            // It may double; it never falls before the pipe was full.
            ModelPhase::Startup if self.queue_begins => self.window,
            ModelPhase::Startup => grown.min(target.max(self.window)),
            ModelPhase::ProbeRtt => self.little(product.unwrap_or(self.window)),
            _ => grown.min(target),
        };
        let probing = matches!(
            self.cycle.phase,
            ModelPhase::Up | ModelPhase::Refill | ModelPhase::Startup
        );
        let bound = self.bounds.get(probing, self.worth_keeping().unwrap_or(0));
        self.window = self.window.min(bound).max(self.smallest());
        if self.window > NEAR_WINDOW && self.least.get().is_some_and(|least| least < NEAR) {
            self.window = NEAR_WINDOW;
        }
    }
}

impl Controller for Model {
    fn window(&self) -> u64 {
        self.window
    }

    fn pacing_rate(&self, rtt: Option<Duration>) -> Option<u64> {
        let rtt = rtt?.max(Duration::from_micros(1)).as_secs_f64();
        let bandwidth = self.bandwidth.get();
        let bandwidth = match self.cycle.phase {
            ModelPhase::Cruise => self.ceiling.of(bandwidth),
            _ => bandwidth,
        };
        let measured = self.gain() * bandwidth as f64;
        let least = match self.cycle.phase {
            // What the first reports say is too little to go by.
            ModelPhase::Startup => STARTUP_GAIN * self.initial() as f64 / rtt,
            _ => self.smallest() as f64 / rtt / 8.0,
        };
        // The pacer counts headers, too.
        let header = size::packet(self.segment as usize) as f64 / self.segment as f64;
        Some((measured.max(least) * header) as u64)
    }

    fn on_sent(&mut self, sent: SentPacket) {
        self.sampler.on_sent(sent.now, sent.sync, sent.idle);
    }

    fn on_app_limited(&mut self, in_flight: u64) {
        self.sampler.on_app_limited(in_flight);
    }

    fn on_ack(&mut self, ack: Ack) {
        self.touched = true;
        let congested = self.measure(&ack);
        self.advance(&ack, congested);
        self.set_window(&ack);
    }

    fn on_loss(&mut self, _now: Time, _newest_lost_sent_at: Time, lost: Lost, _in_flight: u64) {
        self.round.lost += lost.octets;
        self.round.losses += 1;
        self.round.gaps += lost.gaps;
    }

    fn on_found(&mut self, octets: u64, surprised: bool) {
        self.round.lost = self.round.lost.saturating_sub(octets);
        let most_came = self.accused.as_mut().is_some_and(|accused| {
            accused.came += octets;
            2 * accused.came > accused.lost
        });
        if surprised || most_came {
            self.acquit();
        }
    }

    fn on_ce(&mut self, _now: Time, _sent_at: Time) {
        self.round.marked = true;
    }

    fn on_timeout(&mut self) {
        self.window = self.initial().min(self.window);
    }

    fn on_idle(&mut self, periods: u32) {
        let floor = self.initial().min(self.window);
        self.window = self.window.checked_shr(periods).unwrap_or(0).max(floor);
    }

    fn on_path_change(&mut self) {
        *self = Self::new(u32::try_from(self.segment).unwrap_or(u32::MAX));
    }

    fn on_other_member(&mut self, rate: u64, least: Option<Duration>, now: Time) {
        self.bandwidth.cap(rate);
        self.least.renew(least, now);
    }

    fn on_member_gone(&mut self, least: Option<Duration>, now: Time) {
        self.least.renew(least, now);
        self.is_another_path(now);
    }

    fn on_bandwidth(&mut self, most: u64) {
        self.bandwidth.cap(most);
    }

    fn set_segment(&mut self, maxdata: u32) {
        self.segment = u64::from(maxdata.max(1));
        self.window = if self.touched {
            self.window.max(self.smallest())
        } else {
            self.initial()
        };
    }

    fn rest(&mut self) {
        self.sampler.shrink();
    }

    fn report_after(&self) -> Option<u64> {
        Some(Self::report_after(self))
    }
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
