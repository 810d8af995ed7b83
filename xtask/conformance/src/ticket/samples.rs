//! Statistics of the load by label: shares, outcomes, sizes, and tests of random draws.

use std::collections::{BTreeMap, BTreeSet};

use super::rows::Row;

/// The statistics of the rows of one label.
#[derive(Debug, Default)]
pub struct Label {
    /// The number of rows.
    pub count: u64,
    /// The distinct codes with messages, data types and so on.
    pub outcomes: BTreeSet<String>,
    /// The distinct sizes of requests without their URLs, in bytes, because the lengths of ids vary.
    pub sent_without_url: BTreeSet<usize>,
    /// The distinct sizes of responses in bytes.
    pub received: BTreeSet<usize>,
}

/// The statistics of all labels in these rows.
pub fn labels<'r>(rows: impl IntoIterator<Item = &'r Row>) -> BTreeMap<&'r str, Label> {
    let mut labels = BTreeMap::<&str, Label>::new();
    for row in rows {
        let label = labels.entry(&row.label).or_default();
        label.count += 1;
        label.outcomes.insert(row.outcome.clone());
        label.sent_without_url.insert(row.sent.saturating_sub(row.url.len()));
        label.received.insert(row.received);
    }
    labels
}

/// The standard error, in percentage points, of the difference between the shares of one label in two samples of
/// `n` and `m` rows, if each row drew its label independently: √(p·(1−p)·(1/n + 1/m)).
pub fn standard_error_pp(share: f64, n: u64, m: u64) -> f64 {
    100.0 * (share * (1.0 - share) * (1.0 / n as f64 + 1.0 / m as f64)).sqrt()
}

/// The number of occurrences of each number from 1 to `last`; `None` if there are other numbers.
pub fn tally(numbers: impl IntoIterator<Item = u64>, last: u64) -> Option<Vec<u64>> {
    let mut counts = vec![0; usize::try_from(last).ok()?];
    for number in numbers {
        *counts.get_mut(usize::try_from(number.checked_sub(1)?).ok()?)? += 1;
    }
    Some(counts)
}

/// Pearson's chi-squared statistic of counts that should be equal, and the value that it exceeds once in 10,000 times
/// (Wilson and Hilferty's approximation); `None` if fewer than five are expected of each.
pub fn evenness(counts: &[u64]) -> Option<(f64, f64)> {
    let freedom = counts.len().checked_sub(1).filter(|&freedom| freedom > 0)? as f64;
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    if expected < 5.0 {
        return None;
    }
    let statistic = counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
    // The 0.9999 quantile of the normal distribution.
    let z = 3.719;
    let spread = 2.0 / (9.0 * freedom);
    Some((statistic, freedom * (1.0 - spread + z * spread.sqrt()).powi(3)))
}

#[cfg(test)]
mod tests {
    use super::super::rows::tests::row;
    use super::*;

    #[test]
    fn lengths_of_ids_do_not_affect_sizes() {
        let rows = [row(1, 0, "Get 1 show", "shows/1"), row(1, 0, "Get 1 show", "shows/100")];
        let labels = labels(&rows);
        assert_eq!(labels["Get 1 show"].count, 2);
        assert_eq!(labels["Get 1 show"].sent_without_url.len(), 1);
    }

    #[test]
    fn numbers_out_of_range_are_reported() {
        assert_eq!(tally([1, 3, 3], 3), Some(vec![1, 0, 2]));
        assert_eq!(tally([0], 3), None);
        assert_eq!(tally([4], 3), None);
    }

    #[test]
    fn standard_errors_of_shares_are_binomial() {
        assert!((standard_error_pp(0.2, 8_000, 8_000) - 0.632_456).abs() < 1e-4);
    }

    #[test]
    fn quantiles_are_close_to_the_tables() {
        // Tables: 27.86 with 6 degrees of freedom, 160.06 with 99.
        let quantile = |cells: usize| evenness(&vec![5; cells]).unwrap().1;
        assert!((quantile(7) / 27.86 - 1.0).abs() < 0.03, "{}", quantile(7));
        assert!((quantile(100) / 160.06 - 1.0).abs() < 0.01, "{}", quantile(100));
        assert_eq!(evenness(&[10, 10]).unwrap().0, 0.0);
        assert_eq!(evenness(&[20, 0]).unwrap().0, 20.0);
        assert!(evenness(&[4, 4]).is_none());
        assert!(evenness(&[4]).is_none());
    }
}
