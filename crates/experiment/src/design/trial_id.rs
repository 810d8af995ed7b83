//! Stable identifiers of trials.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The identifier of a trial, written as `b02-c05-a1`: block 2, case 5, first attempt. It does not depend on the order of the
/// trials. Block 0 contains the warm-up trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TrialId {
    /// The block, counted from 1; 0 for warm-up trials.
    pub block: u32,
    /// The case, counted from 1.
    pub case: u32,
    /// The attempt, counted from 1.
    pub attempt: u32,
}

/// The text is not the identifier of a trial.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not the identifier of a trial, such as b02-c05-a1")]
pub struct TrialIdError(String);

impl TrialId {
    /// Whether the trial is a warm-up trial, which no analysis uses.
    #[must_use]
    pub fn is_warm_up(&self) -> bool {
        self.block == 0
    }
}

impl fmt::Display for TrialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b{:02}-c{:02}-a{}", self.block, self.case, self.attempt)
    }
}

impl FromStr for TrialId {
    type Err = TrialIdError;

    fn from_str(text: &str) -> Result<TrialId, TrialIdError> {
        let mut parts = text.split('-');
        let mut part = |letter: char| {
            let digits = parts.next()?.strip_prefix(letter)?;
            digits.parse::<u32>().ok().filter(|_| digits.bytes().all(|digit| digit.is_ascii_digit()))
        };
        let found = (part('b'), part('c'), part('a'));
        match found {
            (Some(block), Some(case), Some(attempt)) if case > 0 && attempt > 0 && parts.next().is_none() => {
                Ok(TrialId { block, case, attempt })
            }
            _ => Err(TrialIdError(text.chars().take(60).collect())),
        }
    }
}

impl TryFrom<String> for TrialId {
    type Error = TrialIdError;

    fn try_from(text: String) -> Result<TrialId, TrialIdError> {
        text.parse()
    }
}

impl From<TrialId> for String {
    fn from(id: TrialId) -> String {
        id.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_read_as_they_are_written() {
        for (id, text) in [
            (TrialId { block: 0, case: 1, attempt: 2 }, "b00-c01-a2"),
            (TrialId { block: 12, case: 345, attempt: 10 }, "b12-c345-a10"),
        ] {
            assert_eq!((id.to_string().as_str(), text.parse()), (text, Ok(id)));
        }
        for text in
            ["", "b1", "b1-c1", "b1-c0-a1", "b1-c1-a1-x", "c1-b1-a1", "b+1-c1-a1", "b99999999999-c1-a1"]
        {
            assert!(text.parse::<TrialId>().is_err(), "{text}");
        }
    }
}
