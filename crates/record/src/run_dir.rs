//! The directory of a run: its files and the manifest.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use busyhour_sample::SAMPLES_VERSION;

use crate::error::RecordError;
use crate::manifest::{MANIFEST_VERSION, Manifest};
use crate::part::RunPart;
use crate::samples_file::SamplesError;

/// Name of the manifest.
pub(crate) const MANIFEST: &str = "run.json";
/// Name of the file with all samples.
pub(crate) const SAMPLES: &str = "samples.bhs";
/// Name of the histogram log.
pub(crate) const HISTOGRAMS: &str = "histograms.hlog";
/// Version of the tags in the histogram log.
const HISTOGRAMS_VERSION: u32 = 1;

/// The directory of a run.
///
/// Its files are `run.json` ([`Manifest`]), `plan.jmx`, `samples.jtl` (JMeter's CSV, if enabled), `samples.bhs`
/// (every sample with intended and actual times), `histograms.hlog`, `summary.json` and `report.html`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDir {
    path: PathBuf,
}

/// The error if a run directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RunDirError {
    /// A file cannot be read or written.
    #[error("cannot use {path}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Error message of the operating system.
        #[source]
        source: io::Error,
    },
    /// The directory already contains a run.
    #[error("{0} already contains a run: use another directory, or remove it")]
    Taken(PathBuf),
    /// The manifest is damaged.
    #[error("{path} is not a valid manifest of a run")]
    Manifest {
        /// The file or directory.
        path: PathBuf,
        /// The parser's message.
        #[source]
        source: serde_json::Error,
    },
    /// The manifest has a version that this program does not read.
    #[error("{path} has version {version}; this program reads version {MANIFEST_VERSION}")]
    Version {
        /// The file or directory.
        path: PathBuf,
        /// The version in the manifest.
        version: u32,
    },
    /// The file with the samples cannot be read.
    #[error("cannot read {path}")]
    Samples {
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        #[source]
        source: SamplesError,
    },
}

