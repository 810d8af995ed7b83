//! Failed requests, which make times incomparable.

use std::collections::BTreeMap;

use crate::design::CaseSet;

/// From this share of failed requests on, a case is named.
pub const FAILED_SHARE: f64 = 0.01;

/// Number of cases that are named.
const CASES_NAMED: usize = 3;

/// A sentence about the cases in which many requests failed, from the shares of failed requests in trials, with the numbers of their
/// cases. `None` if few failed in each case.
#[must_use]
pub fn failures_sentence(cases: &CaseSet, shares: impl IntoIterator<Item = (u32, f64)>) -> Option<String> {
    let mut sums: BTreeMap<u32, (f64, u32)> = BTreeMap::new();
    for (case, share) in shares {
        let (sum, trials) = sums.entry(case).or_default();
        (*sum, *trials) = (*sum + share, *trials + 1);
    }
    let means = sums.into_iter().map(|(case, (sum, trials))| (case, sum / f64::from(trials)));
    let mut failing: Vec<(u32, f64)> = means.filter(|(_, share)| *share >= FAILED_SHARE).collect();
    failing.sort_by(|one, two| two.1.total_cmp(&one.1));
    let named: Vec<String> = failing
        .iter()
        .take(CASES_NAMED)
        .map(|(case, share)| {
            let name = cases.case(*case).map_or_else(|| format!("case {case}"), |case| cases.case_name(case));
            format!("{} % with {name}", digits(100.0 * share))
        })
        .collect();
    let (last, before) = named.split_last()?;
    let listed = if before.is_empty() { last.clone() } else { format!("{} and {last}", before.join(", ")) };
    let more = match failing.len() - named.len() {
        0 => String::new(),
        1 => ", and at least 1 % in 1 other case".to_owned(),
        others => format!(", and at least 1 % in {others} other cases"),
    };
    Some(format!("Requests failed: {listed}{more}."))
}

/// A percentage with one digit after the point, unless it is a whole number.
fn digits(percent: f64) -> String {
    let text = format!("{percent:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{DesignFactor, DesignKind};

    #[test]
    fn cases_with_failed_requests_are_named() {
        let levels = ["up", "down", "slow", "busy", "full"].map(str::to_owned).to_vec();
        let factor = DesignFactor { name: "d".to_owned(), levels, base: 0 };
        let cases = CaseSet::new(DesignKind::FullFactorial, vec![factor], 100).unwrap();
        let told = |shares: &[(u32, f64)]| failures_sentence(&cases, shares.iter().copied());
        assert_eq!(told(&[]), None);
        assert_eq!(told(&[(1, 0.0), (2, 0.004), (2, 0.008)]), None);
        let one = "Requests failed: 100 % with d=down.";
        assert_eq!(told(&[(1, 0.0), (2, 1.0), (2, 1.0)]).as_deref(), Some(one));
        let many = "Requests failed: 75 % with d=down, 20 % with d=busy and 12.5 % with d=slow, and at least 1 % in 2 other cases.";
        assert_eq!(
            told(&[(1, 0.01), (2, 1.0), (2, 0.5), (3, 0.125), (4, 0.2), (5, 0.1)]).as_deref(),
            Some(many)
        );
    }
}
