//! The files that a plan needs, and the task that sends them to agents.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::path::PathBuf;

use async_nats::{Client, Subscriber};
use busyhour_launch::Prepared;
use futures_util::StreamExt as _;

use crate::connection::Say;
use crate::error::ClusterError;
use crate::messages::{FileFact, FileRequest};
use crate::parts::{hash, is_inside, part_message, reason_message};
use crate::wire::decode;

/// Maximum number of files of a plan.
const FILES_MAX: usize = 10_000;

/// Characters that separate names of files in functions, lists and scripts.
const SEPARATORS: &[char] =
    &[',', '(', ')', '{', '}', '$', '\'', '"', ';', '=', '\n', '\r', '\t', '<', '>', '|'];

/// The files of a plan.
pub(super) struct PlanFiles {
    files: BTreeMap<String, (PathBuf, FileFact)>,
}

impl PlanFiles {
    /// Finds the files: every text in the plan or in a property that is the path of an existing file, relative to the directory of
    /// the plan. Absolute paths are not among them; the agents need such files themselves.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(super) fn of(prepared: &Prepared) -> Result<PlanFiles, ClusterError> {
        let base = prepared.request().plan.parent().map(Path::to_owned).unwrap_or_default();
        let plan = std::fs::read_to_string(prepared.dir().plan_path()).unwrap_or_default();
        let properties = prepared.resolved_properties();
        let values = properties.jmeter.iter().map(|(_, value)| value.as_str());
        let mut files = BTreeMap::new();
        for path in plan_file_paths(std::iter::once(plan.as_str()).chain(values), &base) {
            let full = base.join(&path);
            let (bytes, sha256) = hash(&full).map_err(ClusterError::file(&full))?;
            files.insert(sha256.clone(), (full, FileFact { path, bytes, sha256 }));
        }
        Ok(PlanFiles { files })
    }

    pub(super) fn facts(&self) -> Vec<FileFact> {
        self.files.values().map(|(_, fact)| fact.clone()).collect()
    }

    /// Names the files, so that a missing one is noticed.
    pub(super) fn tell(&self, say: &Say) {
        let names: Vec<&str> = self.files.values().map(|(_, fact)| fact.path.as_str()).take(10).collect();
        if !names.is_empty() {
            let more = self.files.len() - names.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            say(&format!("files for the agents: {}{more}", names.join(", ")));
        }
    }

    /// A part of a file, as a message.
    fn part(&self, request: &FileRequest) -> Vec<u8> {
        match self.files.get(&request.sha256) {
            Some((path, _)) => part_message(path, request.from),
            None => reason_message("the run has no such file"),
        }
    }
}

/// The paths of existing files among the texts of a plan, its properties and options, relative to `base`.
pub fn plan_file_paths<'t>(texts: impl Iterator<Item = &'t str>, base: &Path) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    let mut checked = BTreeSet::new();
    for text in texts {
        for word in text.split(SEPARATORS).map(str::trim) {
            if paths.len() >= FILES_MAX {
                return paths;
            }
            let is_candidate = word.len() <= 1_024 && is_inside(word);
            if is_candidate && checked.insert(word.to_owned()) && base.join(word).is_file() {
                paths.insert(word.to_owned());
            }
        }
    }
    paths
}

/// Sends parts of files on request.
pub(super) async fn serve(client: Client, mut requests: Subscriber, files: PlanFiles) {
    while let Some(request) = requests.next().await {
        let Some(inbox) = request.reply else { continue };
        let answer = match decode::<FileRequest>(&request.payload) {
            Ok(request) => files.part(&request),
            Err(error) => reason_message(&error.to_string()),
        };
        let _ = client.publish(inbox, answer.into()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_in_settings_functions_and_properties() {
        let room = tempfile::tempdir().unwrap();
        std::fs::create_dir(room.path().join("data")).unwrap();
        for name in ["users.csv", "data/body text.json", "ids.txt", "unused.txt"] {
            std::fs::write(room.path().join(name), "x").unwrap();
        }
        let plan = r#"<stringProp name="filename">users.csv</stringProp>
            <stringProp name="Argument.value">${__FileToString(data/body text.json,UTF-8,)}</stringProp>
            <stringProp name="p">/etc/passwd</stringProp><stringProp name="d">data</stringProp>"#;
        let found = plan_file_paths([plan, "ids.txt"].into_iter(), room.path());
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["data/body text.json", "ids.txt", "users.csv"]);
    }
}
