//! The shape of a recording: its content without the parts that depend on chance.

use crate::recording::{Recording, RequestRecord};
use crate::rows::split;

/// The columns that normally do not depend on chance. The last two are the outcome of a sample.
const COLUMNS: [&str; 4] = ["label", "threadName", "responseCode", "success"];

/// The parts of a recording that its shape does not contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemovedParts {
    /// Values. Requests are reduced to their method and path (without query, headers and body), and rows to label,
    /// code, thread and success. Numbers in paths and labels are replaced. The number of occurrences of each request
    /// and row is compared, but not the order of requests and rows.
    Values,
    /// Values, and the number of occurrences of each request and row.
    Counts,
    /// Values, the number of occurrences of each request and row, and the outcomes of samples.
    Outcomes,
}

/// The shape of a recording. It is the same for two runs of a plan that uses random values.
#[must_use]
pub fn shape(recording: &Recording, removed: RemovedParts) -> Recording {
    let mut requests: Vec<_> = recording.requests.iter().map(request_shape).collect();
    requests.sort();
    let mut rows = split(&recording.results.join("\n"), ',').into_iter();
    let header = rows.next().unwrap_or_default();
    let columns = if removed == RemovedParts::Outcomes { &COLUMNS[..2] } else { &COLUMNS[..] };
    let places: Vec<_> = columns.iter().map(|name| header.iter().position(|column| column == name)).collect();
    let mut results: Vec<String> = rows
        .map(|row| {
            let fields =
                places.iter().map(|place| place.and_then(|at| row.get(at)).map_or("", String::as_str));
            without_numbers(&fields.collect::<Vec<_>>().join(","))
        })
        .collect();
    results.sort();
    if removed != RemovedParts::Values {
        requests.dedup();
        results.dedup();
    }
    Recording { exit_code: recording.exit_code, requests, results, ..Recording::default() }
}

fn request_shape(request: &RequestRecord) -> RequestRecord {
    let line = &request.request;
    let words: Vec<_> = line.split(' ').collect();
    let target = words.get(1).copied().unwrap_or_default();
    let path = target.split(['?', '#']).next().unwrap_or_default();
    let method = words.first().copied().unwrap_or_default();
    RequestRecord { request: format!("{method} {}", without_numbers(path)), ..RequestRecord::default() }
}

/// Replaces each sequence of digits with one `#`.
fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_ascii_digit() {
            true if out.ends_with('#') => {}
            true => out.push('#'),
            false => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(requests: &[&str], rows: &[&str]) -> Recording {
        let request = |line: &&str| RequestRecord { request: (*line).into(), ..RequestRecord::default() };
        let header = "timeStamp,label,responseCode,threadName,success";
        Recording {
            requests: requests.iter().map(request).collect(),
            results: std::iter::once(header).chain(rows.iter().copied()).map(str::to_owned).collect(),
            ..Recording::default()
        }
    }

    #[test]
    fn values_and_order_are_removed_but_numbers_of_occurrences_are_compared() {
        let a = recording(&["GET /a/17?x=1 HTTP/1.1", "GET /b HTTP/1.1"], &["{T},\"a, b\",200,t 1-1,true"]);
        let b = recording(&["GET /b HTTP/1.1", "GET /a/9 HTTP/1.1"], &["{T},\"a, b\",200,t 1-1,true"]);
        assert_eq!(shape(&a, RemovedParts::Values), shape(&b, RemovedParts::Values));
        assert_eq!(shape(&a, RemovedParts::Values).results, ["\"a, b\",t #-#,#,true"]);
        let c = recording(
            &["GET /b HTTP/1.1", "GET /a/9 HTTP/1.1", "GET /a/8 HTTP/1.1"],
            &["{T},\"a, b\",200,t 1-1,true"],
        );
        assert_ne!(shape(&a, RemovedParts::Values), shape(&c, RemovedParts::Values));
        assert_eq!(shape(&a, RemovedParts::Counts), shape(&c, RemovedParts::Counts));
        let d = recording(&["GET /a/17 HTTP/1.1", "GET /b HTTP/1.1"], &["{T},\"a, b\",500,t 1-1,false"]);
        assert_ne!(shape(&a, RemovedParts::Counts), shape(&d, RemovedParts::Counts));
        assert_eq!(shape(&a, RemovedParts::Outcomes), shape(&d, RemovedParts::Outcomes));
    }
}
