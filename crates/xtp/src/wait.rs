//! Whether a waiting thread polls, yields or sleeps.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use xtp_engine::Time;

use crate::config::Wait;

mod neighbours;
use neighbours::Neighbours;

/// How long [`Wait::Adaptive`] polls before it sleeps: about what waking up again costs. Time in which others had the
/// core does not count.
const SPIN: Duration = Duration::from_micros(50);
/// A poll that took longer than this was interrupted by somebody who needed the core.
const DISTURBED: Duration = Duration::from_micros(30);
/// Giving the core away takes longer than this when somebody takes it.
const TAKEN: Duration = Duration::from_micros(3);
/// Whoever keeps a core that it was given, or takes it, for so long does not wait as we do: it computes, and uses up whatever he is
/// given.
const KEPT: Duration = Duration::from_micros(300);
/// Cores given away in a row that nobody took, after which nobody shares this one any more.
const ALONE: u32 = 32;
/// Waits that sleep at once after a poll took too long, whatever the reason.
const PENANCE: u32 = 64;
/// Each of them that was short leaves one in so many of the others.
const MERCY: u32 = 4;
/// Looks after which an adaptive wait sleeps although others had the core most of the time.
const MOST_POLLS: u32 = 100;
/// Rest of whoever takes a stream that comes a datagram at a time: polling for each would keep a core busy, waking for
/// each half of one.
const NAP: Duration = Duration::from_micros(100);
/// It rests longer where the round trip is: a part of it, and this at most.
const LONGEST_NAP: Duration = Duration::from_millis(1);
const NAPS_A_ROUND_TRIP: u32 = 64;
/// A path is long from this round trip on. There a larger part of it is still little, and who sends at a pace rests as long between its
/// trains, whatever comes: what is acknowledged meanwhile changes nothing before the next train.
const LONG_PATH: Duration = Duration::from_millis(10);
const NAPS_A_LONG_ROUND_TRIP: u32 = 20;
/// Where a nap on a short path brings as many, those at the front waited too long: naps of [`BULK_NAP`] until one brings few.
const CROWD: usize = 24;
const FEW: usize = 8;
/// Lone datagrams, less [`ANSWER`] for each answer, that show such a stream, and most that are counted.
const STREAM: u32 = 64;
const MOST_STREAM: u32 = 128;
const ANSWER: u32 = 8;
/// The same over a long path, where a millisecond is little for whoever waits for an answer, and a sender wants to be told more often.
const FAR_ANSWER: u32 = 2;
/// Rest of whoever takes long trains: looking for each of them takes the queue's memory from the sender's core whenever
/// it adds one, and several taken at once cost both sides less. The kernel adds some 50 us to it.
const BULK_NAP: Duration = Duration::from_micros(20);
/// The same where it comes to a group: several receivers of a host take turns on its cores, and each call that takes more at once
/// leaves the others more of them.
const GROUP_NAP: Duration = Duration::from_micros(450);
/// Octets that came, less [`ANSWERED`] for each answer, that show them, and most that are counted.
const BULK: u64 = 1 << 20;
const MOST_BULK: u64 = 2 << 20;
const ANSWERED: u64 = 128 << 10;
/// Less than this after a nap, and it was in vain; for groups, where the processor is what naps save, hardly anything is too little.
const LITTLE: u64 = 32 << 10;
const GROUP_LITTLE: u64 = 4 << 10;
/// One poll in this many gives the core away for a moment when there is enough of them.
const YIELD_EVERY: u32 = 8;
/// Polls of the socket between two looks at the clock and the timers, on a core of one's own.
const POLLS_A_LOOK: u32 = 4;

/// Polls of a wait for a message of an exchange that look at nothing else.
const BRIEF: u32 = 128;

/// Threads of this process that poll at the moment, whatever their endpoint.
static POLLING: AtomicUsize = AtomicUsize::new(0);

/// Cores of this machine that are switched on. A process bound to one of several still may poll: whoever answers it
/// runs on another. Where its peer is bound to the same core, polling is seen to disturb ([`DISTURBED`]).
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| {
        let allowed = std::thread::available_parallelism().map_or(1, usize::from);
        online_cores().map_or(allowed, |online| online.max(allowed))
    })
}

/// What Linux says of its processors, written like `0-3,8`.
fn online_cores() -> Option<usize> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/online").ok()?;
    count_ranges(text.trim())
}

