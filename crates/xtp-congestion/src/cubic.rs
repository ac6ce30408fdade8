//! CUBIC (RFC 9438) with HyStart++ (RFC 9406) and pacing (§5.3).

use core::time::Duration;

use super::hystart::{HyStart, WindowGrowth};
use super::{Ack, Controller, INITIAL_PACKETS, LEAST_PACKETS, Lost};
use xtp_core::Time;

/// Multiplicative decrease.
const BETA: f64 = 0.7;
/// Scale of the cubic function, segments a second cubed.
const C: f64 = 0.4;
/// Additive increase that makes the Reno-friendly estimate fair with Reno.
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
/// Shares of cwnd/srtt the pacer lets through.
const PACING: f64 = 1.25;
const PACING_SLOW_START: f64 = 2.0;

/// One stretch of congestion avoidance.
#[derive(Copy, Clone, Debug)]
struct Epoch {
    start: Time,
    /// Seconds until the window is back at `w_max`.
    k: f64,
    /// The plateau, octets.
    w_max: f64,
    /// What Reno would have, octets.
    w_est: f64,
}

/// Window state in octets.
#[derive(Clone, Debug)]
pub struct Cubic {
    segment: u64,
    window: f64,
    threshold: f64,
    /// Window at the last reduction, and the plateau derived from it.
    prior: f64,
    w_max: f64,
    epoch: Option<Epoch>,
    last_ack: Option<Time>,
    recovery: Option<Time>,
    hystart: HyStart,
    touched: bool,
}

impl Cubic {
    /// In slow start with the initial window of ten packets.
    pub fn new(segment: u32) -> Self {
        let segment = u64::from(segment.max(1));
        Self {
            segment,
            window: (INITIAL_PACKETS * segment) as f64,
            threshold: f64::INFINITY,
            prior: 0.0,
            w_max: 0.0,
            epoch: None,
            last_ack: None,
            recovery: None,
            hystart: HyStart::default(),
            touched: false,
        }
    }

    fn initial(&self) -> f64 {
        (INITIAL_PACKETS * self.segment) as f64
    }

    fn least(&self) -> f64 {
        (LEAST_PACKETS * self.segment) as f64
    }

    /// The plateau the next epoch aims at, octets.
    #[cfg(test)]
    pub(super) fn plateau(&self) -> u64 {
        self.w_max.round() as u64
    }

    fn in_slow_start(&self) -> bool {
        self.window < self.threshold
    }

    fn slow_start(&mut self, ack: Ack) {
        let growth = match self.hystart.on_ack(ack.now, ack.rtt, ack.srtt) {
            WindowGrowth::Full => ack.octets,
            WindowGrowth::Divided(part) => ack.octets / part,
            WindowGrowth::Stop => {
                self.threshold = self.window;
                self.w_max = self.window;
                return;
            }
        };
        self.window = (self.window + growth as f64).min(self.threshold.max(self.window));
    }

    /// Congestion avoidance (RFC 9438, 4.2 to 4.5).
    fn avoid(&mut self, ack: Ack) {
        let segment = self.segment as f64;
        let window = self.window;
        let epoch = *self.epoch.get_or_insert_with(|| {
            let w_max = self.w_max.max(window);
            let k = ((w_max - window) / segment / C).cbrt();
            Epoch {
                start: ack.now,
                k,
                w_max,
                w_est: window,
            }
        });
        let alpha = if epoch.w_est >= self.prior { 1.0 } else { ALPHA };
        let w_est = epoch.w_est + alpha * segment * ack.octets as f64 / window;
        if let Some(epoch) = &mut self.epoch {
            epoch.w_est = w_est;
        }
        let cubic = |age: f64| C * (age - epoch.k).powi(3) * segment + epoch.w_max;
        let age = ack.now.since(epoch.start).as_secs_f64();
        if cubic(age) < w_est {
            self.window = w_est.max(window);
            return;
        }
        let ahead = age + ack.srtt.unwrap_or_default().as_secs_f64();
        let target = cubic(ahead).clamp(window, 1.5 * window);
        // At most the target: a batch may acknowledge a whole window at once.
        self.window = (window + (target - window) * (ack.octets as f64 / window)).min(target);
    }

    /// One reduction for everything sent before it.
    fn reduce(&mut self, now: Time, sent_at: Time) {
        if self.recovery.is_some_and(|start| sent_at <= start) {
            return;
        }
        self.recovery = Some(now);
        self.note_peak();
        self.window = (self.window * BETA).max(self.least());
        self.threshold = self.window;
    }

    /// Remembers where it went wrong; lower than last time means that others need room (RFC 9438, 4.7).
    fn note_peak(&mut self) {
        self.prior = self.window;
        self.w_max = if self.window < self.w_max {
            self.window * (1.0 + BETA) / 2.0
        } else {
            self.window
        };
        self.epoch = None;
        self.touched = true;
    }
}

impl Controller for Cubic {
    fn window(&self) -> u64 {
        self.window as u64
    }

    fn pacing_rate(&self, rtt: Option<Duration>) -> Option<u64> {
        let rtt = rtt?.max(Duration::from_micros(1)).as_secs_f64();
        let share = if self.in_slow_start() {
            PACING_SLOW_START
        } else {
            PACING
        };
        Some((share * self.window / rtt) as u64)
    }

    fn on_ack(&mut self, ack: Ack) {
        let last = self.last_ack.replace(ack.now).unwrap_or(ack.now);
        // Half a window in flight did not try it out, whatever the limit was.
        let unused = (ack.in_flight_before as f64) < self.window / 2.0;
        if ack.app_limited || unused {
            if let Some(epoch) = &mut self.epoch {
                // Time in which the window was not the limit must not raise the target (RFC 9438, 5.8).
                epoch.start = (epoch.start + ack.now.since(last)).min(ack.now);
            }
            return;
        }
        self.touched = true;
        if self.in_slow_start() {
            self.slow_start(ack);
        } else {
            self.avoid(ack);
        }
    }

    fn on_loss(&mut self, now: Time, newest_lost_sent_at: Time, _lost: Lost, _in_flight: u64) {
        self.reduce(now, newest_lost_sent_at);
    }

    fn on_ce(&mut self, now: Time, sent_at: Time) {
        self.reduce(now, sent_at);
    }

    fn on_timeout(&mut self) {
        if self.window > self.initial() {
            self.note_peak();
            self.threshold = (self.window * BETA).max(self.least());
        }
        self.window = self.initial();
        self.epoch = None;
        self.hystart = HyStart::default();
    }

    fn on_idle(&mut self, periods: u32) {
        let floor = self.initial().min(self.window);
        if periods == 0 || self.window <= floor {
            return;
        }
        // The way back up to where it was is known to be free (RFC 7661 keeps three quarters).
        self.threshold = self.threshold.max(self.window * 0.75);
        self.window = (self.window * 0.5_f64.powi(periods.min(64) as i32)).max(floor);
        self.epoch = None;
        self.hystart = HyStart::default();
    }

    fn on_path_change(&mut self) {
        *self = Self::new(u32::try_from(self.segment).unwrap_or(u32::MAX));
    }

    fn set_segment(&mut self, maxdata: u32) {
        self.segment = u64::from(maxdata.max(1));
        // A window nothing was learnt about stays ten packets; any other keeps its octets.
        self.window = if self.touched {
            self.window.max(self.least())
        } else {
            self.initial()
        };
    }
}
