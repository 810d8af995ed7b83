//! k6 `--out csv`: one row per value of a metric. The tags are columns.

use std::io::Read;

use crate::csv_cells::{CsvCell, split};
use crate::error::{BadLine, ImportError};
use crate::k6::{K6Metric, K6State, is_success, metric, set_times};
use crate::lines::Lines;
use crate::sample::{ImportedSample, Step};
use crate::stamps::{rfc3339_ns, whole_ns};

/// The start of the first line.
pub(crate) const HEAD: &[u8] = b"metric_name,timestamp,metric_value";

/// Positions of the columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Columns {
    expected_response: Option<usize>,
    error: Option<usize>,
    error_code: Option<usize>,
    name: Option<usize>,
    scenario: Option<usize>,
    status: Option<usize>,
    url: Option<usize>,
}

impl Columns {
    fn of(line: &[u8]) -> Columns {
        let cells = split(line);
        let find = |name: &[u8]| cells.iter().position(|cell| *cell.text == *name);
        Columns {
            expected_response: find(b"expected_response"),
            error: find(b"error"),
            error_code: find(b"error_code"),
            name: find(b"name"),
            scenario: find(b"scenario"),
            status: find(b"status"),
            url: find(b"url"),
        }
    }
}

pub(crate) struct K6Csv<R> {
    lines: Lines<R>,
    columns: Columns,
    pub(crate) state: K6State,
}

impl<R: Read> K6Csv<R> {
    pub(crate) fn new(input: R) -> K6Csv<R> {
        K6Csv { lines: Lines::new(input), columns: Columns::default(), state: K6State::default() }
    }

