//! Medians, percentiles, ratios and least squares.

/// The value that `share` (0 to 1) of `values` do not exceed (nearest rank); `None` without values.
pub(crate) fn percentile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied()
}

/// The value in the middle, or the mean of the two there; `None` without values.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// Smallest and largest; `None` without values.
pub(crate) fn spread(values: &[f64]) -> Option<[f64; 2]> {
    let least = values.iter().copied().min_by(f64::total_cmp)?;
    let most = values.iter().copied().max_by(f64::total_cmp)?;
    Some([least, most])
}

/// Median of `of / to` over the rounds in which both were measured; `None` if there is none.
pub(crate) fn median_ratio(of: &[Option<f64>], to: &[Option<f64>]) -> Option<f64> {
    let both = of.iter().zip(to).filter_map(|(of, to)| of.zip(*to));
    let ratios: Vec<f64> = both.filter(|(_, to)| *to > 0.0).map(|(of, to)| of / to).collect();
    median(&ratios)
}

/// A line through points, with half widths of the 95 % confidence intervals.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) intercept: f64,
    pub(crate) intercept_ci95: f64,
    pub(crate) slope: f64,
    pub(crate) slope_ci95: f64,
}

/// The line of least squares; `None` with fewer than three points or all at one x.
pub(crate) fn fit(points: &[(f64, f64)]) -> Option<Line> {
    let count = points.len() as f64;
    if points.len() < 3 {
        return None;
    }
    let mean_x = points.iter().map(|point| point.0).sum::<f64>() / count;
    let mean_y = points.iter().map(|point| point.1).sum::<f64>() / count;
    let spread_x: f64 = points.iter().map(|point| (point.0 - mean_x).powi(2)).sum();
    if spread_x <= 0.0 {
        return None;
    }
    let product: f64 = points
        .iter()
        .map(|point| (point.0 - mean_x) * (point.1 - mean_y))
        .sum();
    let slope = product / spread_x;
    let intercept = mean_y - slope * mean_x;
    let residue: f64 = points
        .iter()
        .map(|point| (point.1 - intercept - slope * point.0).powi(2))
        .sum();
    let variance = residue / (count - 2.0);
    let quantile = student_975(points.len() - 2);
    Some(Line {
        intercept,
        intercept_ci95: quantile * (variance * (1.0 / count + mean_x * mean_x / spread_x)).sqrt(),
        slope,
        slope_ci95: quantile * (variance / spread_x).sqrt(),
    })
}

/// The 97.5 % quantile of Student's t distribution: exact to three decimals up to 10 degrees of freedom, by the
/// Cornish-Fisher expansion of the normal quantile above (error below 0.001).
fn student_975(freedom: usize) -> f64 {
    const SMALL: [f64; 10] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    ];
    const NORMAL: f64 = 1.959_963_985;
    if let Some(exact) = freedom.checked_sub(1).and_then(|index| SMALL.get(index)) {
        return *exact;
    }
    let n = freedom as f64;
    let z = NORMAL;
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / n + second / n.powi(2) + third / n.powi(3)
}

#[cfg(test)]
#[path = "stats_tests.rs"]
mod tests;
