//! Numbers for people: three significant digits, grouped thousands, sizes in powers of two.

/// Three significant digits without trailing decoration: `8.53`, `43.1`, `715`, `41 000`.
pub(super) fn short(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if size >= 1000.0 {
        return grouped(value);
    }
    let decimals = match size {
        s if s >= 100.0 => 0,
        s if s >= 10.0 => 1,
        s if s >= 1.0 => 2,
        s if s >= 0.1 => 3,
        s if s >= 0.01 => 4,
        _ => 6,
    };
    let text = format!("{value:.decimals$}");
    if size < 1.0 && text.contains('.') {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
}

/// A whole number in groups of three; from a million on, three significant digits are kept and the rest is zero.
fn grouped(value: f64) -> String {
    let digits = value.abs().log10().floor();
    let unit = 10f64.powf((digits - 2.0).max(0.0));
    let rounded = (value.abs() / unit).round() * unit;
    let plain = format!("{rounded:.0}");
    let mut out = String::new();
    for (place, digit) in plain.chars().enumerate() {
        if place > 0 && (plain.len() - place).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    if value < 0.0 { format!("-{out}") } else { out }
}

/// A label of an axis: no more digits than the tick has.
pub(super) fn tick(value: f64) -> String {
    if value.abs() >= 10_000.0 {
        return grouped(value);
    }
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A message size in octets: `64`, `4 K`, `1 M`.
pub(super) fn octets(size: u64) -> String {
    const K: u64 = 1 << 10;
    const M: u64 = 1 << 20;
    const G: u64 = 1 << 30;
    match size {
        s if s >= G && s.is_multiple_of(G) => format!("{}\u{202f}Gi", s / G),
        s if s >= M && s.is_multiple_of(M) => format!("{}\u{202f}Mi", s / M),
        s if s >= K && s.is_multiple_of(K) => format!("{}\u{202f}Ki", s / K),
        s => s.to_string(),
    }
}

/// A message size with its unit: `64 B`, `4 KiB`.
pub(super) fn size(size: u64) -> String {
    let text = octets(size);
    if text.ends_with('i') {
        format!("{text}B")
    } else {
        format!("{text} B")
    }
}

/// A factor: `1.07×`, `12.3×`.
pub(super) fn factor(value: f64) -> String {
    if value >= 1000.0 {
        format!("{}×", grouped(value))
    } else if value >= 100.0 {
        format!("{value:.0}×")
    } else if value >= 10.0 {
        format!("{value:.1}×")
    } else {
        format!("{value:.2}×")
    }
}

#[cfg(test)]
#[path = "number_tests.rs"]
mod tests;
