//! Errors of single lines.

/// The largest number of labels of one sample.
pub const LABELS_MAX: usize = 128;

/// Longest name of a metric or label and longest value of a label that is read, in bytes.
pub(super) const TEXT_MAX: usize = 4 << 10;

/// A line that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct LineError {
    /// The number of the line, from 1.
    pub line: usize,
    /// The problem of the line.
    pub problem: LineProblem,
}

/// The problem of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineProblem {
    /// There is no name where one is expected.
    #[error("expected the name of a metric or label")]
    NoName,
    /// A quote is missing.
    #[error("expected a text in double quotes")]
    NoQuote,
    /// A label has no `=`.
    #[error("expected `=` after the name of a label")]
    NoEquals,
    /// A list of labels is not continued or closed.
    #[error("expected `,` or `}}` after a label")]
    NoBrace,
    /// A label occurs twice.
    #[error("a label occurs twice")]
    RepeatedLabel,
    /// The metric has two names.
    #[error("the metric has two names")]
    RepeatedName,
    /// There are more than [`LABELS_MAX`] labels.
    #[error("more than {LABELS_MAX} labels")]
    TooManyLabels,
    /// A name or a label is too long.
    #[error("a name or label is longer than {TEXT_MAX} bytes")]
    TooLong,
    /// The value is missing or not a number.
    #[error("expected a number as value")]
    NoValue,
    /// The stamp is not a finite number.
    #[error("the time stamp is not a number")]
    BadStamp,
    /// The sample is followed by text that is not an exemplar.
    #[error("unexpected text after the sample")]
    TrailingText,
    /// A `# TYPE` line has no known type.
    #[error("unknown type of a metric")]
    BadType,
}
