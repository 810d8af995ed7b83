//! Undoes a treatment of the kind command.

use std::path::Path;
use std::time::Duration;

use crate::error::ExecuteError;
use crate::journal_file::{AppliedTreatment, JournalFile, JournalLine};
use crate::process::{KeptCommand, SUCCESS, Waited};
use crate::setting::words;
use crate::stop::StopRequest;
use crate::trial_files::{SYSTEM_LOG, trial_dir};

/// Time between SIGTERM and SIGKILL for a command.
pub(crate) const COMMAND_GRACE: Duration = Duration::from_secs(2);

/// Time that commands other than `start` may take.
pub(crate) const COMMAND_TIMEOUT: Duration = Duration::from_secs(300);

/// Undoes a treatment. The inner error is the reason why it could not be undone.
pub(crate) fn undo_command(
    dir: &Path,
    busyhour: &Path,
    applied: &AppliedTreatment,
    journal: &mut JournalFile,
) -> Result<Result<(), String>, ExecuteError> {
    let (trial, name) = (applied.trial, &applied.treatment);
    let failed = |reason: String| Ok(Err(format!("the treatment {name:?} could not be undone: {reason}")));
    let Some(undo) = &applied.undo else {
        return failed("the journal of an earlier version does not contain its command `undo`".to_owned());
    };
    let log = trial_dir(dir, trial).join(SYSTEM_LOG);
    let files = trial_dir(dir, trial);
    std::fs::create_dir_all(&files).map_err(ExecuteError::file(&files))?;
    let command = KeptCommand {
        busyhour,
        experiment: dir,
        words: words(undo),
        environment: applied.environment.clone().into_iter().collect(),
        directory: &applied.directory,
        cores: &[],
        log,
        grace: COMMAND_GRACE,
        lingers: false,
        waits: false,
    };
    // A stop request does not prevent the restoration.
    let waited = command.start().map(|mut kept| kept.wait(COMMAND_TIMEOUT, &StopRequest::default()));
    let reason = match waited {
        Ok(Waited::Ended(status)) if status == SUCCESS => {
            journal.write(&JournalLine::Undone { trial, treatment: name.clone() })?;
            return Ok(Ok(()));
        }
        Ok(Waited::Ended(status)) => format!("its command `undo` ended with {status}"),
        Ok(Waited::TimedOut | Waited::Stopped) => {
            format!("its command `undo` did not end within {} s", COMMAND_TIMEOUT.as_secs())
        }
        Err(error) => format!("its command `undo` cannot be started: {error}"),
    };
    failed(reason)
}
