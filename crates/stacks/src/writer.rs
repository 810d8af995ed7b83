//! Writes the file of stacks.
//!
//! `docs/run-directory.md` describes the format. Each dump is written with one call, so that a process that is killed leaves a file whose
//! last dump may be incomplete, and is ignored.

use std::fmt::Write as _;
use std::io::{self, Write};

use rustc_hash::FxHashMap;

use crate::file_limits::{
    DEPTH_MAX, GROUPS_MAX, HEADER, STACKS_FILE_BYTES_MAX, STACKS_FILE_VERSION, TEXT_BYTES_MAX,
};
use crate::frame_name::thread_group_name;
use crate::sampled_thread::{SampledState, SampledThread, SampledWaitKind};

/// The threads of a process at one time.
#[derive(Clone, Copy, Debug)]
pub struct StackDump<'a> {
    /// The name of the source, such as `stacks:jvm:4711`.
    pub source: &'a str,
    /// The time, in ns since the start of the run.
    pub time_ns: u64,
    /// Time from the request of the dump to its end, in ns.
    pub took_ns: u64,
    /// Time that the application was stopped meanwhile, in ns; `None` if it is unknown.
    pub stopped_ns: Option<u64>,
    /// The threads.
    pub threads: &'a [SampledThread],
}

/// Threads that are stored together.
#[derive(PartialEq, Eq, Hash)]
struct GroupKey {
    stack: u32,
    name: u32,
    state: SampledState,
    waits: Option<(SampledWaitKind, u32, Option<usize>)>,
}

/// Appends dumps to a file of stacks.
#[derive(Debug)]
pub struct StackWriter<W> {
    out: W,
    texts: FxHashMap<String, u32>,
    nodes: FxHashMap<(Option<u32>, u32), u32>,
    bytes: u64,
    bytes_max: u64,
    lost: u64,
    lines: String,
}

impl<W: Write> StackWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn new(out: W) -> io::Result<StackWriter<W>> {
        StackWriter::with_limit(out, STACKS_FILE_BYTES_MAX)
    }

    /// Begins a file with another limit of its size.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn with_limit(mut out: W, bytes_max: u64) -> io::Result<StackWriter<W>> {
        let header = format!("{HEADER}\t{STACKS_FILE_VERSION}\n");
        out.write_all(header.as_bytes())?;
        Ok(StackWriter {
            out,
            texts: FxHashMap::default(),
            nodes: FxHashMap::default(),
            bytes: header.len() as u64,
            bytes_max,
            lost: 0,
            lines: String::new(),
        })
    }

    /// Number of dumps that were not stored, because the file has reached its limit.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Appends a dump. If the file would become too large, this dump and all later ones are only counted.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&mut self, dump: &StackDump<'_>) -> io::Result<()> {
        if self.lost == 0 {
            self.lines.clear();
            self.encode(dump);
            let length = self.lines.len() as u64;
            if self.bytes + length <= self.bytes_max {
                self.bytes += length;
                return self.out.write_all(self.lines.as_bytes());
            }
            // Nothing refers to texts and stacks any more.
            (self.texts, self.nodes) = (FxHashMap::default(), FxHashMap::default());
        }
        self.lost += 1;
        // The largest count is the valid one, so that few lines are needed.
        if self.lost.is_power_of_two() {
            self.write_lost()?;
        }
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(&mut self) -> io::Result<()> {
        if self.lost > 0 {
            self.write_lost()?;
        }
        self.out.flush()
    }

    fn write_lost(&mut self) -> io::Result<()> {
        writeln!(self.out, "L\t{}", self.lost)
    }

    fn encode(&mut self, dump: &StackDump<'_>) {
        let source = self.text(dump.source);
        let (groups, group_of) = self.groups(dump.threads);
        let stopped = dump.stopped_ns.map_or_else(|| "-".to_owned(), |ns| ns.to_string());
        // Writing to a text cannot fail.
        let _ = writeln!(self.lines, "D\t{}\t{source}\t{}\t{stopped}", dump.time_ns, dump.took_ns);
        for (key, count) in &groups {
            let GroupKey { stack, name, state, waits } = key;
            let _ = write!(self.lines, "T\t{count}\t{stack}\t{name}\t{}", state.letter());
            if let Some((kind, lock, owner)) = waits {
                let _ = write!(self.lines, "\t{}\t{lock}\t", kind.letter());
                let _ = match owner.and_then(|owner| group_of.get(owner).copied().flatten()) {
                    Some(group) => write!(self.lines, "{group}"),
                    None => write!(self.lines, "-"),
                };
            }
            self.lines.push('\n');
        }
        let _ = writeln!(self.lines, "E\t{}", groups.len());
    }

    /// The groups of threads in the order of their first threads, and the group of each thread.
    fn groups(&mut self, threads: &[SampledThread]) -> (Vec<(GroupKey, u32)>, Vec<Option<usize>>) {
        let mut numbers: FxHashMap<GroupKey, usize> = FxHashMap::default();
        let mut counts: Vec<u32> = Vec::new();
        let mut group_of = Vec::with_capacity(threads.len());
        for thread in threads {
            let key = self.key(thread);
            let known = key.as_ref().and_then(|key| numbers.get(key).copied());
            group_of.push(match (key, known) {
                (_, Some(number)) => {
                    counts[number] += 1;
                    Some(number)
                }
                (Some(key), None) if counts.len() < GROUPS_MAX => {
                    numbers.insert(key, counts.len());
                    counts.push(1);
                    Some(counts.len() - 1)
                }
                (Some(_) | None, None) => None,
            });
        }
        let mut groups: Vec<(usize, GroupKey)> = numbers.into_iter().map(|(key, at)| (at, key)).collect();
        groups.sort_unstable_by_key(|(at, _)| *at);
        (groups.into_iter().map(|(at, key)| (key, counts[at])).collect(), group_of)
    }

    fn key(&mut self, thread: &SampledThread) -> Option<GroupKey> {
        let stack = self.stack(&thread.frames)?;
        let name = self.text(&thread_group_name(&thread.name));
        let waits = thread.waits.as_ref().map(|waits| (waits.kind, self.text(&waits.lock), waits.owner));
        Some(GroupKey { stack, name, state: thread.state, waits })
    }

    /// The number of a stack. Its frames are given from the top.
    fn stack(&mut self, frames: &[String]) -> Option<u32> {
        let mut parent = None;
        for frame in frames.iter().take(DEPTH_MAX).rev() {
            let frame = self.text(frame);
            let known = self.nodes.get(&(parent, frame)).copied();
            parent = Some(known.unwrap_or_else(|| {
                let number = self.nodes.len() as u32;
                self.nodes.insert((parent, frame), number);
                let _ = match parent {
                    Some(parent) => writeln!(self.lines, "K\t{parent}\t{frame}"),
                    None => writeln!(self.lines, "K\t-\t{frame}"),
                };
                number
            }));
        }
        parent
    }

    /// The number of a text.
    fn text(&mut self, text: &str) -> u32 {
        if let Some(number) = self.texts.get(text) {
            return *number;
        }
        let number = self.texts.len() as u32;
        self.texts.insert(text.to_owned(), number);
        let _ = writeln!(self.lines, "S\t{}", one_line(text));
        number
    }
}

/// A text without control characters, shortened.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(TEXT_BYTES_MAX));
    for letter in text.chars() {
        if line.len() + letter.len_utf8() > TEXT_BYTES_MAX {
            break;
        }
        line.push(if letter.is_control() { ' ' } else { letter });
    }
    line
}
