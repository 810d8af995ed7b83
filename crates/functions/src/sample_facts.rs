//! Access to the result of a sample for scripts.

use busyhour_program::result::SampleResult;
use busyhour_program::user::{LogicalAction, UserState};
use busyhour_sample::{DataType, Nanos};
use busyhour_script::{AssertionFacts, AssertionVerdict, SampleChanges, SampleFacts, ScriptResult, Value};

use crate::sub_result::sample_result;

/// The result that a script accesses. It is moved out of the user while the script runs.
pub(crate) struct ScriptResultAccess {
    pub(crate) result: SampleResult,
    pub(crate) clock: busyhour_program::clock::Clock,
    pub(crate) is_sampler: bool,
}

/// Converts nanoseconds to whole milliseconds, as in JMeter.
fn whole_ms(ns: u64) -> i64 {
    i64::try_from(ns / 1_000_000).unwrap_or(i64::MAX)
}

/// Replaces a text and reuses its buffer.
fn replace(text: &mut String, replacement: &str) {
    text.clear();
    text.push_str(replacement);
}

/// Changes the start of a result. As in JMeter, the elapsed time does not change.
fn move_start(result: &mut SampleResult, start_ns: u64) {
    let times = &mut result.times;
    let (old, has_ended) = (times.start.0, times.end != Nanos::default());
    times.start = Nanos(start_ns);
    if !has_ended {
        return;
    }
    if start_ns > old {
        times.end = Nanos(times.end.0.saturating_add(start_ns - old));
    } else {
        times.idle_ns = times.idle_ns.saturating_add(old - start_ns);
    }
}

impl ScriptResultAccess {
    /// Moves the result out of the user.
    pub(crate) fn take_from(user: &mut UserState) -> Self {
        Self { result: std::mem::take(&mut user.result), clock: user.run.clock.clone(), is_sampler: false }
    }

    pub(crate) fn wall_ms(&self, at: Nanos) -> i64 {
        i64::try_from(self.clock.wall_ms(at)).unwrap_or(i64::MAX)
    }
}

impl SampleFacts for ScriptResultAccess {
    fn label(&self) -> String {
        self.result.label.clone()
    }

    fn response_code(&self) -> String {
        self.result.outcome.code.clone()
    }

    fn response_message(&self) -> String {
        self.result.outcome.message.clone()
    }

    fn response_data_as_string(&self) -> String {
        self.result.body_text().into_owned()
    }

    fn response_headers(&self) -> String {
        self.result.response_headers.clone()
    }

    fn url(&self) -> String {
        self.result.url.clone()
    }

    fn is_successful(&self) -> bool {
        self.result.outcome.success
    }

    fn elapsed_ms(&self) -> i64 {
        i64::try_from(self.result.elapsed_ms()).unwrap_or(i64::MAX)
    }

    fn latency_ms(&self) -> i64 {
        whole_ms(self.result.times.latency_ns)
    }

    fn connect_ms(&self) -> i64 {
        whole_ms(self.result.times.connect_ns)
    }

    fn start_time_ms(&self) -> i64 {
        self.wall_ms(self.result.times.start)
    }

    fn end_time_ms(&self) -> i64 {
        if self.result.times.end == Nanos::default() { 0 } else { self.wall_ms(self.result.times.end) }
    }

    fn received_bytes(&self) -> i64 {
        i64::try_from(self.result.bytes()).unwrap_or(i64::MAX)
    }

    fn response_data(&self) -> Vec<u8> {
        self.result.body.clone()
    }

