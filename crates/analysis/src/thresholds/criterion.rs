//! What a threshold says, as data.

use std::fmt;

/// One threshold. [`Criterion::parse`] reads it from its notation, `Display` writes it in the notation's plainest form.
#[derive(Debug, Clone, PartialEq)]
pub struct Criterion {
    /// As it was given.
    pub text: String,
    /// The name it was given (`checkout is fast: p95 of …`).
    pub name: Option<String>,
    /// Whether the condition must hold or must not come true.
    pub meaning: Meaning,
    /// What is measured.
    pub subject: Subject,
    /// By which clock, where times are measured.
    pub clock: Clock,
    /// Of which samples.
    pub scope: Scope,
    /// How it is compared.
    pub comparison: Comparison,
    /// With what.
    pub limit: Limit,
    /// Over which stretches of the run.
    pub window: Window,
    /// Seconds at the start of the run that do not count.
    pub after_s: u64,
    /// The second before which it ends; `None` for the end of the run.
    pub until_s: Option<u64>,
    /// Whether the run is stopped when a window breaks it.
    pub stop: bool,
    /// Whether a broken criterion makes the run a failure (`as failed`), or is only told (`as non-failed`).
    pub fails: bool,
    /// Whether it passes when there was nothing to measure (`, if any`).
    pub if_any: bool,
}

/// What a criterion's condition means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// It must hold (`p95 < 800ms`).
    Require,
    /// The run has failed when it comes true, as in Taurus (`p95>800ms for 30s, stop as failed`).
    FailIf,
}

/// The two clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// End − intended start.
    Response,
    /// End − actual start: what JMeter calls elapsed.
    Service,
}

/// What is measured.
#[derive(Debug, Clone, PartialEq)]
pub enum Subject {
    /// Mean time (`avg-rt`).
    Mean,
    /// A percentile of the times, 0 < p ≤ 100.
    Percentile(f64),
    /// Largest time.
    Max,
    /// Least time.
    Min,
    /// Standard deviation of the times.
    Deviation,
    /// Mean time to the first byte (`avg-lt`).
    Latency,
    /// Mean time to connect (`avg-ct`).
    Connect,
    /// Samples.
    Hits,
    /// Samples per second.
    Rate,
    /// Samples that passed.
    Passed,
    /// Samples that failed.
    Failed,
    /// Samples whose response code fits a pattern with `?` and `*`.
    Codes(String),
    /// Most active users.
    Users,
    /// The Application Performance Index: samples that passed within the first limit count 1, those within the second ½.
    Apdex {
        /// First limit in ms.
        satisfied_ms: f64,
        /// Second limit in ms.
        tolerating_ms: f64,
    },
    /// Coefficient of variation of the gaps between arrivals.
    ArrivalsCov,
    /// Arrivals of open workloads that were dropped.
    Dropped,
    /// Arrivals of open workloads that waited for a free user.
    Waited,
}

/// Of which samples.
#[derive(Debug, Clone, PartialEq)]
pub enum Scope {
    /// All requests.
    Total,
    /// The requests and transactions of one label.
    Label(String),
    /// Those of all labels that a pattern fits, together.
    Matching(Pattern),
    /// Each label (that the pattern fits) for itself.
    Each(Option<Pattern>),
}

/// A regular expression that looks for a match anywhere in a label.
#[derive(Debug, Clone)]
pub struct Pattern(pub regex::Regex);

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

/// How a value is compared with the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
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

impl Comparison {
    /// Whether `value` stands to `limit` as this says.
    #[must_use]
    pub fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Comparison::Less => value < limit,
            Comparison::LessOrEqual => value <= limit,
            Comparison::More => value > limit,
            Comparison::MoreOrEqual => value >= limit,
            Comparison::Equal => value == limit,
        }
    }

    /// As it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::More => ">",
            Comparison::MoreOrEqual => ">=",
            Comparison::Equal => "=",
        }
    }
}

/// What a value is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// The number, in `unit`.
    pub value: f64,
    /// Its unit, and that of what is measured.
    pub unit: Unit,
}

/// The unit of a measured value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds.
    Milliseconds,
    /// Percent of all samples (or arrivals).
    Percent,
    /// Samples (or arrivals).
    Count,
    /// Per second.
    PerSecond,
    /// Users.
    Users,
    /// A number without a unit.
    Ratio,
}

