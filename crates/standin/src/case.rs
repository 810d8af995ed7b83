//! A case: one plan, the files it needs, and how its recording is to be read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::recording::Recording;
use crate::server::StandIn;
use crate::settings::Settings;

/// What goes wrong with the files of a case.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// A file or folder cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// Which one.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{} is not valid", path.display())]
    Json {
        /// Which one.
        path: PathBuf,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
}

/// A plan in its folder, with how its recording is to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The folder's name.
    pub name: String,
    /// The folder: `plan.jmx`, `case.json`, `expected.json`, perhaps `user.properties` and data files.
    pub dir: PathBuf,
    /// The content of `case.json`.
    pub settings: Settings,
}

/// The cases in a folder, by name.
///
/// # Errors
/// Fails when the folder or a `case.json` in it cannot be read.
pub fn cases(dir: &Path) -> Result<Vec<Case>, CaseError> {
    let unreadable = |source| CaseError::Read { path: dir.to_owned(), source };
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(unreadable)? {
        let dir = entry.map_err(unreadable)?.path();
        if dir.join("plan.jmx").is_file() {
            found.push(Case::open(&dir)?);
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

impl Case {
    /// Opens the case in a folder.
    ///
    /// # Errors
    /// Fails when its `case.json` cannot be read.
    pub fn open(dir: &Path) -> Result<Self, CaseError> {
        let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, dir: dir.to_owned(), settings: read_json(&dir.join("case.json"))? })
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> PathBuf {
        self.dir.join("plan.jmx")
    }

    /// What JMeter did with the plan.
    ///
    /// # Errors
    /// Fails when `expected.json` cannot be read.
    pub fn expected(&self) -> Result<Recording, CaseError> {
        read_json(&self.dir.join("expected.json"))
    }

    /// The arguments that run the plan, the same for `jmeter` and for `busyhour`: requests go to `server`, results to `results.jtl` in `out_dir`, other files that the plan writes beside it
    /// (the plan gets the folder as the property `OUT`, its own folder as `CASE`).
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
        // Without a name the summariser is off.
        line.push("-Jsummariser.name=".into());
        line.extend(self.settings.properties.iter().map(|(name, value)| format!("-J{name}={value}")));
        let port = server.port().to_string();
        let dir = text(&self.dir);
        let filled = |argument: &String| argument.replace("{PORT}", &port).replace("{CASE}", &dir);
        line.extend(self.settings.arguments.iter().map(filled));
        line
    }

    /// Gathers what a run of [`Case::command_line`] did, with everything masked that may differ. Takes the
    /// server's record.
    ///
    /// # Errors
    /// Fails when a file in `out_dir` cannot be read or a mask is not a regular expression.
    pub fn collect(&self, server: &StandIn, out_dir: &Path, exit_code: i32) -> io::Result<Recording> {
        let ports = [server.port(), server.tls_port()];
        Recording::collect(&self.settings, &self.dir, &server.take_record(), ports, out_dir, exit_code)
    }
}

fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, CaseError> {
    let text = fs::read(path).map_err(|source| CaseError::Read { path: path.to_owned(), source })?;
    serde_json::from_slice(&text).map_err(|source| CaseError::Json { path: path.to_owned(), source })
}
