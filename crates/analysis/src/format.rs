//! Formats numbers for reports.

use busyhour_stats::Estimate;

/// Formats a duration with its unit: `50 µs`, `0.1 s`, `1,200 s`.
pub(crate) fn span(span_s: f64) -> String {
    let (value, unit) = match span_s {
        s if s <= 0.0 => return "0 s".to_owned(),
        s if s < 1e-6 => (s * 1e9, "ns"),
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 0.1 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    let digits = if value >= 99.95 {
        0
    } else if (value - value.round()).abs() < 0.05 * value.min(1.0) {
        usize::from(value < 1.0)
    } else {
        1
    };
    format!("{} {unit}", thousands(value, digits))
}

/// Formats an interval with up to three significant digits: `250 ms`, `50.6 ms`, `1.2 s`.
pub(crate) fn interval(interval_s: f64) -> String {
    let (value, unit) = match interval_s {
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    let digits = if value >= 99.95 {
        1.0
    } else if value >= 9.995 {
        10.0
    } else {
        100.0
    };
    format!("{} {unit}", (value * digits).round() / digits)
}

/// Formats a number with two significant digits: `200`, `1,900`, `0.35`.
pub(crate) fn rough(value: f64) -> String {
    if value <= 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let unit = 10_f64.powf(value.log10().floor() - 1.0);
    let rounded = (value / unit).round() * unit;
    if rounded >= 10.0 { thousands(rounded, 0) } else { format!("{}", (rounded * 1e6).round() / 1e6) }
}

/// Formats a time since the start of a run: `00:42`, `1:02:03`.
pub(crate) fn clock(at_s: f64) -> String {
    let at = at_s.max(0.0).round() as u64;
    let (hours, minutes, seconds) = (at / 3_600, at / 60 % 60, at % 60);
    match hours {
        0 => format!("{minutes:02}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// Formats a share in per cent: `5 %`, `0.3 %`.
pub(crate) fn share(share: f64) -> String {
    let percent = share * 100.0;
    let digits = usize::from(percent > 0.0 && percent < 9.95 && (percent - percent.round()).abs() >= 0.05);
    format!("{percent:.digits$} %")
}

/// Formats a rate with about four digits: `1,000.3/s`, `31.73/s`.
pub(crate) fn rate(per_s: f64) -> String {
    let digits = match per_s {
        r if r >= 99.95 => 1,
        r if r >= 9.995 => 2,
        _ => 3,
    };
    format!("{}/s", thousands(per_s, digits))
}

/// Formats a count: `38,072`.
pub(crate) fn count(count: u64) -> String {
    group(&count.to_string())
}

/// Formats a non-negative estimate as `value ± half-width` with two decimals, or three if two would round the half-width to 0. If
/// the lower end would be negative, the ends of the interval are given instead.
pub(crate) fn with_interval(estimate: &Estimate) -> String {
    let half = estimate.half_width();
    match half {
        half if half > estimate.value && half >= 0.005 => {
            format!("{:.2} (0 to {:.2})", estimate.value, estimate.high)
        }
        half if half < 0.000_5 => format!("{:.2}", estimate.value),
        half if half < 0.005 => format!("{:.3} ± {half:.3}", estimate.value),
        _ => format!("{:.2} ± {half:.2}", estimate.value),
    }
}

fn thousands(value: f64, digits: usize) -> String {
    let plain = format!("{value:.digits$}");
    let (whole, rest) = plain.split_at(plain.find('.').unwrap_or(plain.len()));
    group(whole) + rest
}

fn group(whole: &str) -> String {
    let mut grouped = String::with_capacity(whole.len() + whole.len() / 3);
    for (i, digit) in whole.char_indices() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use busyhour_stats::IntervalMethod;

    use super::*;

    #[test]
    fn numbers_have_units_and_separators() {
        assert_eq!(
            [0.0, 5e-5, 0.001, 0.1, 1.0, 10.0, 1_200.0, 0.634, 37.25].map(span).join(", "),
            "0 s, 50 µs, 1 ms, 0.1 s, 1 s, 10 s, 1,200 s, 0.6 s, 37.2 s"
        );
        assert_eq!(
            [1_000.3, 159.16, 31.73, 2.0, 1_234_567.0].map(rate).join(", "),
            "1,000.3/s, 159.2/s, 31.73/s, 2.000/s, 1,234,567.0/s"
        );
        assert_eq!([0.0488, 0.23, 0.003, 0.0, 0.05].map(share).join(", "), "4.9 %, 23 %, 0.3 %, 0 %, 5 %");
        assert_eq!([0.0, 42.9, 3_723.0].map(clock).join(", "), "00:00, 00:43, 1:02:03");
        assert_eq!(
            [0.25, 0.0012, 1.2, 0.000_7, 0.050_62].map(interval).join(", "),
            "250 ms, 1.2 ms, 1.2 s, 700 µs, 50.6 ms"
        );
        assert_eq!([603.2, 1_984.0, 0.347, 7.04, 0.0].map(rough).join(", "), "600, 2,000, 0.35, 7, 0");
        let plain = |value, half| {
            let method = IntervalMethod::BatchMeans;
            Estimate { value, low: value - half, high: value + half, confidence: 0.95, method }
        };
        assert_eq!(with_interval(&plain(1.0, 0.01)), "1.00 ± 0.01");
        assert_eq!(with_interval(&plain(1.0004, 0.002)), "1.000 ± 0.002");
        assert_eq!(with_interval(&plain(0.0, 0.0)), "0.00");
        assert_eq!(with_interval(&plain(13.8, 14.3)), "13.80 (0 to 28.10)");
    }
}
