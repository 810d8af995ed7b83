//! The entries that count as problems.
//!
//! A [`Query`] is a list of rules. An entry matches if it satisfies at least one of them. The default query finds the words
//! `exception`, `error`, `failed` and `severe`, entries of severity error or above, and requests in access logs with the status
//! 404, 500 or 503.

use std::fmt;
use std::str::FromStr;

use aho_corasick::{AhoCorasick, MatchKind};
use serde::{Deserialize, Serialize};

use crate::severity::EntrySeverity;

/// A rule of a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// The entry contains this word, in upper or lower case. A word may be a part of a name in camel case: `exception` is found in
    /// `NullPointerException`, but `error` is not found in `terror`.
    Word(String),
    /// The severity of the entry is at least this one.
    SeverityAtLeast(EntrySeverity),
    /// The entry is a request in an access log with a status in this range (both ends included).
    Status {
        /// Lowest status.
        from: u16,
        /// Highest status.
        to: u16,
    },
}

/// An error in the text of a query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// The query has no rules.
    #[error("the query is empty; write rules such as `exception, level>=error, status=500`")]
    Empty,
    /// A severity has an unknown name.
    #[error("unknown severity `{0}`; use trace, debug, info, warn, error or fatal")]
    UnknownSeverity(String),
    /// A status is not a number of three digits, a class such as 5xx or a range.
    #[error(
        "invalid status `{0}`; use a number such as 404, a class such as 5xx, or a range such as 500-504"
    )]
    InvalidStatus(String),
    /// A word is empty, longer than 200 bytes, or contains another character than letters, digits, spaces, `.`, `_` and `-`.
    #[error("invalid word `{0}`; words consist of 1 to 200 letters, digits, spaces, `.`, `_` and `-`")]
    InvalidWord(String),
    /// There are too many rules, or the words need too much memory.
    #[error(
        "the query has more than {RULES_MAX} rules, or its words are too long; use fewer or shorter ones"
    )]
    TooLarge,
}

/// Maximum number of rules.
const RULES_MAX: usize = 1_000;

/// Rules, at least one of which an entry must satisfy.
#[derive(Debug, Clone)]
pub struct Query {
    rules: Vec<Rule>,
    words: Option<AhoCorasick>,
    severity: Option<EntrySeverity>,
    statuses: Vec<(u16, u16)>,
}

impl Query {
    /// Creates a query from rules.
    ///
    /// # Errors
    /// There is no rule, a word or a status is invalid, or there are too many rules.
    pub fn new(rules: Vec<Rule>) -> Result<Query, QueryError> {
        if rules.is_empty() {
            return Err(QueryError::Empty);
        }
        if rules.len() > RULES_MAX {
            return Err(QueryError::TooLarge);
        }
        let (mut words, mut severity, mut statuses) = (Vec::new(), None, Vec::new());
        for rule in &rules {
            match rule {
                Rule::Word(word) => words.push(checked_word(word)?),
                Rule::SeverityAtLeast(least) => {
                    severity = Some(severity.map_or(*least, |other: EntrySeverity| other.min(*least)));
                }
                Rule::Status { from, to } if (100..1_000).contains(from) && (*from..1_000).contains(to) => {
                    statuses.push((*from, *to));
                }
                Rule::Status { from, to } => return Err(QueryError::InvalidStatus(format!("{from}-{to}"))),
            }
        }
        let words = automaton(&words).ok_or(QueryError::TooLarge)?;
        Ok(Query { words: Some(words), rules, severity, statuses })
    }

    /// The rules.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Whether an entry satisfies a rule. `status` is the status of a request in an access log. Only the rules on the status
    /// apply to such an entry, because words in its URL do not show that it failed.
    #[must_use]
    pub fn matches(&self, text: &str, severity: Option<EntrySeverity>, status: Option<u16>) -> bool {
        if let Some(status) = status {
            return self.statuses.iter().any(|(from, to)| (*from..=*to).contains(&status));
        }
        let is_severe = self.severity.zip(severity).is_some_and(|(least, severity)| severity >= least);
        is_severe || self.contains_word(text)
    }

    fn contains_word(&self, text: &str) -> bool {
        let Some(words) = &self.words else { return false };
        words.find_iter(text).any(|found| is_word(text.as_bytes(), found.start(), found.end()))
    }
}

/// An automaton that finds the words; `None` if it is too large.
fn automaton(words: &[&str]) -> Option<AhoCorasick> {
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .ascii_case_insensitive(true)
        .build(words)
        .ok()
}

/// Whether the bytes from `start` to `end` are a whole word, or a word in a name in camel case.
pub(crate) fn is_word(text: &[u8], start: usize, end: usize) -> bool {
    let is_capital =
        text[start].is_ascii_uppercase() && text.get(start + 1).is_some_and(u8::is_ascii_lowercase);
    let starts = match start.checked_sub(1).map(|before| text[before]) {
        Some(before) if before.is_ascii_lowercase() => is_capital,
        Some(before) if before.is_ascii_uppercase() => is_capital,
        _ => true,
    };
    let ends = match text.get(end) {
        Some(after) if after.is_ascii_lowercase() => false,
        Some(after) if after.is_ascii_uppercase() => text[end - 1].is_ascii_lowercase(),
        _ => true,
    };
    starts && ends
}

fn checked_word(word: &str) -> Result<&str, QueryError> {
    let is_letter = |letter: char| letter.is_alphanumeric() || " ._-".contains(letter);
    match !word.trim().is_empty() && word.len() <= 200 && word.chars().all(is_letter) {
        true => Ok(word),
        false => Err(QueryError::InvalidWord(word.chars().take(200).collect())),
    }
}

