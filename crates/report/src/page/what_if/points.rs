//! The points of the page and their texts.

busyhour_diagnostic::message_error! {
    /// Why a point has no solution.
    pub struct NoSolution;
}

/// Models whose parameters vary alike.
#[derive(Clone, Debug, Default)]
pub struct WhatIfPage {
    /// The parameters that vary, by name.
    pub parameters: Vec<String>,
    /// The models: one, or several to compare.
    pub models: Vec<WhatIfModel>,
}

/// A model at all combinations of values.
#[derive(Clone, Debug, Default)]
pub struct WhatIfModel {
    /// Its name.
    pub name: String,
    /// The methods of solution, as text.
    pub methods: Vec<String>,
    /// Caveats, one sentence each without a full stop.
    pub caveats: Vec<String>,
    /// The points.
    pub points: Vec<WhatIfPoint>,
}

/// One combination of values.
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
    /// The classes.
    pub classes: Vec<WhatIfClass>,
    /// The stations where time passes.
    pub stations: Vec<WhatIfStation>,
}

/// A class at a point.
#[derive(Clone, Debug, Default)]
pub struct WhatIfClass {
    /// Its name.
    pub name: String,
    /// Throughput X in passes per second.
    pub throughput_per_s: Option<WhatIfValue>,
    /// Response time R in seconds.
    pub response_s: Option<WhatIfValue>,
    /// Customers Q in the system.
    pub customers: Option<WhatIfValue>,
    /// The most that throughput can be, per second.
    pub throughput_bound_per_s: Option<f64>,
    /// The least that the response time can be, in seconds.
    pub response_bound_s: Option<f64>,
}

/// A station at a point.
#[derive(Clone, Debug, Default)]
pub struct WhatIfStation {
    /// Its name.
    pub name: String,
    /// Utilization U from 0 to 1; `None` where there are no servers.
    pub utilization: Option<WhatIfValue>,
    /// Customers Q at the station.
    pub customers: Option<WhatIfValue>,
}

/// A number, with half the width of its interval when it was simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WhatIfValue {
    /// The number.
    pub value: f64,
    /// Half the interval.
    pub half: Option<f64>,
}

impl WhatIfValue {
    pub(super) fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, half: self.half.map(|half| half * factor) }
    }

    /// `208.92 ± 0.047`: with the digits that the interval leaves, or five.
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

/// Number of decimals that show `shown` digits of a number.
pub(super) fn decimals(value: f64, shown: i32) -> usize {
    if value == 0.0 {
        0
    } else {
        usize::try_from(shown - 1 - value.abs().log10().floor() as i32).unwrap_or(0)
    }
}

/// A number with five digits, without the zeros at its end.
pub(super) fn digits(value: f64) -> String {
    let decimals = decimals(value, 5).min(12);
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

pub(super) fn shown(value: Option<WhatIfValue>, factor: f64) -> String {
    value.map_or_else(|| "–".to_owned(), |value| value.times(factor).text())
}
