//! Converts sample results created by scripts to results of the engine.

use busyhour_program::clock::Clock;
use busyhour_program::result::{RecordMarks, SampleResult};
use busyhour_sample::{DataType, Nanos, SampleContent, SampleSizes, SampleTimes};
use busyhour_script::ScriptResult;

/// Converts a result to the engine's type. A time before the start of the run becomes the start of the run, because times
/// are recorded relative to it.
pub(crate) fn sample_result(created: &ScriptResult, clock: &Clock) -> SampleResult {
    let at = |wall_ms: i64| {
        let since_start = u64::try_from(wall_ms).unwrap_or(0).saturating_sub(clock.wall_start_ms());
        Nanos(since_start.saturating_mul(1_000_000))
    };
    let length = |ms: i64| u64::try_from(ms).unwrap_or(0).saturating_mul(1_000_000);
    let size = |bytes: i64| u64::try_from(bytes).unwrap_or(0);
    let start = at(created.times.start_ms);
    let idle_ns = length(created.times.idle_ms);
    let header_bytes = size(created.headers_size);
    SampleResult {
        label: created.label.clone(),
        times: SampleTimes {
            connect_ns: length(created.times.connect_ms),
            latency_ns: length(created.times.latency_ms),
            idle_ns,
            ..SampleTimes::of_one_clock(start, start + length(created.times.elapsed_ms) + idle_ns)
        },
        outcome: created.outcome.clone(),
        content: SampleContent::new(
            match created.data_type.as_str() {
                "text" => DataType::Text,
                "bin" => DataType::Binary,
                _ => DataType::Unknown,
            },
            created.encoding.clone().unwrap_or_default(),
        ),
        content_type: created.content_type.clone(),
        sizes: SampleSizes::new(
            header_bytes,
            size(created.total_bytes()).saturating_sub(header_bytes),
            size(created.sent_bytes),
        ),
        url: created.url.clone().unwrap_or_default(),
        request_headers: created.request_headers.clone(),
        request_data: created.sampler_data.clone().unwrap_or_default(),
        response_headers: created.response_headers.clone(),
        body: created.data.clone(),
        marks: RecordMarks {
            ignore: created.is_ignored,
            unnamed_thread: created.thread_name.is_empty(),
            ..RecordMarks::default()
        },
        sub_results: created.sub_results.iter().map(|sub| sample_result(sub, clock)).collect(),
        ..SampleResult::default()
    }
}

#[cfg(test)]
mod tests {
    use busyhour_script::ScriptTimes;

    use super::*;

    #[test]
    fn times_are_relative_to_the_start_of_the_run() {
        let created = ScriptResult {
            label: "step".into(),
            times: ScriptTimes {
                start_ms: 1_500,
                end_ms: 1_760,
                elapsed_ms: 250,
                idle_ms: 10,
                ..ScriptTimes::default()
            },
            data: b"abc".to_vec(),
            headers_size: 4,
            sub_results: vec![ScriptResult {
                times: ScriptTimes { start_ms: 900, ..ScriptTimes::default() },
                ..ScriptResult::default()
            }],
            ..ScriptResult::default()
        };
        let result = sample_result(&created, &Clock::manual(1_000));
        assert_eq!((result.times.start, result.times.end), (Nanos(500_000_000), Nanos(760_000_000)));
        assert_eq!((result.elapsed_ms(), result.bytes()), (250, 7));
        assert_eq!(result.sub_results[0].times.start, Nanos(0), "before the start of the run");
    }
}
