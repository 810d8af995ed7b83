//! The error type of the notation.

use std::num::ParseFloatError;

/// Why a value in a model file was rejected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotationError {
    /// A text is not a number.
    #[error("{text:?} is not a number")]
    NotANumber {
        /// The text.
        text: String,
        /// The error of the parser.
        #[source]
        source: ParseFloatError,
    },
    /// A number is negative or not finite.
    #[error("it must be a number of at least 0")]
    Negative,
    /// A number is not a count.
    #[error("{0} is not a whole number from 1 to 1000000")]
    NotACount(String),
    /// The unit of a time is unknown.
    #[error("{0:?} is not a unit of time; the units are ns, us, ms, s, min and h")]
    TimeUnit(String),
    /// The unit of a rate is unknown.
    #[error("{0:?} is not a unit of a rate; the units are /s, /min and /h")]
    RateUnit(String),
    /// The value of a parameter of a law was rejected.
    #[error("{parameter} of {law}: {source}")]
    Parameter {
        /// The name of the parameter.
        parameter: String,
        /// The name of the law.
        law: String,
        /// The reason.
        #[source]
        source: Box<NotationError>,
    },
    /// The text is not a law, or not in a form of this law.
    #[error("{0}")]
    Law(String),
    /// A parameter of a law is outside of its range.
    #[error("{0}")]
    Range(String),
    /// The keys of a class contradict each other, or one is missing.
    #[error("{0}")]
    Class(String),
    /// The keys of a station contradict each other, or one is missing.
    #[error("{0}")]
    Station(String),
    /// The keys of a route contradict each other, or one is missing or not of the required form.
    #[error("{0}")]
    Route(String),
}
