//! Tests of the model on a small emulated path: one packet size, a rate, a round trip, a drop-tail queue.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;

const SEGMENT: u64 = 1_000;
const MS: Duration = Duration::from_millis(1);
const TICK: Duration = Duration::from_micros(250);

/// A path and a writer that always has something to send.
struct Path {
    model: Model,
    now: Time,
    /// Octets a second, round trip, room in the queue.
    rate: u64,
    rtt: Duration,
    room: u64,
    /// Every so manieth packet is lost on the way; 0: none.
    loses: u32,
    /// These are.
    gone: Vec<u32>,
    /// The newest packet reported on was lost.
    in_gap: bool,
    srtt: Option<Duration>,
    sync: u32,
    tokens: f64,
    in_flight: u64,
    /// When the link is free; packets on their way: when their report may leave, their number, whether they are lost.
    free: Time,
    flying: VecDeque<(Time, u32, Time, bool)>,
    delivered: u64,
    dropped: u64,
    longest_queue: Duration,
    /// Nothing is handed over in this time, as if a host on the way had stopped; and again after each `period`.
    stall: (Duration, Duration),
    period: Duration,
}

impl Path {
    fn new(rate: u64, rtt: Duration) -> Self {
        Self {
            model: Model::new(SEGMENT as u32),
            now: Time::from_nanos(1),
            rate,
            rtt,
            room: u64::MAX,
            loses: 0,
            gone: Vec::new(),
            in_gap: false,
            srtt: None,
            sync: 0,
            tokens: 10_000.0,
            in_flight: 0,
            free: Time::ZERO,
            flying: VecDeque::new(),
            delivered: 0,
            dropped: 0,
            longest_queue: Duration::ZERO,
            stall: (Duration::ZERO, Duration::ZERO),
            period: Duration::MAX,
        }
    }

    fn product(&self) -> u64 {
        (self.rate as f64 * self.rtt.as_secs_f64()) as u64
    }

    /// When what is due at a time is handed over.
    fn handed_over(&self, due: Time) -> Time {
        let due = due.since(Time::ZERO);
        let within = Duration::from_nanos((due.as_nanos() % self.period.as_nanos()) as u64);
        let held = within >= self.stall.0 && within < self.stall.1;
        Time::ZERO + if held { due - within + self.stall.1 } else { due }
    }

    fn packet_time(&self) -> Duration {
        Duration::from_nanos(SEGMENT * 1_000_000_000 / self.rate)
    }

    fn send(&mut self) {
        let rate = self.model.pacing_rate(self.srtt).unwrap_or(u64::MAX / 2);
        let wire = rate as f64 * SEGMENT as f64 / size::packet(SEGMENT as usize) as f64;
        let inflow = wire * TICK.as_secs_f64();
        self.tokens = (self.tokens + inflow).min(10.0 * SEGMENT as f64 + inflow);
        while self.tokens > 0.0 && self.in_flight < self.model.window() {
            self.tokens -= SEGMENT as f64;
            self.sync += 1;
            let (now, sync, idle) = (self.now, self.sync, self.in_flight == 0);
            self.model.on_sent(SentPacket { now, sync, idle });
            self.in_flight += SEGMENT;
            let queue = self.free.since(now);
            self.longest_queue = self.longest_queue.max(queue);
            let full = queue.as_secs_f64() * self.rate as f64 > self.room as f64;
            let lost =
                full || self.gone.contains(&sync) || (self.loses > 0 && sync.is_multiple_of(self.loses));
            self.dropped += u64::from(full);
            if !full {
                self.free = self.free.max(now) + self.packet_time();
            }
            let there = if full { self.free + queue } else { self.free };
            let at = self.handed_over(there + self.rtt);
            self.flying.push_back((at, sync, now, lost));
        }
    }