/// The words and, below, the statuses of the default query.
const DEFAULT_WORDS: [&str; 4] = ["exception", "error", "failed", "severe"];
const DEFAULT_STATUSES: [u16; 3] = [404, 500, 503];

impl Default for Query {
    fn default() -> Query {
        let words = DEFAULT_WORDS.map(|word| Rule::Word(word.to_owned()));
        let statuses = DEFAULT_STATUSES.map(|status| Rule::Status { from: status, to: status });
        let severity = Rule::SeverityAtLeast(EntrySeverity::Error);
        Query {
            rules: words.into_iter().chain([severity]).chain(statuses).collect(),
            words: automaton(&DEFAULT_WORDS),
            severity: Some(EntrySeverity::Error),
            statuses: DEFAULT_STATUSES.map(|status| (status, status)).to_vec(),
        }
    }
}

impl FromStr for Query {
    type Err = QueryError;

    /// Reads rules separated by commas: words, `level>=error`, `status=404`, `status=5xx`, `status=500-504`.
    fn from_str(text: &str) -> Result<Query, QueryError> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let rules = parts.map(|part| {
            if let Some(name) = part.strip_prefix("level>=") {
                let severity =
                    EntrySeverity::named(name).ok_or_else(|| QueryError::UnknownSeverity(clipped(name)))?;
                return Ok(Rule::SeverityAtLeast(severity));
            }
            match part.strip_prefix("status=") {
                Some(statuses) => read_statuses(statuses),
                None => Ok(Rule::Word(part.to_owned())),
            }
        });
        Query::new(rules.collect::<Result<_, _>>()?)
    }
}

fn read_statuses(text: &str) -> Result<Rule, QueryError> {
    let invalid = || QueryError::InvalidStatus(clipped(text));
    let number = |text: &str| text.parse::<u16>().ok().filter(|status| (100..1_000).contains(status));
    if let Some(class) = text.strip_suffix("xx") {
        let from = number(&format!("{class}00")).ok_or_else(invalid)?;
        return Ok(Rule::Status { from, to: from + 99 });
    }
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let (from, to) = number(from).zip(number(to)).filter(|(from, to)| from <= to).ok_or_else(invalid)?;
    Ok(Rule::Status { from, to })
}

/// The beginning of a text, for messages.
fn clipped(text: &str) -> String {
    text.chars().take(80).collect()
}

impl fmt::Display for Rule {
    /// Writes the rule in the notation that [`Query::from_str`] reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Word(word) => f.write_str(word),
            Rule::SeverityAtLeast(severity) => write!(f, "level>={severity}"),
            Rule::Status { from, to } if from == to => write!(f, "status={from}"),
            Rule::Status { from, to } => write!(f, "status={from}-{to}"),
        }
    }
}

impl fmt::Display for Query {
    /// Writes the rules in the notation that [`Query::from_str`] reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, rule) in self.rules.iter().enumerate() {
            if number > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{rule}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(query: &Query, text: &str) -> bool {
        query.matches(text, None, None)
    }

    #[test]
    fn the_default_query_finds_words_severities_and_statuses() {
        let query = Query::default();
        for text in [
            "java.lang.NullPointerException: x",
            "Error: no route",
            "request FAILED",
            "SEVERE: x",
            "an OutOfMemoryError",
            "HTTPException",
            "error_code=5",
            "ErrorPage",
        ] {
            assert!(matches(&query, text), "{text}");
        }
        for text in ["terror", "mirrored", "perseverance", "failedover", "all good", "", "errors"] {
            assert!(!matches(&query, text), "{text}");
        }
        assert!(query.matches("x", Some(EntrySeverity::Fatal), None));
        assert!(!query.matches("x", Some(EntrySeverity::Warn), None));
        assert!(query.matches("GET /", None, Some(503)));
        assert!(!query.matches("GET /error", None, Some(200)), "words of an address do not count");
        assert!(!query.matches("GET /", None, Some(502)));
    }

    #[test]
    fn a_query_is_read_from_text_and_written_back() {
        let text = "timeout, out of memory, level>=warn, status=404, status=500-599";
        let query: Query = text.parse().unwrap();
        assert_eq!(query.to_string(), text);
        assert!(matches(&query, "java: Out Of Memory!"));
        assert!(query.matches("", Some(EntrySeverity::Warn), None));
        assert!(query.matches("", None, Some(599)));
        let classes: Query = "status=5xx".parse().unwrap();
        assert_eq!(classes.rules(), [Rule::Status { from: 500, to: 599 }]);
        assert_eq!(Query::default().to_string().parse::<Query>().unwrap().rules(), Query::default().rules());
    }

    #[test]
    fn the_longer_of_two_words_is_found() {
        let query: Query = "fail, failed".parse().unwrap();
        assert!(
            matches(&query, "it failed") && matches(&query, "it will fail") && !matches(&query, "failure")
        );
    }

    #[test]
    fn errors_name_the_wrong_part() {
        let error = |text: &str| text.parse::<Query>().unwrap_err().to_string();
        assert!(error(" , ").contains("empty"));
        assert!(error("level>=loud").contains("`loud`"));
        assert!(error("status=abc").contains("`abc`"));
        assert!(error("status=9xx, status=10xx").contains("`10xx`"));
        assert!(error("status=600-500").contains("`600-500`"));
        assert!(error("a*").contains("`a*`"));
        assert_eq!(Query::new(vec![Rule::Word("a".into()); 1_001]).unwrap_err(), QueryError::TooLarge);
    }
}
