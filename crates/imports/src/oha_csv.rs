//! `oha --output-format csv`: one row per successful request, with times in seconds since the start of the run. Failed requests
//! are not in the file.

use std::io::Read;

use crate::csv_cells::split;
use crate::error::{BadLine, ImportError};
use crate::lines::Lines;
use crate::sample::{ImportedSample, Step};
use crate::stamps::parse_duration_ns;

/// The first line.
pub(crate) const HEAD: &[u8] = b"request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status";

/// The label of all requests: the file contains no address.
const LABEL: &str = "requests";

pub(crate) struct OhaCsv<R>(Lines<R>);

impl<R: Read> OhaCsv<R> {
    pub(crate) fn new(input: R) -> OhaCsv<R> {
        OhaCsv(Lines::new(input))
    }

    pub(crate) fn read(&mut self, sample: &mut ImportedSample) -> Result<Step, ImportError> {
        while self.0.next()? {
            let text = self.0.text();
            if text.is_empty() || text.starts_with(HEAD) {
                continue;
            }
            return Ok(match (take(text, self.0.number(), sample), self.0.cut_at()) {
                (Ok(()), _) => Step::Sample,
                (Err(_), Some(at)) => Step::End { cut_at: Some(at) },
                (Err(bad), None) => Step::Bad(bad),
            });
        }
        Ok(Step::End { cut_at: None })
    }
}

fn take(line: &[u8], number: u64, sample: &mut ImportedSample) -> Result<(), BadLine> {
    let cells = split(line);
    if cells.len() < 7 {
        return Err(BadLine::new(number, 0, "row", line, "has too few columns"));
    }
    let bad = |at: usize, field, problem| BadLine::new(number, cells[at].at, field, &cells[at].text, problem);
    let seconds = |at: usize, field| {
        parse_duration_ns(&cells[at].text, 1e9).ok_or_else(|| bad(at, field, "is not a number of seconds"))
    };
    sample.clear();
    sample.start_ns = seconds(0, "request-start")?.cast_signed();
    sample.connect_ns = seconds(2, "DNS+dialup")?;
    sample.latency_ns = seconds(3, "Response-delay")?;
    sample.duration_ns = seconds(4, "request-duration")?;
    let bytes = std::str::from_utf8(&cells[5].text).ok().and_then(|text| text.parse().ok());
    sample.received_bytes = bytes.ok_or_else(|| bad(5, "bytes", "is not a number of bytes"))?;
    sample.code.push_str(&String::from_utf8_lossy(&cells[6].text));
    sample.success = sample.code.parse::<u16>().is_ok_and(|code| code < 400);
    sample.label.push_str(LABEL);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_a_sample() {
        let head = String::from_utf8_lossy(HEAD);
        let text = format!("{head}\n0.0012,0.0001,0.0005,0.002,0.0025,6,503\n1,0,0,x,1,6,200\n0.5");
        let mut reader = OhaCsv::new(text.as_bytes());
        let mut sample = ImportedSample::default();
        assert_eq!(reader.read(&mut sample).unwrap(), Step::Sample);
        let expected = ImportedSample {
            start_ns: 1_200_000,
            duration_ns: 2_500_000,
            latency_ns: 2_000_000,
            connect_ns: 500_000,
            label: LABEL.into(),
            code: "503".into(),
            received_bytes: 6,
            ..ImportedSample::default()
        };
        assert_eq!(sample, expected);
        let Step::Bad(bad) = reader.read(&mut sample).unwrap() else { panic!("is not bad") };
        assert_eq!(bad.to_string(), "line 3, column 7: Response-delay \"x\" is not a number of seconds");
        assert_eq!(
            reader.read(&mut sample).unwrap(),
            Step::End { cut_at: Some(HEAD.len() as u64 + 1 + 39 + 17) }
        );
    }
}
