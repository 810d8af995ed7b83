//! Finds the differences between two recordings.

use std::fmt::Write as _;

use crate::recording::{Recording, RequestRecord};

/// Number of equal lines that are printed before a difference.
const CONTEXT_LINES: usize = 2;
/// Number of lines of each recording that are printed, starting with the first difference.
const PRINTED_LINES: usize = 6;

/// Compares a run with the recording of JMeter; `None` if they are equal. The text contains the first difference of each part
/// that differs, with its context. Lines of JMeter start with `-`, lines of the run with `+`.
pub fn differences(expected: &Recording, actual: &Recording) -> Option<String> {
    let mut diff = String::new();
    if expected.exit_code != actual.exit_code {
        writeln!(diff, "exit code:\n- {}\n+ {}", expected.exit_code, actual.exit_code).expect("a string");
    }
    compare_lines(
        &mut diff,
        "requests",
        &request_lines(&expected.requests),
        &request_lines(&actual.requests),
    );
    compare_lines(&mut diff, "results", &expected.results, &actual.results);
    let mut names: Vec<_> = expected.files.keys().chain(actual.files.keys()).collect();
    names.sort();
    names.dedup();
    let none = Vec::new();
    for name in names {
        let file_lines =
            |recording: &'_ Recording| recording.files.get(name).cloned().unwrap_or_else(|| none.clone());
        compare_lines(&mut diff, &format!("file {name}"), &file_lines(expected), &file_lines(actual));
    }
    (!diff.is_empty()).then_some(diff)
}

fn request_lines(requests: &[RequestRecord]) -> Vec<String> {
    let mut out = Vec::new();
    for (at, request) in requests.iter().enumerate() {
        out.push(format!("#{} connection {}: {}", at + 1, request.connection, request.request));
        out.extend(request.headers.iter().map(|header| format!("    {header}")));
        out.extend(request.body.split_inclusive('\n').map(|line| format!("    | {line:?}")));
        if !request.body_base64.is_empty() {
            out.push(format!("    | base64 {}", request.body_base64));
        }
    }
    out
}

fn compare_lines(diff: &mut String, part: &str, expected: &[String], actual: &[String]) {
    let same = expected.iter().zip(actual).take_while(|(a, b)| a == b).count();
    if same == expected.len() && same == actual.len() {
        return;
    }
    let mut write_line =
        |mark: char, line: &str| writeln!(diff, "{mark} {line}").expect("a string takes any text");
    write_line(
        '@',
        &format!("{part}: {} lines expected, {} found, line {}", expected.len(), actual.len(), same + 1),
    );
    expected[same.saturating_sub(CONTEXT_LINES)..same].iter().for_each(|line| write_line(' ', line));
    expected[same..].iter().take(PRINTED_LINES).for_each(|line| write_line('-', line));
    actual[same..].iter().take(PRINTED_LINES).for_each(|line| write_line('+', line));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_printed() {
        let rows = |rows: &[&str]| Recording {
            results: rows.iter().map(|&row| row.to_owned()).collect(),
            ..Recording::default()
        };
        assert_eq!(differences(&rows(&["a", "b"]), &rows(&["a", "b"])), None);
        let diff = differences(&rows(&["a", "b", "c"]), &rows(&["a", "b", "d", "e"])).unwrap();
        assert_eq!(diff, "@ results: 3 lines expected, 4 found, line 3\n  a\n  b\n- c\n+ d\n+ e\n");
    }

    #[test]
    fn bodies_and_exit_codes_are_compared() {
        let with = |body: &str, exit_code| Recording {
            exit_code,
            requests: vec![RequestRecord { connection: 1, body: body.into(), ..RequestRecord::default() }],
            ..Recording::default()
        };
        let diff = differences(&with("x", 0), &with("y", 1)).unwrap();
        assert!(diff.contains("- 0\n+ 1\n") && diff.contains("-     | \"x\"\n+     | \"y\"\n"), "{diff}");
    }
}
