//! A case: a plan, its files, and settings for comparing a run with the recording.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::recording::Recording;
use crate::server::StandIn;
use crate::settings::CaseSettings;

/// The error if the files of a case cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// A file or folder cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The content of a file is invalid.
    #[error("{} is not valid", path.display())]
    Json {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        #[source]
        source: serde_json::Error,
    },
}

/// A plan in its folder, with settings for comparing a run with the recording of JMeter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConformanceCase {
    /// Name of the folder.
    pub name: String,
    /// Path of the folder. It contains `plan.jmx`, `case.json`, `expected.json`, and optionally `user.properties` and data
    /// files.
    pub dir: PathBuf,
    /// The content of `case.json`.
    pub settings: CaseSettings,
}

/// Opens the cases in a folder, sorted by name.
///
/// # Errors
/// The folder or a `case.json` in it cannot be read.
pub fn cases(dir: &Path) -> Result<Vec<ConformanceCase>, CaseError> {
    let unreadable = |source| CaseError::Read { path: dir.to_owned(), source };
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(unreadable)? {
        let dir = entry.map_err(unreadable)?.path();
        if dir.join("plan.jmx").is_file() {
            found.push(ConformanceCase::open(&dir)?);
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

impl ConformanceCase {
    /// Opens the case in a folder.
    ///
    /// # Errors
    /// The `case.json` cannot be read.
    pub fn open(dir: &Path) -> Result<Self, CaseError> {
        let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, dir: dir.to_owned(), settings: read_json(&dir.join("case.json"))? })
    }

    /// The path of the plan.
    #[must_use]
    pub fn plan(&self) -> PathBuf {
        self.dir.join("plan.jmx")
    }

    /// Reads the recording of JMeter's run.
    ///
    /// # Errors
    /// The file `expected.json` cannot be read.
    pub fn expected(&self) -> Result<Recording, CaseError> {
        read_json(&self.dir.join("expected.json"))
    }

    /// The arguments with which the plan is run; they are the same for `jmeter` and `busyhour`. Requests are sent to `server`.
    /// Results are written to `results.jtl` in `out_dir`, and other files of the plan to the same folder. The property `OUT`
    /// contains the path of this folder, `CASE` that of the plan's folder.
    #[must_use]
    pub fn command_line(&self, server: &StandIn, out_dir: &Path) -> Vec<String> {
        let text = |path: &Path| path.display().to_string();
        let mut line: Vec<String> = vec!["-n".into(), "-t".into(), text(&self.plan())];
        line.extend(["-l".into(), text(&out_dir.join("results.jtl"))]);
        line.extend(["-j".into(), text(&out_dir.join("jmeter.log"))]);
        let properties = self.dir.join("user.properties");
        if properties.is_file() {
            line.extend(["-q".into(), text(&properties)]);
        }
        line.push("-JHOST=127.0.0.1".into());
        line.push(format!("-JPORT={}", server.port()));
        line.push(format!("-JTLS_PORT={}", server.tls_port()));
        line.push(format!("-JOUT={}", text(out_dir)));
        line.push(format!("-JCASE={}", text(&self.dir)));
        // An empty name disables the summariser.
        line.push("-Jsummariser.name=".into());
        line.extend(self.settings.properties.iter().map(|(name, value)| format!("-J{name}={value}")));
        let port = server.port().to_string();
        let dir = text(&self.dir);
        let filled = |argument: &String| argument.replace("{PORT}", &port).replace("{CASE}", &dir);
        line.extend(self.settings.arguments.iter().map(filled));
        line
    }

    /// Creates the recording of a run with [`ConformanceCase::command_line`]. Masks replace everything that may differ between runs.
    /// Clears the server's list of requests.
    ///
    /// # Errors
    /// A file in `out_dir` cannot be read, or a mask is not a regular expression.
    pub fn collect(&self, server: &StandIn, out_dir: &Path, exit_code: i32) -> io::Result<Recording> {
        let ports = [server.port(), server.tls_port()];
        Recording::collect(&self.settings, &self.dir, &server.take_requests(), ports, out_dir, exit_code)
    }
}

fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, CaseError> {
    let text = fs::read(path).map_err(|source| CaseError::Read { path: path.to_owned(), source })?;
    serde_json::from_slice(&text).map_err(|source| CaseError::Json { path: path.to_owned(), source })
}