    fn report(&mut self) {
        let (mut octets, mut lost, mut newest) = (0, 0, None);
        while let Some(&(at, sync, sent, gone)) = self.flying.front().filter(|packet| packet.0 <= self.now) {
            self.flying.pop_front();
            if gone {
                lost += SEGMENT;
                let packet = Lost {
                    octets: SEGMENT,
                    gaps: u32::from(!std::mem::replace(&mut self.in_gap, true)),
                };
                self.model.on_loss(self.now, sent, packet, self.in_flight);
            } else {
                self.in_gap = false;
                octets += SEGMENT;
                newest = Some((sync, at.since(sent)));
            }
        }
        if let Some((echo, rtt)) = newest {
            self.srtt = Some(self.srtt.map_or(rtt, |srtt| (srtt * 7 + rtt) / 8));
            self.delivered += octets;
            self.model.on_ack(Ack {
                now: self.now,
                echo,
                octets,
                rtt: Some(rtt),
                srtt: self.srtt,
                in_flight_before: self.in_flight,
                app_limited: false,
            });
        }
        self.in_flight -= octets + lost;
    }

    fn run(&mut self, span: Duration) -> f64 {
        let (end, before) = (self.now + span, self.delivered);
        let every = self.rtt / 16;
        let mut next = self.now + every;
        while self.now < end {
            self.now = self.now + TICK;
            if self.now >= next {
                next = self.now + every;
                self.report();
            }
            self.send();
        }
        (self.delivered - before) as f64 / span.as_secs_f64() / self.rate as f64
    }
}

#[test]
fn fills_the_pipe_in_twelve_round_trips_and_leaves_startup() {
    let mut path = Path::new(12_500_000, 100 * MS);
    path.run(10 * path.rtt);
    let twelfth = path.run(2 * path.rtt);
    assert!(twelfth > 0.9, "{twelfth}");
    path.run(4 * path.rtt);
    assert!(path.model.startup.is_full());
    assert_ne!(path.model.cycle.phase, ModelPhase::Startup);
}

#[test]
fn a_host_that_stops_for_a_moment_costs_no_more_than_moments() {
    let rtt = 100 * MS;
    for (begin, length) in [
        (150, 60),
        (150, 150),
        (260, 40),
        (260, 90),
        (370, 60),
        (480, 60),
        (1_500, 90),
    ] {
        let mut path = Path::new(62_500_000, rtt);
        path.stall = (begin * MS, (begin + length) * MS);
        path.run(2_500 * MS);
        let share = path.run(2_500 * MS);
        assert!(share > 0.95, "{share} after {length} ms at {begin} ms");
    }
}

#[test]
fn a_host_that_stops_often_is_not_taken_for_a_wider_path() {
    for (rtt, length) in [(20, 5), (20, 15), (100, 10), (100, 40), (200, 40), (200, 100)] {
        let mut path = Path::new(12_500_000, rtt * MS);
        path.room = path.product();
        path.period = 733 * MS;
        path.stall = (300 * MS, (300 + length) * MS);
        path.run(5_000 * MS);
        let (dropped, sent) = (path.dropped, path.sync);
        let share = path.run(20_000 * MS);
        let lost = (path.dropped - dropped) as f64 / f64::from(path.sync - sent);
        assert!(
            share > 0.9 && lost < 0.005,
            "{rtt} ms, stops of {length} ms: {share}, {lost} lost"
        );
    }
}

#[test]
fn ten_times_the_rate_is_found_soon() {
    for rtt in [10, 40, 100] {
        let mut path = Path::new(2_500_000, rtt * MS);
        path.run(3_000 * MS);
        path.rate *= 10;
        path.run(3_000 * MS + 30 * rtt * MS);
        let share = path.run(1_000 * MS);
        assert!(share > 0.95, "{share} at {rtt} ms");
    }
}

