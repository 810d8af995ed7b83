//! Compares a run with the access log of the server.

mod arrivals;
mod files;
mod lines;
mod outside;
mod requests;

use busyhour_analysis::Summary;
use busyhour_analysis::server_log::{MissingRequest, OtherServer, ServerLog};
use busyhour_record::RunDir;
use busyhour_serverlog::{MatchSettings, match_requests};

pub use files::{COMPARED_MAX, ServerLogError, ServerLogFiles};

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
