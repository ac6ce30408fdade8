//! Axes: from values to pixels, with ticks at round values.

use super::number;

/// How an axis divides its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Equal steps, from zero.
    Linear,
    /// Equal steps, from zero to the greatest value: for what runs to the right.
    Along,
    /// Equal factors.
    Log,
    /// Equal factors of message sizes: ticks are powers of two.
    Octets,
}

/// One axis over pixels.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    kind: Kind,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

/// Where a logarithmic axis may have ticks.
const MANTISSAS: [f64; 16] = [
    1.0, 1.1, 1.2, 1.3, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 9.5,
];

/// A place on an axis; minor ones have no label.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: Option<String>,
}

impl Axis {
    /// An axis that shows all of `values` between the pixels `from` and `to`.
    pub(super) fn over(values: impl IntoIterator<Item = f64>, kind: Kind, from: f64, to: f64) -> Self {
        let usable =
            |value: &f64| value.is_finite() && (matches!(kind, Kind::Linear | Kind::Along) || *value > 0.0);
        let (low, high) = values
            .into_iter()
            .filter(usable)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        let (low, high) = if low > high { (1.0, 10.0) } else { (low, high) };
        let (low, high) = match kind {
            Kind::Linear => linear_range(low, high),
            Kind::Along if low.min(0.0) == high.max(0.0) => (0.0, 1.0),
            Kind::Along => (low.min(0.0), high.max(0.0)),
            Kind::Log => log_range(low, high),
            Kind::Octets if low == high => (low / 2.0, high * 2.0),
            Kind::Octets => (low, high),
        };
        Self {
            kind,
            low,
            high,
            from,
            to,
        }
    }

    /// The pixel of `value`, kept inside the axis.
    pub(super) fn pixel(&self, value: f64) -> f64 {
        let share = match self.kind {
            Kind::Linear | Kind::Along => (value - self.low) / (self.high - self.low),
            Kind::Log | Kind::Octets => {
                (value.max(self.low / 2.0) / self.low).ln() / (self.high / self.low).ln()
            }
        };
        let share = if share.is_finite() {
            share.clamp(0.0, 1.0)
        } else {
            0.0
        };
        self.from + share * (self.to - self.from)
    }

    /// Ticks in order, within the axis.
    pub(super) fn ticks(&self) -> Vec<Tick> {
        match self.kind {
            Kind::Linear | Kind::Along => self.linear_ticks(),
            Kind::Log => self.log_ticks(),
            Kind::Octets => self.octet_ticks(),
        }
    }

    fn linear_ticks(&self) -> Vec<Tick> {
        let step = round_step((self.high - self.low) / 5.0);
        let first = (self.low / step).ceil();
        let last = (self.high / step + 1e-9).floor();
        let count = (last - first).clamp(0.0, 20.0);
        (0..=count as u32)
            .map(|index| {
                let value = (first + f64::from(index)) * step;
                Tick {
                    value,
                    label: Some(number::tick(value)),
                }
            })
            .collect()
    }

    fn log_ticks(&self) -> Vec<Tick> {
        let decades = (self.high / self.low).log10();
        let labelled: &[f64] = if decades <= 0.45 {
            &[
                1.0, 1.1, 1.2, 1.3, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0,
            ]
        } else if decades <= 1.3 {
            &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0]
        } else if decades <= 3.2 {
            &[1.0, 2.0, 5.0]
        } else {
            &[1.0]
        };
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let mut ticks = Vec::new();
        for exponent in first..=last.min(first.saturating_add(30)) {
            for mantissa in MANTISSAS {
                let value = mantissa * 10f64.powi(exponent);
                let inside = value >= self.low * 0.999 && value <= self.high * 1.001;
                let label = labelled.contains(&mantissa).then(|| number::tick(value));
                if inside && (label.is_some() || mantissa.fract() == 0.0) {
                    ticks.push(Tick { value, label });
                }
            }
        }
        ticks
    }

    fn octet_ticks(&self) -> Vec<Tick> {
        let doublings = (self.high / self.low).log2();
        let step = if doublings > 16.0 {
            3
        } else if doublings > 7.0 {
            2
        } else {
            1
        };
        (0..60)
            .step_by(step)
            .map(|power| 1u64 << power)
            .filter(|&size| size as f64 >= self.low * 0.999 && size as f64 <= self.high * 1.001)
            .map(|size| Tick {
                value: size as f64,
                label: Some(number::octets(size)),
            })
            .collect()
    }
}

/// From zero to a round value above the greatest, so that lengths can be compared.
fn linear_range(low: f64, high: f64) -> (f64, f64) {
    let (low, high) = (low.min(0.0), high.max(0.0));
    if low == high {
        return (0.0, 1.0);
    }
    let step = round_step((high - low) / 5.0);
    ((low / step).floor() * step, (high * 1.001 / step).ceil() * step)
}

/// A little room on both sides, at least a factor of two in all.
fn log_range(low: f64, high: f64) -> (f64, f64) {
    let (low, high) = (low * 0.9, high * 1.1);
    let missing = (2.0 / (high / low)).max(1.0).sqrt();
    (low / missing, high * missing)
}

/// 1, 2, 2.5 or 5 times a power of ten, at least `raw`.
fn round_step(raw: f64) -> f64 {
    if !(raw.is_finite() && raw > 0.0) {
        return 1.0;
    }
    let power = 10f64.powf(raw.log10().floor());
    [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|mantissa| mantissa * power)
        .find(|step| *step >= raw * 0.999)
        .unwrap_or(10.0 * power)
}

#[cfg(test)]
#[path = "axis_tests.rs"]
mod tests;