    fn fact(&self, name: &str) -> Option<Value> {
        let number = |value: u64| Value::Integer(i32::try_from(value).unwrap_or(i32::MAX));
        let result = &self.result;
        Some(match name {
            "RequestHeaders" => Value::text(&result.request_headers),
            "SamplerData" => Value::text(&result.request_data),
            "ContentType" => Value::text(&result.content_type),
            "MediaType" => Value::text(result.content_type.split(';').next().unwrap_or("").trim()),
            "DataType" => Value::text(result.content.data_type.as_str()),
            "DataEncodingNoDefault" if result.content.encoding.is_empty() => Value::Null,
            "DataEncodingNoDefault" => Value::text(&result.content.encoding),
            "BodySizeAsLong" => Value::Long(i64::try_from(result.sizes.body_bytes).unwrap_or(i64::MAX)),
            "BodySize" => number(result.sizes.body_bytes),
            "HeadersSize" => number(result.sizes.header_bytes),
            "SentBytes" => Value::Long(i64::try_from(result.sizes.sent_bytes).unwrap_or(i64::MAX)),
            "IdleTime" => Value::Long(whole_ms(result.times.idle_ns)),
            "GroupThreads" => number(u64::from(result.users.group)),
            "AllThreads" => number(u64::from(result.users.all)),
            "ErrorCount" => Value::Integer(i32::from(!result.outcome.success)),
            "SampleCount" => Value::Integer(1),
            "FirstAssertionFailureMessage" => {
                let failed = result.assertions.iter().find(|outcome| outcome.failure || outcome.error);
                failed.map_or(Value::Null, |outcome| Value::text(&outcome.message))
            }
            "TestLogicalAction" => Value::text(match result.after.next {
                LogicalAction::Continue => "CONTINUE",
                LogicalAction::NextIterationOfThread => "START_NEXT_ITERATION_OF_THREAD",
                LogicalAction::NextIterationOfLoop => "START_NEXT_ITERATION_OF_CURRENT_LOOP",
                LogicalAction::BreakLoop => "BREAK_CURRENT_LOOP",
            }),
            _ => return None,
        })
    }

    fn assertions(&self) -> Vec<AssertionFacts> {
        let facts = |outcome: &busyhour_sample::AssertionResult| AssertionFacts {
            name: outcome.name.clone(),
            verdict: AssertionVerdict {
                failure: outcome.failure,
                error: outcome.error,
                message: outcome.message.clone(),
            },
            has_message: outcome.message().is_some(),
        };
        self.result.assertions.iter().map(facts).collect()
    }

    fn sub_results(&self) -> usize {
        self.result.sub_results.len()
    }

    fn sub_result(&self, at: usize, getter: &str) -> Option<Value> {
        let result = self.result.sub_results.get(at)?;
        Some(match getter {
            "getSampleLabel" => Value::text(&result.label),
            "getResponseCode" => Value::text(&result.outcome.code),
            "getResponseMessage" => Value::text(&result.outcome.message),
            "getResponseDataAsString" => Value::text(result.body_text()),
            "getResponseHeaders" => Value::text(&result.response_headers),
            "getRequestHeaders" => Value::text(&result.request_headers),
            "getSamplerData" => Value::text(&result.request_data),
            "getUrlAsString" | "getURL" => Value::text(&result.url),
            "isSuccessful" => Value::Boolean(result.outcome.success),
            "getTime" => Value::Long(i64::try_from(result.elapsed_ms()).unwrap_or(i64::MAX)),
            "getLatency" => Value::Long(whole_ms(result.times.latency_ns)),
            _ => return None,
        })
    }
}

impl SampleChanges for ScriptResultAccess {
    fn set_successful(&mut self, successful: bool) {
        self.result.outcome.success = successful;
    }

    fn set_response_code(&mut self, code: &str) {
        replace(&mut self.result.outcome.code, code);
    }

    fn set_response_message(&mut self, message: &str) {
        replace(&mut self.result.outcome.message, message);
    }

    fn set_label(&mut self, label: &str) {
        replace(&mut self.result.label, label);
    }

    fn set_response_data(&mut self, data: &[u8], encoding: Option<&str>) {
        self.result.body.clear();
        self.result.body.extend_from_slice(data);
        if self.is_sampler {
            self.result.sizes.body_bytes = data.len() as u64;
        }
        if let Some(encoding) = encoding {
            replace(&mut self.result.content.encoding, encoding);
        }
    }

