//! The parsed form of a threshold.

use std::fmt;

/// One threshold. [`Criterion::parse`] parses its notation, `Display` writes its normalized notation.
#[derive(Debug, Clone, PartialEq)]
pub struct Criterion {
    /// The text as given by the user.
    pub text: String,
    /// The name, if given (`checkout is fast: p95 of …`).
    pub name: Option<String>,
    /// Whether the condition must be true, or means a failure if it is true.
    pub meaning: Meaning,
    /// The measured quantity.
    pub subject: MeasuredQuantity,
    /// Whether a time is the response time or the service time; ignored for quantities that are not times.
    pub clock: MeasuredTime,
    /// The measured samples.
    pub scope: MeasuredSamples,
    /// The comparison operator.
    pub comparison: Operator,
    /// The limit.
    pub limit: CriterionLimit,
    /// The windows in which the quantity is measured.
    pub window: Window,
    /// Number of seconds at the start of the run that are ignored.
    pub after_s: u64,
    /// End of the evaluated part, in seconds from the start of the run; `None` for the end of the run.
    pub until_s: Option<u64>,
    /// Whether a failed window stops the run.
    pub stops_run: bool,
    /// Whether a failed criterion fails the run (`as failed`) or is only reported (`as non-failed`).
    pub fails_run: bool,
    /// Whether the criterion passes if there was nothing to measure (`, if any`).
    pub passes_without_data: bool,
}

/// The meaning of a criterion's condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// The condition must be true (`p95 < 800ms`).
    Require,
    /// The criterion fails if the condition is true, as in Taurus (`p95>800ms for 30s, stop as failed`).
    FailIf,
}

/// Response time or service time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeasuredTime {
    /// Response time: end − intended start.
    Response,
    /// Service time: end − actual start, JMeter's elapsed.
    Service,
}

/// The measured quantity.
#[derive(Debug, Clone, PartialEq)]
pub enum MeasuredQuantity {
    /// Mean time (`avg-rt`).
    Mean,
    /// A percentile of the times, 0 < p ≤ 100.
    Percentile(f64),
    /// Maximum time.
    Max,
    /// Minimum time.
    Min,
    /// Standard deviation of the times.
    Deviation,
    /// Mean time to the first byte (`avg-lt`).
    Latency,
    /// Mean time to connect (`avg-ct`).
    Connect,
    /// Number of samples.
    Hits,
    /// Samples per second.
    Rate,
    /// Number of successful samples.
    Passed,
    /// Number of failed samples.
    Failed,
    /// Number of samples whose response code matches a pattern with `?` and `*`.
    Codes(String),
    /// Maximum number of active users.
    Users,
    /// The Application Performance Index: a successful sample counts 1 within the first limit, and ½ within the second.
    Apdex {
        /// First limit in ms.
        satisfied_ms: f64,
        /// Second limit in ms.
        tolerating_ms: f64,
    },
    /// Coefficient of variation of the gaps between arrivals.
    ArrivalsCov,
    /// Number of discarded arrivals of open workloads.
    DiscardedArrivals,
    /// Number of arrivals of open workloads that waited for a free user.
    WaitedArrivals,
}

/// The measured samples.
#[derive(Debug, Clone, PartialEq)]
pub enum MeasuredSamples {
    /// All requests.
    Total,
    /// The requests and transactions with one label.
    Label(String),
    /// All samples whose label matches a pattern, together.
    Matching(LabelPattern),
    /// Each label, or each label that matches the pattern, separately.
    Each(Option<LabelPattern>),
}

/// A regular expression that may match anywhere in a label.
#[derive(Debug, Clone)]
pub struct LabelPattern(pub regex::Regex);

impl PartialEq for LabelPattern {
    fn eq(&self, other: &LabelPattern) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

/// A comparison operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    More,
    /// `>=`
    MoreOrEqual,
    /// `=` or `==`
    Equal,
}

impl Operator {
    /// Whether the comparison is true.
    #[must_use]
    pub fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Operator::Less => value < limit,
            Operator::LessOrEqual => value <= limit,
            Operator::More => value > limit,
            Operator::MoreOrEqual => value >= limit,
            Operator::Equal => value == limit,
        }
    }

    /// The operator in the notation.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::More => ">",
            Operator::MoreOrEqual => ">=",
            Operator::Equal => "=",
        }
    }
}

/// The limit of a criterion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CriterionLimit {
    /// The number, in `unit`.
    pub value: f64,
    /// The unit of the limit and of the measured value.
    pub unit: ValueUnit,
}

/// The unit of a measured value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueUnit {
    /// Milliseconds.
    Milliseconds,
    /// Percent of all samples or arrivals.
    Percent,
    /// Number of samples or arrivals.
    Count,
    /// Per second.
    PerSecond,
    /// Users.
    Users,
    /// A number without a unit.
    Ratio,
}

