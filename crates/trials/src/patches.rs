//! Changes of files for a trial, and their restoration.

use std::path::Path;

use busyhour_experiment::{FilePatch, TrialId};

use crate::error::{ExecuteError, TrialError};
use crate::journal_file::{JournalFile, JournalLine};

/// Largest length of a file that is changed.
const BYTES_MAX: u64 = 64 << 20;

/// Copies the file, and changes it. All patches of one file share the first copy.
pub(crate) fn apply(
    patch: &FilePatch,
    system_dir: &Path,
    backup: &Path,
    is_first: bool,
    (journal, trial): (&mut JournalFile, TrialId),
) -> Result<Result<(), TrialError>, ExecuteError> {
    let path = system_dir.join(&patch.file);
    let failed = |reason: String| {
        TrialError::Failed(format!("the file {} cannot be changed: {reason}", path.display()))
    };
    let changed = match changed_content(patch, &path, system_dir) {
        Ok(changed) => changed,
        Err(reason) => return Ok(Err(failed(reason))),
    };
    if is_first {
        let copied = backup
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::copy(&path, backup))
            .and_then(|_| std::fs::File::open(backup)?.sync_all());
        if let Err(error) = copied {
            return Ok(Err(failed(error.to_string())));
        }
        journal.write(&JournalLine::Patched { trial, file: path.clone(), backup: backup.to_owned() })?;
    }
    Ok(std::fs::write(&path, changed).map_err(|error| failed(error.to_string())))
}

fn changed_content(patch: &FilePatch, path: &Path, system_dir: &Path) -> Result<Vec<u8>, String> {
    let length = path.metadata().map_err(|error| error.to_string())?.len();
    if length > BYTES_MAX {
        return Err(format!("it has {length} bytes, more than the limit of {BYTES_MAX}"));
    }
    if let Some(with) = &patch.with {
        return std::fs::read(system_dir.join(with)).map_err(|error| format!("{with}: {error}"));
    }
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let find = patch.find.as_deref().unwrap_or_default();
    let count = if find.is_empty() { 0 } else { text.matches(find).take(2).count() };
    match count {
        1 => Ok(text.replacen(find, patch.replace.as_deref().unwrap_or_default(), 1).into_bytes()),
        0 => Err(format!("it does not contain {find:?}")),
        _ => Err(format!("it contains {find:?} more than once")),
    }
}

/// Restores a file from its copy. The inner error is the reason why it could not be restored.
pub(crate) fn restore(
    file: &Path,
    backup: &Path,
    (journal, trial): (&mut JournalFile, TrialId),
) -> Result<Result<(), String>, ExecuteError> {
    // Without a copy, a power loss came before the change.
    let restored = match std::fs::read(backup) {
        Ok(content) => std::fs::write(file, content),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    };
    if let Err(error) = restored {
        return Ok(Err(format!(
            "the change of the file {} could not be undone: {error}; its content is in {}",
            file.display(),
            backup.display()
        )));
    }
    journal.write(&JournalLine::Restored { trial, file: file.to_owned() })?;
    let _ = std::fs::remove_file(backup);
    Ok(Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal_file::JournalContent;

    fn patch(find: Option<&str>, with: Option<&str>) -> FilePatch {
        FilePatch {
            file: "conf".to_owned(),
            find: find.map(str::to_owned),
            replace: Some("new".to_owned()),
            with: with.map(str::to_owned),
        }
    }

    #[test]
    fn a_changed_file_is_restored() {
        let dir = tempfile::tempdir().unwrap();
        let (file, backup) = (dir.path().join("conf"), dir.path().join("restore/1"));
        let trial = TrialId { block: 1, case: 1, attempt: 1 };
        let (mut journal, _) = JournalFile::open(dir.path()).unwrap();
        std::fs::write(&file, "old value, other").unwrap();
        let target = (&mut journal, trial);
        apply(&patch(Some("old"), None), dir.path(), &backup, true, target).unwrap().unwrap();
        apply(&patch(Some("other"), None), dir.path(), &backup, false, (&mut journal, trial))
            .unwrap()
            .unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "new value, new");
        let content = JournalContent::read(dir.path()).unwrap();
        assert_eq!(content.patched, [(trial, file.clone(), backup.clone())]);
        restore(&file, &backup, (&mut journal, trial)).unwrap().unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "old value, other");
        assert!(JournalContent::read(dir.path()).unwrap().patched.is_empty() && !backup.exists());
    }

    #[test]
    fn a_text_must_occur_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("conf");
        std::fs::write(&file, "a b a").unwrap();
        let reason = |patch: FilePatch| changed_content(&patch, &file, dir.path()).unwrap_err();
        assert_eq!(reason(patch(Some("a"), None)), "it contains \"a\" more than once");
        assert_eq!(reason(patch(Some("c"), None)), "it does not contain \"c\"");
        assert!(reason(patch(None, Some("none"))).starts_with("none: "));
        let with = dir.path().join("with");
        std::fs::write(&with, "whole").unwrap();
        assert_eq!(changed_content(&patch(None, Some("with")), &file, dir.path()).unwrap(), b"whole");
    }
}
