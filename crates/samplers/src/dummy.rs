//! The Dummy Sampler of jmeter-plugins: a configured result without a request.

use busyhour_java::{parse_boolean, parse_int};
use busyhour_program::result::SampleResult;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_sample::{DataType, Nanos, SampleContent, SampleOutcome, SampleSizes, SampleTimes};

use crate::other::{OtherSampler, SampleRequest, Sampling, sleep};

/// The settings of a Dummy Sampler: the fields of its result.
#[derive(Debug)]
pub struct Dummy {
    /// `SUCCESFULL` (the spelling of the plugin).
    pub success: Template,
    /// `RESPONSE_CODE`
    pub code: Template,
    /// `RESPONSE_MESSAGE`
    pub message: Template,
    /// `REQUEST_DATA`
    pub request: Template,
    /// `RESPONSE_DATA`
    pub response: Template,
    /// `RESPONSE_TIME`, milliseconds.
    pub time_ms: Template,
    /// `LATENCY`, milliseconds.
    pub latency_ms: Template,
    /// `CONNECT`, milliseconds.
    pub connect_ms: Template,
    /// `WAITING`: the user waits for the response time, as for a real response.
    pub waits: Template,
    /// `URL`
    pub url: Template,
}

/// Converts milliseconds to nanoseconds; 0 if the text is not a number.
fn ns(ms: &str) -> u64 {
    u64::try_from(parse_int(ms).unwrap_or(0)).unwrap_or(0) * 1_000_000
}

impl Dummy {
    async fn run(&self, request: SampleRequest<'_>) {
        let SampleRequest { user, label, intended, .. } = request;
        let waits = parse_boolean(&self.waits.text(user));
        let time_ns = ns(&self.time_ms.text(user));
        let start = user.now();
        let mut end = start + time_ns;
        if waits {
            sleep(user, i64::try_from(time_ns / 1_000_000).unwrap_or(0)).await;
            end = user.now();
        }
        // As in the plugin, the other settings are evaluated after the pause.
        let configured = self.configured_result(user);
        user.begin_result(label, intended.min(start));
        let name = std::mem::take(&mut user.result.label);
        user.result = SampleResult {
            label: name,
            times: SampleTimes {
                intended: user.result.times.intended.min(start),
                start,
                end,
                ..configured.times
            },
            ..configured
        };
    }

    fn configured_result(&self, user: &mut UserState) -> SampleResult {
        let text = |template: &Template, user: &mut UserState| template.text(user).into_owned();
        let request_data = text(&self.request, user);
        let code = text(&self.code, user);
        let message = text(&self.message, user);
        let success = parse_boolean(&self.success.text(user));
        let body = text(&self.response, user).into_bytes();
        let url = text(&self.url, user);
        SampleResult {
            request_data,
            times: SampleTimes {
                latency_ns: ns(&self.latency_ms.text(user)),
                connect_ns: ns(&self.connect_ms.text(user)),
                ..SampleTimes::default()
            },
            outcome: SampleOutcome::new(code, message, success),
            sizes: SampleSizes { body_bytes: body.len() as u64, ..SampleSizes::default() },
            body,
            content: SampleContent::new(DataType::Text, "UTF-8".into()),
            url: if is_url(&url) { url } else { String::new() },
            ..SampleResult::default()
        }
    }
}

/// Whether `java.net.URL` accepts the text, which depends on the protocol.
fn is_url(text: &str) -> bool {
    const KNOWN: [&str; 6] = ["http", "https", "ftp", "file", "jar", "mailto"];
    let protocol = text.trim().split(':').next().unwrap_or("");
    text.contains(':') && KNOWN.iter().any(|known| known.eq_ignore_ascii_case(protocol))
}

impl OtherSampler for Dummy {
    fn sample<'a>(&'a self, request: SampleRequest<'a>) -> Sampling<'a> {
        Box::pin(self.run(request))
    }

    /// The recorded end of a sample that does not wait is in the future, but its user continues now.
    fn ends_at(&self, user: &UserState) -> Nanos {
        user.result.times.end.min(user.now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_recognized_as_in_java() {
        assert!(is_url("http://a/") && is_url("HTTPS://a") && is_url("file:/x"));
        assert!(!is_url("") && !is_url("shop/cart") && !is_url("ws://a/") && !is_url("http"));
        assert_eq!(ns("12"), 12_000_000);
        assert_eq!((ns(" 12"), ns(""), ns("-5")), (0, 0, 0));
    }
}