/// The member of a group that was listened to is gone. The next one's path is wider than that, by far, or was the same bottleneck.
#[test]
fn what_another_path_carried_is_the_least_of_this_one() {
    for (rate, wider) in [(100_000, 1), (100_000, 25), (2_500_000, 1), (2_500_000, 10)] {
        let mut path = Path::new(rate, 20 * MS);
        path.run(3_000 * MS);
        path.rate *= wider;
        let least = path.model.least_round_trip();
        path.model.on_member_gone(least, path.now);
        path.longest_queue = Duration::ZERO;
        path.run(400 * MS);
        let share = path.run(500 * MS);
        assert!(share > 0.9, "{share} of a path {wider} times as wide as {rate}");
        let queue = path.longest_queue;
        let short = queue < path.rtt;
        assert!(
            rate < 1_000_000 || wider > 1 || short,
            "{queue:?} where nothing is wider"
        );
    }
}

#[test]
fn keeps_the_path_full_and_the_queue_short() {
    let mut path = Path::new(12_500_000, 40 * MS);
    path.run(2_000 * MS);
    path.longest_queue = Duration::ZERO;
    let share = path.run(8_000 * MS);
    assert!(share > 0.98, "{share}");
    assert!(path.longest_queue < path.rtt / 2, "{:?}", path.longest_queue);
}

#[test]
fn one_loss_in_a_hundred_costs_one_packet_in_a_hundred() {
    let mut path = Path::new(12_500_000, 40 * MS);
    path.loses = 100;
    path.run(2_000 * MS);
    let share = path.run(8_000 * MS);
    assert!(share > 0.97, "{share}");
}

#[test]
fn a_startup_fits_a_queue_of_one_product() {
    for rate in [3_000_000, 5_000_000, 7_000_000, 11_000_000, 17_000_000] {
        let mut path = Path::new(rate, 40 * MS);
        path.room = path.product();
        path.run(2_000 * MS);
        let dropped = path.dropped * SEGMENT;
        assert!(
            dropped <= path.product() / 4,
            "{dropped} at {rate} octets a second"
        );
    }
}

#[test]
fn half_the_rate_is_noticed() {
    let mut path = Path::new(12_500_000, 40 * MS);
    path.room = path.product();
    path.run(3_000 * MS);
    path.rate /= 2;
    path.run(5_000 * MS);
    let (dropped, sent) = (path.dropped, path.sync);
    let share = path.run(5_000 * MS);
    assert!(share > 0.95, "{share}");
    let lost = (path.dropped - dropped) as f64 / f64::from(path.sync - sent);
    assert!(lost < 0.01, "{lost} lost");
    let bandwidth = path.model.bandwidth.get() as f64 / path.rate as f64;
    assert!((0.95..1.1).contains(&bandwidth), "{bandwidth}");
}

#[test]
fn a_near_peer_is_sent_no_more_than_its_buffer_holds() {
    // Eight megabytes under way fill either path.
    for (rtt, most) in [(Duration::from_micros(500), NEAR_WINDOW), (2 * MS, 64 << 20)] {
        let mut path = Path::new((8e6 / rtt.as_secs_f64()) as u64, rtt);
        let mut largest = 0;
        for _ in 0..60 {
            path.run(rtt);
            largest = largest.max(path.model.window());
        }
        assert!(largest <= most && largest >= NEAR_WINDOW, "{largest} at {rtt:?}");
        assert_eq!(largest > NEAR_WINDOW, rtt > NEAR, "{largest} at {rtt:?}");
    }
}

#[test]
fn twice_the_rate_is_found() {
    let mut path = Path::new(6_250_000, 40 * MS);
    path.run(3_000 * MS);
    path.rate *= 2;
    path.run(8_000 * MS);
    let share = path.run(2_000 * MS);
    assert!(share > 0.95, "{share}");
}

#[test]
fn a_longer_round_trip_is_measured_anew() {
    let mut path = Path::new(6_250_000, 20 * MS);
    path.run(2_000 * MS);
    path.rtt = 30 * MS;
    path.run(30_000 * MS);
    let least = path.model.least.get().unwrap();
    assert!(least >= 29 * MS && least < 33 * MS, "{least:?}");
    let share = path.run(2_000 * MS);
    assert!(share > 0.9, "{share}");
}

