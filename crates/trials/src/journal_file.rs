//! The journal on disk: a line of JSON for each step, synchronized to the disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use busyhour_experiment::{Command, Design, Journal, JournalEntry, TrialId, TrialOutcome, TrialQuantile};
use serde::{Deserialize, Serialize};

use crate::error::ExecuteError;
use crate::line_file::{LineFile, read_lines};

/// The name of the journal in the directory of an experiment.
pub const JOURNAL_FILE_NAME: &str = "journal.jsonl";

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum JournalLine {
    /// The first line.
    Experiment(JournalStart),
    /// A trial begins.
    Begun {
        /// The trial.
        trial: TrialId,
        /// The case, as text.
        case: String,
        /// Time in ms since 1970.
        at_ms: u64,
    },
    /// A treatment is about to be applied.
    Applied(AppliedTreatment),
    /// A treatment was undone.
    Undone {
        /// The trial.
        trial: TrialId,
        /// Name of the treatment.
        treatment: String,
    },
    /// A file is about to be changed.
    Patched {
        /// The trial.
        trial: TrialId,
        /// The file.
        file: PathBuf,
        /// The copy of its content before.
        backup: PathBuf,
    },
    /// A file has its content before the trial again.
    Restored {
        /// The trial.
        trial: TrialId,
        /// The file.
        file: PathBuf,
    },
    /// A trial ended.
    Ended(EndedTrial),
    /// The experiment is continued after an interruption. The warm-up trials are executed again.
    Continued,
}

/// A treatment of the kind command, with everything that is needed to undo it without the file of the experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AppliedTreatment {
    /// The trial.
    pub trial: TrialId,
    /// Name of the treatment.
    pub treatment: String,
    /// The command that undoes it; journals of earlier versions lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<Command>,
    /// The directory of the command.
    #[serde(default)]
    pub directory: PathBuf,
    /// The environment of the command.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
}

/// Levels that are left out of an experiment, by the names of their factors.
pub type LeftOut = BTreeMap<String, Vec<String>>;

/// The first line of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalStart {
    /// The version of the format: 1.
    pub version: u32,
    /// The fingerprint of the experiment.
    pub fingerprint: String,
    /// The seed of the orders and arrivals, which can differ from that of the file.
    pub seed: u64,
    /// Whether it is the short form.
    #[serde(default)]
    pub is_short: bool,
    /// Levels that are left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: LeftOut,
}

/// A trial that ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EndedTrial {
    /// The trial, and how it ended.
    #[serde(flatten)]
    pub entry: JournalEntry,
    /// Time of the trial with the start and stop of the system, in s.
    pub seconds: f64,
    /// The responses of a finished trial; `None` for unavailable ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, Option<f64>>,
    /// Quantiles of the response times of a finished trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quantiles: Vec<TrialQuantile>,
    /// The cause of slow requests that the explanation of a finished trial names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The thresholds that failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_thresholds: Vec<String>,
    /// Further facts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The content of a journal.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JournalContent {
    /// The first line; `None` for an empty journal.
    pub start: Option<JournalStart>,
    /// The trials that ended, in their order.
    pub ended: Vec<EndedTrial>,
    /// The trial that began and has not ended.
    pub open: Option<TrialId>,
    /// The treatments that were applied and not undone.
    pub applied: Vec<AppliedTreatment>,
    /// The files that were changed and not restored, with their copies.
    pub patched: Vec<(TrialId, PathBuf, PathBuf)>,
    /// Number of trials that had ended before each continuation after an interruption.
    pub continued_after: Vec<usize>,
}

impl JournalContent {
    fn add(&mut self, line: JournalLine) {
        match line {
            JournalLine::Experiment(start) => self.start = Some(start),
            JournalLine::Begun { trial, .. } => self.open = Some(trial),
            JournalLine::Applied(applied) => self.applied.push(applied),
            JournalLine::Undone { treatment, .. } => {
                self.applied.retain(|applied| applied.treatment != treatment);
            }
            JournalLine::Patched { trial, file, backup } => self.patched.push((trial, file, backup)),
            JournalLine::Restored { file, .. } => self.patched.retain(|(_, patched, _)| *patched != file),
            JournalLine::Ended(ended) => {
                self.open = None;
                self.ended.push(ended);
            }
            JournalLine::Continued => self.continued_after.push(self.ended.len()),
        }
    }

    /// The journal of the outcomes.
    ///
    /// # Errors
    /// A trial does not belong to the design.
    pub fn outcomes<'d>(&self, design: &'d Design, path: &Path) -> Result<Journal<'d>, ExecuteError> {
        let mut journal = Journal::new(design);
        let mut continued_after = self.continued_after.iter().peekable();
        for (at, ended) in self.ended.iter().enumerate() {
            while continued_after.next_if(|after| **after <= at).is_some() {
                journal.continue_after_interruption();
            }
            journal.record(&ended.entry).map_err(|error| ExecuteError::Journal {
                path: path.display().to_string(),
                line: at + 1,
                reason: error.to_string(),
            })?;
        }
        continued_after.for_each(|_| journal.continue_after_interruption());
        Ok(journal)
    }

    /// Reads a journal without changing it. An incomplete last line is ignored.
    ///
    /// # Errors
    /// The file cannot be read, or a line is not valid.
    pub fn read(dir: &Path) -> Result<JournalContent, ExecuteError> {
        read_lines(&dir.join(JOURNAL_FILE_NAME)).map(content_of)
    }
}