/// Creates a directory that only its owner can access.
fn create_private_dir(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

impl From<RunDirError> for RecordError {
    fn from(error: RunDirError) -> RecordError {
        match error {
            RunDirError::Io { path, source } => RecordError { path, source },
            other => RecordError { path: PathBuf::new(), source: io::Error::other(other) },
        }
    }
}

impl RunDir {
    /// Creates the directory `path` for a new run. Only its owner can access a directory that did not exist.
    ///
    /// # Errors
    /// The directory cannot be created, or already contains a run.
    pub fn create(path: impl Into<PathBuf>) -> Result<RunDir, RunDirError> {
        let dir = RunDir { path: path.into() };
        let io = |path: &Path, source| RunDirError::Io { path: path.to_owned(), source };
        if let Some(parent) = dir.path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            std::fs::create_dir_all(parent).map_err(|source| io(parent, source))?;
        }
        match create_private_dir(&dir.path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.path.is_dir() => {}
            Err(source) => return Err(io(&dir.path, source)),
        }
        if dir.manifest_path().exists() {
            return Err(RunDirError::Taken(dir.path));
        }
        Ok(dir)
    }

    /// Creates a new directory in `parent`, named after `name` and the local time of `wall_anchor_ms`, with a number
    /// appended if that name exists.
    ///
    /// # Errors
    /// The directory cannot be created.
    pub fn create_in(parent: &Path, name: &str, wall_anchor_ms: i64) -> Result<RunDir, RunDirError> {
        let io = |path: &Path, source| RunDirError::Io { path: path.to_owned(), source };
        std::fs::create_dir_all(parent).map_err(|source| io(parent, source))?;
        let at = jiff::Timestamp::from_millisecond(wall_anchor_ms).unwrap_or_default();
        let stamp = at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y%m%d-%H%M%S").to_string();
        let safe = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        let name: String = name.chars().map(safe).collect();
        let mut number = 1;
        loop {
            let suffix = if number == 1 { String::new() } else { format!("-{number}") };
            let path = parent.join(format!("{name}-{stamp}{suffix}"));
            match create_private_dir(&path) {
                Ok(()) => return Ok(RunDir { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 10_000 => number += 1,
                Err(source) => return Err(io(&path, source)),
            }
        }
    }

    /// The directory of an existing run.
    #[must_use]
    pub fn open(path: impl Into<PathBuf>) -> RunDir {
        RunDir { path: path.into() }
    }

    /// The path of the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Path of `run.json`, the manifest.
    #[must_use]
    pub fn manifest_path(&self) -> PathBuf {
        self.path.join(MANIFEST)
    }

    /// Path of `plan.jmx`, the plan.
    #[must_use]
    pub fn plan_path(&self) -> PathBuf {
        self.path.join("plan.jmx")
    }

    /// Path of `samples.jtl`, JMeter's CSV.
    #[must_use]
    pub fn jtl_path(&self) -> PathBuf {
        self.path.join("samples.jtl")
    }

    /// Path of `samples.bhs`, the file with all samples.
    #[must_use]
    pub fn samples_path(&self) -> PathBuf {
        self.path.join(SAMPLES)
    }

    /// Path of `histograms.hlog`, the histogram log.
    #[must_use]
    pub fn histograms_path(&self) -> PathBuf {
        self.path.join(HISTOGRAMS)
    }

    /// The path of a part.
    #[must_use]
    pub fn part_path(&self, part: &RunPart) -> PathBuf {
        self.path.join(&part.file)
    }

    /// The parts that the recorder writes.
    #[must_use]
    pub fn recorder_parts() -> Vec<RunPart> {
        vec![
            RunPart::new("samples", SAMPLES, SAMPLES_VERSION),
            RunPart::new("histograms", HISTOGRAMS, HISTOGRAMS_VERSION),
        ]
    }

    /// Path of `summary.json`, the summary.
    #[must_use]
    pub fn summary_path(&self) -> PathBuf {
        self.path.join("summary.json")
    }

    /// Path of `report.html`, the report.
    #[must_use]
    pub fn report_path(&self) -> PathBuf {
        self.path.join("report.html")
    }

    /// Restricts the files in the directory to their owner (mode 0600), because plans, logs and results may contain
    /// secrets. Does nothing on systems without Unix permissions.
    ///
    /// # Errors
    /// The directory cannot be read, or a file belongs to another user.
    pub fn make_files_private(&self) -> Result<(), RunDirError> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let io = |path: &Path, source| RunDirError::Io { path: path.to_owned(), source };
            for entry in std::fs::read_dir(&self.path).map_err(|source| io(&self.path, source))? {
                let entry = entry.map_err(|source| io(&self.path, source))?;
                if entry.file_type().is_ok_and(|kind| kind.is_file()) {
                    let path = entry.path();
                    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))
                        .map_err(|source| io(&path, source))?;
                }
            }
        }
        Ok(())
    }

    /// Writes `contents` to `path` atomically: readers see the old file or the new one.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_whole(path: &Path, contents: &[u8]) -> Result<(), RunDirError> {
        let mut beside = path.as_os_str().to_owned();
        beside.push(".new");
        let beside = PathBuf::from(beside);
        let write = || {
            let mut file = std::fs::File::create(&beside)?;
            file.write_all(contents)?;
            file.sync_all()?;
            drop(file);
            std::fs::rename(&beside, path)
        };
        write().map_err(|source| {
            // The incomplete file is removed.
            let _ = std::fs::remove_file(&beside);
            RunDirError::Io { path: path.to_owned(), source }
        })
    }

    /// Writes the manifest.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_manifest(&self, manifest: &Manifest) -> Result<(), RunDirError> {
        let path = self.manifest_path();
        let mut text = serde_json::to_vec_pretty(manifest)
            .map_err(|source| RunDirError::Manifest { path: path.clone(), source })?;
        text.push(b'\n');
        RunDir::write_whole(&path, &text)
    }

    /// Reads the manifest.
    ///
    /// # Errors
    /// The manifest is missing, damaged or of another version.
    pub fn read_manifest(&self) -> Result<Manifest, RunDirError> {
        #[derive(serde::Deserialize)]
        struct Version {
            version: u32,
        }
        let path = self.manifest_path();
        let text = std::fs::read(&path).map_err(|source| RunDirError::Io { path: path.clone(), source })?;
        let manifest = |source| RunDirError::Manifest { path: path.clone(), source };
        let Version { version } = serde_json::from_slice(&text).map_err(manifest)?;
        if version != MANIFEST_VERSION {
            return Err(RunDirError::Version { path, version });
        }
        serde_json::from_slice(&text).map_err(manifest)
    }
}
