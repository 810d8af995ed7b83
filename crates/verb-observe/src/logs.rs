//! `busyhour observe logs`: problems in application and access logs, compared with a clean run.

use std::collections::HashMap;
use std::path::PathBuf;

use busyhour_logs::{
    ComparisonError, CountedBurst, Difference, Exposure, GroupCounts, LogComparison, NoBursts, Query,
    TemplateScope, Zone, compare, find_bursts,
};
use busyhour_observation::log_redactor;
use busyhour_report::numbers::counted;
use busyhour_report::{LogBaseline, LogPage, NamedLog, log_verdict, logs_html};
use busyhour_terminal::exit::{Exit, complain, print, say};
use busyhour_terminal::outputs::{OutputKind, note_written, requested, write_files};
use clap::Args;
use serde_json::json;

use super::logs_files::{LogFileError, ReadLogs};
use super::logs_text::{comparison_text, summary_text};
use super::logs_window::CountedTime;

/// The kinds of files that the verb writes.
const WRITTEN: [OutputKind; 3] = [OutputKind::Html, OutputKind::Json, OutputKind::Csv];

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
    busyhour observe logs server.log --baseline quiet.log -o logs.html\n  \
    busyhour observe logs server.log --baseline quiet.log --fail-if-worse\n  \
    busyhour observe logs server.log --from 10:00 --to 10:15\n  \
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
    /// Count from this time on, such as 10:00 or 2026-03-18T10:00:00 (the log, not the baseline).
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Count until this time (the log, not the baseline).
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// Count in this part of the time (the log, not the baseline): 2min,22min since its first entry, times of day
    /// (10:00,10:15), or times with dates.
    #[arg(long, value_name = "FROM,TO", conflicts_with_all = ["from", "to"])]
    window: Option<String>,
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
    /// Write a page with plots (.html) or everything (.json, .csv) to a file; may be given several times.
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
    time: CountedTime,
}

/// The counts.
struct Counted {
    log: NamedLog,
    bursts: Result<Vec<CountedBurst>, NoBursts>,
    baseline: Option<(NamedLog, LogComparison)>,
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
    let found = match count(args, &settings) {
        Ok(found) => found,
        Err(error) => return complain(Exit::Refused, &error),
    };
    if prints_json {
        print(&json_text(&found));
    } else {
        print(&text(&found, &settings.zone));
    }
    let written = write_files(&files, &mut |kind| match kind {
        OutputKind::Csv => csv_text(&found).map_err(|error| error.to_string().into()),
        OutputKind::Html => Ok(page(&found, &settings.zone)),
        _ => Ok(json_text(&found)),
    });
    if let Err(exit) = written {
        return exit;
    }
    note_written(&files);
    let comparison = found.baseline.map(|(_, comparison)| comparison);
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
    let time = match &args.window {
        Some(window) => CountedTime::window(window, &zone)?,
        None => CountedTime::between(args.from.as_ref(), args.to.as_ref(), &zone)?,
    };
    Ok(Settings { zone, query, time })
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
enum LogsError {
    /// A log cannot be counted.
    #[error(transparent)]
    File(#[from] LogFileError),
    /// The logs cannot be compared.
    #[error(transparent)]
    Comparison(#[from] ComparisonError),
}

fn count(args: &LogsArgs, settings: &Settings) -> Result<Counted, LogsError> {
    let redactor = log_redactor(args.keep_secrets);
    let read = ReadLogs {
        query: &settings.query,
        scope: if args.all { TemplateScope::All } else { TemplateScope::Matching },
        zone: &settings.zone,
        redactor: &redactor,
        time: settings.time.clone(),
    };
    let log = read.count(&args.logs)?;
    let baseline = match &args.baseline[..] {
        [] => None,
        paths => {
            let baseline = ReadLogs { time: CountedTime::WHOLE, ..read }.count(paths)?;
            let comparison = compare(&baseline.counts, &log.counts, Exposure::RunLength)?;
            Some((baseline, comparison))
        }
    };
    Ok(Counted { bursts: find_bursts(&log.counts), log, baseline })
}

fn text(found: &Counted, zone: &Zone) -> String {
    let summary = summary_text(&found.log, zone);
    match &found.baseline {
        Some((baseline, comparison)) => {
            format!("{} → {}\n\n{}\n{summary}", baseline.name, found.log.name, comparison_text(comparison))
        }
        None => summary,
    }
}

fn page(found: &Counted, zone: &Zone) -> String {
    let baseline = found.baseline.as_ref();
    logs_html(&LogPage {
        log: &found.log,
        zone,
        bursts: found.bursts.as_deref().map_err(|reason| *reason),
        baseline: baseline.map(|(log, comparison)| LogBaseline { log, comparison }),
    })
}

/// Number of templates that are significantly new or more frequent.
fn significant(comparison: &LogComparison) -> usize {
    let templates = &comparison.templates;
    templates.new.iter().chain(&templates.risen).filter(|one| one.is_significant).count()
}

fn json_text(found: &Counted) -> String {
    let one = |log: &NamedLog| {
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
    let json = json!({
        "log": one(&found.log),
        "bursts": found.bursts.as_ref().ok(),
        "bursts_unavailable": found.bursts.as_ref().err().map(ToString::to_string),
        "baseline": found.baseline.as_ref().map(|(log, _)| one(log)),
        "comparison": found.baseline.as_ref().map(|(_, comparison)| comparison),
    });
    format!("{json:#}\n")
}

/// One row per template.
fn csv_text(found: &Counted) -> Result<String, csv::Error> {
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
    if let Some((_, comparison)) = &found.baseline {
        let all = comparison.templates.new.iter().chain(&comparison.templates.risen);
        differences.extend(all.map(|one| (one.text.as_str(), one)));
    }
    for GroupCounts { text, severity, logger, count, example, over_time } in &found.log.counts.templates {
        let difference = differences.get(text.as_str());
        let second = |at: Option<&(u32, u32)>| at.map(|(second, _)| second.to_string()).unwrap_or_default();
        writer.write_record([
            text.clone(),
            severity.map(|severity| severity.to_string()).unwrap_or_default(),
            logger.clone().unwrap_or_default(),
            count.to_string(),
            second(over_time.counts.first()),
            second(over_time.counts.last()),
            difference.map(|one| one.baseline_count.to_string()).unwrap_or_default(),
            difference.map(|one| log_verdict(one).to_owned()).unwrap_or_default(),
            difference.map(|one| one.p_value.to_string()).unwrap_or_default(),
            example.clone(),
        ])?;
    }
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
