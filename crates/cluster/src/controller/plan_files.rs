//! The files that a plan needs, and the task that sends them to agents.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_nats::{Client, Subscriber};
use busyhour_launch::Prepared;
use futures_util::StreamExt as _;

use super::csv_rows::{Doubt, RowDeal, RowForm, deal, dealt_files};
use super::settings::CsvRows;
use crate::connection::Say;
use crate::error::ClusterError;
use crate::messages::{FileFact, FileRequest};
use crate::parts::{create_private_dir, hash, is_inside, part_message, reason_message};
use crate::wire::decode;

/// Directory of dealt rows in the run directory, until the agents have them.
const PARTS_DIR: &str = "csv-rows";

/// Maximum number of files of a plan.
const FILES_MAX: usize = 10_000;

/// Characters that separate names of files in functions, lists and scripts.
const SEPARATORS: &[char] =
    &[',', '(', ')', '{', '}', '$', '\'', '"', ';', '=', '\n', '\r', '\t', '<', '>', '|'];

/// The files of a plan.
pub(super) struct PlanFiles {
    /// All files by their hash.
    files: BTreeMap<String, PathBuf>,
    /// The files that all agents get.
    common: Vec<FileFact>,
    /// The files of each agent with its rows.
    dealt: Vec<Vec<FileFact>>,
    /// Why rows are not dealt although they should be.
    doubts: Vec<Doubt>,
}

impl PlanFiles {
    /// Finds the files: every text in the plan or in a property that is the path of an existing file, relative to the working
    /// directory or the directory of the plan. Absolute paths are not among them; the agents need such files themselves. Deals the rows of CSV files.
    ///
    /// # Errors
    /// A file cannot be read, or its parts cannot be written.
    pub(super) fn of(prepared: &Prepared, rows: CsvRows, agents: usize) -> Result<PlanFiles, ClusterError> {
        let base = prepared.request().plan.parent().map(Path::to_owned).unwrap_or_default();
        let plan = std::fs::read_to_string(prepared.dir().plan_path()).unwrap_or_default();
        let properties = prepared.resolved_properties();
        let values = properties.jmeter.iter().map(|(_, value)| value.as_str());
        let known = prepared.jmeter_properties().all().into_iter().collect();
        let deal = dealt_files(&plan, rows, &known);
        if let (CsvRows::Unique, Some(doubt)) = (rows, deal.doubts.first()) {
            return Err(repeated_rows(&doubt.file, doubt.reason));
        }
        let RowDeal { files: dealt_names, doubts } = deal;
        let parts_dir = prepared.dir().path().join(PARTS_DIR);
        let mut all =
            PlanFiles { files: BTreeMap::new(), common: Vec::new(), dealt: vec![Vec::new(); agents], doubts };
        let names = dealt_names.keys().map(String::as_str);
        for (path, full) in plan_file_paths(std::iter::once(plan.as_str()).chain(values).chain(names), &base)
        {
            match dealt_names.get(&path) {
                Some(form) if agents > 1 => all.deal(&path, &full, *form, &parts_dir)?,
                _ => {
                    let fact = all.add(path, full)?;
                    all.common.push(fact);
                }
            }
        }
        let is_dealt = |name: &String| all.dealt[0].iter().any(|fact| fact.path == *name);
        let copied = dealt_names.keys().find(|name| agents > 1 && !is_dealt(name));
        if let (CsvRows::Unique, Some(name)) = (rows, copied) {
            let reason = "is not a file below the directory of the plan, so each agent reads its own copy";
            return Err(repeated_rows(name, reason));
        }
        Ok(all)
    }

    /// Adds a file; returns its description.
    fn add(&mut self, path: String, full: PathBuf) -> Result<FileFact, ClusterError> {
        let (bytes, sha256) = hash(&full).map_err(ClusterError::file(&full))?;
        self.files.insert(sha256.clone(), full);
        Ok(FileFact { path, bytes, sha256 })
    }

    /// Writes the rows of each agent to a file of their own.
    fn deal(&mut self, path: &str, full: &Path, form: RowForm, parts_dir: &Path) -> Result<(), ClusterError> {
        let contents = std::fs::read(full).map_err(ClusterError::file(full))?;
        create_private_dir(parts_dir).map_err(ClusterError::file(parts_dir))?;
        let agents = self.dealt.len();
        for part in 0..agents {
            let file = parts_dir.join(format!("{}-{part}", self.files.len()));
            std::fs::write(&file, deal(&contents, form, part, agents)).map_err(ClusterError::file(&file))?;
            let fact = self.add(path.to_owned(), file)?;
            self.dealt[part].push(fact);
        }
        Ok(())
    }

    /// The files of an agent.
    pub(super) fn facts(&self, agent: usize) -> Vec<FileFact> {
        let dealt = self.dealt.get(agent).into_iter().flatten();
        self.common.iter().chain(dealt).cloned().collect()
    }

    /// Names the files, so that a missing one is noticed.
    pub(super) fn tell(&self, say: &Say) {
        let list = |files: &[FileFact]| {
            let names: Vec<&str> = files.iter().map(|fact| fact.path.as_str()).take(10).collect();
            let more = files.len() - names.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{}{more}", names.join(", "))
        };
        if !self.common.is_empty() {
            say(&format!("files for the agents: {}", list(&self.common)));
        }
        if let Some(dealt) = self.dealt.first().filter(|dealt| !dealt.is_empty()) {
            say(&format!("the rows of {} are dealt to the agents in turn", list(dealt)));
        }
        for doubt in self.doubts.iter().filter(|_| self.dealt.len() > 1) {
            say(&format!(
                "warning: {} {}: its rows are not dealt, and every agent reads all of them",
                doubt.file, doubt.reason
            ));
        }
    }

    /// A part of a file, as a message.
    fn part(&self, request: &FileRequest) -> Vec<u8> {
        match self.files.get(&request.sha256) {
            Some(path) => part_message(path, request.from),
            None => reason_message("the run has no such file"),
        }
    }
}

/// Refuses a CSV file whose rows could be used twice.
fn repeated_rows(file: &str, reason: &str) -> ClusterError {
    ClusterError::Rows(format!("--csv unique: {file} {reason}; its rows could be used twice"))
}

/// Removes the dealt rows when the agents have them.
pub(super) fn remove_parts(dir: &Path) {
    let _ = std::fs::remove_dir_all(dir.join(PARTS_DIR));
}

/// The paths of existing files among the texts of a plan, its properties and options, each with the file. As in JMeter, a file in the working directory takes precedence over
/// one in `base`.
pub fn plan_file_paths<'t>(texts: impl Iterator<Item = &'t str>, base: &Path) -> BTreeMap<String, PathBuf> {
    let mut paths = BTreeMap::new();
    let mut checked = BTreeSet::new();
    for text in texts {
        for word in text.split(SEPARATORS).map(str::trim) {
            if paths.len() >= FILES_MAX {
                return paths;
            }
            let is_candidate = word.len() <= 1_024 && is_inside(word);
            if !is_candidate || !checked.insert(word.to_owned()) {
                continue;
            }
            let full = [PathBuf::from(word), base.join(word)].into_iter().find(|full| full.is_file());
            paths.extend(full.map(|full| (word.to_owned(), full)));
        }
    }
    paths
}

/// Sends parts of files on request.
pub(super) async fn serve(client: Client, mut requests: Subscriber, files: Arc<PlanFiles>) {
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
        assert_eq!(found.into_keys().collect::<Vec<_>>(), ["data/body text.json", "ids.txt", "users.csv"]);
    }
}
