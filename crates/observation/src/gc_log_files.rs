//! The files of a garbage-collection log that is followed.
//!
//! Unified logs have a fixed name: the current file is `gc.log`, and rotation renames it. With `-XX:+UseGCLogFileRotation`, JDK 8
//! writes `gc.log.0.current`. At rotation, it renames this file to `gc.log.0` and continues with `gc.log.1.current`; after the last
//! number, it continues with 0. Both `gc.log` and the name of any current file select such a log.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use busyhour_logs::follow::{FileFollower, Piece, PolledFile, StartAt};
use busyhour_observe::ProbeError;

use crate::log_input::file_error;

/// Maximum number of entries of the directory that a search for the current file examines.
const ENTRIES_MAX: usize = 10_000;

/// Maximum number of files that are read between two current files.
const BETWEEN_MAX: u32 = 1_000;

/// While a file does not grow, every 10th poll searches for a newer one: a JVM that was restarted begins with number 0 again.
const SEARCH_EVERY: u32 = 10;

/// Reads the files of a log in their order.
#[derive(Debug)]
pub(crate) struct GcLogFiles {
    /// The path as the user gave it.
    named: PathBuf,
    follower: Option<FileFollower>,
    /// Whether a file of the log has existed.
    was_seen: bool,
    /// Whether the file of the follower has existed.
    is_opened: bool,
    /// The files that follow. The last one is the current file.
    next: VecDeque<PathBuf>,
    quiet_polls: u32,
}

impl GcLogFiles {
    /// Follows a log from its current end, or from its beginning if it does not exist yet.
    pub(crate) fn open(named: &Path) -> GcLogFiles {
        let path = current_file(named).unwrap_or_else(|| named.to_owned());
        let exists = path.exists();
        GcLogFiles {
            named: named.to_owned(),
            was_seen: exists,
            is_opened: exists,
            follower: FileFollower::open(&path, StartAt::End).ok(),
            next: VecDeque::new(),
            quiet_polls: 0,
        }
    }

    /// The file that is being read.
    pub(crate) fn path(&self) -> &Path {
        self.follower.as_ref().map_or(&self.named, FileFollower::path)
    }

    /// Whether a file of the log has existed.
    pub(crate) fn was_seen(&self) -> bool {
        self.was_seen
    }

    /// Reads the bytes that have arrived, up to a limit, and passes them to `piece`.
    pub(crate) fn poll(&mut self, mut piece: impl FnMut(Piece<'_>)) -> Result<PolledFile, ProbeError> {
        let follower = match &mut self.follower {
            Some(follower) => follower,
            None => {
                let path = current_file(&self.named).unwrap_or_else(|| self.named.clone());
                self.follower.insert(FileFollower::open(&path, StartAt::End).map_err(file_error)?)
            }
        };
        let mut polled = follower.poll(&mut piece).map_err(file_error)?;
        let exists = follower.path().exists();
        self.is_opened |= exists || polled.bytes > 0;
        self.was_seen |= self.is_opened;
        self.quiet_polls = if polled.bytes > 0 { 0 } else { self.quiet_polls.saturating_add(1) };
        if polled.has_more {
            return Ok(polled);
        }
        if self.next.is_empty() && (!exists || self.quiet_polls.is_multiple_of(SEARCH_EVERY)) {
            self.find_next(exists);
        }
        if let Some(path) = self.next.pop_front() {
            piece(Piece::Begin);
            self.is_opened = path.exists();
            self.follower = Some(FileFollower::open(&path, StartAt::Beginning).map_err(file_error)?);
            (polled.was_rotated, polled.has_more) = (true, true);
        }
        Ok(polled)
    }

    /// Finds the files that follow the one that is being read. `exists` is whether its path still exists.
    fn find_next(&mut self, exists: bool) {
        let (Some(current), path) = (current_file(&self.named), self.path().to_owned()) else { return };
        if current == path {
            return;
        }
        // If the old file still has its name, it was not rotated: the JVM was restarted.
        if let (Some(from), Some(to), false) = (Part::of(&path), Part::of(&current), exists) {
            // The file itself is read under its new name if it was renamed before it could be opened.
            let first = if self.is_opened { from.number.saturating_add(1) } else { from.number };
            let numbers: Vec<u32> = match first <= to.number {
                true => (first..to.number).take(BETWEEN_MAX as usize).collect(),
                false => (first..first.saturating_add(BETWEEN_MAX))
                    .take_while(|number| from.rotated(*number).exists())
                    .chain(0..to.number.min(BETWEEN_MAX))
                    .collect(),
            };
            self.next.extend(numbers.into_iter().map(|number| from.rotated(number)));
        }
        self.next.push_back(current);
    }
}

/// The name of a current file: `BASE.NUMBER.current`.
#[derive(Debug, PartialEq, Eq)]
struct Part {
    base: PathBuf,
    number: u32,
}

impl Part {
    fn of(path: &Path) -> Option<Part> {
        let (base, number) = path.file_name()?.to_str()?.strip_suffix(".current")?.rsplit_once('.')?;
        let is_number = !base.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let number = number.parse().ok().filter(|_| is_number)?;
        Some(Part { base: path.with_file_name(base), number })
    }

