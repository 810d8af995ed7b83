//! The plans of the corpus.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use xtask_common::project;

/// The folders next to the workspace that contain the plans, with descriptions.
pub(super) const SOURCES: [(&str, &str); 2] =
    [("corpus-dev", "application plans"), ("jmeter-testfiles", "JMeter's own plans")];

/// A plan of the corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    /// Index into [`SOURCES`].
    pub(super) source: usize,
    pub(super) path: PathBuf,
    /// Its path below `../shared`.
    pub(super) name: String,
}

/// The plans of all sources whose names contain one of `names`.
pub(super) fn plans(names: &[String]) -> Result<Vec<Plan>> {
    let shared = project::root().join("../shared");
    let mut plans = Vec::new();
    for (source, (folder, _)) in SOURCES.iter().enumerate() {
        for path in jmx_files(&shared.join(folder)) {
            let name = path.strip_prefix(&shared).unwrap_or(&path).display().to_string();
            if names.is_empty() || names.iter().any(|part| name.contains(part)) {
                plans.push(Plan { source, path, name });
            }
        }
    }
    ensure!(!plans.is_empty(), "there are no matching plans in {}", shared.display());
    Ok(plans)
}

fn jmx_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jmx")) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
