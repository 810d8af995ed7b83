//! The settings of a search, and their limits.

use serde::{Deserialize, Serialize};

use crate::trial_length::TrialLength;

/// Largest ratio of the ends of the range.
const RANGE_MAX: f64 = 1e6;

/// Limits of the precision.
const PRECISION: std::ops::RangeInclusive<f64> = 0.001..=0.5;

/// Largest number of confirmation runs, and of trials from above.
pub(crate) const REPEATS_MAX: u32 = 100;

/// What the load counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadKind {
    /// Users: whole numbers.
    Users,
    /// A rate of arrivals: any positive number.
    Rate,
}

impl LoadKind {
    /// The nearest possible load.
    pub(crate) fn round(self, load: f64) -> f64 {
        match self {
            LoadKind::Users => load.round().max(1.0),
            LoadKind::Rate => load,
        }
    }

    /// The largest possible load that is not above `load`. Logarithms have rounding errors, which must not cost a user.
    pub(crate) fn round_down(self, load: f64) -> f64 {
        match self {
            LoadKind::Users => (load * (1.0 + 1e-12)).floor(),
            LoadKind::Rate => load,
        }
    }

    /// The smallest possible load that is not below `load`.
    pub(crate) fn round_up(self, load: f64) -> f64 {
        match self {
            LoadKind::Users => (load * (1.0 - 1e-12)).ceil(),
            LoadKind::Rate => load,
        }
    }
}

/// The load at which a capacity model expects the thresholds to fail.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LoadGuess {
    /// The load.
    pub load: f64,
    /// The expected relative error, such as 0.2. The search finds loads far outside, too, but takes longer.
    pub relative_error: f64,
}

/// The settings of a search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SearchSettings {
    /// What the load counts.
    pub kind: LoadKind,
    /// Smallest load to try.
    pub lowest: f64,
    /// Largest load to try.
    pub highest: f64,
    /// The search ends when the interval of the answer is at most twice as wide: 0.05 means ± 5 %.
    pub precision: f64,
    /// A guess to start from.
    pub guess: Option<LoadGuess>,
    /// The lengths of trials.
    pub length: TrialLength,
    /// The longest time under load in seconds: all trials together, with those that were void.
    pub budget_seconds: f64,
    /// Number of runs at the answer that all have to pass. A small budget reduces it.
    pub confirmations: u32,
    /// Number of trials that approach their load from above. A small budget reduces it.
    pub trials_from_above: u32,
}

impl SearchSettings {
    /// Settings without a guess, with 5 confirmation runs and 6 trials from above.
    #[must_use]
    pub fn new(kind: LoadKind, lowest: f64, highest: f64, length: TrialLength) -> SearchSettings {
        let budget_seconds = 40.0 * length.full_seconds;
        let (precision, guess, confirmations, trials_from_above) = (0.05, None, 5, 6);
        SearchSettings {
            kind,
            lowest,
            highest,
            precision,
            guess,
            length,
            budget_seconds,
            confirmations,
            trials_from_above,
        }
    }

    /// Checks all values.
    ///
    /// # Errors
    /// A value is out of its limits.
    pub fn check(self) -> Result<(), SettingsError> {
        self.checked().map(|_| ())
    }

    /// Checks all values, and rounds the ends of the range to possible loads.
    pub(crate) fn checked(mut self) -> Result<SearchSettings, SettingsError> {
        let is_positive = |value: f64| value.is_finite() && value > 0.0;
        if !is_positive(self.lowest) || !is_positive(self.highest) || self.lowest >= self.highest {
            return Err(SettingsError::Range { lowest: self.lowest, highest: self.highest });
        }
        if self.highest / self.lowest > RANGE_MAX {
            return Err(SettingsError::RangeTooWide);
        }
        self.lowest = self.kind.round_up(self.lowest);
        self.highest = self.kind.round_down(self.highest);
        if self.lowest >= self.highest {
            return Err(SettingsError::Range { lowest: self.lowest, highest: self.highest });
        }
        if !PRECISION.contains(&self.precision) {
            return Err(SettingsError::Precision(self.precision));
        }
        if self.guess.is_some_and(|guess| !is_positive(guess.load) || !is_positive(guess.relative_error)) {
            return Err(SettingsError::Guess);
        }
        if !self.length.is_valid() {
            return Err(SettingsError::Length);
        }
        if !is_positive(self.budget_seconds) {
            return Err(SettingsError::Budget(self.budget_seconds));
        }
        if self.confirmations > REPEATS_MAX || self.trials_from_above > REPEATS_MAX {
            return Err(SettingsError::Repeats);
        }
        Ok(self)
    }
}

/// Settings with which no search is possible.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum SettingsError {
    /// The ends of the range.
    #[error("the range {lowest} to {highest} needs two positive loads, the smaller one first")]
    Range {
        /// The lower end.
        lowest: f64,
        /// The upper end.
        highest: f64,
    },
    /// The ratio of the ends of the range.
    #[error("the largest load of the range is more than 1,000,000 times the smallest one")]
    RangeTooWide,
    /// The precision.
    #[error("the precision of {} % is not from 0.1 % to 50 %", 100.0 * .0)]
    Precision(f64),
    /// The guess.
    #[error("the guess needs a positive load and a positive relative error")]
    Guess,
    /// The lengths of trials.
    #[error(
        "trials need 0 < shortest length <= full length, a quantile between 0 and 1, and a positive rate of requests"
    )]
    Length,
    /// The budget.
    #[error("the budget of {0} seconds is not a positive number")]
    Budget(f64),
    /// The numbers of confirmation runs and of trials from above.
    #[error("more than {REPEATS_MAX} confirmation runs or trials from above")]
    Repeats,
}