fn count_ranges(text: &str) -> Option<usize> {
    let mut count: usize = 0;
    for range in text.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
        count = count.checked_add(last.checked_sub(first)?.checked_add(1)?)?;
    }
    Some(count)
}

/// Polls with which a wait for a message of an exchange begins, before it goes the general way: those of an adaptive
/// wait that has a core of its own, as far as they last about as long as [`SPIN`]. None where it would not poll.
pub(crate) fn brief_polls(habit: &Habit, wait: Wait) -> u32 {
    let polls = match wait {
        Wait::Block => false,
        Wait::Spin => true,
        Wait::Adaptive => {
            !habit.shares_core()
                && !habit.is_bulk()
                && habit.penance.load(Ordering::Relaxed) == 0
                && habit.stream.load(Ordering::Relaxed) < STREAM
        }
    };
    let free = cores() > 1 && POLLING.load(Ordering::Relaxed) < cores();
    if polls && free { BRIEF } else { 0 }
}

/// Whether a wait napped, and for what.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Rest {
    None,
    /// Lone datagrams.
    Stream,
    /// Long trains.
    Bulk,
    /// Until more may be sent, over a long path.
    Pace,
}

/// What has come to an endpoint and left it, since it was made.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Traffic {
    /// Octets that came.
    pub(crate) octets: u64,
    /// Turns in which something was sent.
    pub(crate) sendings: u64,
}

/// What an endpoint learned about waiting.
#[derive(Debug, Default)]
pub(crate) struct Habit {
    /// Waits still to sleep at once.
    penance: AtomicU32,
    /// Waits in a row whose polling was in vain.
    misses: AtomicU32,
    /// Above zero others share this core: then every poll that brings nothing gives it away, perhaps to whoever is
    /// waited for. Counts down with every time that nobody took it.
    shared: AtomicU32,
    /// How much what comes looks like a stream that is not answered.
    stream: AtomicU32,
    /// How much it looks like trains of a transfer, in octets.
    bulk: AtomicU64,
    /// Octets that had come when something came last.
    octets: AtomicU64,
    /// What was sent when something came last.
    sendings: AtomicU64,
    /// The wait before this one was for the own pace.
    paced: AtomicBool,
    /// Whoever waited last napped, or found what had gathered in an earlier nap.
    rested: AtomicBool,
    /// Naps bring a crowd.
    crowded: AtomicBool,
    /// The path is long.
    long: AtomicBool,
    neighbours: Neighbours,
    /// Waits still to keep the core while they poll.
    keeping: AtomicU32,
}

impl Habit {
    /// Polling brought nothing in time: whatever comes here comes slowly, so the next waits sleep at once, each time
    /// twice as many.
    fn missed(&self) {
        let misses = self.misses.load(Ordering::Relaxed);
        self.misses.store(misses.saturating_add(1), Ordering::Relaxed);
        self.penance
            .store((1 << misses.min(6)).min(PENANCE), Ordering::Relaxed);
    }

    /// A sleep instead of a poll was shorter than a poll may last: that would have met what ended it.
    fn forgive(&self) {
        let penance = self.penance.load(Ordering::Relaxed);
        self.penance.store(penance / MERCY, Ordering::Relaxed);
    }

    /// So many datagrams came to one who waited, after `rest`, for which less than `little` octets are too few; `at_once`: at
    /// the first look.
    fn came(&self, count: usize, (rest, little): (Rest, u64), at_once: bool, traffic: Traffic) {
        // No exchange in one step: whoever drives the endpoint is alone, and a locked instruction waits for all before it.
        let sent = traffic
            .sendings
            .wrapping_sub(self.sendings.load(Ordering::Relaxed));
        self.sendings.store(traffic.sendings, Ordering::Relaxed);
        let little = if rest == Rest::None { 0 } else { little };
        self.weigh(little, sent, traffic.octets);
        let rested = rest == Rest::Stream;
        let long = self.long.load(Ordering::Relaxed);
        let answer = if long { FAR_ANSWER } else { ANSWER };
        let less = u32::try_from(sent).unwrap_or(u32::MAX).saturating_mul(answer);
        let few = count <= 2;
        let left_over = at_once && self.rested.load(Ordering::Relaxed);
        self.rested.store(rested || left_over, Ordering::Relaxed);
        // A nap that brought little was not worth it; many that came together were no stream of lone ones.
        let (more, less) = match (rested, few) {
            // What one receive call did not take of what a nap let gather says nothing more.
            _ if left_over => (0, less),
            (true, true) => (0, less.saturating_add(ANSWER)),
            (false, false) if !long => (0, less.saturating_add(ANSWER)),
            _ => (u32::try_from(count).unwrap_or(u32::MAX), less),
        };
        let before = self.stream.load(Ordering::Relaxed);
        let after = before.saturating_add(more).saturating_sub(less).min(MOST_STREAM);
        self.stream.store(after, Ordering::Relaxed);
    }

