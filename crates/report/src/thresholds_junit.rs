//! Thresholds as JUnit XML, which Jenkins, GitLab and others show as tests.

use std::fmt::Write as _;

use busyhour_analysis::Summary;
use busyhour_diagnostic::printable_lines;

/// The thresholds of a run as JUnit XML. Each threshold is a test case, which fails if the threshold fails the run.
#[must_use]
pub fn thresholds_junit(summary: &Summary) -> String {
    let run = &summary.run;
    let name = [&run.plan_name, &run.source].into_iter().find(|name| !name.is_empty());
    let suite = attribute(name.map_or("busyhour", String::as_str));
    let seconds = run.duration_s.unwrap_or(summary.span_s);
    let tests = summary.thresholds.len();
    let failures = summary.thresholds.iter().filter(|threshold| threshold.fails_run).count();
    let skipped = summary
        .thresholds
        .iter()
        .filter(|threshold| threshold.passed.is_none() && !threshold.fails_run)
        .count();
    let counts = format!(
        "tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\" time=\"{seconds:.3}\""
    );
    let timestamp = jiff::Timestamp::from_millisecond(run.wall_anchor_ms)
        .map(|at| format!(" timestamp=\"{}\"", at.strftime("%Y-%m-%dT%H:%M:%S")))
        .unwrap_or_default();
    let host = match run.hostname.as_str() {
        "" => String::new(),
        host => format!(" hostname=\"{}\"", attribute(host)),
    };
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = write!(
        out,
        "<testsuites name=\"busyhour\" {counts}>\n  <testsuite name=\"{suite}\" {counts}{timestamp}{host}>\n"
    );
    for threshold in &summary.thresholds {
        let case = attribute(threshold.name.as_ref().unwrap_or(&threshold.text));
        let _ = write!(out, "    <testcase classname=\"{suite}\" name=\"{case}\" time=\"{seconds:.3}\"");
        let seen = threshold.describe_observed();
        match (threshold.fails_run, threshold.passed) {
            (true, passed) => {
                let kind = if passed.is_none() { "no data" } else { "threshold" };
                let stopped = if threshold.stopped_run { "\nit stopped the run" } else { "" };
                let _ = write!(
                    out,
                    ">\n      <failure type=\"{kind}\" message=\"{}\">{}</failure>\n    </testcase>\n",
                    attribute(&format!("{}: {seen}", threshold.text)),
                    text(&format!("{}\nseen: {seen}{stopped}", threshold.criterion)),
                );
            }
            (false, None) => {
                let _ =
                    write!(out, ">\n      <skipped message=\"{}\"/>\n    </testcase>\n", attribute(&seen));
            }
            (false, Some(_)) => {
                let noticed = if threshold.passed == Some(false) { "noticed: " } else { "" };
                let _ = write!(
                    out,
                    ">\n      <system-out>{}</system-out>\n    </testcase>\n",
                    text(&format!("{noticed}{seen}"))
                );
            }
        }
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

/// Escapes a text between tags. Characters that XML 1.0 does not allow are replaced.
fn text(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for c in printable_lines(raw).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{FFFE}' | '\u{FFFF}' => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}

/// Escapes a text for an attribute, on one line.
fn attribute(raw: &str) -> String {
    text(raw).replace('\n', " ")
}
