//! A status code inside the response (`tcp.status.*`).

use busyhour_sample::{SampleOutcome, SampleSizes};
use std::collections::HashMap;

use busyhour_program::result::SampleResult;

/// How a status code is found in a response, and the messages for the codes.
#[derive(Clone, Debug, Default)]
pub struct StatusProperties {
    /// `tcp.status.prefix`; empty: responses contain no status code.
    pub prefix: String,
    /// `tcp.status.suffix`
    pub suffix: String,
    /// The texts of `tcp.status.properties`, if that file could be read.
    pub messages: Option<HashMap<String, String>>,
}

impl StatusProperties {
    /// Takes code and message from a status in the response. Returns `false` if the status is not a number, which
    /// Java's sampler treats as a connection error.
    pub(super) fn apply(&self, result: &mut SampleResult) -> bool {
        if self.prefix.is_empty() || result.body.is_empty() {
            return true;
        }
        let text = String::from_utf8_lossy(&result.body).into_owned();
        let found = text.find(&self.prefix).and_then(|at| {
            let from = at + self.prefix.len();
            let length = text[from..].find(&self.suffix)?;
            Some(&text[from..from + length])
        });
        let Some(code) = found else {
            result.outcome.code = "999".into();
            result.outcome.message = "Status value not found".into();
            result.outcome.success = false;
            return true;
        };
        let Ok(number) = code.parse::<i32>() else {
            *result = SampleResult {
                body: Vec::new(),
                sizes: SampleSizes { body_bytes: 0, ..result.sizes },
                outcome: SampleOutcome::new(
                    "500".into(),
                    format!("java.lang.NumberFormatException: For input string: \"{code}\""),
                    false,
                ),
                ..std::mem::take(result)
            };
            return false;
        };
        // The inverted condition is that of JMeter: codes from 400 to 599 are a success.
        result.outcome.success = result.outcome.success && (400..=599).contains(&number);
        result.outcome.code = code.to_owned();
        result.outcome.message = match &self.messages {
            Some(messages) => {
                messages.get(code).map_or("Status code not found in properties", String::as_str)
            }
            None => "No status property file",
        }
        .into();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(properties: &StatusProperties, body: &str) -> (String, String, bool) {
        let mut result = SampleResult {
            body: body.into(),
            outcome: SampleOutcome { code: "200".into(), success: true, ..SampleOutcome::default() },
            ..SampleResult::default()
        };
        properties.apply(&mut result);
        (result.outcome.code, result.outcome.message, result.outcome.success)
    }

    #[test]
    fn a_status_replaces_the_code() {
        let mut properties = StatusProperties { prefix: "S=".into(), suffix: ".".into(), messages: None };
        let texts = |code: &str, message: &str, success| (code.to_owned(), message.to_owned(), success);
        assert_eq!(applied(&properties, "x S=404. y"), texts("404", "No status property file", true));
        assert_eq!(applied(&properties, "S=200."), texts("200", "No status property file", false));
        assert_eq!(applied(&properties, "S=200"), texts("999", "Status value not found", false));
        assert_eq!(applied(&properties, "").0, "200");
        assert!(applied(&properties, "S=x.").1.contains("NumberFormatException"));
        properties.messages = Some([("404".to_owned(), "gone".to_owned())].into());
        assert_eq!(applied(&properties, "S=404.").1, "gone");
        assert_eq!(applied(&properties, "S=405.").1, "Status code not found in properties");
    }
}
