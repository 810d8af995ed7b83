//! Options of `report` that compare a run with the log of the server.

use std::path::PathBuf;

use busyhour_analysis::Summary;
use busyhour_diagnostic::io_hints::chain;
use busyhour_record::RunDir;
use busyhour_results::{ServerLogError, ServerLogFiles, add_server_log};
use busyhour_serverlog::{LogFormat, Zone};
use busyhour_terminal::exit::Exit;
use busyhour_terminal::quantities::seconds;
use clap::Args;

/// The log of a server, and how it is read.
#[derive(Debug, Args)]
pub(crate) struct ServerLogArgs {
    /// Compare the run with an access log of the server: which requests arrived, when, and how long the server took; may be given
    /// several times, for a rotated log.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["arrivals", "why"])]
    server_log: Vec<PathBuf>,
    /// Format of the log: nginx, apache, tomcat, tomcat10.1, envoy, json, common, or the pattern of the server's configuration, such
    /// as '$remote_addr [$time_local] "$request" $status $msec $request_time' or '%h %l %u %t "%r" %>s %b %D' (Tomcat: tomcat:PATTERN), or
    /// fields of JSON lines: json:start=start_time,duration_ms=duration (default: detected).
    #[arg(long, value_name = "FORMAT", value_parser = format, requires = "server_log")]
    server_log_format: Option<LogFormat>,
    /// Time zone of times without an offset, such as Europe/Berlin (default: UTC).
    #[arg(long, value_name = "ZONE", value_parser = zone, requires = "server_log")]
    server_log_zone: Option<Zone>,
    /// Variable of the plan, named in the property `sample_variables`, with the identifier that each request sends in a header and the
    /// server logs.
    #[arg(long, value_name = "VARIABLE", requires = "server_log")]
    server_log_id: Option<String>,
    /// Maximum offset between the clocks of server and generator.
    #[arg(long, value_name = "TIME", value_parser = offset, default_value = "15min", requires = "server_log")]
    server_log_offset: f64,
}

fn format(text: &str) -> Result<LogFormat, String> {
    LogFormat::parse(text).map_err(|error| error.to_string())
}

fn zone(text: &str) -> Result<Zone, String> {
    Zone::named(text).map_err(|error| error.to_string())
}

fn offset(text: &str) -> Result<f64, String> {
    const DAY_S: f64 = 86_400.0;
    match seconds(text) {
        Ok(value) if (0.0..=DAY_S).contains(&value) => Ok(value),
        Ok(_) => Err("expected a time of at most a day".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

impl ServerLogArgs {
    /// Compares the run with the log, if one was given, and adds the result to its summary.
    pub(crate) fn add(&self, inputs: &[PathBuf], summary: &mut Summary) -> Result<(), (Exit, String)> {
        if self.server_log.is_empty() {
            return Ok(());
        }
        let [path] = inputs else {
            return Err((Exit::Usage, "--server-log needs one run directory".to_owned()));
        };
        if !path.is_dir() {
            let text = format!(
                "--server-log needs a run directory; {} has no URLs and times in nanoseconds to compare",
                path.display()
            );
            return Err((Exit::Usage, text));
        }
        let log = ServerLogFiles {
            files: self.server_log.clone(),
            format: self.server_log_format.clone(),
            zone: self.server_log_zone.clone().unwrap_or_else(Zone::utc),
            id_variable: self.server_log_id.clone(),
            offset_max_s: self.server_log_offset,
        };
        add_server_log(&RunDir::open(path), &log, summary).map_err(|error| {
            let exit = match error {
                ServerLogError::NoVariable { .. } | ServerLogError::TooMany { .. } => Exit::Usage,
                _ => Exit::Refused,
            };
            (exit, chain(&error))
        })
    }
}
