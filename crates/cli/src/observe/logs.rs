//! `busyhour observe logs`: problems in application and access logs, compared with a clean run.

use std::collections::HashMap;
use std::path::PathBuf;

use busyhour_logs::{
    Difference, EntryTime, Exposure, GroupCounts, LogComparison, Query, Scope, StampReader, StampSettings,
    Zone, compare,
};
use busyhour_observation::log_redactor;
use busyhour_report::numbers::counted;
use clap::Args;
use serde_json::json;

use super::logs_files::{CountedLog, LogFileError, ReadLogs};
use super::logs_text::{comparison_text, summary_text, verdict};
use crate::exit::{Exit, complain, hinted, print, say};
use crate::outputs::{OutputKind, note_written, requested, write_files};

/// The kinds of files that the verb writes.
const WRITTEN: [OutputKind; 2] = [OutputKind::Json, OutputKind::Csv];

#[derive(Debug, Args)]
#[command(
    after_help = "Problems are entries that a query selects: by default those with the words exception, error, failed or severe, those of \
    severity error or above, and requests in access logs with the status 404, 500 or 503. Equal messages with different \
    values are one template; stack traces stay with their entry. The formats of common logging libraries, JSON lines, access logs, and \
    the envelopes of Docker, Kubernetes and journald are recognized.\n\n\
    With a baseline (the log of a clean run), problems that are not in it come first, then those that became more frequent. Rates are \
    tested with a false discovery rate of 5 %. Logs that are too short to show how much their rates vary are reported as \
    too short to tell.\n\n\
    Examples:\n  busyhour observe logs server.log\n  \
    busyhour observe logs server.log server.log.1 --from 2026-03-18T10:00 --to 2026-03-18T10:15 --zone Europe/Berlin\n  \
    busyhour observe logs server.log --baseline quiet.log --fail-if-worse\n  \
    busyhour observe logs access.log --query status=5xx -o problems.csv\n  \
    journalctl -u shop -o json > shop.json; busyhour observe logs shop.json\n\n\
    Exit codes: 0 success, 2 the command line is wrong, 3 a log cannot be read or compared, \
    8 with --fail-if-worse: a problem is new or more frequent, and the difference is significant"
)]
pub(crate) struct LogsArgs {
    /// The log; several files are counted together.
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    /// The log of a clean run to compare with; several files are counted together.
    #[arg(long, value_name = "LOG", num_args = 1..)]
    baseline: Vec<PathBuf>,
    /// Count from this time on, such as 2026-03-18T10:00:00 (the log, not the baseline).
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Count until this time (the log, not the baseline).
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// Time zone of stamps without an offset: Europe/Berlin, +02:00 or UTC.
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    zone: String,
    /// Rules that select problems, separated by commas: words, level>=warn, status=404, status=5xx.
    #[arg(long, value_name = "RULES")]
    query: Option<String>,
    /// List the templates of all entries, not only of problems.
    #[arg(long)]
    all: bool,
    /// Keep passwords, tokens and other secrets in templates and examples.
    #[arg(long)]
    keep_secrets: bool,
    /// Write everything to a file (.json, .csv); may be given several times.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Vec<PathBuf>,
    /// Print everything as JSON.
    #[arg(long)]
    json: bool,
    /// End with exit code 8 if a problem is new or more frequent than in the baseline, and the difference is
    /// significant.
    #[arg(long, requires = "baseline")]
    fail_if_worse: bool,
}

/// The settings that the options select.
struct Settings {
    zone: Zone,
    query: Query,
    from_unix_ns: Option<i64>,
    to_unix_ns: Option<i64>,
}

/// Runs the verb.
pub(crate) fn main(args: &LogsArgs) -> Exit {
    let (files, prints_json) = match requested(&args.output, args.json, None, &WRITTEN) {
        Ok(requested) => requested,
        Err(exit) => return exit,
    };
    let settings = match settings(args) {
        Ok(settings) => settings,
        Err(message) => return complain(Exit::Usage, &message),
    };
    let (log, baseline) = match count(args, &settings) {
        Ok(logs) => logs,
        Err(error) => return complain(Exit::Refused, &error),
    };
    let comparison =
        baseline.as_ref().map(|baseline| compare(&baseline.counts, &log.counts, Exposure::Seconds));
    let comparison = match comparison.transpose() {
        Ok(comparison) => comparison,
        Err(error) => return complain(Exit::Refused, &error),
    };
    let json_text = || json_text(&log, baseline.as_ref(), comparison.as_ref());
    if prints_json {
        print(&json_text());
    } else {
        let mut text = summary_text(&log, &settings.zone);
        if let (Some(baseline), Some(comparison)) = (&baseline, &comparison) {
            let compared = comparison_text(comparison);
            text = format!("{} → {}\n\n{compared}\n{text}", baseline.name, log.name);
        }
        print(&text);
    }
    let written = write_files(&files, &mut |kind| match kind {
        OutputKind::Csv => csv_text(&log, comparison.as_ref()).map_err(|error| error.to_string().into()),
        _ => Ok(json_text()),
    });
    if let Err(exit) = written {
        return exit;
    }
    note_written(&files);
    match comparison.filter(|_| args.fail_if_worse).map(|comparison| significant(&comparison)) {
        Some(count) if count > 0 => {
            let verb = if count == 1 { "is" } else { "are" };
            say(&format!("worse: {} {verb} new or more frequent", counted(count as u64, "problem")));
            Exit::Worse
        }
        Some(_) | None => Exit::Completed,
    }
}

