//! What a curve of received octets over time says.

/// Octets received over time: points (seconds, octets until then), both rising.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Curve(pub(crate) Vec<(f64, f64)>);

/// The round trip whose goodput is a figure of its own: a start-up should be over by then.
const ROUND_TRIP: f64 = 12.0;
/// A start-up is given at least so many seconds.
const START_UP: f64 = 1.0;

impl Curve {
    /// Octets received until `time`; between two points along the straight line.
    pub(crate) fn at(&self, time: f64) -> f64 {
        let after = self.0.partition_point(|point| point.0 <= time);
        let Some(&(start, low)) = after.checked_sub(1).and_then(|before| self.0.get(before)) else {
            return 0.0;
        };
        let Some(&(end, high)) = self.0.get(after) else {
            return low;
        };
        low + (high - low) * (time - start) / (end - start)
    }

    /// When so many octets had come, seconds; between two points the later one.
    pub(crate) fn reached(&self, octets: f64) -> Option<f64> {
        let point = self.0.iter().find(|point| point.1 >= octets);
        point.map(|point| point.0)
    }

    /// When the first octet came.
    pub(crate) fn first(&self) -> Option<f64> {
        self.0.iter().find(|point| point.1 > 0.0).map(|point| point.0)
    }

    /// Goodput from one time to another, 10^9 bits a second; `None` if that is no time.
    pub(crate) fn gbit_s(&self, from: f64, to: f64) -> Option<f64> {
        (to > from).then(|| (self.at(to) - self.at(from)) * 8.0 / (to - from) / 1e9)
    }

    /// Goodput of the 12th round trip: the first begins when the first octet arrives. `None` on a link without
    /// delay, or if the run ended before.
    pub(crate) fn round_trip_12(&self, rtt: f64, end: f64) -> Option<f64> {
        let to = self.first()? + ROUND_TRIP * rtt;
        if rtt <= 0.0 || to > end {
            return None;
        }
        self.gbit_s(to - rtt, to)
    }

    /// Goodput from the 12th round trip (at least a second after the first octet) to the end; `None` if less than a
    /// quarter of the run is left for it.
    pub(crate) fn settled(&self, rtt: f64, begin: f64, end: f64) -> Option<f64> {
        let from = self.first()? + (ROUND_TRIP * rtt).max(START_UP);
        if end - from < (end - begin) / 4.0 {
            return None;
        }
        self.gbit_s(from, end)
    }

    /// Goodput in steps of `width` seconds since `begin`: points (middle of the step in seconds, 10^6 bits a
    /// second).
    pub(crate) fn steps(&self, width: f64, begin: f64, end: f64) -> Vec<(f64, f64)> {
        let count = ((end - begin) / width).floor() as usize;
        let step = |index: usize| {
            let from = begin + index as f64 * width;
            let mbit_s = self.gbit_s(from, from + width)? * 1e3;
            Some((from - begin + width / 2.0, mbit_s))
        };
        (0..count).filter_map(step).collect()
    }
}

/// Jain's fairness index: 1 if all have the same, 1/n if one has all; `None` if nobody has anything.
pub(crate) fn jain(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

#[cfg(test)]
#[path = "goodput_tests.rs"]
mod tests;
