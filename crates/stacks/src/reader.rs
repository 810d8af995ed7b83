//! Reads the file of stacks.

use std::io::{self, BufRead, Read as _};

use crate::file_limits::{DEPTH_MAX, GROUPS_MAX, HEADER, STACKS_FILE_BYTES_MAX, STACKS_FILE_VERSION};
use crate::record::{RecordedDump, RecordedThreads, RecordedWait, StackNode, StackRecord};
use crate::sampled_thread::{SampledState, SampledWaitKind};

/// The longest line; the writer writes shorter ones.
const LINE_BYTES_MAX: u64 = 4_096;

/// Why a file of stacks cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum StackFileError {
    /// The file cannot be read.
    #[error("cannot read the file of stacks")]
    Read(#[from] io::Error),
    /// The file is not a file of stacks.
    #[error("this is not a file of stacks")]
    Header,
    /// A later version of the program wrote the file.
    #[error("version {version} of the file of stacks is unknown")]
    Version {
        /// The version of the file.
        version: u32,
    },
}

impl StackRecord {
    /// Reads a file. Takes linear time. Reading ends at the first damaged line; an incomplete last dump is ignored.
    ///
    /// # Errors
    /// The file cannot be read, or is not a file of stacks of a known version.
    pub fn read(input: impl BufRead) -> Result<StackRecord, StackFileError> {
        // Lines that count lost dumps may follow after the limit.
        let mut input = input.take(STACKS_FILE_BYTES_MAX + (1 << 20));
        let mut line = Vec::new();
        input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
        check_header(&line)?;
        let mut record = StackRecord::default();
        let mut dump = None;
        let mut number = 1u64;
        loop {
            line.clear();
            input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
            number += 1;
            if line.is_empty() {
                break;
            }
            // A line without an end was being written when the process was killed.
            let is_read = line.strip_suffix(b"\n").and_then(|line| {
                let line = std::str::from_utf8(line).ok()?;
                record.line(line, &mut dump)
            });
            if is_read.is_none() {
                record.damaged_line = Some(number);
                break;
            }
        }
        Ok(record)
    }

    /// Reads a line; `None` if it is damaged.
    fn line(&mut self, line: &str, dump: &mut Option<RecordedDump>) -> Option<()> {
        let (kind, rest) = line.split_once('\t')?;
        let mut fields = rest.split('\t');
        match kind {
            "S" => self.texts.push(rest.to_owned()),
            "K" => {
                let parent = optional(fields.next()?, self.nodes.len())?;
                let frame = index(fields.next()?, self.texts.len())?;
                let depth = parent.map_or(0, |parent: u32| self.nodes[parent as usize].depth) + 1;
                if depth as usize > DEPTH_MAX {
                    return None;
                }
                self.nodes.push(StackNode { parent, frame, depth });
            }
            "D" => {
                *dump = Some(RecordedDump {
                    time_ns: fields.next()?.parse().ok()?,
                    source: index(fields.next()?, self.texts.len())?,
                    took_ns: fields.next()?.parse().ok()?,
                    stopped_ns: match fields.next()? {
                        "-" => None,
                        number => Some(number.parse().ok()?),
                    },
                    threads: Vec::new(),
                });
            }
            "T" => {
                let threads = self.threads(fields)?;
                let dump = dump.as_mut()?;
                if dump.threads.len() >= GROUPS_MAX {
                    return None;
                }
                dump.threads.push(threads);
            }
            "E" => {
                let dump = dump.take()?;
                let is_complete = fields.next()?.parse() == Ok(dump.threads.len());
                let owners = dump.threads.iter().filter_map(|threads| threads.waits?.owner);
                let are_known = owners.max().is_none_or(|owner| (owner as usize) < dump.threads.len());
                if !is_complete || !are_known {
                    return None;
                }
                self.dumps.push(dump);
            }
            "L" => self.lost = self.lost.max(fields.next()?.parse().ok()?),
            // A later version of the program may add kinds of lines.
            _ => {}
        }
        Some(())
    }

    fn threads<'f>(&self, mut fields: impl Iterator<Item = &'f str>) -> Option<RecordedThreads> {
        let count = fields.next()?.parse().ok().filter(|count| *count > 0)?;
        let stack = index(fields.next()?, self.nodes.len())?;
        let name = index(fields.next()?, self.texts.len())?;
        let state = SampledState::from_letter(fields.next()?)?;
        let waits = match fields.next() {
            None => None,
            Some(kind) => Some(RecordedWait {
                kind: SampledWaitKind::from_letter(kind)?,
                lock: index(fields.next()?, self.texts.len())?,
                owner: optional(fields.next()?, GROUPS_MAX)?,
            }),
        };
        Some(RecordedThreads { count, stack, name, state, waits })
    }
}

fn check_header(line: &[u8]) -> Result<(), StackFileError> {
    let line = std::str::from_utf8(line).map_err(|_| StackFileError::Header)?;
    let version = line.trim_end().strip_prefix(HEADER).and_then(|rest| rest.trim().parse().ok());
    match version {
        Some(STACKS_FILE_VERSION) => Ok(()),
        Some(version) => Err(StackFileError::Version { version }),
        None => Err(StackFileError::Header),
    }
}