impl Unit {
    /// Its short name, as results give it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Unit::Milliseconds => "ms",
            Unit::Percent => "%",
            Unit::Count => "count",
            Unit::PerSecond => "per_s",
            Unit::Users => "users",
            Unit::Ratio => "ratio",
        }
    }

    /// `value` for a person.
    #[must_use]
    pub fn show(self, value: f64) -> String {
        match self {
            Unit::Milliseconds if value >= 10_000.0 => format!("{:.2} s", value / 1e3),
            Unit::Milliseconds if value >= 100.0 => format!("{value:.0} ms"),
            Unit::Milliseconds if value >= 1.0 => format!("{value:.1} ms"),
            Unit::Milliseconds => format!("{value:.3} ms"),
            // A share that is not zero must not look like it.
            Unit::Percent if value > 0.0 && value < 0.01 => format!("{value:.1e} %"),
            Unit::Percent => format!("{} %", trimmed(value, 2)),
            Unit::Count => trimmed(value, 0),
            Unit::PerSecond => format!("{}/s", trimmed(value, 1)),
            Unit::Users => format!("{} users", trimmed(value, 0)),
            Unit::Ratio => trimmed(value, 3),
        }
    }
}

/// A number with at most `digits` digits behind the point.
fn trimmed(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Over which stretches of the run a criterion is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// The run as a whole, at its end.
    Run,
    /// Every stretch of so many seconds.
    Over(u32),
    /// Second by second: broken when that many in a row break it.
    For(u32),
}

/// A text that is no criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CriterionError {
    /// The text.
    pub text: String,
    /// Where in it, in bytes.
    pub offset: usize,
    /// How much of it, in bytes.
    pub len: usize,
    /// What is wrong, and what was expected.
    pub message: String,
    /// What to write instead.
    pub hint: Option<String>,
}

impl CriterionError {
    /// The column of the mistake in characters, from 1.
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
    /// Whether `value` breaks the criterion.
    #[must_use]
    pub fn broken_by(&self, value: f64) -> bool {
        self.comparison.holds(value, self.limit.value) == (self.meaning == Meaning::FailIf)
    }

    /// A text that reads as this criterion everywhere: as it was given, where that says all of it.
    #[must_use]
    pub fn portable(&self) -> String {
        let named = self.name.as_ref().map(|name| format!("{name}: {}", self.text));
        let says_all = |text: &String| {
            let read = Criterion::parse(text, Meaning::Require);
            read.is_ok_and(|read| Criterion { text: self.text.clone(), ..read } == *self)
        };
        [Some(self.text.clone()), named]
            .into_iter()
            .flatten()
            .find(says_all)
            .unwrap_or_else(|| self.to_string())
    }

    /// Of two values the one that is nearer to breaking the criterion, or breaks it by more.
    #[must_use]
    pub fn worse(&self, a: f64, b: f64) -> f64 {
        let far = |value: f64| (value - self.limit.value).abs();
        let fail_if = self.meaning == Meaning::FailIf;
        match self.comparison {
            Comparison::Less | Comparison::LessOrEqual if fail_if => a.min(b),
            Comparison::More | Comparison::MoreOrEqual if fail_if => a.max(b),
            Comparison::Less | Comparison::LessOrEqual => a.max(b),
            Comparison::More | Comparison::MoreOrEqual => a.min(b),
            Comparison::Equal if (far(a) < far(b)) == fail_if => a,
            Comparison::Equal => b,
        }
    }
}

impl Subject {
    /// Whether it measures a time.
    #[must_use]
    pub const fn is_time(&self) -> bool {
        matches!(
            self,
            Subject::Mean
                | Subject::Percentile(_)
                | Subject::Max
                | Subject::Min
                | Subject::Deviation
                | Subject::Latency
                | Subject::Connect
        )
    }

    /// Whether it counts something of which a share can be asked for.
    #[must_use]
    pub const fn is_count(&self) -> bool {
        matches!(
            self,
            Subject::Hits
                | Subject::Passed
                | Subject::Failed
                | Subject::Codes(_)
                | Subject::Dropped
                | Subject::Waited
        )
    }

    /// Whether it is one of the run's, which no label has.
    #[must_use]
    pub const fn is_of_run(&self) -> bool {
        matches!(self, Subject::Users | Subject::ArrivalsCov | Subject::Dropped | Subject::Waited)
    }
}
