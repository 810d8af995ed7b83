//! `vegeta encode --to csv`: one row per request, without column names.

use std::io::Read;

use crate::csv_cells::split;
use crate::error::{BadLine, ImportError};
use crate::lines::Lines;
use crate::sample::{ImportedSample, Step};
use crate::stamps::whole_ns;

/// The columns: time stamp, code, latency, bytes out, bytes in, error, body, attack, sequence number, method, URL, headers. Early
/// versions lack the last three.
const COLUMNS: std::ops::RangeInclusive<usize> = 9..=12;

/// Whether a row is one of vegeta: it starts with a time in ns, a code, a latency and two sizes.
pub(crate) fn is_row(line: &[u8]) -> bool {
    let cells = split(line);
    let number = |at: usize| cells.get(at).and_then(|cell| whole_ns(&cell.text, 1));
    let digits = cells.first().map_or(0, |cell| cell.text.len());
    COLUMNS.contains(&cells.len())
        && (18..=19).contains(&digits)
        && number(0).is_some()
        && number(1).is_some_and(|code| (0..1_000).contains(&code))
        && (2..=4).all(|at| number(at).is_some())
        && number(8).is_some()
}

/// Appends the name of a request to `label`: the method, and the URL without the host and the query.
pub(crate) fn label(method: &str, url: &str, label: &mut String) {
    let path = url.split_once("://").map_or(url, |(_, rest)| rest.find('/').map_or("/", |at| &rest[at..]));
    let path = path.split(['?', '#']).next().unwrap_or_default();
    match (method, path) {
        ("", "") => label.push_str("requests"),
        ("", path) => label.push_str(path),
        (method, path) => {
            label.push_str(method);
            label.push(' ');
            label.push_str(path);
        }
    }
}

pub(crate) struct VegetaCsv<R>(Lines<R>);

impl<R: Read> VegetaCsv<R> {
    pub(crate) fn new(input: R) -> VegetaCsv<R> {
        VegetaCsv(Lines::new(input))
    }

    pub(crate) fn read(&mut self, sample: &mut ImportedSample) -> Result<Step, ImportError> {
        while self.0.next_record()? {
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

fn take(line: &[u8], number: u64, sample: &mut ImportedSample) -> Result<(), BadLine> {
    let cells = split(line);
    if cells.len() < *COLUMNS.start() {
        return Err(BadLine::new(number, 0, "row", line, "has too few columns"));
    }
    let bad = |at: usize, field, problem| BadLine::new(number, cells[at].at, field, &cells[at].text, problem);
    let whole = |at: usize, field, problem| {
        whole_ns(&cells[at].text, 1).filter(|value| *value >= 0).ok_or_else(|| bad(at, field, problem))
    };
    let text =
        |at: usize| cells.get(at).map_or_else(Default::default, |cell| String::from_utf8_lossy(&cell.text));
    sample.clear();
    sample.start_ns = whole(0, "timestamp", "is not a time in ns since 1970")?;
    sample.duration_ns = whole(2, "latency", "is not a duration in ns")?.unsigned_abs();
    sample.sent_bytes = whole(3, "bytes_out", "is not a number of bytes")?.unsigned_abs();
    sample.received_bytes = whole(4, "bytes_in", "is not a number of bytes")?.unsigned_abs();
    sample.code.push_str(&text(1));
    sample.message.push_str(&text(5));
    sample.group.push_str(&text(7));
    sample.url.push_str(&text(10));
    label(&text(9), &text(10), &mut sample.label);
    sample.success = cells[5].text.is_empty();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str =
        "1793527200500000000,500,1500,3,6,\"500, \"\"x\"\"\",aGVsbG8K,buy,0,GET,http://shop/cart?id=1,eA==";

    #[test]
    fn a_row_is_a_sample() {
        let text = format!("{ROW}\n{}\n1793527200500000000,500\n{}", ROW.replace("1500", "x"), &ROW[..25]);
        let mut reader = VegetaCsv::new(text.as_bytes());
        let mut sample = ImportedSample::default();
        assert_eq!(reader.read(&mut sample).unwrap(), Step::Sample);
        let expected = ImportedSample {
            start_ns: 1_793_527_200_500_000_000,
            duration_ns: 1_500,
            label: "GET /cart".into(),
            group: "buy".into(),
            code: "500".into(),
            message: "500, \"x\"".into(),
            url: "http://shop/cart?id=1".into(),
            received_bytes: 6,
            sent_bytes: 3,
            ..ImportedSample::default()
        };
        assert_eq!(sample, expected);
        let mut bad = || match reader.read(&mut sample).unwrap() {
            Step::Bad(bad) => bad.to_string(),
            other => format!("{other:?}"),
        };
        assert_eq!(bad(), "line 2, column 25: latency \"x\" is not a duration in ns");
        assert_eq!(bad(), "line 3, column 1: row \"1793527200500000000,500\" has too few columns");
        assert!(bad().starts_with("End { cut_at: Some("));
    }

    #[test]
    fn rows_of_a_jtl_without_header_are_not_rows_of_vegeta() {
        assert!(is_row(ROW.as_bytes()));
        assert!(!is_row(b"1793527200500,12,home,200,OK,Users 1-1,text,true,,100,1,1"));
        assert!(!is_row(b"1793527200500000000,500,1500,3,6"));
    }

    #[test]
    fn labels_have_no_host_and_no_query() {
        for (method, url, expected) in [
            ("GET", "https://shop", "GET /"),
            ("POST", "http://shop:80/a/b?c=d#e", "POST /a/b"),
            ("", "", "requests"),
            ("", "/a", "/a"),
        ] {
            let mut found = String::new();
            label(method, url, &mut found);
            assert_eq!(found, expected);
        }
    }
}
