//! What to search: the system under test, the thresholds and the limits of the search.

use busyhour_analysis::thresholds::{Criterion, CriterionError, Meaning, MeasuredQuantity, Window};
use busyhour_search::{LoadKind, SearchSettings, TestedQuantile, TrialLength};
use serde::{Deserialize, Serialize};

/// The threshold that a search adds if none of the given ones limits failed requests. Errors are often faster than responses, so that
/// thresholds on times pass if the system rejects all requests.
pub const ERRORS_THRESHOLD: &str = "errors < 1%";

/// The thresholds of a search, each as [`Criterion::portable`] writes it: the given ones, and [`ERRORS_THRESHOLD`] if none of them limits
/// failed or successful requests.
#[must_use]
pub fn search_thresholds(given: &[Criterion]) -> Vec<String> {
    let limits_errors = |criterion: &Criterion| {
        matches!(criterion.subject, MeasuredQuantity::Failed | MeasuredQuantity::Passed)
    };
    let added = (!given.iter().any(limits_errors)).then(|| ERRORS_THRESHOLD.to_owned());
    given.iter().map(Criterion::portable).chain(added).collect()
}

/// What generates the load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadTarget {
    /// A URL.
    Url(String),
    /// A plan.
    Plan {
        /// Its path.
        path: String,
        /// A hash of its content, which must not change between trials.
        hash: String,
    },
}

impl LoadTarget {
    /// The URL or the path.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            LoadTarget::Url(name) | LoadTarget::Plan { path: name, .. } => name,
        }
    }

    /// A plan with its content.
    #[must_use]
    pub fn plan(path: String, content: &[u8]) -> LoadTarget {
        // FNV-1a, which is sufficient to detect an edited file.
        let hash = content.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        LoadTarget::Plan { path, hash: format!("{hash:016x}") }
    }
}

/// What to search. A directory belongs to one plan of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadSearchPlan {
    /// What generates the load.
    pub target: LoadTarget,
    /// What the load counts.
    pub kind: LoadKind,
    /// Smallest load to try.
    pub lowest: f64,
    /// Largest load to try.
    pub highest: f64,
    /// The thresholds, each as [`Criterion::portable`] writes it.
    pub thresholds: Vec<String>,
    /// The precision of the answer.
    pub precision: f64,
    /// The longest time under load in seconds, with the light trials.
    pub budget_s: f64,
    /// Length of a trial in seconds, unless a percentile needs more requests.
    pub full_s: f64,
    /// Shortest length of a trial in seconds, unless a percentile needs more requests.
    pub shortest_s: f64,
    /// Number of confirmation runs.
    pub confirmations: u32,
    /// Number of trials from above.
    pub trials_from_above: u32,
    /// Seed of the arrivals.
    pub seed: u64,
    /// Further options of `busyhour run`.
    pub options: Vec<String>,
    /// The property that sets the number of users of a plan.
    pub users_property: String,
    /// The property that sets the length of a plan in seconds.
    pub duration_property: String,
}

impl LoadSearchPlan {
    /// The thresholds.
    ///
    /// # Errors
    /// One of them is not valid.
    pub fn criteria(&self) -> Result<Vec<Criterion>, CriterionError> {
        self.thresholds.iter().map(|text| Criterion::parse(text, Meaning::Require)).collect()
    }

    /// The largest quantile that a threshold tests.
    pub(crate) fn quantile(&self) -> Option<f64> {
        let criteria = self.criteria().unwrap_or_default();
        let of = |criterion: &Criterion| match criterion.subject {
            MeasuredQuantity::Percentile(percent) if percent < 100.0 => Some(percent / 100.0),
            _ => None,
        };
        criteria.iter().filter_map(of).reduce(f64::max)
    }

