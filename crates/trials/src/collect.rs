//! Copies files of the system under test after a trial.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Largest number of files that are copied after a trial.
const FILES_MAX: usize = 1_000;

/// Largest total length of these files.
const BYTES_MAX: u64 = 4 << 30;

/// Largest number of directory entries that are compared with a pattern.
const ENTRIES_MAX: usize = 100_000;

/// The state of a file, which differs after each change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileState {
    modified: Option<SystemTime>,
    bytes: u64,
    /// Changes when the file is replaced, and also if its time is set back.
    #[cfg(unix)]
    inode_and_change: (u64, i64, i64),
}

impl FileState {
    fn of(path: &Path) -> Option<FileState> {
        let metadata = path.metadata().ok()?;
        Some(FileState {
            modified: metadata.modified().ok(),
            bytes: metadata.len(),
            #[cfg(unix)]
            inode_and_change: {
                use std::os::unix::fs::MetadataExt as _;
                (metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
            },
        })
    }
}

/// The files that matched the patterns before a trial.
#[derive(Debug, Clone, Default)]
pub(crate) struct FilesBefore(HashMap<PathBuf, FileState>);

impl FilesBefore {
    /// Finds the files that match the patterns, which are relative to `from`.
    pub(crate) fn find(patterns: &[String], from: &Path) -> FilesBefore {
        let files = patterns.iter().flat_map(|pattern| matching(pattern, from));
        FilesBefore(
            files
                .filter_map(|file| Some((FileState::of(&file)?, file)))
                .map(|(state, file)| (file, state))
                .collect(),
        )
    }

    /// Copies the matching files that were changed or created since. Returns notes about files that were not copied.
    pub(crate) fn collect(&self, patterns: &[String], from: &Path, to: &Path) -> Vec<String> {
        let (mut notes, mut files, mut bytes) = (Vec::new(), 0, 0);
        for pattern in patterns {
            let found = matching(pattern, from);
            let is_any = !found.is_empty();
            let mut changed =
                found.into_iter().filter(|file| self.0.get(file).copied() != FileState::of(file)).peekable();
            if changed.peek().is_none() {
                notes.push(match is_any {
                    true => format!("no file that matches {pattern:?} changed during the trial"),
                    false => format!("no file to collect matches {pattern:?}"),
                });
            }
            for file in changed {
                files += 1;
                bytes += file.metadata().map_or(0, |metadata| metadata.len());
                if files > FILES_MAX || bytes > BYTES_MAX {
                    notes.push(format!("only {FILES_MAX} files with {BYTES_MAX} bytes are collected"));
                    return notes;
                }
                if let Err(error) = copy(&file, from, to) {
                    notes.push(format!("{} was not collected: {error}", file.display()));
                }
            }
        }
        notes
    }
}

/// Copies a file with its directories below `from`.
fn copy(file: &Path, from: &Path, to: &Path) -> std::io::Result<u64> {
    let name = file.strip_prefix(from).unwrap_or(file);
    let safe: PathBuf =
        name.components().filter(|part| matches!(part, std::path::Component::Normal(_))).collect();
    let target = to.join(safe);
    target.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::copy(file, &target)
}

/// The regular files that match a pattern, sorted.
fn matching(pattern: &str, from: &Path) -> Vec<PathBuf> {
    let mut found = vec![if pattern.starts_with('/') { PathBuf::from("/") } else { from.to_owned() }];
    let mut entries = 0;
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        if !part.contains(['*', '?']) {
            found.iter_mut().for_each(|path| path.push(part));
            continue;
        }
        let mut next = Vec::new();
        for dir in found {
            for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
                entries += 1;
                let name = entry.file_name();
                if entries <= ENTRIES_MAX && name.to_str().is_some_and(|name| is_match(part, name)) {
                    next.push(entry.path());
                }
            }
        }
        next.sort();
        found = next;
    }
    found.retain(|path| path.is_file());
    found
}

/// Whether a name matches a pattern with `*` and `?`. Names that begin with a dot only match patterns that do.
fn is_match(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut in_name) = (0, 0);
    // The last star, and the position in the name up to which it has consumed characters.
    let mut star: Option<(usize, usize)> = None;
    while in_name < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(expected) if *expected == '?' || *expected == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            _ => {
                let Some((star_at, consumed)) = star else { return false };
                star = Some((star_at, consumed + 1));
                (at, in_name) = (star_at + 1, consumed + 1);
            }
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_names() {
        for (pattern, name, expected) in [
            ("*.log", "gc.log", true),
            ("*.log", "gc.log.1", false),
            ("gc*.?", "gc.log.1", true),
            ("*", ".hidden", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("", "", true),
        ] {
            assert_eq!(is_match(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn matching_files_are_copied_with_their_directories() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::create_dir(from.path().join("logs")).unwrap();
        for name in ["logs/a.log", "logs/b.txt", "gc.log"] {
            std::fs::write(from.path().join(name), name).unwrap();
        }
        let patterns = ["logs/*.log", "gc.log", "none*"].map(str::to_owned);
        let notes = FilesBefore::default().collect(&patterns, from.path(), to.path());
        assert_eq!(notes, ["no file to collect matches \"none*\""]);
        assert_eq!(std::fs::read_to_string(to.path().join("logs/a.log")).unwrap(), "logs/a.log");
        assert!(to.path().join("gc.log").is_file() && !to.path().join("logs/b.txt").exists());
    }

    #[test]
    fn files_that_did_not_change_are_not_copied() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let write = |name: &str, text: &str| std::fs::write(from.path().join(name), text).unwrap();
        write("old.log", "earlier trial");
        write("grown.log", "1");
        write("same.txt", "1");
        let patterns = ["*.log", "*.txt"].map(str::to_owned);
        let before = FilesBefore::find(&patterns, from.path());
        write("grown.log", "12");
        write("new.log", "3");
        let notes = before.collect(&patterns, from.path(), to.path());
        assert_eq!(notes, ["no file that matches \"*.txt\" changed during the trial"]);
        let mut names: Vec<String> = std::fs::read_dir(to.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["grown.log", "new.log"]);
    }
}
