//! The pace of a host beside a link with a queue, round by round.

use super::*;

const MS: Duration = Duration::from_millis(1);
/// Octets a second of the narrow link.
const LINK: u64 = 2_500_000;
const RTT: Duration = Duration::from_millis(20);

fn ms(count: u64) -> Time {
    Time::ZERO + MS * u32::try_from(count).unwrap()
}

/// A link with this queue in front of it, to which all that wait send a packet whenever they may; others take the rest.
struct Link {
    route: HostRoute,
    queue: Duration,
    now: Time,
    link: u64,
    /// Octets a second that all associations send together as long as there is no pace.
    eager: u64,
    /// The queue that others hold.
    others: Duration,
}

impl Link {
    fn new() -> Self {
        let mut route = HostRoute::new(Time::ZERO);
        route.note_least(RTT, Time::ZERO);
        Self {
            route,
            queue: Duration::ZERO,
            now: Time::ZERO,
            link: LINK,
            eager: 2 * LINK,
            others: Duration::ZERO,
        }
    }

    /// A round trip passes.
    fn round(&mut self) -> Duration {
        let steps = 20;
        for _ in 0..steps {
            self.now = self.now + MS;
            self.route.used(Some(1), self.now);
            self.route.used(None, self.now);
            let mut sent = 0;
            match self.route.is_paced(self.now) {
                false => sent = self.eager / 1_000,
                true => {
                    self.route.wait(7, None, self.now);
                    while self.route.wakes(self.now).is_some_and(|at| at <= self.now)
                        && self.route.next(self.now).is_some()
                    {
                        self.route.take(PACKET);
                        sent += PACKET;
                        self.route.wait(7, None, self.now);
                    }
                }
            }
            let takes = Duration::from_nanos(sent * 1_000_000_000 / self.link);
            let delivered = (self.queue + takes).min(MS);
            self.queue = (self.queue + takes).saturating_sub(MS);
            let octets = (delivered.as_secs_f64() * self.link as f64) as u64;
            let rtt = RTT + self.queue + self.others;
            self.route.came(octets, Some(rtt), self.now);
        }
        self.queue
    }
}

#[test]
fn nobody_is_held_back_where_all_are_equal() {
    let mut route = HostRoute::new(Time::ZERO);
    route.note_least(RTT, Time::ZERO);
    for at in 0..1_000 {
        route.used(None, ms(at));
        route.came(2_500, Some(RTT + 50 * MS), ms(at));
        assert!(!route.is_paced(ms(at)));
    }
}

#[test]
fn the_queue_runs_empty_and_the_link_stays_full() {
    let mut link = Link::new();
    for _ in 0..20 {
        link.round();
    }
    let (mut longest, mut lowest) = (Duration::ZERO, u64::MAX);
    for _ in 0..200 {
        longest = longest.max(link.round());
        lowest = lowest.min(link.route.pace.expect("paced"));
    }
    assert!(longest < 3 * MS, "{longest:?}");
    assert!(lowest > LINK * 85 / 100, "{lowest}");
}

#[test]
fn a_link_that_becomes_wider_is_found() {
    let mut link = Link::new();
    for _ in 0..50 {
        link.round();
    }
    link.link = 4 * LINK;
    let mut rounds = 0;
    while link.route.pace.expect("paced") < 3 * LINK {
        link.round();
        rounds += 1;
        assert!(rounds < 200);
    }
}

#[test]
fn a_queue_that_others_hold_is_left_to_them() {
    let mut link = Link::new();
    link.others = 30 * MS;
    let mut rounds = 0;
    while link.now < ms(2_000) {
        link.round();
        rounds += u32::from(link.route.is_paced(link.now));
    }
    assert!(rounds < 2 * FUTILE + 20, "held back for {rounds} rounds");
    assert!(!link.route.is_paced(link.now));
}

#[test]
fn near_peers_are_not_held_back() {
    let mut route = HostRoute::new(Time::ZERO);
    route.note_least(MS / 10, Time::ZERO);
    for at in 0..1_000 {
        route.used(None, ms(at));
        route.used(Some(3), ms(at));
        route.came(2_500, Some(5 * MS), ms(at));
        assert!(!route.is_paced(ms(at)));
    }
}

#[test]
fn an_urgency_that_is_used_no_more_holds_nobody_back() {
    let mut link = Link::new();
    for _ in 0..20 {
        link.round();
    }
    assert!(link.route.is_paced(link.now));
    link.route.wait(9, None, link.now);
    let later = link.now + PRESENT;
    assert!(!link.route.is_paced(later));
    assert_eq!(link.route.wakes(later), Some(later));
    assert!(link.route.next(later).is_some());
    assert!(link.route.is_unused(later));
}

#[test]
fn the_most_urgent_goes_first_and_equals_in_turn() {
    let mut link = Link::new();
    for _ in 0..20 {
        link.round();
    }
    let (mut route, now) = (link.route, link.now + MS);
    while route.next(now).is_some() {}
    for slot in [1, 2] {
        route.wait(slot, None, now);
    }
    route.wait(3, Some(9), now);
    let mut order = Vec::new();
    let mut at = now;
    while let Some(next) = route.wakes(at) {
        at = next.max(at);
        if let Some(slot) = route.next(at) {
            order.push(slot);
            route.take(PACKET);
        }
    }
    assert_eq!(order, [3, 1, 2]);
}

#[test]
fn who_slept_knows_nothing_of_the_path() {
    let mut link = Link::new();
    for _ in 0..50 {
        link.round();
    }
    let pace = link.route.pace.expect("paced");
    link.now = link.now + MS * 5_000;
    link.route.used(None, link.now);
    link.route.used(Some(1), link.now);
    for _ in 0..LEAST_SAMPLES {
        link.route.came(100, Some(5_000 * MS), link.now);
    }
    assert_eq!(link.route.pace, Some(pace));
}

#[test]
fn a_queue_beside_which_little_is_sent_is_of_others() {
    let mut link = Link::new();
    for _ in 0..50 {
        link.round();
    }
    let pace = link.route.pace.expect("paced");
    let mut paces = vec![Some(pace)];
    for _ in 0..200 {
        link.now = link.now + 5 * MS;
        link.route.used(Some(1), link.now);
        link.route.used(None, link.now);
        link.route.came(1_000, Some(RTT + 30 * MS), link.now);
        paces.push(link.route.pace);
    }
    assert!(paces.iter().flatten().all(|one| *one >= pace), "{paces:?}");
    assert_eq!(paces.last(), Some(&None));
}