#[test]
fn heavy_loss_bounds_what_is_in_flight() {
    let mut path = Path::new(12_500_000, 40 * MS);
    path.run(3_000 * MS);
    let before = path.model.window();
    path.loses = 4;
    path.run(400 * MS);
    assert!(
        path.model.window() < before * 2 / 3,
        "{} of {before}",
        path.model.window()
    );
}

#[test]
fn marks_bound_what_is_in_flight() {
    let mut path = Path::new(12_500_000, 40 * MS);
    path.run(3_000 * MS);
    let before = path.model.window();
    path.model.on_ce(path.now, path.now);
    path.run(100 * MS);
    assert!(
        path.model.window() < before,
        "{} of {before}",
        path.model.window()
    );
}

#[test]
fn timeouts_and_idleness_shrink_the_window_and_it_comes_back() {
    let mut path = Path::new(12_500_000, 40 * MS);
    path.run(3_000 * MS);
    let before = path.model.window();
    path.model.on_idle(2);
    assert_eq!(path.model.window(), before / 4);
    path.model.on_idle(64);
    assert_eq!(path.model.window(), 10_000);
    path.run(1_000 * MS);
    assert!(path.model.window() > before / 2);
    path.model.on_timeout();
    assert_eq!(path.model.window(), 10_000);
    path.model.on_path_change();
    assert_eq!(path.model.bandwidth.get(), 0);
    assert_eq!(
        (path.model.window(), path.model.pacing_rate(None)),
        (10_000, None)
    );
}

/// There the usual round trip, and so what is under way, is more than the least one says.
#[test]
fn a_path_that_jitters_keeps_what_is_usually_under_way() {
    let mut model = Model::new(1_000);
    model.bandwidth.sample(10_000_000);
    for number in 0..100 {
        model.least.sample((30 + 10 * (number % 2)) * MS, Time::ZERO);
    }
    assert_eq!(model.product(), Some(300_000));
    let kept = model.worth_keeping().unwrap();
    assert!((600_000..900_000).contains(&kept), "{kept}");
    model.bounds.reduce(700_000, kept);
    assert!(model.bounds.get(false, kept) >= kept);
}

/// Much of an early round is lost, but as one burst, and the next round is clean.
#[test]
fn a_burst_of_losses_does_not_end_startup() {
    let mut path = Path::new(12_500_000, 40 * MS);
    path.gone = (40..52).collect();
    path.run(10 * path.rtt);
    let came = path.run(2 * path.rtt);
    assert!(came > 0.8, "{came} of the rate");
}

/// As much in the next round, too.
#[test]
fn bursts_round_after_round_do() {
    let mut path = Path::new(12_500_000, 40 * MS);
    path.gone = [40..52, 64..80, 95..115, 130..160]
        .into_iter()
        .flatten()
        .collect();
    path.run(8 * path.rtt);
    assert_ne!(path.model.cycle.phase, ModelPhase::Startup);
}

#[test]
fn segments_change_the_first_window_only() {
    let mut model = Model::new(1_000);
    model.set_segment(1_400);
    assert_eq!(model.window(), 14_000);
    let mut path = Path::new(12_500_000, 40 * MS);
    path.run(1_000 * MS);
    let before = path.model.window();
    path.model.set_segment(1_400);
    assert_eq!(path.model.window(), before);
}

#[test]
fn asks_some_times_a_round_trip_and_not_for_every_packet() {
    let mut path = Path::new(62_500_000, 100 * MS);
    assert_eq!(path.model.report_after(), 4 * SEGMENT);
    path.run(3_000 * MS);
    let after = path.model.report_after();
    assert_eq!(after, MOST_UNREPORTED);
}

