//! Reads `sources.json`: the sources that were found before the run, whether or not they were watched.

use std::path::Path;

use busyhour_series::ProgramNames;
use rustc_hash::FxHashMap;
use serde::Deserialize;

/// Name of the file in a run directory.
const FILE_NAME: &str = "sources.json";

/// The supported version of the format.
const VERSION: u32 = 1;

/// Maximum length of the file in bytes.
const BYTES_MAX: u64 = 4 << 20;

/// Whether a source was selected for observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ListedState {
    #[serde(rename = "watched")]
    Observed,
    Limited,
    #[serde(rename = "not-watched")]
    NotObserved,
}

/// A source of the file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct ListedSource {
    /// The name, as in the series file.
    pub(super) name: String,
    /// A description of the source, and how it was found.
    #[serde(default)]
    pub(super) about: String,
    pub(super) state: ListedState,
    /// The missing metrics, or the reason why the source is not watched.
    #[serde(default)]
    pub(super) reason: String,
    /// Advice on how to watch the source completely.
    #[serde(default)]
    pub(super) advice: String,
}

#[derive(Deserialize)]
struct SourceList {
    version: u32,
    sources: Vec<ListedSource>,
}

/// Reads the list in a run directory. Returns an empty list if the file does not exist.
///
/// # Errors
/// A description of what is wrong with the file.
pub(crate) fn read(run_dir: &Path) -> Result<Vec<ListedSource>, String> {
    let path = run_dir.join(FILE_NAME);
    let Ok(about) = std::fs::metadata(&path) else { return Ok(Vec::new()) };
    if about.len() > BYTES_MAX {
        return Err(format!("{FILE_NAME} is longer than {BYTES_MAX} bytes"));
    }
    let text = std::fs::read(&path).map_err(|error| format!("cannot read {FILE_NAME}: {error}"))?;
    let list: SourceList =
        serde_json::from_slice(&text).map_err(|error| format!("{FILE_NAME} is damaged: {error}"))?;
    if list.version != VERSION {
        return Err(format!(
            "{FILE_NAME} has version {}; this program reads version {VERSION}",
            list.version
        ));
    }
    Ok(list.sources)
}

/// The programs in a list of sources.
pub(crate) fn programs(listed: &[ListedSource]) -> ProgramNames {
    let mut programs = ProgramNames::default();
    // If several sources have the same name, the first one is used.
    for one in listed.iter().rev() {
        if let Some(program) = one.program() {
            programs.take_listed(&one.name, program);
        }
    }
    programs
}

impl ListedSource {
    /// The program: the part of the description before the first comma or parenthesis, as in `java (JVM), target 127.0.0.1:8080`.
    fn program(&self) -> Option<&str> {
        let first = self.about.split([',', '(']).next().map(str::trim);
        first.filter(|program| !program.is_empty())
    }
}

/// The sources by name. If several sources have the same name, the first one is used.
pub(super) fn by_name(listed: &[ListedSource]) -> FxHashMap<&str, &ListedSource> {
    let mut by_name = FxHashMap::default();
    for one in listed {
        by_name.entry(one.name.as_str()).or_insert(one);
    }
    by_name
}
