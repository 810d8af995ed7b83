//! Small curves over time for a terminal.

use busyhour_analysis::{Row, Series};

use crate::numbers::{ms, rate};
use crate::terminal_text::Look;

/// The characters for the levels of height.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Maximum number of characters of a curve.
const CELLS_MAX: usize = 48;
/// Minimum number of seconds for a curve.
const SECONDS_MIN: usize = 5;

/// The curves of rate and 95th percentile; empty for a short run or a narrow terminal.
pub(crate) fn sparklines(series: &Series, total: &Row, look: Look) -> Vec<String> {
    let (Some(first), Some(last)) = (series.second.first(), series.second.last()) else { return Vec::new() };
    let seconds = usize::try_from(last - first + 1).unwrap_or(usize::MAX);
    let room = look.width.unwrap_or(80).saturating_sub(20).min(CELLS_MAX);
    if seconds < SECONDS_MIN || room < SECONDS_MIN {
        return Vec::new();
    }
    let cells = seconds.min(room);
    let cell = |second: u64| ((second - first) as usize) * cells / seconds;
    let (mut requests, mut lengths, mut p95) = (vec![0.0; cells], vec![0.0; cells], vec![None::<f64>; cells]);
    (0..seconds as u64).for_each(|at| lengths[cell(first + at)] += 1.0);
    for (at, second) in series.second.iter().enumerate() {
        let cell = cell(*second);
        requests[cell] += series.requests[at] as f64;
        p95[cell] = p95[cell].into_iter().chain(series.response_p95[at]).reduce(f64::max);
    }
    let rates: Vec<Option<f64>> =
        requests.iter().zip(&lengths).map(|(count, length)| Some(count / length)).collect();
    let line = |name: &str, value: String, values: &[Option<f64>]| {
        format!("  {name}  {value:>7}  {}", curve(values))
    };
    vec![line("rate/s", rate(total.rate_per_s), &rates), line("p95 ms", ms(total.response.p95), &p95)]
}

/// A curve with one character per value, in proportion to the maximum; unknown values are blank.
#[must_use]
pub fn curve(values: &[Option<f64>]) -> String {
    let most = values.iter().flatten().copied().fold(0.0, f64::max);
    let bar = |value: &Option<f64>| match value {
        Some(value) if most > 0.0 => BARS[((value / most * 8.0).ceil() as usize).clamp(1, 8) - 1],
        Some(_) => BARS[0],
        None => ' ',
    };
    values.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_are_in_proportion_to_the_largest() {
        assert_eq!(curve(&[Some(0.0), Some(1.0), Some(4.0), None, Some(8.0)]), "▁▁▄ █");
        assert_eq!(curve(&[Some(0.0), None]), "▁ ");
    }
}