    fn change(&mut self, name: &str, value: Value) -> bool {
        let now = self.clock.now();
        let wall_start_ms = self.clock.wall_start_ms();
        let result = &mut self.result;
        match (name, &value) {
            ("StartTime", Value::Long(_) | Value::Integer(_)) => {
                let ms = match value {
                    Value::Long(ms) => ms,
                    Value::Integer(ms) => i64::from(ms),
                    _ => 0,
                };
                // A start before the start of the run is recorded as the start of the run.
                let start = ms.saturating_sub(i64::try_from(wall_start_ms).unwrap_or(0));
                move_start(result, u64::try_from(start).unwrap_or(0).saturating_mul(1_000_000));
            }
            ("TestLogicalAction", Value::Text(action)) => {
                result.after.next = match &**action {
                    "START_NEXT_ITERATION_OF_THREAD" => LogicalAction::NextIterationOfThread,
                    "START_NEXT_ITERATION_OF_CURRENT_LOOP" => LogicalAction::NextIterationOfLoop,
                    "BREAK_CURRENT_LOOP" => LogicalAction::BreakLoop,
                    _ => LogicalAction::Continue,
                };
            }
            ("RequestHeaders", Value::Text(text)) => replace(&mut result.request_headers, text),
            ("ResponseHeaders", Value::Text(text)) => replace(&mut result.response_headers, text),
            ("SamplerData", Value::Text(text)) => replace(&mut result.request_data, text),
            ("ContentType", Value::Text(text)) => replace(&mut result.content_type, text),
            ("DataEncoding", Value::Text(text)) => replace(&mut result.content.encoding, text),
            ("DataType", Value::Text(text)) => {
                result.content.data_type = match &**text {
                    "text" => DataType::Text,
                    "bin" => DataType::Binary,
                    _ => DataType::Unknown,
                };
            }
            ("StopThread", Value::Boolean(stop)) => result.after.stop_user = *stop,
            ("StopTest", Value::Boolean(stop)) => result.after.stop_test = *stop,
            ("StopTestNow", Value::Boolean(stop)) => result.after.stop_test_now = *stop,
            ("Latency", Value::Integer(ms)) => {
                result.times.latency_ns = u64::from(ms.unsigned_abs()) * 1_000_000
            }
            ("Latency", Value::Long(ms)) => {
                result.times.latency_ns = ms.unsigned_abs().saturating_mul(1_000_000)
            }
            ("ConnectTime", Value::Integer(ms)) => {
                result.times.connect_ns = u64::from(ms.unsigned_abs()) * 1_000_000
            }
            ("ConnectTime", Value::Long(ms)) => {
                result.times.connect_ns = ms.unsigned_abs().saturating_mul(1_000_000)
            }
            ("BodySize", Value::Integer(bytes)) => result.sizes.body_bytes = u64::from(bytes.unsigned_abs()),
            ("BodySize", Value::Long(bytes)) => result.sizes.body_bytes = bytes.unsigned_abs(),
            ("SentBytes", Value::Integer(bytes)) => result.sizes.sent_bytes = u64::from(bytes.unsigned_abs()),
            ("SentBytes", Value::Long(bytes)) => result.sizes.sent_bytes = bytes.unsigned_abs(),
            ("setIgnore", _) => result.marks.ignore = true,
            // JMeter has already started the sample. It only logs an error for a second start.
            ("sampleStart", _) if self.is_sampler => {}
            ("sampleEnd", _) if self.is_sampler => {
                if result.times.end == Nanos::default() {
                    result.times.end = now;
                }
            }
            ("latencyEnd", _) if self.is_sampler => {
                result.times.latency_ns = now.0.saturating_sub(result.times.start.0)
            }
            _ => return false,
        }
        true
    }

    fn add_sub_result(&mut self, result: &ScriptResult, extends: bool) -> Option<usize> {
        let sub = sample_result(result, &self.clock);
        if extends {
            self.result.times.end = self.result.times.end.max(sub.times.end);
            self.result.sizes += sub.sizes;
        }
        self.result.sub_results.push(sub);
        Some(self.result.sub_results.len() - 1)
    }

    fn replace_sub_result(&mut self, at: usize, result: &ScriptResult) {
        if let Some(replaced) = self.result.sub_results.get_mut(at) {
            *replaced = sample_result(result, &self.clock);
        }
    }
}

#[cfg(test)]
mod tests {
    use busyhour_script::{SAMPLE_CHANGES, SAMPLE_FACTS, SUB_RESULT_GETTERS};

    use super::*;

    /// The check of scripts accepts the names in these lists.
    #[test]
    fn results_provide_all_names_that_the_check_accepts() {
        let result = SampleResult { sub_results: vec![SampleResult::default()], ..SampleResult::default() };
        let clock = busyhour_program::clock::Clock::manual(0);
        let mut facts = ScriptResultAccess { result, clock, is_sampler: true };
        for name in SAMPLE_FACTS {
            assert!(facts.fact(name).is_some(), "{name}");
        }
        for getter in SUB_RESULT_GETTERS {
            assert!(facts.sub_result(0, getter).is_some(), "{getter}");
        }
        let values = [Value::text("text"), Value::Boolean(false), Value::Integer(1), Value::Null];
        for name in SAMPLE_CHANGES {
            assert!(values.iter().any(|value| facts.change(name, value.clone())), "{name}");
        }
    }
}
