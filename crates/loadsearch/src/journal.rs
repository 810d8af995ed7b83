//! The journal of a search: a line of JSON for each step, synchronized to the disk.

use std::path::Path;

use busyhour_search::{Evidence, GuessFacts, SearchSettings, TrialOutcome, TrialRecord};
use busyhour_trials::{ExecuteError, LineFile, read_lines};
use serde::{Deserialize, Serialize};

use crate::error::LoadSearchError;
use crate::plan::LoadSearchPlan;

/// The name of the journal in the directory of a search.
pub const SEARCH_JOURNAL_FILE_NAME: &str = "search.jsonl";

/// The version of the format. Searches of versions 1 and 2 had other trials and another answer: the lower end of its interval, and a
/// load far below the estimate if the interval was wide.
pub(crate) const JOURNAL_VERSION: u32 = 3;

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum SearchLine {
    /// The first line.
    Search {
        /// The version of the format, [`JOURNAL_VERSION`].
        version: u32,
        /// What is searched.
        plan: Box<LoadSearchPlan>,
    },
    /// A trial begins.
    Begun {
        /// Its number.
        number: u32,
    },
    /// A trial ended.
    Trial(Box<TrialRecord>),
    /// A trial could not be executed. It is repeated.
    Failed {
        /// Its number.
        number: u32,
        /// Why.
        reason: String,
    },
    /// A search that had ended because trials were spoiled continues.
    Resumed,
    /// The light trials have ended.
    Prepared(Preparation),
}

/// What the light trials determined.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Preparation {
    /// The settings of the search.
    pub(crate) settings: SearchSettings,
    /// The guess from which it starts.
    pub(crate) guess: Evidence<GuessFacts>,
}

/// The content of a journal.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SearchContent {
    /// The version of the format; `None` for an empty journal.
    pub(crate) version: Option<u32>,
    /// What is searched; `None` for an empty journal.
    pub(crate) plan: Option<LoadSearchPlan>,
    /// The trials that ended, in their order.
    pub(crate) records: Vec<TrialRecord>,
    /// What the light trials determined; `None` before their end.
    pub(crate) preparation: Option<Preparation>,
    /// The numbers of trials that had ended when the search continued after spoiled ones.
    pub(crate) resumed: Vec<usize>,
    /// The largest number of a trial that began.
    pub(crate) last_number: u32,
}

impl SearchContent {
    fn of(lines: Vec<SearchLine>) -> SearchContent {
        let mut content = SearchContent::default();
        lines.into_iter().for_each(|line| content.add(line));
        content
    }

    pub(crate) fn add(&mut self, line: SearchLine) {
        match line {
            SearchLine::Search { version, plan } => {
                self.version = Some(version);
                self.plan = Some(*plan);
            }
            SearchLine::Begun { number } => self.last_number = self.last_number.max(number),
            SearchLine::Trial(record) => self.records.push(*record),
            SearchLine::Failed { .. } => {}
            SearchLine::Resumed => self.resumed.push(self.records.len()),
            SearchLine::Prepared(preparation) => self.preparation = Some(preparation),
        }
    }

    /// Refuses journals of other versions.
    pub(crate) fn check_version(&self) -> Result<(), LoadSearchError> {
        match self.version {
            None | Some(JOURNAL_VERSION) => Ok(()),
            Some(version) => Err(LoadSearchError::OtherVersion { version }),
        }
    }

    /// Reads a journal without changing it.
    pub(crate) fn read(dir: &Path) -> Result<SearchContent, ExecuteError> {
        read_lines(&dir.join(SEARCH_JOURNAL_FILE_NAME)).map(SearchContent::of)
    }

    /// Opens or creates the journal of a directory, and locks it.
    pub(crate) fn open(dir: &Path) -> Result<(LineFile, SearchContent), ExecuteError> {
        let (file, lines) = LineFile::open(&dir.join(SEARCH_JOURNAL_FILE_NAME))?;
        Ok((file, SearchContent::of(lines)))
    }

    /// The light trials.
    pub(crate) fn light(&self) -> impl Iterator<Item = &TrialRecord> {
        self.records.iter().filter(|record| record.purpose.is_none())
    }

    /// The light trials without those that were void before the search continued.
    pub(crate) fn counted_light(&self) -> impl Iterator<Item = &TrialRecord> {
        let resumed_at = self.resumed.last().copied().unwrap_or(0);
        let is_void = |record: &TrialRecord| matches!(record.outcome, TrialOutcome::Void(_));
        let counted = move |(at, record): &(usize, &TrialRecord)| *at >= resumed_at || !is_void(record);
        let light = self.records.iter().enumerate().filter(|(_, record)| record.purpose.is_none());
        light.filter(counted).map(|(_, record)| record)
    }
}