impl ValueUnit {
    /// The short name for results.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            ValueUnit::Milliseconds => "ms",
            ValueUnit::Percent => "%",
            ValueUnit::Count => "count",
            ValueUnit::PerSecond => "per_s",
            ValueUnit::Users => "users",
            ValueUnit::Ratio => "ratio",
        }
    }

    /// Formats a value with its unit.
    #[must_use]
    pub fn format(self, value: f64) -> String {
        match self {
            ValueUnit::Milliseconds if value >= 10_000.0 => format!("{:.2} s", value / 1e3),
            ValueUnit::Milliseconds if value >= 100.0 => format!("{value:.0} ms"),
            ValueUnit::Milliseconds if value >= 1.0 => format!("{value:.1} ms"),
            ValueUnit::Milliseconds => format!("{value:.3} ms"),
            // A share that is not zero must not be shown as zero.
            ValueUnit::Percent if value > 0.0 && value < 0.01 => format!("{value:.1e} %"),
            ValueUnit::Percent => format!("{} %", trimmed(value, 2)),
            ValueUnit::Count => trimmed(value, 0),
            ValueUnit::PerSecond => format!("{}/s", trimmed(value, 1)),
            ValueUnit::Users => format!("{} users", trimmed(value, 0)),
            ValueUnit::Ratio => trimmed(value, 3),
        }
    }
}

/// Formats a number with at most `digits` decimals.
fn trimmed(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// The windows of the run in which a criterion is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// The whole run, at its end.
    Run,
    /// Every window of this many seconds.
    Over(u32),
    /// Every second; the criterion fails if this many consecutive seconds fail.
    For(u32),
}

/// A text that is not a valid criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CriterionError {
    /// The invalid text.
    pub text: String,
    /// Position of the error, in bytes.
    pub offset: usize,
    /// Length of the invalid part, in bytes.
    pub len: usize,
    /// The error, and the text that was expected.
    pub message: String,
    /// Advice on what to write instead.
    pub hint: Option<String>,
}

impl CriterionError {
    /// The column of the error in characters, from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.text.get(..self.offset).unwrap_or_default().chars().count() + 1
    }
}

impl fmt::Display for CriterionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column(), self.message)
    }
}

impl std::error::Error for CriterionError {}

impl Criterion {
    /// Whether the criterion fails for `value`.
    #[must_use]
    pub fn fails_for(&self, value: f64) -> bool {
        self.comparison.holds(value, self.limit.value) == (self.meaning == Meaning::FailIf)
    }

    /// A text that [`Criterion::parse`] parses as this criterion with the default [`Meaning::Require`]: the given text, with the
    /// name before it if necessary, or otherwise the normalized text.
    #[must_use]
    pub fn portable(&self) -> String {
        let named = self.name.as_ref().map(|name| format!("{name}: {}", self.text));
        let is_complete = |text: &String| {
            let read = Criterion::parse(text, Meaning::Require);
            read.is_ok_and(|read| Criterion { text: self.text.clone(), ..read } == *self)
        };
        [Some(self.text.clone()), named]
            .into_iter()
            .flatten()
            .find(is_complete)
            .unwrap_or_else(|| self.to_string())
    }

    /// The worse of two values: the one that fails by more, or passes by less.
    #[must_use]
    pub fn worse(&self, a: f64, b: f64) -> f64 {
        let far = |value: f64| (value - self.limit.value).abs();
        let fail_if = self.meaning == Meaning::FailIf;
        match self.comparison {
            Operator::Less | Operator::LessOrEqual if fail_if => a.min(b),
            Operator::More | Operator::MoreOrEqual if fail_if => a.max(b),
            Operator::Less | Operator::LessOrEqual => a.max(b),
            Operator::More | Operator::MoreOrEqual => a.min(b),
            Operator::Equal if (far(a) < far(b)) == fail_if => a,
            Operator::Equal => b,
        }
    }
}

impl MeasuredQuantity {
    /// Whether the quantity is a time.
    #[must_use]
    pub const fn is_time(&self) -> bool {
        matches!(
            self,
            MeasuredQuantity::Mean
                | MeasuredQuantity::Percentile(_)
                | MeasuredQuantity::Max
                | MeasuredQuantity::Min
                | MeasuredQuantity::Deviation
                | MeasuredQuantity::Latency
                | MeasuredQuantity::Connect
        )
    }

    /// Whether the quantity is a count, whose limit can be a share.
    #[must_use]
    pub const fn is_count(&self) -> bool {
        matches!(
            self,
            MeasuredQuantity::Hits
                | MeasuredQuantity::Passed
                | MeasuredQuantity::Failed
                | MeasuredQuantity::Codes(_)
                | MeasuredQuantity::DiscardedArrivals
                | MeasuredQuantity::WaitedArrivals
        )
    }

    /// Whether the quantity exists only for the whole run, not for a label.
    #[must_use]
    pub const fn is_of_run(&self) -> bool {
        matches!(
            self,
            MeasuredQuantity::Users
                | MeasuredQuantity::ArrivalsCov
                | MeasuredQuantity::DiscardedArrivals
                | MeasuredQuantity::WaitedArrivals
        )
    }
}