    /// Long trains that are hardly answered are a transfer.
    fn weigh(&self, little: u64, sent: u64, octets: u64) {
        let before = self.bulk.load(Ordering::Relaxed);
        let more = octets.wrapping_sub(self.octets.load(Ordering::Relaxed));
        if more == 0 && before == 0 {
            return;
        }
        self.octets.store(octets, Ordering::Relaxed);
        let in_vain = u64::from(more < little);
        let less = (sent + in_vain).saturating_mul(ANSWERED);
        let after = before.saturating_add(more).saturating_sub(less).min(MOST_BULK);
        self.bulk.store(after, Ordering::Relaxed);
    }

    /// So many datagrams came to one who polled, without a nap.
    #[inline]
    pub(crate) fn met(&self, count: usize, wait: Wait, traffic: Traffic) {
        if wait != Wait::Spin {
            self.came(count, (Rest::None, 0), false, traffic);
        }
    }

    /// Who polled had nothing else to do from `before`, or an earlier moment, until `now`, when something came.
    #[inline]
    pub(crate) fn polled(&self, before: Time, now: Time, wait: Wait) {
        if wait != Wait::Adaptive {
            return;
        }
        match now.since(before) > KEPT {
            true => {
                if let Some(waits) = self.neighbours.meet(now) {
                    self.keeping.store(waits, Ordering::Relaxed);
                }
            }
            false => self.neighbours.keep_away(),
        }
    }

    /// Another wait begins to poll: whether it keeps the core.
    fn begin(&self, now: Time) {
        let keeping = self.keeping.load(Ordering::Relaxed);
        if keeping > 0 {
            let left = match self.neighbours.are_forgiven(now) {
                true => 0,
                false => keeping - 1,
            };
            self.keeping.store(left, Ordering::Relaxed);
        }
    }

    fn is_stream(&self) -> bool {
        self.stream.load(Ordering::Relaxed) >= STREAM
    }

    fn is_bulk(&self) -> bool {
        self.bulk.load(Ordering::Relaxed) >= BULK
    }

    /// The next wait will not poll, so looking once is enough.
    fn will_rest(&self) -> bool {
        self.is_stream()
            || self.is_bulk()
            || self.paced.load(Ordering::Relaxed)
            || self.penance.load(Ordering::Relaxed) > 0
    }

    fn shares_core(&self) -> bool {
        self.shared.load(Ordering::Relaxed) > 0
    }
}

/// What to do after a poll that brought nothing.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Poll again at once.
    Again,
    /// Give the core away, then poll again.
    Yield,
    /// Sleep in the kernel.
    Sleep,
    /// Rest for [`Patience::nap`] whatever comes, then poll again.
    Nap,
}

/// One wait, from its first poll to its end.
#[derive(Debug)]
pub(crate) struct Patience<'a> {
    habit: &'a Habit,
    wait: Wait,
    cores: usize,
    /// Threads that poll.
    polling: &'a AtomicUsize,
    /// The last poll, once there was one.
    last: Option<Time>,
    /// Time spent polling.
    spent: Duration,
    /// The core was given away after the last poll.
    yielded: bool,
    polls: u32,
    counted: bool,
    rest: Rest,
    /// Something followed the first look.
    stepped: bool,
    /// How long a nap is.
    nap: Duration,
    /// The same for long trains.
    bulk_nap: Duration,
    /// What is too little for one.
    little: u64,
    /// Over a long path more may be sent after this time.
    pace: Option<Duration>,
    /// When it went to sleep without having polled, as a penance.
    asleep_since: Option<Time>,
}

impl<'a> Patience<'a> {
    pub(crate) fn new(habit: &'a Habit, wait: Wait) -> Self {
        Self::on(habit, wait, cores(), &POLLING)
    }

    fn on(habit: &'a Habit, wait: Wait, cores: usize, polling: &'a AtomicUsize) -> Self {
        Self {
            habit,
            wait,
            cores,
            polling,
            last: None,
            spent: Duration::ZERO,
            yielded: false,
            polls: 0,
            counted: false,
            rest: Rest::None,
            stepped: false,
            nap: NAP,
            bulk_nap: BULK_NAP,
            little: LITTLE,
            pace: None,
            asleep_since: None,
        }
    }