    /// The file after its rotation.
    fn rotated(&self, number: u32) -> PathBuf {
        let mut name = self.base.clone().into_os_string();
        name.push(format!(".{number}"));
        name.into()
    }
}

/// The file to which the JVM writes: the named one if it exists and is not a part of JDK 8, otherwise the part that was written last.
/// `None` if there is no file.
fn current_file(named: &Path) -> Option<PathBuf> {
    let base = match Part::of(named) {
        Some(part) => part.base,
        None if named.exists() => return Some(named.to_owned()),
        None => named.to_owned(),
    };
    let dir = base.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(dir).ok()?.take(ENTRIES_MAX).flatten();
    let parts = entries.filter_map(|entry| {
        let path = base.with_file_name(entry.file_name());
        Part::of(&path).filter(|part| part.base == base)?;
        let written: Option<SystemTime> = entry.metadata().ok()?.modified().ok();
        Some((written, path))
    });
    parts.max().map(|(_, path)| path)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    struct Logs {
        dir: tempfile::TempDir,
        files: GcLogFiles,
    }

    impl Logs {
        fn new(named: &str, initial: &[&str]) -> Logs {
            let dir = tempfile::tempdir().unwrap();
            initial.iter().for_each(|name| fs::write(dir.path().join(name), "old\n").unwrap());
            let files = GcLogFiles::open(&dir.path().join(named));
            Logs { dir, files }
        }

        fn append(&self, name: &str, text: &str) {
            use std::io::Write as _;
            let path = self.dir.path().join(name);
            let mut file = fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        }

        /// Rotates a log as JDK 8 does: `remove` the part that has the name, rename the current file, and begin the
        /// next one.
        fn rotate(&self, from: u32, to: u32) {
            let path = |name: String| self.dir.path().join(name);
            fs::rename(path(format!("gc.log.{from}.current")), path(format!("gc.log.{from}"))).unwrap();
            fs::write(path(format!("gc.log.{to}.current")), "").unwrap();
        }

        /// The text that has arrived; `|` where another file begins.
        fn text(&mut self) -> String {
            let mut text = String::new();
            while self
                .files
                .poll(|piece| match piece {
                    Piece::Begin => text.push('|'),
                    Piece::Bytes(bytes) => text += &String::from_utf8_lossy(bytes),
                })
                .unwrap()
                .has_more
            {}
            text
        }
    }

    #[test]
    fn parts_have_a_number_and_a_suffix() {
        let part = Part::of(Path::new("/var/log/gc.log.12.current")).unwrap();
        assert_eq!(part, Part { base: "/var/log/gc.log".into(), number: 12 });
        assert_eq!(part.rotated(3), Path::new("/var/log/gc.log.3"));
        for name in
            ["gc.log", "gc.log.0", "gc.log.current", "gc.log.+1.current", ".0.current", "gc.x.current"]
        {
            assert_eq!(Part::of(Path::new(name)), None, "{name}");
        }
    }

    #[test]
    fn the_parts_of_jdk_8_are_read_in_their_order() {
        for named in ["gc.log", "gc.log.0.current", "gc.log.1.current"] {
            let mut logs = Logs::new(named, &["gc.log.0.current", "other.log.7.current"]);
            logs.append("gc.log.0.current", "a");
            assert_eq!(logs.text(), "a", "{named}");
            logs.append("gc.log.0.current", "b");
            logs.rotate(0, 1);
            logs.append("gc.log.1.current", "c");
            assert_eq!(logs.text(), "b|c");
            // Three rotations between two polls, from the last number to the first.
            logs.append("gc.log.1.current", "d");
            logs.rotate(1, 2);
            logs.append("gc.log.2.current", "e");
            logs.rotate(2, 0);
            logs.append("gc.log.0.current", "f");
            assert_eq!(logs.text(), "d|e|f", "{named}");
            assert!(logs.files.path().ends_with("gc.log.0.current"));
        }
    }

    #[test]
    fn a_restarted_jvm_begins_with_the_first_part_again() {
        let mut logs = Logs::new("gc.log", &["gc.log.0", "gc.log.1", "gc.log.2.current", "gc.log.3"]);
        logs.append("gc.log.2.current", "a");
        assert_eq!(logs.text(), "a");
        // The part of the JVM that ended keeps its name.
        logs.append("gc.log.0.current", "b");
        let last = fs::metadata(logs.dir.path().join("gc.log.2.current")).unwrap().modified().unwrap();
        let newest = last + std::time::Duration::from_secs(60);
        let file = fs::File::options().append(true).open(logs.dir.path().join("gc.log.0.current")).unwrap();
        file.set_modified(newest).unwrap();
        let found: Vec<String> = (0..SEARCH_EVERY).map(|_| logs.text()).collect();
        assert_eq!(found.concat(), "|b");
    }

    #[test]
    fn a_log_that_does_not_exist_is_read_from_its_beginning() {
        for first in ["gc.log", "gc.log.0.current"] {
            let mut logs = Logs::new("gc.log", &[]);
            assert_eq!((logs.text().as_str(), logs.files.was_seen()), ("", false));
            logs.append(first, "a");
            assert_eq!(logs.text().trim_start_matches('|'), "a", "{first}");
            assert!(logs.files.was_seen());
        }
    }
}
