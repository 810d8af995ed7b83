//! Compares a run with the access log of the server.

mod arrivals;
mod lines;
mod outside;
mod requests;

use std::path::PathBuf;

use busyhour_analysis::Summary;
use busyhour_analysis::server_log::{MissingRequest, OtherServer, ServerLog};
use busyhour_logs::Zone;
use busyhour_record::RunDir;
use busyhour_serverlog::{LogFormat, MatchSettings, match_requests};

use crate::error::ReadRunError;

/// Maximum number of requests of a run, and of lines during it, that are compared.
pub const COMPARED_MAX: usize = 3_000_000;

/// The access log of a server, and how it is read.
#[derive(Debug, Clone)]
pub struct ServerLogFiles {
    /// The files, such as the parts of a rotated log, in any order; compressed or not.
    pub files: Vec<PathBuf>,
    /// The format; `None` if it is detected from the first line.
    pub format: Option<LogFormat>,
    /// The zone of times without an offset.
    pub zone: Zone,
    /// The variable of the plan, one of `sample_variables`, with the identifier of each request.
    pub id_variable: Option<String>,
    /// Maximum offset between the clocks in s.
    pub offset_max_s: f64,
}

/// Why a run cannot be compared with the log of a server.
#[derive(Debug, thiserror::Error)]
pub enum ServerLogError {
    /// A file cannot be read.
    #[error("{}", .file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The run cannot be read.
    #[error(transparent)]
    Run(#[from] ReadRunError),
    /// The run has no requests with a URL.
    #[error("the run has no requests with a URL, which the lines of the log could be compared with")]
    NoRequests,
    /// The samples do not contain the variable.
    #[error(
        "the samples do not contain the variable {name}; name it in the property sample_variables when the plan runs (they contain: {known})"
    )]
    NoVariable {
        /// Its name.
        name: String,
        /// The variables that they contain.
        known: String,
    },
    /// There are too many requests or lines.
    #[error("more than {COMPARED_MAX} {what}; compare a part of the run with --window FROM,TO")]
    TooMany {
        /// Requests or lines.
        what: &'static str,
    },
    /// No line can be read.
    #[error(
        "no line of {} can be read as {format}: line {line}: {reason}; specify the format with --server-log-format", .file.display()
    )]
    Format {
        /// The first file.
        file: PathBuf,
        /// The format.
        format: String,
        /// The first line, from 1.
        line: u64,
        /// Why it cannot be read.
        reason: String,
    },
    /// The files have no lines.
    #[error("{} has no lines", .0.display())]
    Empty(PathBuf),
}

/// Compares the requests of the run in `dir` with the log of the server, and adds the result to its summary. If the summary covers a
/// part of the run, its requests are compared.
///
/// # Errors
/// The run or the log cannot be read, or they are too large.
pub fn add_server_log(
    dir: &RunDir,
    log: &ServerLogFiles,
    summary: &mut Summary,
) -> Result<(), ServerLogError> {
    let window_s = summary.window.as_ref().map(|window| (window.from_s, window.to_s));
    let mut run = requests::read_requests(dir, window_s, log.id_variable.as_deref())?;
    if run.sent.is_empty() {
        return Err(ServerLogError::NoRequests);
    }
    run.sort();
    let read = lines::read_lines(log, run.span_ns())?;
    let settings =
        MatchSettings { offset_max_ns: (log.offset_max_s * 1e9) as i64, ..MatchSettings::default() };
    let matches = match_requests(&run.sent, &read.lines, settings);
    let outside_mean = outside::outside_mean(&run, &read.lines, &matches);
    let (outside, outside_unavailable) = outside::outside_times(&run, &read.lines, &matches);
    let missing = matches
        .lost
        .iter()
        .map(|lost| {
            let request = &run.sent[lost.sent as usize];
            MissingRequest {
                at_s: (request.start_ns - run.origin_ns) as f64 / 1e9,
                label: run.label(request.label),
                has_response: lost.has_response,
            }
        })
        .collect();
    let other_servers = matches
        .other_servers
        .iter()
        .map(|(server, requests)| OtherServer { server: run.server(*server), requests: *requests })
        .collect();
    let mut result = ServerLog {
        line: String::new(),
        is_complete: None,
        files: log.files.iter().map(|file| file.display().to_string()).collect(),
        format: read.format,
        lines: read.count,
        unreadable: read.unreadable,
        first_unreadable: read.first_unreadable,
        counts: matches.counts,
        other_servers,
        status_changes: matches.status_changes.clone(),
        missing,
        offset: matches.offset,
        arrivals: arrivals::arrivals(&run, &read.lines, &matches),
        outside,
        outside_mean,
        outside_unavailable,
        limits: Vec::new(),
    };
    let compared = result.counts.arrived + result.counts.repeated + result.counts.foreign;
    result.counts.outside = (read.count - read.unreadable).saturating_sub(compared);
    result.describe();
    summary.server_log = Some(result);
    Ok(())
}