    /// How often to poll before the next [`step`](Self::step): the clock and the timers between polls would cost a
    /// waiting message as much as a poll; but whoever shares the core waits for our polls.
    pub(crate) fn polls(&self) -> u32 {
        match self.wait {
            Wait::Block => 1,
            Wait::Adaptive if self.habit.shares_core() || self.habit.will_rest() => 1,
            Wait::Spin | Wait::Adaptive => POLLS_A_LOOK,
        }
    }

    /// Whether it sleeps without a poll before. `empty`: the last call took all there was, so that over a long path, where what comes
    /// in a moment may wait, the rest begins at once.
    pub(crate) fn sleeps_at_once(&self, empty: bool) -> bool {
        let habit = self.habit;
        let rests = || habit.is_stream() || habit.paced.load(Ordering::Relaxed);
        match self.wait {
            // After a nap the sleep itself looks.
            Wait::Block => self.rest != Rest::None || !habit.is_bulk(),
            Wait::Adaptive => empty && !self.stepped && habit.long.load(Ordering::Relaxed) && rests(),
            Wait::Spin => false,
        }
    }

    /// Whether the next step may be the first of a wait, for which [`expect`](Self::expect) is worth asking.
    pub(crate) fn begins(&self) -> bool {
        match self.wait {
            Wait::Block => self.rest == Rest::None && self.habit.is_bulk(),
            Wait::Adaptive => self.last.is_none(),
            Wait::Spin => false,
        }
    }

    /// What this wait is for: the own pace of sending (`paced`), or something on a path with this round trip.
    pub(crate) fn expect(&mut self, paced: bool, round_trip: Option<Duration>) {
        self.habit.paced.store(paced, Ordering::Relaxed);
        let round_trip = round_trip.unwrap_or_default();
        let long = round_trip >= LONG_PATH;
        self.habit.long.store(long, Ordering::Relaxed);
        let parts = if long {
            NAPS_A_LONG_ROUND_TRIP
        } else {
            NAPS_A_ROUND_TRIP
        };
        self.nap = (round_trip / parts).clamp(NAP, LONGEST_NAP);
    }

    /// Whoever waits keeps to its own pace and may send more after `left`. Over a long path it rests until then or a nap long, so that
    /// what comes meanwhile is taken together. Where more may be sent only much later, it sleeps on the socket instead.
    pub(crate) fn keeps_pace(&mut self, left: Duration) {
        let long = self.habit.long.load(Ordering::Relaxed);
        self.pace = (long && left <= 2 * self.nap).then(|| left.max(self.nap));
        if self.pace.is_some() {
            self.habit.paced.store(true, Ordering::Relaxed);
        }
    }

    /// What comes may come to groups.
    pub(crate) fn has_groups(&mut self) {
        (self.bulk_nap, self.little) = (GROUP_NAP, GROUP_LITTLE);
    }

    /// Whether a nap is followed by polls. Who sleeps then turns a connected socket away again, and what is just being added
    /// to it would be lost.
    pub(crate) fn looks_after_a_nap(&self) -> bool {
        self.wait != Wait::Block
    }

    /// How long to rest from `now` on: until something is `due` at most, but for one's own pace, which allows more for having waited.
    pub(crate) fn nap_until(&self, now: Time, due: Option<Time>, until: Option<Time>) -> Duration {
        let due = due.filter(|_| self.rest != Rest::Pace);
        let end = due.into_iter().chain(until).min();
        end.map_or(self.nap, |end| end.since(now).min(self.nap))
    }

    /// Decides what follows a poll at `now` that brought nothing.
    pub(crate) fn step(&mut self, now: Time) -> Step {
        self.stepped = true;
        match self.wait {
            // To be woken for every train costs sender and receiver more than a nap.
            Wait::Block => match self.rests_for_bulk() {
                true => Step::Nap,
                false => Step::Sleep,
            },
            Wait::Spin => {
                self.count();
                self.polls = self.polls.wrapping_add(1);
                let scarce = self.cores < 2 || self.polling.load(Ordering::Relaxed) > self.cores;
                if scarce || self.polls.is_multiple_of(YIELD_EVERY) {
                    Step::Yield
                } else {
                    Step::Again
                }
            }
            Wait::Adaptive => self.adaptive(now),
        }
    }