fn settings(args: &LogsArgs) -> Result<Settings, String> {
    let zone = Zone::named(&args.zone).map_err(|error| error.to_string())?;
    let query = args.query.as_deref().map(str::parse::<Query>).transpose();
    let query = query.map_err(|error| format!("--query: {error}"))?.unwrap_or_default();
    let time = |option: &str, text: &Option<String>| match text {
        Some(text) => time(text, &zone).map(Some).ok_or_else(|| {
            hinted(
                format!("{option} {text}: not a time"),
                "write 2026-03-18T10:00:00 or 2026-03-18T10:00:00+01:00",
            )
        }),
        None => Ok(None),
    };
    let (from_unix_ns, to_unix_ns) = (time("--from", &args.from)?, time("--to", &args.to)?);
    if let (Some(from), Some(to)) = (from_unix_ns, to_unix_ns)
        && from >= to
    {
        return Err("--from is not before --to".to_owned());
    }
    Ok(Settings { zone, query, from_unix_ns, to_unix_ns })
}

/// A time in one of the notations of logs, also without seconds.
fn time(text: &str, zone: &Zone) -> Option<i64> {
    let stamps = StampSettings { zone: Some(zone.clone()), near_unix_ns: 0 };
    let mut reader = StampReader::new(stamps);
    [text.to_owned(), format!("{text}:00"), format!("{text}T00:00:00")].iter().find_map(|text| {
        match reader.find(text) {
            Some(found) if found.range == (0..text.len()) => match found.time {
                EntryTime::UnixNs(unix_ns) => Some(unix_ns),
                EntryTime::Unavailable(_) => None,
            },
            Some(_) | None => None,
        }
    })
}

fn count(args: &LogsArgs, settings: &Settings) -> Result<(CountedLog, Option<CountedLog>), LogFileError> {
    let redactor = log_redactor(args.keep_secrets);
    let read = ReadLogs {
        query: &settings.query,
        scope: if args.all { Scope::All } else { Scope::Matching },
        zone: &settings.zone,
        redactor: &redactor,
        from_unix_ns: settings.from_unix_ns,
        to_unix_ns: settings.to_unix_ns,
    };
    let log = read.count(&args.logs)?;
    let whole = ReadLogs { from_unix_ns: None, to_unix_ns: None, ..read };
    let baseline = (!args.baseline.is_empty()).then(|| whole.count(&args.baseline)).transpose()?;
    Ok((log, baseline))
}

/// Number of templates that are significantly new or more frequent.
fn significant(comparison: &LogComparison) -> usize {
    let templates = &comparison.templates;
    templates.new.iter().chain(&templates.risen).filter(|one| one.is_significant).count()
}

fn json_text(log: &CountedLog, baseline: Option<&CountedLog>, comparison: Option<&LogComparison>) -> String {
    let one = |log: &CountedLog| {
        let severities: serde_json::Map<_, _> = log
            .severities
            .iter()
            .map(|(severity, count)| {
                let name = severity.map_or_else(|| "unknown".to_owned(), |severity| severity.to_string());
                (name, json!(count))
            })
            .collect();
        json!({ "name": log.name, "severities": severities, "counts": log.counts })
    };
    format!("{:#}\n", json!({ "log": one(log), "baseline": baseline.map(one), "comparison": comparison }))
}

/// One row per template.
fn csv_text(log: &CountedLog, comparison: Option<&LogComparison>) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let heading = [
        "template",
        "severity",
        "logger",
        "count",
        "first_s",
        "last_s",
        "baseline_count",
        "verdict",
        "p_value",
        "example",
    ];
    writer.write_record(heading)?;
    let mut differences: HashMap<&str, &Difference> = HashMap::new();
    if let Some(comparison) = comparison {
        let all = comparison.templates.new.iter().chain(&comparison.templates.risen);
        differences.extend(all.map(|one| (one.text.as_str(), one)));
    }
    for GroupCounts { text, severity, logger, count, example, over_time } in &log.counts.templates {
        let found = differences.get(text.as_str());
        let second = |at: Option<&(u32, u32)>| at.map(|(second, _)| second.to_string()).unwrap_or_default();
        writer.write_record([
            text.clone(),
            severity.map(|severity| severity.to_string()).unwrap_or_default(),
            logger.clone().unwrap_or_default(),
            count.to_string(),
            second(over_time.counts.first()),
            second(over_time.counts.last()),
            found.map(|one| one.baseline_count.to_string()).unwrap_or_default(),
            found.map(|one| verdict(one).to_owned()).unwrap_or_default(),
            found.map(|one| one.p_value.to_string()).unwrap_or_default(),
            example.clone(),
        ])?;
    }
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
