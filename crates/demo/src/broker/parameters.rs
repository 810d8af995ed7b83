//! The parameters of a request.

use std::time::Duration;

/// Maximum number of records of a response, and of fields of a record.
pub(super) const NUMBER_MAX: u32 = 100;

/// Maximum delay in ms.
pub(super) const DELAY_MS_MAX: u32 = 60_000;

/// The parameters of a request to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parameters {
    /// Number of fields of each record.
    pub(super) fields: u32,
    /// Number of records.
    pub(super) records: u32,
    /// Time in ms for which the agent waits before it makes the records.
    pub(super) delay_ms: u32,
}

/// The reason why parameters are rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ParameterError {
    #[error("{name} must be a whole number from {least} to {most}, not {value:?}")]
    Value { name: &'static str, least: u32, most: u32, value: String },
    #[error("{0} is given twice")]
    Twice(&'static str),
    #[error("unknown parameter {0:?}; the parameters are numFields, numRecords and msdelay")]
    Unknown(String),
}

/// Maximum length of a part of the query in an error message, in characters.
const QUOTED_CHARS_MAX: usize = 60;

impl Parameters {
    /// Parses a query such as `numFields=5&numRecords=5&msdelay=100`. The defaults are 10 fields, 10 records, no delay.
    pub(super) fn parse(query: &str) -> Result<Self, ParameterError> {
        let (mut fields, mut records, mut delay_ms) = (None, None, None);
        for part in query.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let (slot, name, least, most) = match name {
                "numFields" => (&mut fields, "numFields", 1, NUMBER_MAX),
                "numRecords" => (&mut records, "numRecords", 1, NUMBER_MAX),
                "msdelay" => (&mut delay_ms, "msdelay", 0, DELAY_MS_MAX),
                _ => return Err(ParameterError::Unknown(quoted(name))),
            };
            let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
            let number = value.parse().ok().filter(|number| is_number && (least..=most).contains(number));
            let number =
                number.ok_or_else(|| ParameterError::Value { name, least, most, value: quoted(value) })?;
            if slot.replace(number).is_some() {
                return Err(ParameterError::Twice(name));
            }
        }
        Ok(Self {
            fields: fields.unwrap_or(10),
            records: records.unwrap_or(10),
            delay_ms: delay_ms.unwrap_or(0),
        })
    }

    /// The parameters as a query.
    pub(super) fn query(self) -> String {
        format!("numFields={}&numRecords={}&msdelay={}", self.fields, self.records, self.delay_ms)
    }

    pub(super) fn delay(self) -> Duration {
        Duration::from_millis(self.delay_ms.into())
    }
}

fn quoted(text: &str) -> String {
    text.chars().take(QUOTED_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parameters_have_defaults_and_limits() {
        let parsed = |query: &str| {
            let parameters = Parameters::parse(query).map_err(|error| error.to_string())?;
            Ok((parameters.fields, parameters.records, parameters.delay_ms))
        };
        assert_eq!(parsed(""), Ok((10, 10, 0)));
        assert_eq!(parsed("msdelay=60000&&numRecords=100&numFields=1"), Ok((1, 100, 60_000)));
        for (query, message) in [
            ("numFields=0", "numFields must be a whole number from 1 to 100, not \"0\""),
            ("numFields=101", "numFields must be a whole number from 1 to 100, not \"101\""),
            ("numRecords=ten", "numRecords must be a whole number from 1 to 100, not \"ten\""),
            ("numRecords", "numRecords must be a whole number from 1 to 100, not \"\""),
            ("msdelay=60001", "msdelay must be a whole number from 0 to 60000, not \"60001\""),
            ("msdelay=-1", "msdelay must be a whole number from 0 to 60000, not \"-1\""),
            ("msdelay=+1", "msdelay must be a whole number from 0 to 60000, not \"+1\""),
            ("msdelay=99999999999", "msdelay must be a whole number from 0 to 60000, not \"99999999999\""),
            ("msdelay=1&msdelay=1", "msdelay is given twice"),
            (
                "msDelay=1",
                "unknown parameter \"msDelay\"; the parameters are numFields, numRecords and msdelay",
            ),
        ] {
            assert_eq!(parsed(query), Err(message.to_owned()), "{query}");
        }
        let long = Parameters::parse(&"x".repeat(60_000)).unwrap_err().to_string();
        assert!(long.len() < 200, "{long}");
    }

    proptest! {
        #[test]
        fn any_query_can_be_parsed(query in ".{0,80}") {
            if let Ok(parameters) = Parameters::parse(&query) {
                prop_assert_eq!(Parameters::parse(&parameters.query()), Ok(parameters));
            }
        }
    }
}