proptest! {
    /// Whatever is reported, in whatever order: a window of four packets at least, a rate above zero.
    #[test]
    fn never_stops(events in proptest::collection::vec((0_u8..7, 0_u64..2_000_000, 0_u32..300), 1..300)) {
        let mut model = Model::new(1_000);
        let (mut now, mut sync) = (Time::ZERO, 0);
        for (what, number, millis) in events {
            now = now + millis * MS;
            match what {
                0 | 1 => {
                    sync += 1;
                    model.on_sent(SentPacket { now, sync, idle: number % 7 == 0 });
                }
                2 | 3 => model.on_ack(Ack {
                    now,
                    echo: sync.wrapping_sub(millis % 5),
                    octets: number,
                    rtt: (number % 3 > 0).then_some(millis * MS),
                    srtt: Some(millis * MS),
                    in_flight_before: number.saturating_mul(2),
                    app_limited: false,
                }),
                4 => model.on_loss(now, now, Lost { octets: number, gaps: millis % 4 }, number),
                5 => model.on_app_limited(number),
                _ if number % 4 == 0 => model.on_timeout(),
                _ if number % 4 == 1 => model.on_idle(millis),
                _ => model.on_ce(now, now),
            }
            prop_assert!(model.window() >= 4_000, "{model:?}");
            prop_assert!(model.pacing_rate(Some(Duration::from_millis(100))).is_some_and(|rate| rate > 0));
            prop_assert!(Model::report_after(&model) >= 4_000);
        }
    }
}

/// A round that lost packets ended startup and set a bound; most of them arrive, or the window of reordering grows.
#[test]
fn what_was_only_overtaken_is_no_congestion() {
    for (found, surprised) in [(&[5_000, 1][..], false), (&[0], true)] {
        let mut model = Model::new(1_000);
        model.cycle.phase = ModelPhase::Drain;
        model.bounds.probe_failed(20_000, 0);
        model.accused = Some(Accused {
            bounds: Bounds::default(),
            ceiling: Ceiling::default(),
            startup: true,
            lost: 10_000,
            came: 0,
            rounds: 0,
        });
        for &octets in found {
            assert!(!model.endless);
            model.on_found(octets, surprised);
        }
        assert!(model.endless, "startup goes on");
        assert_eq!(model.bounds.get(true, 0), u64::MAX);
    }
}

/// A model that has measured 1 MB/s over 40 ms, after so many rounds of a cruise, and a round whose packets waited for 20 ms.
fn cruising(rounds: u64) -> (Model, Round) {
    let mut model = Model::new(SEGMENT as u32);
    model.bandwidth.sample(1_000_000);
    model.least.sample(40 * MS, Time::ZERO);
    model.cycle.phase = ModelPhase::Cruise;
    (0..rounds).for_each(|_| model.cycle.on_round());
    let mut round = Round::default();
    (0..4).for_each(|_| round.sample(60 * MS, true));
    (model, round)
}

/// What is cruised at after such a round, in which packets were lost.
fn after_overflow(rounds: u64, change: impl Fn(&mut Model, &mut Round)) -> u64 {
    let (mut model, mut round) = cruising(rounds);
    change(&mut model, &mut round);
    model.give_way(&round, true, true);
    model.ceiling.of(model.bandwidth.get())
}

#[test]
fn an_overflow_of_a_cruise_makes_it_give_way() {
    assert_eq!(after_overflow(UNDISTURBED, |_, _| {}), 700_000);
    let first = after_overflow(UNDISTURBED - 1, |_, _| {});
    assert_eq!(first, 1_000_000, "it may be what a probe sent");
    for (congested, queued) in [(false, true), (true, false)] {
        let (mut model, round) = cruising(UNDISTURBED);
        model.give_way(&round, congested, queued);
        assert_eq!(model.ceiling.of(1_000_000), 1_000_000, "{congested} {queued}");
    }
}