/// The content of a journal from its lines.
fn content_of(lines: Vec<JournalLine>) -> JournalContent {
    let mut content = JournalContent::default();
    lines.into_iter().for_each(|line| content.add(line));
    content
}

/// The journal, opened and locked for an execution.
#[derive(Debug)]
pub(crate) struct JournalFile(LineFile);

impl JournalFile {
    /// Opens or creates the journal in a directory. An incomplete last line, which a power loss can leave, is removed.
    pub(crate) fn open(dir: &Path) -> Result<(JournalFile, JournalContent), ExecuteError> {
        JournalFile::open_with(dir, true)
    }

    /// Opens a journal, which must exist.
    pub(crate) fn open_existing(dir: &Path) -> Result<(JournalFile, JournalContent), ExecuteError> {
        JournalFile::open_with(dir, false)
    }

    fn open_with(dir: &Path, creates: bool) -> Result<(JournalFile, JournalContent), ExecuteError> {
        let path = dir.join(JOURNAL_FILE_NAME);
        let (file, lines) = if creates { LineFile::open(&path)? } else { LineFile::open_existing(&path)? };
        Ok((JournalFile(file), content_of(lines)))
    }

    /// Appends a line, and waits until it is on the disk.
    pub(crate) fn write(&mut self, line: &JournalLine) -> Result<(), ExecuteError> {
        self.0.append(line)
    }

    /// The outcome of a trial that was cut off.
    pub(crate) fn interrupted(trial: TrialId) -> EndedTrial {
        EndedTrial {
            entry: JournalEntry { trial, outcome: TrialOutcome::Interrupted },
            seconds: 0.0,
            values: BTreeMap::new(),
            quantiles: Vec::new(),
            cause: None,
            failed_thresholds: Vec::new(),
            notes: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write as _;

    use super::*;

    #[test]
    fn lines_are_read_as_they_were_written() {
        let dir = tempfile::tempdir().unwrap();
        let trial = TrialId { block: 1, case: 2, attempt: 1 };
        let applied = |name: &str, trial| AppliedTreatment {
            trial,
            treatment: name.to_owned(),
            undo: Some(Command::Shell("rmdir applied".to_owned())),
            directory: PathBuf::from("/shop"),
            environment: [("A".to_owned(), "1".to_owned())].into(),
        };
        let start = JournalStart {
            version: 1,
            fingerprint: "f".to_owned(),
            seed: 7,
            is_short: false,
            left_out: LeftOut::new(),
        };
        let ended = EndedTrial {
            entry: JournalEntry { trial, outcome: TrialOutcome::Spoiled { reason: "late".to_owned() } },
            seconds: 2.5,
            values: [("p95".to_owned(), Some(1.5)), ("max".to_owned(), None)].into(),
            quantiles: vec![TrialQuantile { share: 0.5, ms: 2.5 }],
            cause: Some("none".to_owned()),
            failed_thresholds: vec!["errors < 1%".to_owned()],
            notes: Vec::new(),
        };
        let (mut journal, empty) = JournalFile::open(dir.path()).unwrap();
        assert_eq!(empty, JournalContent::default());
        let second = TrialId { block: 2, ..trial };
        for line in [
            JournalLine::Experiment(start.clone()),
            JournalLine::Begun { trial, case: "heap=2g".to_owned(), at_ms: 1 },
            JournalLine::Applied(applied("a", trial)),
            JournalLine::Undone { trial, treatment: "a".to_owned() },
            JournalLine::Ended(ended.clone()),
            JournalLine::Begun { trial: second, case: "heap=2g".to_owned(), at_ms: 2 },
            JournalLine::Continued,
            JournalLine::Applied(applied("b", second)),
        ] {
            journal.write(&line).unwrap();
        }
        assert!(matches!(JournalFile::open(dir.path()), Err(ExecuteError::InUse(_))));
        drop(journal);
        // The last line is incomplete after a power loss.
        let path = dir.path().join(JOURNAL_FILE_NAME);
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"{\"event\":\"ended\",\"tri").unwrap();
        drop(file);
        let expected = JournalContent {
            start: Some(start),
            ended: vec![ended],
            open: Some(second),
            applied: vec![applied("b", second)],
            patched: Vec::new(),
            continued_after: vec![1],
        };
        assert_eq!(JournalContent::read(dir.path()).unwrap(), expected);
        let (mut journal, content) = JournalFile::open(dir.path()).unwrap();
        assert_eq!(content, expected);
        journal.write(&JournalLine::Ended(JournalFile::interrupted(second))).unwrap();
        assert_eq!(JournalContent::read(dir.path()).unwrap().ended.len(), 2);
    }

    #[test]
    fn a_damaged_line_is_named() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(JOURNAL_FILE_NAME), "\n{\"event\":\"begun\"}\n").unwrap();
        let error = JournalContent::read(dir.path()).unwrap_err().to_string();
        assert!(error.contains("journal.jsonl, line 2: missing field"), "{error}");
    }
}
