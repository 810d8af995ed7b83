//! Plain causes of errors: `connection refused` instead of the class of a Java exception.

use busyhour_analysis::{ErrorRow, Summary};

use crate::terminal_text::{shown_label, shown_text};

/// Maximum number of characters of an error's message, and of its code, that are shown.
pub(crate) const MESSAGE_MAX: usize = 400;
pub(crate) const CODE_MAX: usize = 120;

/// The text that JMeter writes before the class and the message of an exception.
const NON_HTTP_CODE: &str = "Non HTTP response code: ";
const NON_HTTP_MESSAGE: &str = "Non HTTP response message: ";

/// Maximum number of labels that are named.
const LABELS_NAMED: usize = 3;

/// Errors with the same cause.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cause {
    /// The cause in plain words.
    pub(crate) text: String,
    /// JMeter's code and message of the most frequent kind of these errors; `None` if they are the same as the cause.
    pub(crate) detail: Option<String>,
    pub(crate) count: u64,
    pub(crate) percent_of_errors: f64,
    /// The labels with their numbers of errors, most frequent first.
    labels: Vec<(String, u64)>,
}

impl Cause {
    /// The labels as text: `List 350, Item 59 and 2 more`.
    pub(crate) fn labels(&self) -> String {
        let named: Vec<String> = match &self.labels[..] {
            [(label, _)] => vec![shown_label(label)],
            several => several
                .iter()
                .take(LABELS_NAMED)
                .map(|(label, count)| format!("{} {}", shown_label(label), crate::numbers::thousands(*count)))
                .collect(),
        };
        match self.labels.len().saturating_sub(LABELS_NAMED) {
            0 => named.join(", "),
            more => format!("{} and {more} more", named.join(", ")),
        }
    }
}

/// The causes of a run's errors, most frequent first.
pub(crate) fn causes(summary: &Summary) -> Vec<Cause> {
    let mut all: Vec<Cause> = Vec::new();
    for error in &summary.errors {
        let text = plain_cause(error);
        let cause = match all.iter_mut().find(|cause| cause.text == text) {
            Some(cause) => cause,
            None => {
                let raw = raw(error);
                let detail = (raw != text).then_some(raw);
                all.push(Cause { text, detail, count: 0, percent_of_errors: 0.0, labels: Vec::new() });
                let last = all.len() - 1;
                &mut all[last]
            }
        };
        cause.count += error.count;
        cause.percent_of_errors += error.percent_of_errors;
        for (label, count) in error.label_counts() {
            match cause.labels.iter_mut().find(|(known, _)| known == label) {
                Some((_, sum)) => *sum += count,
                None => cause.labels.push((label.to_owned(), count)),
            }
        }
    }
    all.iter_mut().for_each(|cause| cause.labels.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0))));
    all.sort_by_key(|cause| std::cmp::Reverse(cause.count));
    all
}

