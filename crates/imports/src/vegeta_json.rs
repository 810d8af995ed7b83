//! `vegeta encode --to json`: one JSON object per request and line.

use std::borrow::Cow;
use std::io::Read;

use serde::Deserialize;

use crate::error::{BadLine, ImportError};
use crate::lines::Lines;
use crate::sample::{ImportedSample, Step};
use crate::stamps::rfc3339_ns;
use crate::vegeta_csv::label;

#[derive(Deserialize)]
struct Line<'l> {
    #[serde(borrow, default)]
    attack: Cow<'l, str>,
    code: u16,
    #[serde(borrow)]
    timestamp: Cow<'l, str>,
    latency: i64,
    #[serde(default)]
    bytes_out: u64,
    #[serde(default)]
    bytes_in: u64,
    #[serde(borrow, default)]
    error: Cow<'l, str>,
    #[serde(borrow, default)]
    method: Cow<'l, str>,
    #[serde(borrow, default)]
    url: Cow<'l, str>,
}

pub(crate) struct VegetaJson<R>(Lines<R>);

impl<R: Read> VegetaJson<R> {
    pub(crate) fn new(input: R) -> VegetaJson<R> {
        VegetaJson(Lines::new(input))
    }

    pub(crate) fn read(&mut self, sample: &mut ImportedSample) -> Result<Step, ImportError> {
        while self.0.next()? {
            if self.0.text().is_empty() {
                continue;
            }
            return Ok(match (take(self.0.text(), self.0.number(), sample), self.0.cut_at()) {
                (Ok(()), _) => Step::Sample,
                (Err(_), Some(at)) => Step::End { cut_at: Some(at) },
                (Err(bad), None) => Step::Bad(bad),
            });
        }
        Ok(Step::End { cut_at: None })
    }
}

fn take(text: &[u8], number: u64, sample: &mut ImportedSample) -> Result<(), BadLine> {
    let line: Line<'_> = serde_json::from_slice(text).map_err(|error| {
        let column = error.column().saturating_sub(1);
        BadLine::new(number, column, "JSON", &text[column.min(text.len())..], "is not a result of vegeta")
    })?;
    let bad = |field, value: &[u8], problem| Err(BadLine::new(number, 0, field, value, problem));
    let Some(start_ns) = rfc3339_ns(line.timestamp.as_bytes()) else {
        return bad("timestamp", line.timestamp.as_bytes(), "is not a time");
    };
    let Ok(duration_ns) = u64::try_from(line.latency) else {
        return bad("latency", line.latency.to_string().as_bytes(), "is not a duration in ns");
    };
    sample.clear();
    sample.start_ns = start_ns;
    sample.duration_ns = duration_ns;
    label(&line.method, &line.url, &mut sample.label);
    sample.group.push_str(&line.attack);
    sample.code.push_str(&line.code.to_string());
    sample.message.push_str(&line.error);
    sample.url.push_str(&line.url);
    sample.success = line.error.is_empty();
    sample.received_bytes = line.bytes_in;
    sample.sent_bytes = line.bytes_out;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"attack":"buy","seq":1,"code":500,"timestamp":"2026-11-01T11:00:00.5+01:00","latency":1500,"bytes_out":3,"bytes_in":6,"error":"500 Internal Server Error","body":"aGVsbG8K","method":"GET","url":"http://shop:80/cart?id=1","headers":{"Server":["x"]}}"#;

    #[test]
    fn a_line_is_a_sample() {
        let text = format!("{LINE}\n{}\n{LINE}\n{}", LINE.replace("1500", "-1"), &LINE[..70]);
        let mut reader = VegetaJson::new(text.as_bytes());
        let mut sample = ImportedSample::default();
        assert_eq!(reader.read(&mut sample).unwrap(), Step::Sample);
        let expected = ImportedSample {
            start_ns: 1_793_527_200_500_000_000,
            duration_ns: 1_500,
            label: "GET /cart".into(),
            group: "buy".into(),
            code: "500".into(),
            message: "500 Internal Server Error".into(),
            url: "http://shop:80/cart?id=1".into(),
            received_bytes: 6,
            sent_bytes: 3,
            ..ImportedSample::default()
        };
        assert_eq!(sample, expected);
        let Step::Bad(bad) = reader.read(&mut sample).unwrap() else { panic!("is not bad") };
        assert_eq!(bad.to_string(), "line 2, column 1: latency \"-1\" is not a duration in ns");
        assert_eq!(reader.read(&mut sample).unwrap(), Step::Sample);
        assert!(matches!(reader.read(&mut sample).unwrap(), Step::End { cut_at: Some(_) }));
    }
}
