//! Sample results that scripts made, as the engine records them.

use busyhour_program::clock::Clock;
use busyhour_program::result::SampleResult;
use busyhour_record::{DataType, Nanos, SampleTimes};
use busyhour_script::ScriptResult;

/// The result as the engine records it. A time before the start of the run becomes the start of the run, because times
/// are recorded relative to it.
pub(crate) fn of(made: &ScriptResult, clock: &Clock) -> SampleResult {
    let at = |wall_ms: i64| {
        let since_start = u64::try_from(wall_ms).unwrap_or(0).saturating_sub(clock.wall_start_ms());
        Nanos(since_start.saturating_mul(1_000_000))
    };
    let length = |ms: i64| u64::try_from(ms).unwrap_or(0).saturating_mul(1_000_000);
    let size = |bytes: i64| u64::try_from(bytes).unwrap_or(0);
    let start = at(made.start_ms);
    let idle_ns = length(made.idle_ms);
    let header_bytes = size(made.headers_size);
    SampleResult {
        label: made.label.clone(),
        times: SampleTimes {
            intended: start,
            start,
            end: Nanos(start.0.saturating_add(length(made.elapsed_ms)).saturating_add(idle_ns)),
            connect_ns: length(made.connect_ms),
            latency_ns: length(made.latency_ms),
            idle_ns,
        },
        code: made.code.clone(),
        message: made.message.clone(),
        data_type: match made.data_type.as_str() {
            "text" => DataType::Text,
            "bin" => DataType::Binary,
            _ => DataType::Unknown,
        },
        encoding: made.encoding.clone().unwrap_or_default(),
        content_type: made.content_type.clone(),
        success: made.successful,
        header_bytes,
        body_bytes: size(made.total_bytes()).saturating_sub(header_bytes),
        sent_bytes: size(made.sent_bytes),
        url: made.url.clone().unwrap_or_default(),
        request_headers: made.request_headers.clone(),
        request_data: made.sampler_data.clone().unwrap_or_default(),
        response_headers: made.response_headers.clone(),
        body: made.data.clone(),
        ignore: made.is_ignored,
        sub_results: made.sub_results.iter().map(|sub| of(sub, clock)).collect(),
        unnamed_thread: made.thread_name.is_empty(),
        ..SampleResult::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_relative_to_the_start_of_the_run() {
        let made = ScriptResult {
            label: "step".into(),
            start_ms: 1_500,
            end_ms: 1_760,
            elapsed_ms: 250,
            idle_ms: 10,
            data: b"abc".to_vec(),
            headers_size: 4,
            sub_results: vec![ScriptResult { start_ms: 900, ..ScriptResult::default() }],
            ..ScriptResult::default()
        };
        let result = of(&made, &Clock::manual(1_000));
        assert_eq!((result.times.start, result.times.end), (Nanos(500_000_000), Nanos(760_000_000)));
        assert_eq!((result.elapsed_ms(), result.bytes()), (250, 7));
        assert_eq!(result.sub_results[0].times.start, Nanos(0), "before the start of the run");
    }
}
