//! Recognizes result files of other load generators, for error messages.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Number of bytes at the beginning of a file that are inspected.
const HEAD_BYTES: u64 = 4096;

/// An error message if the file was written by another program and cannot be read; `None` for all other files.
pub(crate) fn refusal(path: &Path) -> Option<String> {
    // A named pipe is not opened: this would wait for its writer and consume the data.
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let file = File::open(path).ok()?;
    let mut head = Vec::new();
    file.take(HEAD_BYTES).read_to_end(&mut head).ok()?;
    let (format, hint) = format_of(&String::from_utf8_lossy(&head), path)?;
    Some(format!("{}: this is {format}, which is not supported\n  hint: {hint}", path.display()))
}

/// The format of a file, recognized by the beginning of the file, and advice on what to do instead.
fn format_of(head: &str, path: &Path) -> Option<(&'static str, &'static str)> {
    const REPEAT: &str = "repeat the measurement with `busyhour run URL`, or convert the samples to JMeter's CSV \
        (timeStamp,elapsed,label,responseCode,success)";
    let head = head.trim_start_matches('\u{feff}').trim_start();
    let first_line = head.lines().next().unwrap_or_default();
    let is_object = head.starts_with('{');
    let has = |key: &str| head.contains(&format!("\"{key}\""));
    if is_object && has("metric") && (has("Point") || has("Metric")) {
        return Some(("a k6 file (--out json)", REPEAT));
    }
    if is_object && has("root_group") || is_object && has("metrics") && has("http_req_duration") {
        return Some((
            "the summary of a k6 run",
            "it contains no samples; repeat the measurement with `busyhour run URL`",
        ));
    }
    if first_line.starts_with("metric_name,timestamp,metric_value") {
        return Some(("a k6 file (--out csv)", REPEAT));
    }
    let is_simulation_log = path.file_name().is_some_and(|name| name == "simulation.log");
    let is_gatling_text = first_line.starts_with("RUN\t") || first_line.starts_with("ASSERTION\t");
    if is_gatling_text || is_simulation_log && !head.starts_with("timeStamp") {
        return Some(("a Gatling simulation.log", REPEAT));
    }
    if is_object && has("summary") && (has("successRate") || has("responseTimeHistogram")) {
        return Some((
            "the JSON output of oha",
            "it contains no samples; repeat the measurement with `busyhour run URL`",
        ));
    }
    if first_line.contains("Percentile") && first_line.contains("TotalCount") {
        return Some((
            "a percentile distribution of HdrHistogram",
            "it contains neither starts nor errors; `busyhour report` needs the samples",
        ));
    }
    if head.starts_with("#[") && head.contains("Histogram log")
        || head.contains("\"StartTimestamp\",\"Interval_Length\"")
    {
        return Some((
            "an HdrHistogram log",
            "it contains no errors; `busyhour report` needs the samples or the run directory",
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_programs_are_recognised() {
        for (name, head, expected) in [
            (
                "a.json",
                "{\"type\":\"Metric\",\"data\":{},\"metric\":\"http_reqs\"}\n",
                Some("a k6 file (--out json)"),
            ),
            (
                "a.json",
                "{\"metric\":\"http_reqs\",\"type\":\"Point\",\"data\":{}}",
                Some("a k6 file (--out json)"),
            ),
            (
                "a.csv",
                "metric_name,timestamp,metric_value,check\nhttp_reqs,1,1,\n",
                Some("a k6 file (--out csv)"),
            ),
            ("simulation.log", "RUN\tShop\tshop\t1\t \t3.9\n", Some("a Gatling simulation.log")),
            ("simulation.log", "\0\0\x01", Some("a Gatling simulation.log")),
            ("o.json", "{\n \"summary\": {\n  \"successRate\": 1.0,", Some("the JSON output of oha")),
            (
                "a.hgrm",
                "       Value     Percentile TotalCount 1/(1-Percentile)\n",
                Some("a percentile distribution of HdrHistogram"),
            ),
            ("a.jtl", "timeStamp,elapsed,label\n", None),
            ("a.jtl", "<?xml version=\"1.0\"?><testResults>", None),
            ("simulation.log", "timeStamp,elapsed,label\n", None),
        ] {
            let found = format_of(head, Path::new(name)).map(|(format, _)| format);
            assert_eq!(found, expected, "{name}: {head}");
        }
    }
}