/// The cause of an error in plain words.
pub(crate) fn plain_cause(error: &ErrorRow) -> String {
    let Some(class) = error.code.strip_prefix(NON_HTTP_CODE) else { return raw(error) };
    let message = error.message.strip_prefix(NON_HTTP_MESSAGE).unwrap_or(&error.message);
    let name = class.rsplit('.').next().unwrap_or(class);
    let lower = message.to_lowercase();
    let reason = |known: &[&'static str]| known.iter().find(|known| lower.contains(*known)).copied();
    let known = match name {
        "HttpHostConnectException" | "ConnectException" => {
            Some(reason(&["connection refused", "network is unreachable"]).unwrap_or("connection failed"))
        }
        "ConnectTimeoutException" => Some("connecting timed out"),
        "SocketTimeoutException" => Some(match reason(&["connect timed out"]) {
            Some(_) => "connecting timed out",
            None => "no response in time",
        }),
        "NoHttpResponseException" => Some("connection closed without a response"),
        "ConnectionClosedException" => Some("connection closed within the response"),
        "UnknownHostException" => Some("host name not found"),
        "NoRouteToHostException" => {
            Some(reason(&["cannot assign requested address"]).unwrap_or("no route to the host"))
        }
        "SocketException" => {
            reason(&["connection reset", "broken pipe", "socket closed", "too many open files"])
        }
        "URISyntaxException" | "MalformedURLException" => Some("the URL is not valid"),
        "ClientProtocolException" => Some("the response is not HTTP"),
        _ => None,
    };
    known.map_or_else(|| shown_text(&format!("{name}: {message}"), MESSAGE_MAX), str::to_owned)
}

/// The code and message of an error as JMeter records them.
fn raw(error: &ErrorRow) -> String {
    let mut text = shown_text(&error.code, CODE_MAX);
    if !error.message.is_empty() {
        text += if text.is_empty() { "" } else { ": " };
        text += &shown_text(&error.message, MESSAGE_MAX);
    }
    text
}

#[cfg(test)]
mod tests {
    use busyhour_analysis::{ErrorLabel, RunFacts};
    use busyhour_record::{Recorder, RecorderConfig};

    use super::*;

    fn error(class: &str, message: &str, labels: &[(&str, u64)]) -> ErrorRow {
        ErrorRow {
            code: format!("{NON_HTTP_CODE}{class}"),
            message: format!("{NON_HTTP_MESSAGE}{message}"),
            count: labels.iter().map(|(_, count)| count).sum(),
            percent_of_errors: 10.0,
            example_label: labels[0].0.into(),
            labels: labels
                .iter()
                .map(|(label, count)| ErrorLabel { label: (*label).into(), count: *count })
                .collect(),
            first_s: 0.0,
            last_s: 1.0,
        }
    }

    #[test]
    fn exceptions_have_plain_causes() {
        for (class, message, expected) in [
            (
                "org.apache.http.conn.HttpHostConnectException",
                "Connect to a:1 [/1.1] failed: Connection refused",
                "connection refused",
            ),
            (
                "org.apache.http.NoHttpResponseException",
                "a:1 failed to respond",
                "connection closed without a response",
            ),
            ("java.net.SocketTimeoutException", "Read timed out", "no response in time"),
            ("java.net.SocketException", "Connection reset", "connection reset"),
            ("java.net.UnknownHostException", "nope", "host name not found"),
            ("javax.net.ssl.SSLException", "bad \u{1b}record", "SSLException: bad  record"),
        ] {
            assert_eq!(plain_cause(&error(class, message, &[("a", 1)])), expected);
        }
        let http = ErrorRow { code: "503".into(), message: "Busy".into(), ..error("x", "", &[("a", 1)]) };
        assert_eq!(plain_cause(&http), "503: Busy");
    }

    fn empty_summary() -> Summary {
        let (recorder, writers) = Recorder::start(RecorderConfig::default()).unwrap();
        drop(writers);
        Summary::new(RunFacts::default(), &recorder.finish())
    }

    #[test]
    fn errors_with_one_cause_are_one_line() {
        let refused = "org.apache.http.conn.HttpHostConnectException";
        let summary = Summary {
            errors: vec![
                error(refused, "Connect to a:1 failed: Connection refused", &[("List", 300), ("Item", 20)]),
                error("java.net.SocketException", "Connection reset", &[("Item", 100)]),
                error(
                    refused,
                    "Connect to a:2 failed: Connection refused",
                    &[("Item", 59), ("A", 1), ("B", 1)],
                ),
            ],
            ..empty_summary()
        };
        let causes = causes(&summary);
        let shown: Vec<_> =
            causes.iter().map(|cause| (cause.count, cause.text.as_str(), cause.labels())).collect();
        let expected = [
            (381, "connection refused", "List 300, Item 79, A 1 and 1 more".to_owned()),
            (100, "connection reset", "Item".to_owned()),
        ];
        assert_eq!(shown, expected);
    }
}