    /// Learns from how long it was since the last poll, right before the next.
    pub(crate) fn look(&mut self, now: Time) {
        let Some(last) = self.last else {
            if let Some(since) = self.asleep_since.take()
                && now.since(since) < SPIN
            {
                self.habit.forgive();
            }
            return;
        };
        self.last = Some(now);
        let passed = now.since(last);
        let taken = if self.yielded { TAKEN } else { DISTURBED };
        if passed > KEPT {
            match self.habit.neighbours.meet(now) {
                Some(waits) => self.habit.keeping.store(waits, Ordering::Relaxed),
                None => {
                    self.habit.penance.store(PENANCE, Ordering::Relaxed);
                    self.spent = SPIN;
                }
            }
        } else if passed > taken {
            self.habit.shared.store(ALONE, Ordering::Relaxed);
        } else {
            self.spent += passed;
            if self.yielded && self.habit.shares_core() {
                self.habit.shared.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    fn adaptive(&mut self, now: Time) -> Step {
        if self.last.is_none() {
            return self.begin(now);
        }
        self.polls += 1;
        if self.spent < SPIN && self.polls < MOST_POLLS {
            return self.yields();
        }
        self.last = None;
        // Beside a neighbour it was whoever is waited for that had no core, and says nothing of how soon the next comes.
        let neighbour = self.habit.keeping.load(Ordering::Relaxed) > 0;
        if !neighbour && self.habit.penance.load(Ordering::Relaxed) < PENANCE {
            self.habit.missed();
        }
        Step::Sleep
    }

    /// So many datagrams came, `traffic` with them.
    pub(crate) fn came(&self, count: usize, traffic: Traffic) {
        if self.wait != Wait::Spin {
            if self.rest == Rest::Stream && self.nap <= NAP && (count >= CROWD || count <= FEW) {
                self.habit.crowded.store(count >= CROWD, Ordering::Relaxed);
            }
            self.habit
                .came(count, (self.rest, self.little), !self.stepped, traffic);
        }
    }

    /// The first empty poll of an adaptive wait.
    fn begin(&mut self, now: Time) -> Step {
        if self.rest == Rest::None && self.habit.is_stream() {
            self.rest = Rest::Stream;
            if self.nap <= NAP && self.habit.crowded.load(Ordering::Relaxed) {
                self.nap = BULK_NAP;
            }
            return Step::Nap;
        }
        if self.rests_for_bulk() {
            return Step::Nap;
        }
        if let Some(pace) = self.pace.take() {
            (self.rest, self.nap) = (Rest::Pace, pace);
            return Step::Nap;
        }
        if self.habit.paced.load(Ordering::Relaxed) {
            return Step::Sleep;
        }
        let penance = self.habit.penance.load(Ordering::Relaxed);
        if penance > 0 {
            self.habit.penance.store(penance - 1, Ordering::Relaxed);
            self.asleep_since = Some(now);
            return Step::Sleep;
        }
        self.count();
        if self.polling.load(Ordering::Relaxed) > self.cores {
            return Step::Sleep;
        }
        self.habit.begin(now);
        self.last = Some(now);
        (self.spent, self.polls) = (Duration::ZERO, 0);
        self.yields()
    }

    /// Whether what comes are long trains, for which this wait has not napped yet.
    fn rests_for_bulk(&mut self) -> bool {
        let rests = self.rest == Rest::None && self.habit.is_bulk();
        if rests {
            (self.rest, self.nap) = (Rest::Bulk, self.bulk_nap);
        }
        rests
    }

    fn yields(&mut self) -> Step {
        let keeps = self.cores > 1 && self.habit.keeping.load(Ordering::Relaxed) > 0;
        self.yielded = !keeps
            && (self.cores < 2 || self.habit.shares_core() || self.polls % YIELD_EVERY == YIELD_EVERY - 1);
        if self.yielded { Step::Yield } else { Step::Again }
    }

    fn count(&mut self) {
        if !self.counted {
            self.counted = true;
            self.polling.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// This thread is about to sleep: it no longer needs a core.
    pub(crate) fn asleep(&mut self) {
        if self.counted {
            self.counted = false;
            self.polling.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Patience<'_> {
    fn drop(&mut self) {
        // Still polling: it was worth it.
        if self.last.is_some() {
            self.habit.neighbours.keep_away();
            if self.habit.misses.load(Ordering::Relaxed) > 0 {
                self.habit.misses.store(0, Ordering::Relaxed);
            }
        }
        self.asleep();
    }
}

#[cfg(test)]
#[path = "wait_tests.rs"]
mod tests;
