//! Undoes what a killed or failed experiment left: processes, controls, treatments and changed files.

use std::path::Path;

use crate::error::ExecuteError;
use crate::journal_file::{JournalContent, JournalFile, JournalLine};
use crate::undo::undo_command;
use crate::{machine, patches, processes};

/// The result of restoring.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    /// The changes that were undone, as sentences without a full stop.
    pub done: Vec<String>,
    /// The changes that could not be undone, with reasons.
    pub failed: Vec<String>,
}

/// Undoes everything that the journals in the directory of an experiment record. Has no effect if there is nothing to undo.
///
/// # Errors
/// The journal cannot be used, or the experiment still runs. Parts that could not be undone are no error; they are listed.
pub fn restore(dir: &Path, busyhour: &Path) -> Result<Restored, ExecuteError> {
    let (mut journal, mut content) = JournalFile::open_existing(dir)?;
    restore_content(dir, busyhour, &mut journal, &mut content)
}

/// Restores with an open journal. Changes that could not be undone remain in the content.
pub(crate) fn restore_content(
    dir: &Path,
    busyhour: &Path,
    journal: &mut JournalFile,
    content: &mut JournalContent,
) -> Result<Restored, ExecuteError> {
    let mut restored = Restored::default();
    let has_open = content.open.is_some() || !content.applied.is_empty() || !content.patched.is_empty();
    if has_open || machine::has_journal(dir) {
        let (count, left) = processes::end_left(dir);
        if count > left.len() {
            restored.done.push(format!("ended {} processes of the experiment", count - left.len()));
        }
        if !left.is_empty() {
            let pids: Vec<String> = left.iter().map(i32::to_string).collect();
            restored.failed.push(format!("the processes {} did not end", pids.join(", ")));
        }
    }
    let (done, failed) = machine::restore(dir);
    restored.done.extend(done.into_iter().map(|change| format!("undid the control: {change}")));
    restored.failed.extend(failed);
    // The last treatment is undone first.
    for applied in std::mem::take(&mut content.applied).into_iter().rev() {
        match undo_command(dir, busyhour, &applied, journal)? {
            Ok(()) => restored.done.push(format!(
                "undid the treatment {:?} of the interrupted trial {}",
                applied.treatment, applied.trial
            )),
            Err(reason) => {
                restored.failed.push(reason);
                content.applied.insert(0, applied);
            }
        }
    }
    for (trial, file, backup) in std::mem::take(&mut content.patched) {
        match patches::restore(&file, &backup, (&mut *journal, trial))? {
            Ok(()) => {
                restored.done.push(format!("restored {}, which the trial {trial} changed", file.display()));
            }
            Err(reason) => {
                restored.failed.push(reason);
                content.patched.push((trial, file, backup));
            }
        }
    }
    if restored.failed.is_empty()
        && let Some(trial) = content.open.take()
    {
        let ended = JournalFile::interrupted(trial);
        journal.write(&JournalLine::Ended(ended.clone()))?;
        content.ended.push(ended);
        restored.done.push(format!("the trial {trial} was interrupted and is repeated"));
    }
    Ok(restored)
}