#[test]
fn what_is_no_overflow_does_not() {
    assert_eq!(after_overflow(3, |_, round| round.marked = true), 1_000_000);
    for (waited, left) in [(55, 700_000), (70, 1_000_000)] {
        let deep = |model: &mut Model, round: &mut Round| {
            (0..4).for_each(|_| round.sample((40 + waited) * MS, true));
            model.round = round.clone();
            model.last_least = Some((40 + waited) * MS);
        };
        assert_eq!(after_overflow(3, deep), left, "a queue of {waited} ms");
    }
    let jittery = |model: &mut Model, _: &mut Round| {
        for number in 0..100 {
            model.least.sample((40 + 10 * (number % 2)) * MS, Time::ZERO);
        }
    };
    assert_eq!(after_overflow(3, jittery), 1_000_000);
    let policed = |model: &mut Model, _: &mut Round| {
        let mut lossy = Round::default();
        lossy.lost = 100 * SEGMENT;
        lossy.losses = 4;
        (0..2).for_each(|_| {
            model
                .policer
                .on_round(&lossy, (900 * SEGMENT, 1_000_000), SEGMENT, true, false);
        });
        assert!(model.policer.is_known());
    };
    assert_eq!(after_overflow(3, policed), 1_000_000);
}

#[test]
fn after_a_probe_only_what_others_lost_by_it_does() {
    let probed = |phase, came: u64| {
        after_overflow(1, |model, _| {
            model.probe = BandwidthProbe::begin(0.0, 500_000, &model.bandwidth);
            model.probe.came(came);
            model.cycle.phase = phase;
        })
    };
    assert_eq!(probed(ModelPhase::Down, 560_000), 700_000);
    assert_eq!(probed(ModelPhase::Down, 510_000), 1_000_000, "it was alone");
    assert_eq!(probed(ModelPhase::Up, 560_000), 1_000_000, "not over yet");
}

#[test]
fn only_cruising_obeys_and_only_a_round_without_a_queue_takes_it_back() {
    let (mut model, overflow) = cruising(3);
    model.give_way(&overflow, true, true);
    let lowered = model.pacing_rate(Some(40 * MS)).unwrap() as f64;
    model.cycle.phase = ModelPhase::Refill;
    let whole = model.pacing_rate(Some(40 * MS)).unwrap() as f64;
    assert!((0.69..0.71).contains(&(lowered / whole)), "{lowered} of {whole}");
    for (rtt, congested, left) in [(43, false, 700_000), (42, true, 700_000), (42, false, 720_000)] {
        let mut round = Round::default();
        round.sample(60 * MS, true);
        round.sample(rtt * MS, false);
        model.give_way(&round, congested, false);
        assert_eq!(model.ceiling.of(1_000_000), left, "{rtt} ms");
    }
}

/// What seemed lost had been overtaken; the path carries much more; a probe forgets what was measured.
#[test]
fn it_ends_with_the_verdict_it_follows_and_with_the_bandwidth_it_was_of() {
    let (mut model, overflow) = cruising(3);
    model.accused = Some(Accused {
        bounds: Bounds::default(),
        ceiling: model.ceiling,
        startup: false,
        lost: 10_000,
        came: 0,
        rounds: 0,
    });
    model.give_way(&overflow, true, true);
    assert_eq!(model.ceiling.of(1_000_000), 700_000);
    model.on_found(6_000, false);
    assert_eq!(model.ceiling.of(1_000_000), 1_000_000);

    for (endless, left) in [(true, 1_000_000), (false, 350_000)] {
        let (mut model, overflow) = cruising(3);
        model.bandwidth.advance();
        model.bandwidth.sample(500_000);
        model.give_way(&overflow, true, true);
        (model.endless, model.urgent) = (endless, true);
        let ack = Ack {
            now: Time::ZERO + MS,
            echo: 0,
            octets: 0,
            rtt: None,
            srtt: None,
            in_flight_before: 0,
            app_limited: false,
        };
        model.advance(&ack, false);
        assert_eq!(model.ceiling.of(1_000_000), left, "{:?}", model.cycle.phase);
    }
}