    pub(crate) fn read(&mut self, sample: &mut ImportedSample) -> Result<Step, ImportError> {
        while self.lines.next_record()? {
            let text = self.lines.text();
            // A concatenation of the files of several runs contains the column names several times.
            if text.is_empty() || text.starts_with(HEAD) {
                self.columns = if text.is_empty() { self.columns } else { Columns::of(text) };
                continue;
            }
            match take(text, self.lines.number(), &self.columns, &mut self.state, sample) {
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

/// Reads a row. Returns whether it is a request, which is then stored in `sample`.
fn take(
    line: &[u8],
    number: u64,
    columns: &Columns,
    state: &mut K6State,
    sample: &mut ImportedSample,
) -> Result<bool, BadLine> {
    let name_length = memchr::memchr(b',', line).unwrap_or(line.len());
    let Some(metric) = metric(&line[..name_length]) else { return Ok(false) };
    let cells = split(line);
    let bad = |at: usize, field, problem| {
        let missing = CsvCell { text: (&b""[..]).into(), at: line.len() };
        let cell = cells.get(at).unwrap_or(&missing);
        Err(BadLine::new(number, cell.at, field, &cell.text, problem))
    };
    let value = cells.get(2).and_then(|cell| std::str::from_utf8(&cell.text).ok()?.parse::<f64>().ok());
    let Some(value) = value else { return bad(2, "metric_value", "is not a number") };
    if metric != K6Metric::RequestDuration {
        state.add(metric, value);
        return Ok(false);
    }
    sample.clear();
    let Some(end_ns) = cells.get(1).and_then(|cell| stamp_ns(&cell.text)) else {
        return bad(1, "timestamp", "is not a time");
    };
    if !set_times(sample, end_ns, value) {
        return bad(2, "metric_value", "is not a duration in ms");
    }
    let cell = |at: Option<usize>| at.and_then(|at| cells.get(at)).map_or(&b""[..], |cell| &cell.text);
    let text = |at| String::from_utf8_lossy(cell(at));
    sample.label.push_str(&text(columns.name.filter(|at| !cell(Some(*at)).is_empty()).or(columns.url)));
    sample.group.push_str(&text(columns.scenario));
    sample.code.push_str(&text(columns.status));
    sample.message.push_str(&text(columns.error));
    sample.url.push_str(&text(columns.url));
    sample.success =
        is_success(cell(columns.expected_response), cell(columns.status), cell(columns.error_code));
    sample.users = state.users;
    Ok(true)
}

/// Parses a time stamp in one of the formats of `K6_CSV_TIME_FORMAT`, whose default is whole seconds.
fn stamp_ns(text: &[u8]) -> Option<i64> {
    match unit_ns(text) {
        Some(unit_ns) => whole_ns(text, unit_ns),
        None => rfc3339_ns(text),
    }
}

/// The unit of a time stamp, by its number of digits: a time of this century in s, ms, µs or ns since 1970. `None` for a date.
pub(crate) fn unit_ns(text: &[u8]) -> Option<i64> {
    if !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(match text.len() {
        0..=11 => 1_000_000_000,
        12..=14 => 1_000_000,
        15..=17 => 1_000,
        _ => 1,
    })
}

/// The clock tick of a file in ns, from the first row in its beginning.
pub(crate) fn tick_ns(head: &[u8]) -> u64 {
    let row = head.split(|byte| *byte == b'\n').nth(1).unwrap_or_default();
    let stamp = row.split(|byte| *byte == b',').nth(1).unwrap_or_default();
    match unit_ns(stamp) {
        Some(unit_ns) => unit_ns.unsigned_abs(),
        None if stamp.contains(&b'.') => 1,
        None => 1_000_000_000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &str = "metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,proto,\
         scenario,service,status,subproto,tls_version,url,extra_tags,metadata";

    fn read(text: &str) -> (Vec<ImportedSample>, Vec<String>, Option<u64>) {
        let mut reader = K6Csv::new(text.as_bytes());
        let (mut samples, mut bad, mut sample) = (Vec::new(), Vec::new(), ImportedSample::default());
        loop {
            match reader.read(&mut sample).unwrap() {
                Step::Sample => samples.push(sample.clone()),
                Step::Bad(line) => bad.push(line.to_string()),
                Step::End { cut_at } => return (samples, bad, cut_at),
            }
        }
    }

    #[test]
    fn a_row_of_the_duration_is_a_sample() {
        let text = format!(
            "{NAMES}\nhttp_reqs,1793527201,1.000000,,,,true,,GET,cart,HTTP/1.1,buyers,,200,,,http://shop/cart,,\n\
             vus,1793527201,7.000000,,,,,,,,,,,,,,,,\n\
             http_req_duration,1793527201500,12.500000,,\"dial, \"\"x\"\"\",1212,false,,GET,cart,,buyers,,0,,,http://shop/cart,,\n\
             http_req_duration,x,1,,,,,,,,,,,,,,,,\nhttp_req_duration,17935"
        );
        let (samples, bad, cut_at) = read(&text);
        let expected = ImportedSample {
            start_ns: 1_793_527_201_487_500_000,
            duration_ns: 12_500_000,
            label: "cart".into(),
            group: "buyers".into(),
            code: "0".into(),
            message: "dial, \"x\"".into(),
            url: "http://shop/cart".into(),
            users: 7,
            ..ImportedSample::default()
        };
        assert_eq!(samples, [expected]);
        assert_eq!(bad, ["line 5, column 19: timestamp \"x\" is not a time"]);
        assert_eq!(cut_at, Some(text.len() as u64 - 23));
    }

    #[test]
    fn the_tick_follows_from_the_first_row() {
        for (stamp, tick) in [
            ("1793527201", 1_000_000_000),
            ("1793527201000", 1_000_000),
            ("1793527201000000", 1_000),
            ("1793527201000000000", 1),
            ("2026-11-01T10:00:00Z", 1_000_000_000),
            ("2026-11-01T10:00:00.123Z", 1),
        ] {
            assert_eq!(tick_ns(format!("{NAMES}\nhttp_reqs,{stamp},1\n").as_bytes()), tick, "{stamp}");
        }
    }
}
