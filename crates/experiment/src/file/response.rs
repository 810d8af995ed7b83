//! Responses: the measures of a trial that an experiment compares.

use std::fmt;

use busyhour_diagnostic::nearest_name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::number;
use crate::scale::ResponseScale;

/// The words that begin a response, for hints.
const MEASURES: [&str; 12] = [
    "mean",
    "median",
    "p95",
    "p99",
    "iqr",
    "max",
    "throughput",
    "rate",
    "errors",
    "concurrency",
    "series",
    "number",
];

/// A measure of a trial, such as `"p95 of checkout"`, `"throughput"` or `"series cpi"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct ResponseVariable {
    /// The measure.
    pub measure: ResponseMeasure,
    /// The label whose samples are measured; `None` for all requests.
    pub label: Option<String>,
    /// The name in reports, which follows `as` after a number; `None` for the text of the response.
    pub name: Option<String>,
}

/// A quantity that is measured in each trial.
#[derive(Debug, Clone, PartialEq)]
pub enum ResponseMeasure {
    /// Mean response time.
    Mean,
    /// The response time that the given percentage of requests did not exceed.
    Percentile(f64),
    /// Interquartile range of the response times.
    InterquartileRange,
    /// Largest response time.
    Max,
    /// Completed requests per second.
    Throughput,
    /// Share of failed requests.
    Errors,
    /// Mean number of requests in the system: throughput times mean response time (Little's law).
    Concurrency,
    /// A number in a JSON file of the run directory, such as `arrivals.0.observed.cov.value` in `summary.json`.
    Number {
        /// The name of the file, with `.json`.
        file: String,
        /// The path of the number: keys, indices, `last`, or `KEY=VALUE` for a member of a list.
        path: String,
    },
    /// Mean of an observed series of the system under test.
    Series(String),
}

/// Why a response cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResponseError {
    /// The first word is not a measure.
    #[error(
        "{word:?} is not a response{}; the responses are mean, median, p95 (any percentile), iqr, max, throughput, errors, concurrency, series NAME and number FILE.json:PATH, each also with \"of LABEL\"",
        .nearest.map(|near| format!(" (did you mean \"{near}\"?)")).unwrap_or_default()
    )]
    Unknown {
        /// The word.
        word: String,
        /// The known word that is most similar.
        nearest: Option<&'static str>,
    },
    /// The percentile is not above 0 and below 100.
    #[error("the percentile {0:?} is not above 0 and below 100, such as p95 or p99.9")]
    Percentile(String),
    /// The label or the name of the series is missing.
    #[error("{0:?} has no name after its last word")]
    NameMissing(String),
    /// Words follow the measure.
    #[error("{0:?} is not expected here; a label follows the word \"of\"")]
    Unexpected(String),
    /// A series has no label.
    #[error("a series has no label: omit \"of {0}\"")]
    SeriesWithLabel(String),
    /// The file or the path of a number is missing.
    #[error("{0:?} has no file and path, such as \"number summary.json:arrivals.0.observed.cov.value\"")]
    Number(String),
}

impl ResponseVariable {
    /// The share of failed requests of all requests.
    #[must_use]
    pub fn errors() -> ResponseVariable {
        ResponseVariable { measure: ResponseMeasure::Errors, label: None, name: None }
    }

    /// The scale on which the values of trials are compared.
    #[must_use]
    pub fn scale(&self) -> ResponseScale {
        match self.measure {
            ResponseMeasure::Errors => ResponseScale::Difference,
            ResponseMeasure::Mean
            | ResponseMeasure::Percentile(_)
            | ResponseMeasure::InterquartileRange
            | ResponseMeasure::Max
            | ResponseMeasure::Throughput
            | ResponseMeasure::Concurrency
            | ResponseMeasure::Number { .. }
            | ResponseMeasure::Series(_) => ResponseScale::Ratio,
        }
    }

    /// The name in reports.
    #[must_use]
    pub fn title(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.to_string())
    }

    /// The unit of values; empty for shares and series.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        match self.measure {
            ResponseMeasure::Mean
            | ResponseMeasure::Percentile(_)
            | ResponseMeasure::InterquartileRange
            | ResponseMeasure::Max => "ms",
            ResponseMeasure::Throughput => "/s",
            ResponseMeasure::Errors
            | ResponseMeasure::Concurrency
            | ResponseMeasure::Number { .. }
            | ResponseMeasure::Series(_) => "",
        }
    }
}

impl TryFrom<String> for ResponseVariable {
    type Error = ResponseError;

    fn try_from(text: String) -> Result<ResponseVariable, ResponseError> {
        let text = text.trim();
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim_start();
        match word {
            "series" => return series(text, rest),
            "number" => return of_file(text, rest),
            _ => {}
        }
        let measure = measure(word)?;
        if rest.is_empty() {
            return Ok(ResponseVariable { measure, label: None, name: None });
        }
        let (of, label) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        match (of, label.trim()) {
            ("of", "") => Err(ResponseError::NameMissing(text.to_owned())),
            ("of", label) => Ok(ResponseVariable { measure, label: Some(label.to_owned()), name: None }),
            _ => Err(ResponseError::Unexpected(of.to_owned())),
        }
    }
}