/// A number below a limit.
fn index(field: &str, limit: usize) -> Option<u32> {
    field.parse().ok().filter(|number: &u32| (*number as usize) < limit)
}

/// A number below a limit, or `-` for none; the outer `None` is an error.
fn optional(field: &str, limit: usize) -> Option<Option<u32>> {
    if field == "-" { Some(None) } else { index(field, limit).map(Some) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sampled_thread::{SampledThread, SampledWait};
    use crate::writer::{StackDump, StackWriter};

    fn thread(name: &str, frames: &[&str], owner: Option<usize>) -> SampledThread {
        SampledThread {
            name: name.to_owned(),
            state: if owner.is_some() { SampledState::Blocked } else { SampledState::Runnable },
            frames: frames.iter().map(|frame| (*frame).to_owned()).collect(),
            waits: owner.map(|owner| SampledWait {
                kind: SampledWaitKind::Enter,
                lock: "java.lang.Object".to_owned(),
                owner: Some(owner),
            }),
        }
    }

    fn dump(threads: &[SampledThread], time_ns: u64) -> StackDump<'_> {
        StackDump { source: "stacks:jvm:7", time_ns, took_ns: 5, stopped_ns: Some(2), threads }
    }

    fn written() -> Vec<u8> {
        let threads = [
            thread("worker-1", &["Shop.pay", "Shop.run"], Some(2)),
            thread("worker-2", &["Shop.pay", "Shop.run"], Some(2)),
            thread("holder\n", &["Thread.sleep", "Shop.rebuild", "Shop.run"], None),
            thread("without a stack", &[], None),
        ];
        let mut out = Vec::new();
        let mut writer = StackWriter::new(&mut out).unwrap();
        writer.write(&dump(&threads, 1)).unwrap();
        writer.write(&dump(&threads, 2)).unwrap();
        writer.finish().unwrap();
        out
    }

    #[test]
    fn dumps_are_read_as_written() {
        let record = StackRecord::read(&written()[..]).unwrap();
        assert_eq!((record.dumps.len(), record.lost, record.damaged_line), (2, 0, None));
        let dump = &record.dumps[1];
        assert_eq!((dump.time_ns, dump.took_ns, dump.stopped_ns), (2, 5, Some(2)));
        assert_eq!((dump.threads.len(), dump.thread_count()), (2, 3));
        let blocked = dump.threads[0];
        assert_eq!((blocked.count, record.text(blocked.name)), (2, "worker-#"));
        let frames: Vec<&str> = record.frames(blocked.stack).map(|frame| record.text(frame)).collect();
        assert_eq!(frames, ["Shop.pay", "Shop.run"]);
        assert_eq!(blocked.waits.unwrap().owner, Some(1));
        assert_eq!(record.text(dump.threads[1].name), "holder ");
    }

    #[test]
    fn every_beginning_of_a_file_is_readable() {
        let file = written();
        for length in 0..file.len() {
            if let Ok(record) = StackRecord::read(&file[..length]) {
                assert!(record.dumps.len() <= 2);
            }
        }
        let cut = StackRecord::read(&file[..file.len() - 3]).unwrap();
        assert_eq!(cut.dumps.len(), 1);
        assert!(cut.damaged_line.is_some());
    }

    #[test]
    fn a_full_file_counts_the_dumps_that_it_lacks() {
        let threads = [thread("a", &["A.b"], None)];
        let mut out = Vec::new();
        let mut writer = StackWriter::with_limit(&mut out, 100).unwrap();
        (0..7).for_each(|time| writer.write(&dump(&threads, time)).unwrap());
        writer.finish().unwrap();
        let record = StackRecord::read(&out[..]).unwrap();
        assert_eq!(record.dumps.len() as u64 + record.lost, 7);
        assert!(record.lost >= 3, "{}", record.lost);
    }

    #[test]
    fn other_files_are_refused() {
        assert!(matches!(StackRecord::read(&b"BHO1"[..]), Err(StackFileError::Header)));
        assert!(matches!(StackRecord::read(&b""[..]), Err(StackFileError::Header)));
        let later = StackRecord::read(&b"busyhour-stacks\t9\n"[..]);
        assert!(matches!(later, Err(StackFileError::Version { version: 9 })));
    }

    proptest! {
        #[test]
        fn any_lines_are_read_without_panics(lines in proptest::collection::vec("[SKDTEL]\t[-0-9a]{0,3}(\t[-0-9RBWenp]{1,2}){0,7}", 0..60)) {
            let text = format!("busyhour-stacks\t1\nS\ta\nK\t-\t0\n{}\n", lines.join("\n"));
            let record = StackRecord::read(text.as_bytes()).unwrap();
            for dump in &record.dumps {
                for threads in &dump.threads {
                    prop_assert!(record.frames(threads.stack).count() <= DEPTH_MAX);
                }
            }
        }
    }
}
