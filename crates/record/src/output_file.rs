//! Output files whose write errors do not stop the run.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;

use busyhour_sample::RecorderEvent;

use crate::output_target::Target;
use crate::pipe::PipeRelease;

/// Size of the buffer in bytes.
const BUFFER: usize = 128 << 10;

/// A buffered file of units (rows or samples). Each unit is written completely or not at all.
///
/// When a write fails, for example on a full disk, the units that were written completely are kept. A partly written unit is
/// truncated. It and the rest of the buffer are counted as lost; later units are written if writing succeeds again. If the file
/// cannot be truncated (a pipe), the rest of the partly written unit is written first. Thus no unit ever starts in the middle
/// of another.
pub(crate) struct OutputFile {
    name: String,
    target: Box<dyn Target>,
    buffer: Vec<u8>,
    /// The end of each complete unit in the buffer, and its number of samples or rows.
    ends: Vec<(usize, u64)>,
    /// Length of the file up to the last complete unit.
    len: u64,
    /// The unwritten rest of a partly written unit that could not be truncated, and its number of samples or rows.
    torn: (Vec<u8>, u64),
    lost: u64,
    error: Option<String>,
    /// Whether any unit has been lost.
    has_lost_units: bool,
}

impl OutputFile {
    /// Opens a result file, which may be a named pipe (see [`PipeRelease`]). A regular file is opened as by
    /// [`OutputFile::open`].
    pub(crate) fn open_result(path: &Path, append: bool, release: &PipeRelease) -> io::Result<OutputFile> {
        #[cfg(unix)]
        if crate::pipe::is_pipe(path) {
            let pipe = crate::pipe::Pipe::open(path, release.clone())?;
            return Ok(Self::on(path.display().to_string(), Box::new(pipe), 0));
        }
        #[cfg(not(unix))]
        let _ = release;
        OutputFile::open(path, append)
    }

    /// Opens `path`, and creates its directory if necessary. With `append`, existing contents are kept.
    pub(crate) fn open(path: &Path, append: bool) -> io::Result<OutputFile> {
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            std::fs::create_dir_all(parent)?;
        }
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_file() && !append {
            file.set_len(0)?;
        }
        let len = if append { metadata.len() } else { 0 };
        Ok(Self::on(path.display().to_string(), Box::new(file), len))
    }

    fn on(name: String, target: Box<dyn Target>, len: u64) -> OutputFile {
        OutputFile {
            name,
            target,
            buffer: Vec::with_capacity(BUFFER + (BUFFER >> 2)),
            ends: Vec::new(),
            len,
            torn: (Vec::new(), 0),
            lost: 0,
            error: None,
            has_lost_units: false,
        }
    }

    /// The file's name, as given.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the buffer, to which the caller appends the next unit. The caller then calls [`OutputFile::end_unit`].
    pub(crate) fn unit(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Ends a unit that contains `units` rows or samples. Returns false if a write failed.
    pub(crate) fn end_unit(&mut self, units: u64) -> bool {
        self.ends.push((self.buffer.len(), units));
        self.buffer.len() < BUFFER || self.flush()
    }

    /// Writes the buffer; returns false if that failed.
    pub(crate) fn flush(&mut self) -> bool {
        if !self.write_torn_rest() {
            self.lose_from(0);
            return false;
        }
        let whole = self.ends.last().map_or(0, |(end, _)| *end);
        let (written, error) = write(&mut *self.target, &self.buffer[..whole]);
        let Some(error) = error else {
            self.len += whole as u64;
            self.buffer.drain(..whole);
            self.ends.clear();
            return true;
        };
        self.failed_with(&error);
        // Number of the completely written units, and the end of the last one.
        let taken = self.ends.partition_point(|(end, _)| *end <= written);
        let kept = if taken == 0 { 0 } else { self.ends[taken - 1].0 };
        self.len += kept as u64;
        let torn = written > kept && self.target.truncate(self.len).is_err();
        if torn && let Some((end, units)) = self.ends.get(taken).copied() {
            self.torn = (self.buffer[written..end].to_vec(), units);
            self.len += (end - kept) as u64;
            self.lose_from(taken + 1);
        } else {
            self.lose_from(taken);
        }
        false
    }

    /// Writes the rest of a partly written unit; returns false if that failed.
    fn write_torn_rest(&mut self) -> bool {
        if self.torn.0.is_empty() {
            return true;
        }
        let (written, error) = write(&mut *self.target, &self.torn.0);
        self.torn.0.drain(..written);
        if let Some(error) = error {
            self.failed_with(&error);
            return false;
        }
        if !self.has_lost_units {
            // Nothing was lost, so the error is not reported.
            self.error = None;
        }
        true
    }

    /// Removes all complete units from the buffer; the units from index `unit` on are counted as lost.
    fn lose_from(&mut self, unit: usize) {
        let rest = self.ends.get(unit..).unwrap_or_default();
        self.has_lost_units |= !rest.is_empty();
        self.lost += rest.iter().map(|(_, units)| units).sum::<u64>();
        let whole = self.ends.last().map_or(0, |(end, _)| *end);
        self.buffer.drain(..whole);
        self.ends.clear();
    }

    fn failed_with(&mut self, error: &io::Error) {
        if self.error.is_none() {
            self.error = Some(error.to_string());
        }
    }

    /// The event that reports the file's error, if any.
    pub(crate) fn event(&self) -> Option<RecorderEvent> {
        let error = self.error.clone()?;
        let torn = if self.torn.0.is_empty() { 0 } else { self.torn.1 };
        Some(RecorderEvent::LostOutput { file: self.name.clone(), error, lost: self.lost + torn })
    }

    pub(crate) const fn failed(&self) -> bool {
        self.error.is_some()
    }
}

