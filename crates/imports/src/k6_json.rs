//! k6 `--out json`: one JSON object per line, which declares a metric or is one value of it.

use std::borrow::Cow;
use std::io::Read;

use serde::Deserialize;

use crate::error::{BadLine, ImportError};
use crate::k6::{K6Metric, K6State, is_success, metric, set_times};
use crate::lines::Lines;
use crate::sample::{ImportedSample, Step};
use crate::stamps::rfc3339_ns;

/// A line. Fields of other lines are ignored.
#[derive(Deserialize)]
struct Line<'l> {
    #[serde(borrow, default)]
    metric: Cow<'l, str>,
    #[serde(borrow, default)]
    r#type: Cow<'l, str>,
    #[serde(borrow, default)]
    data: Data<'l>,
}

#[derive(Deserialize, Default)]
struct Data<'l> {
    #[serde(borrow, default)]
    time: Cow<'l, str>,
    #[serde(default)]
    value: Option<f64>,
    #[serde(borrow, default)]
    tags: Option<Tags<'l>>,
}

#[derive(Deserialize, Default)]
struct Tags<'l> {
    #[serde(borrow, default)]
    name: Cow<'l, str>,
    #[serde(borrow, default)]
    scenario: Cow<'l, str>,
    #[serde(borrow, default)]
    status: Cow<'l, str>,
    #[serde(borrow, default)]
    url: Cow<'l, str>,
    #[serde(borrow, default)]
    error: Cow<'l, str>,
    #[serde(borrow, default)]
    error_code: Cow<'l, str>,
    #[serde(borrow, default)]
    expected_response: Cow<'l, str>,
}

pub(crate) struct K6Json<R> {
    lines: Lines<R>,
    pub(crate) state: K6State,
}

impl<R: Read> K6Json<R> {
    pub(crate) fn new(input: R) -> K6Json<R> {
        K6Json { lines: Lines::new(input), state: K6State::default() }
    }

    pub(crate) fn read(&mut self, sample: &mut ImportedSample) -> Result<Step, ImportError> {
        while self.lines.next()? {
            if self.lines.text().is_empty() {
                continue;
            }
            match take(self.lines.text(), self.lines.number(), &mut self.state, sample) {
                Ok(true) => return Ok(Step::Sample),
                Ok(false) => {}
                Err(bad) => {
                    return Ok(match self.lines.cut_at() {
                        Some(at) => Step::End { cut_at: Some(at) },
                        None => Step::Bad(bad),
                    });
                }
            }
        }
        Ok(Step::End { cut_at: None })
    }
}

/// Reads a line. Returns whether it is a request, which is then stored in `sample`.
fn take(text: &[u8], number: u64, state: &mut K6State, sample: &mut ImportedSample) -> Result<bool, BadLine> {
    let line: Line<'_> = serde_json::from_slice(text).map_err(|error| {
        let column = error.column().saturating_sub(1);
        BadLine::new(number, column, "JSON", &text[column.min(text.len())..], "is not a value of a metric")
    })?;
    let Some(metric) = metric(line.metric.as_bytes()).filter(|_| line.r#type == "Point") else {
        return Ok(false);
    };
    let bad = |field, value: &[u8], problem| Err(BadLine::new(number, 0, field, value, problem));
    let Some(value) = line.data.value else { return bad("value", b"", "is missing") };
    if metric != K6Metric::RequestDuration {
        state.add(metric, value);
        return Ok(false);
    }
    sample.clear();
    let Some(end_ns) = rfc3339_ns(line.data.time.as_bytes()) else {
        return bad("time", line.data.time.as_bytes(), "is not a time");
    };
    if !set_times(sample, end_ns, value) {
        return bad("value", value.to_string().as_bytes(), "is not a duration in ms");
    }
    let tags = line.data.tags.unwrap_or_default();
    sample.label.push_str(if tags.name.is_empty() { &tags.url } else { &tags.name });
    sample.group.push_str(&tags.scenario);
    sample.code.push_str(&tags.status);
    sample.message.push_str(&tags.error);
    sample.url.push_str(&tags.url);
    sample.success =
        is_success(tags.expected_response.as_bytes(), tags.status.as_bytes(), tags.error_code.as_bytes());
    sample.users = state.users;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINT: &str = r#"{"metric":"http_req_duration","type":"Point","data":{"time":"2026-11-01T10:00:01.5Z","value":12.5,"tags":{"expected_response":"false","group":"","method":"GET","name":"cart","scenario":"buyers","status":"503","url":"http://shop/cart?id=1","error_code":"1503"}}}"#;

    fn read(text: &str) -> (Vec<ImportedSample>, Vec<BadLine>, Option<u64>, K6State) {
        let mut reader = K6Json::new(text.as_bytes());
        let (mut samples, mut bad, mut sample) = (Vec::new(), Vec::new(), ImportedSample::default());
        loop {
            match reader.read(&mut sample).unwrap() {
                Step::Sample => samples.push(sample.clone()),
                Step::Bad(line) => bad.push(line),
                Step::End { cut_at } => return (samples, bad, cut_at, reader.state),
            }
        }
    }

    #[test]
    fn a_point_of_the_duration_is_a_sample() {
        let users =
            r#"{"metric":"vus","type":"Point","data":{"time":"2026-11-01T10:00:01Z","value":7,"tags":null}}"#;
        let declared = r#"{"type":"Metric","data":{"name":"http_req_duration","type":"trend","contains":"time","thresholds":[],"submetrics":null},"metric":"http_req_duration"}"#;
        let dropped = r#"{"metric":"dropped_iterations","type":"Point","data":{"time":"2026-11-01T10:00:01Z","value":3,"tags":{"scenario":"buyers"}}}"#;
        let (samples, bad, cut_at, state) = read(&format!("{declared}\n{users}\n{dropped}\n{POINT}\n"));
        let expected = ImportedSample {
            start_ns: 1_793_527_201_487_500_000,
            duration_ns: 12_500_000,
            label: "cart".into(),
            group: "buyers".into(),
            code: "503".into(),
            url: "http://shop/cart?id=1".into(),
            users: 7,
            ..ImportedSample::default()
        };
        assert_eq!((samples, bad, cut_at, state.notes.dropped), (vec![expected], Vec::new(), None, 3));
    }

    #[test]
    fn a_bad_line_is_named_with_line_and_column() {
        let wrong = POINT.replace("12.5", "\"x\"");
        let (samples, bad, cut_at, _) = read(&format!("{POINT}\n{wrong}\n{POINT}\n{}", &POINT[..50]));
        assert_eq!((samples.len(), cut_at), (2, Some(POINT.len() as u64 * 3 + 2)));
        let text = bad[0].to_string();
        assert!(text.starts_with("line 2, column 96: JSON"), "{text}");
        let (_, bad, _, _) = read(&format!("{}\n", POINT.replace("12.5", "-1")));
        assert_eq!(bad[0].to_string(), "line 1, column 1: value \"-1\" is not a duration in ms");
    }
}
