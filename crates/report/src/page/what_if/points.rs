//! The points of a what-if analysis, and their texts.

busyhour_diagnostic::message_error! {
    /// The reason why a point has no solution.
    pub struct NoSolution;
}

/// Models with the same varying parameters.
#[derive(Clone, Debug, Default)]
pub struct WhatIfPage {
    /// The names of the parameters that vary.
    pub parameters: Vec<String>,
    /// The models: one, or several for a comparison.
    pub models: Vec<WhatIfModel>,
}

/// A model with a point for every combination of values.
#[derive(Clone, Debug, Default)]
pub struct WhatIfModel {
    /// Its name.
    pub name: String,
    /// The solution methods, as text.
    pub methods: Vec<String>,
    /// Caveats, each a sentence without a full stop.
    pub caveats: Vec<String>,
    /// The points.
    pub points: Vec<WhatIfPoint>,
}

/// One combination of parameter values.
#[derive(Clone, Debug)]
pub struct WhatIfPoint {
    /// The value of each parameter, as given.
    pub values: Vec<String>,
    /// The solution.
    pub found: Result<WhatIfFound, NoSolution>,
}

/// The solution at a point.
#[derive(Clone, Debug, Default)]
pub struct WhatIfFound {
    /// The classes of customers.
    pub classes: Vec<WhatIfClass>,
    /// The stations at which customers spend time.
    pub stations: Vec<WhatIfStation>,
}

/// The results for a class at a point.
#[derive(Clone, Debug, Default)]
pub struct WhatIfClass {
    /// Its name.
    pub name: String,
    /// Throughput X in passes per second.
    pub throughput_per_s: Option<WhatIfValue>,
    /// Response time R in seconds.
    pub response_s: Option<WhatIfValue>,
    /// Number of customers Q in the system.
    pub customers: Option<WhatIfValue>,
    /// Upper bound of the throughput per second.
    pub throughput_bound_per_s: Option<f64>,
    /// Lower bound of the response time in seconds.
    pub response_bound_s: Option<f64>,
}

/// The results for a station at a point.
#[derive(Clone, Debug, Default)]
pub struct WhatIfStation {
    /// Its name.
    pub name: String,
    /// Utilization U from 0 to 1; `None` if the station has no servers.
    pub utilization: Option<WhatIfValue>,
    /// Number of customers Q at the station.
    pub customers: Option<WhatIfValue>,
}

/// A number, with half the width of its confidence interval if it was simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WhatIfValue {
    /// The number.
    pub value: f64,
    /// Half the width of the interval.
    pub half: Option<f64>,
}

impl WhatIfValue {
    pub(super) fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, half: self.half.map(|half| half * factor) }
    }

    /// `208.92 ± 0.047`: formatted with the digits that the interval justifies, or with five digits.
    pub(super) fn text(self) -> String {
        match self.half.filter(|half| *half > 1e-9 * self.value.abs()) {
            Some(half) if half.is_finite() => {
                let decimals = decimals(half, 2);
                format!("{:.decimals$} ± {half:.decimals$}", self.value)
            }
            Some(_) => format!("{} ± ?", digits(self.value)),
            None => digits(self.value),
        }
    }
}

/// Number of decimals needed to show `shown` significant digits of a number.
pub(super) fn decimals(value: f64, shown: i32) -> usize {
    if value == 0.0 {
        0
    } else {
        usize::try_from(shown - 1 - value.abs().log10().floor() as i32).unwrap_or(0)
    }
}

/// A number with five significant digits, without trailing zeros.
pub(super) fn digits(value: f64) -> String {
    let decimals = decimals(value, 5).min(12);
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

pub(super) fn shown(value: Option<WhatIfValue>, factor: f64) -> String {
    value.map_or_else(|| "–".to_owned(), |value| value.times(factor).text())
}