/// Writes as much as possible; returns the number of bytes written and the error that stopped it.
fn write(target: &mut dyn Target, bytes: &[u8]) -> (usize, Option<io::Error>) {
    let mut written = 0;
    while written < bytes.len() {
        match target.write(&bytes[written..]) {
            Ok(0) => return (written, Some(io::ErrorKind::WriteZero.into())),
            Ok(taken) => written += taken,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (written, Some(error)),
        }
    }
    (written, None)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex, PoisonError};

    use proptest::prelude::*;

    use super::*;

    /// A simulated disk with `room` free bytes that accepts `at_once` bytes per write.
    #[derive(Debug)]
    struct Disk {
        content: Vec<u8>,
        room: usize,
        at_once: usize,
        can_truncate: bool,
    }

    #[derive(Clone, Debug)]
    struct Shared(Arc<Mutex<Disk>>);

    impl Shared {
        fn new(room: usize, at_once: usize, can_truncate: bool) -> Self {
            Self(Arc::new(Mutex::new(Disk { content: Vec::new(), room, at_once, can_truncate })))
        }

        fn with<R>(&self, with: impl FnOnce(&mut Disk) -> R) -> R {
            with(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
        }

        fn file(&self) -> OutputFile {
            OutputFile::on("disk".into(), Box::new(self.clone()), 0)
        }

        fn rows(&self) -> Vec<String> {
            let text = self.with(|disk| String::from_utf8(disk.content.clone()).unwrap());
            assert!(text.is_empty() || text.ends_with('\n'), "incomplete row at the end: {text:?}");
            text.lines().map(str::to_owned).collect()
        }
    }

    impl Target for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.with(|disk| {
                let taken = bytes.len().min(disk.room).min(disk.at_once);
                if taken == 0 {
                    return Err(io::ErrorKind::StorageFull.into());
                }
                disk.room -= taken;
                disk.content.extend_from_slice(&bytes[..taken]);
                Ok(taken)
            })
        }

        fn truncate(&mut self, len: u64) -> io::Result<()> {
            self.with(|disk| {
                if !disk.can_truncate {
                    return Err(io::ErrorKind::InvalidInput.into());
                }
                let len = usize::try_from(len).unwrap();
                disk.room += disk.content.len() - len;
                disk.content.truncate(len);
                Ok(())
            })
        }
    }

    fn row(file: &mut OutputFile, number: usize) -> bool {
        file.unit().extend_from_slice(format!("row {number:04}\n").as_bytes());
        file.end_unit(1)
    }

    fn lost(file: &OutputFile) -> u64 {
        match file.event() {
            Some(RecorderEvent::LostOutput { lost, .. }) => lost,
            _ => 0,
        }
    }

    #[test]
    fn written_rows_are_kept_and_the_rest_is_counted() {
        for can_truncate in [true, false] {
            // The disk has space for three rows of nine bytes and a part of the fourth.
            let disk = Shared::new(31, 5, can_truncate);
            let mut file = disk.file();
            for number in 0..10 {
                assert!(row(&mut file, number), "nothing is written yet");
            }
            assert!(!file.flush());
            assert_eq!(lost(&file), 7);
            disk.with(|disk| disk.room = 1000);
            row(&mut file, 10);
            assert!(file.flush());
            if can_truncate {
                assert_eq!(disk.rows(), ["row 0000", "row 0001", "row 0002", "row 0010"]);
                assert_eq!(lost(&file), 7);
            } else {
                assert_eq!(disk.rows(), ["row 0000", "row 0001", "row 0002", "row 0003", "row 0010"]);
                assert_eq!(lost(&file), 6, "the partly written row was completed");
            }
        }
    }

    #[test]
    fn a_partly_written_row_that_is_completed_later_is_not_lost() {
        let disk = Shared::new(4, 100, false);
        let mut file = disk.file();
        row(&mut file, 0);
        assert!(!file.flush());
        assert_eq!(lost(&file), 1);
        disk.with(|disk| disk.room = 2);
        assert!(!file.flush());
        assert_eq!(lost(&file), 1);
        disk.with(|disk| disk.room = 100);
        assert!(file.flush());
        assert_eq!((disk.rows(), file.event()), (vec!["row 0000".to_owned()], None));
    }

    #[test]
    fn short_writes_lose_nothing() {
        let disk = Shared::new(usize::MAX, 1, true);
        let mut file = disk.file();
        for number in 0..20_000 {
            assert!(row(&mut file, number));
        }
        assert!(file.flush());
        assert_eq!((disk.rows().len(), file.event()), (20_000, None));
    }

    proptest! {
        #[test]
        fn every_row_is_in_the_file_or_counted_as_lost(
            steps in proptest::collection::vec((0usize..60, 1usize..40, 0usize..12), 1..30), can_truncate: bool
        ) {
            let disk = Shared::new(0, 1, can_truncate);
            let mut file = disk.file();
            let mut rows = 0;
            for (room, at_once, more) in steps {
                disk.with(|disk| (disk.room, disk.at_once) = (room, at_once));
                for _ in 0..more {
                    row(&mut file, rows);
                    rows += 1;
                }
                file.flush();
            }
            disk.with(|disk| disk.room = usize::MAX / 2);
            file.flush();
            let found = disk.rows();
            prop_assert!(found.iter().all(|row| row.len() == 8 && row.starts_with("row ")));
            prop_assert!(found.is_sorted(), "rows are in order, and none is repeated");
            prop_assert_eq!(found.len() as u64 + lost(&file), rows as u64);
        }
    }

    #[test]
    fn lost_rows_of_a_full_disk_are_reported() {
        let device = Path::new("/dev/full");
        if !device.exists() {
            return;
        }
        let mut file = OutputFile::open(device, true).unwrap();
        for _ in 0..3 {
            file.unit().extend_from_slice(b"row\n");
            file.end_unit(1);
        }
        assert!(!file.flush());
        let Some(RecorderEvent::LostOutput { file, lost, .. }) = file.event() else { panic!("no event") };
        assert_eq!((file.as_str(), lost), ("/dev/full", 3));
    }

    #[test]
    fn a_file_is_appended_to_or_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/er/file");
        for (append, text) in [(true, "a"), (true, "b"), (false, "c")] {
            let mut file = OutputFile::open(&path, append).unwrap();
            file.unit().extend_from_slice(text.as_bytes());
            file.end_unit(1);
            assert!(file.flush());
            assert_eq!(file.event(), None);
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "c");
    }
}