    /// The shortest trial in which all windows of the thresholds are complete.
    fn shortest_with_windows_s(&self) -> f64 {
        let criteria = self.criteria().unwrap_or_default();
        let length = |criterion: &Criterion| {
            let window_s = match criterion.window {
                Window::Run => 0,
                Window::Over(seconds) | Window::For(seconds) => seconds,
            };
            criterion.after_s as f64 + f64::from(window_s)
        };
        criteria.iter().map(length).fold(self.shortest_s, f64::max)
    }

    /// The lengths of trials, if a unit of load leads to this number of requests per second.
    #[must_use]
    pub fn length(&self, requests_per_second_per_load: Option<f64>) -> TrialLength {
        let tested = self.quantile().zip(requests_per_second_per_load).map(
            |(quantile, requests_per_second_per_load)| TestedQuantile {
                quantile,
                requests_per_second_per_load,
            },
        );
        let shortest_seconds = self.shortest_with_windows_s();
        TrialLength { full_seconds: self.full_s.max(shortest_seconds), shortest_seconds, tested }
    }

    /// The settings of the search, without a guess.
    #[must_use]
    pub fn settings(&self, length: TrialLength, budget_seconds: f64) -> SearchSettings {
        SearchSettings {
            precision: self.precision,
            budget_seconds,
            confirmations: self.confirmations,
            trials_from_above: self.trials_from_above,
            ..SearchSettings::new(self.kind, self.lowest, self.highest, length)
        }
    }

    /// The seed of a trial.
    pub(crate) fn seed_of(&self, trial: u32) -> u64 {
        self.seed.wrapping_add(u64::from(trial).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn plan(thresholds: &[&str]) -> LoadSearchPlan {
        LoadSearchPlan {
            target: LoadTarget::Url("http://127.0.0.1/".to_owned()),
            kind: LoadKind::Rate,
            lowest: 10.0,
            highest: 1_000.0,
            thresholds: thresholds.iter().map(|text| (*text).to_owned()).collect(),
            precision: 0.05,
            budget_s: 600.0,
            full_s: 20.0,
            shortest_s: 4.0,
            confirmations: 5,
            trials_from_above: 6,
            seed: 7,
            options: Vec::new(),
            users_property: "users".to_owned(),
            duration_property: "duration".to_owned(),
        }
    }

    #[test]
    fn a_search_limits_errors() {
        let thresholds = |given: &[&str]| {
            let given = given.iter().map(|text| Criterion::parse(text, Meaning::Require).unwrap());
            search_thresholds(&given.collect::<Vec<_>>())
        };
        assert_eq!(thresholds(&["p95 < 200ms"]), ["p95 < 200ms", ERRORS_THRESHOLD]);
        for own in ["errors < 5%", "errors of checkout < 100%", "success > 90%"] {
            assert_eq!(thresholds(&["p95 < 200ms", own]), ["p95 < 200ms", own]);
        }
        assert!(Criterion::parse(ERRORS_THRESHOLD, Meaning::Require).is_ok());
    }

    #[test]
    fn thresholds_determine_the_length_of_trials() {
        let length = plan(&["p95 < 100ms", "p99 of a < 1s", "errors < 1%"]).length(Some(2.0));
        // 299 and 10,000 requests for p99, with two requests per unit of load.
        assert_eq!((length.shortest_seconds_at(10.0), length.full_seconds_at(100.0)), (14.95, 50.0));
        assert_eq!((length.shortest_seconds_at(500.0), length.full_seconds_at(500.0)), (4.0, 20.0));
        let windows = plan(&["mean < 100ms over 30s", "errors < 1% over 10s"]).length(Some(2.0));
        assert_eq!((windows.shortest_seconds, windows.full_seconds, windows.tested), (30.0, 30.0, None));
    }

    #[test]
    fn trials_have_different_seeds() {
        let plan = plan(&["p95 < 100ms"]);
        assert_ne!(plan.seed_of(1), plan.seed_of(2));
        assert_ne!(
            LoadTarget::plan("a.jmx".to_owned(), b"<a/>"),
            LoadTarget::plan("a.jmx".to_owned(), b"<b/>")
        );
    }
}