fn series(text: &str, rest: &str) -> Result<ResponseVariable, ResponseError> {
    let (name, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    match (name, after.trim()) {
        ("", _) => Err(ResponseError::NameMissing(text.to_owned())),
        (name, "") => Ok(ResponseVariable {
            measure: ResponseMeasure::Series(name.to_owned()),
            label: None,
            name: None,
        }),
        (_, after) => match after.strip_prefix("of ") {
            Some(label) => Err(ResponseError::SeriesWithLabel(label.to_owned())),
            None => Err(ResponseError::Unexpected(after.to_owned())),
        },
    }
}

/// A number in a file. The path may contain blanks.
fn of_file(text: &str, rest: &str) -> Result<ResponseVariable, ResponseError> {
    let is_name = |file: &str| {
        file.strip_suffix(".json").is_some_and(|stem| {
            !stem.is_empty() && stem.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        })
    };
    match rest.split_once(':') {
        Some((file, path)) if is_name(file) && !path.is_empty() => {
            let (path, name) = match path.split_once(" as ") {
                Some((path, name)) => (path.trim(), Some(name.trim().to_owned())),
                None => (path, None),
            };
            let (file, path) = (file.to_owned(), path.to_owned());
            Ok(ResponseVariable { measure: ResponseMeasure::Number { file, path }, label: None, name })
        }
        _ => Err(ResponseError::Number(text.to_owned())),
    }
}

fn measure(word: &str) -> Result<ResponseMeasure, ResponseError> {
    match word {
        "mean" => Ok(ResponseMeasure::Mean),
        "median" => Ok(ResponseMeasure::Percentile(50.0)),
        "iqr" => Ok(ResponseMeasure::InterquartileRange),
        "max" => Ok(ResponseMeasure::Max),
        "throughput" | "rate" => Ok(ResponseMeasure::Throughput),
        "errors" => Ok(ResponseMeasure::Errors),
        "concurrency" => Ok(ResponseMeasure::Concurrency),
        _ => match word.strip_prefix('p').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            Some(digits) => number(digits)
                .filter(|percentile| *percentile > 0.0 && *percentile < 100.0)
                .map(ResponseMeasure::Percentile)
                .ok_or_else(|| ResponseError::Percentile(word.to_owned())),
            None => Err(ResponseError::Unknown {
                word: word.to_owned(),
                nearest: nearest_name(word, MEASURES.into_iter()),
            }),
        },
    }
}

impl From<ResponseVariable> for String {
    fn from(response: ResponseVariable) -> String {
        response.to_string()
    }
}

impl fmt::Display for ResponseVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.measure {
            ResponseMeasure::Mean => f.write_str("mean")?,
            ResponseMeasure::Percentile(percentile) => write!(f, "p{percentile}")?,
            ResponseMeasure::InterquartileRange => f.write_str("iqr")?,
            ResponseMeasure::Max => f.write_str("max")?,
            ResponseMeasure::Throughput => f.write_str("throughput")?,
            ResponseMeasure::Errors => f.write_str("errors")?,
            ResponseMeasure::Concurrency => f.write_str("concurrency")?,
            ResponseMeasure::Number { file, path } => write!(f, "number {file}:{path}")?,
            ResponseMeasure::Series(name) => write!(f, "series {name}")?,
        }
        if let Some(label) = &self.label {
            write!(f, " of {label}")?;
        }
        match &self.name {
            Some(name) => write!(f, " as {name}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ResponseVariable, ResponseError> {
        ResponseVariable::try_from(text.to_owned())
    }

    #[test]
    fn responses_have_a_measure_and_a_label() {
        let response = read("p99.9 of GET /a of b").unwrap();
        assert_eq!(response.measure, ResponseMeasure::Percentile(99.9));
        assert_eq!(response.label.as_deref(), Some("GET /a of b"));
        assert_eq!(response.to_string(), "p99.9 of GET /a of b");
        assert_eq!(read("median").unwrap(), read("p50").unwrap());
        assert_eq!(read("errors").unwrap().scale(), ResponseScale::Difference);
        assert_eq!(read("rate of pay").unwrap().measure, ResponseMeasure::Throughput);
        assert_eq!(read("number s.json:a.k=v w.b as wait (ms)").unwrap().title(), "wait (ms)");
        assert_eq!(read("concurrency of pay").unwrap().measure, ResponseMeasure::Concurrency);
        assert_eq!(read("series cpi").unwrap().measure, ResponseMeasure::Series("cpi".to_owned()));
    }

    #[test]
    fn errors_name_the_wrong_part() {
        let errors = [
            "",
            "meen",
            "p0",
            "p100",
            "p9x",
            "mean of",
            "mean for a",
            "series",
            "series a of b",
            "number a:b",
            "number ../a.json:b",
        ];
        let all: Vec<String> = errors.iter().map(|text| read(text).unwrap_err().to_string()).collect();
        insta::assert_snapshot!(all.join("\n"));
    }
}
