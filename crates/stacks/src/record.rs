//! The stacks of a run, as they were recorded.

use crate::sampled_thread::{SampledState, SampledWaitKind};

/// A frame of a stack with the frames below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StackNode {
    /// The stack without this frame; `None` if the frame is the root.
    pub(crate) parent: Option<u32>,
    /// The frame, in [`StackRecord::texts`].
    pub(crate) frame: u32,
    /// Number of frames.
    pub(crate) depth: u32,
}

/// Threads of a dump that have the same stack, state and lock, and belong to the same pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedThreads {
    /// Number of threads.
    pub count: u32,
    /// Their stack; [`StackRecord::frames`] returns its frames.
    pub stack: u32,
    /// Their name, in the texts of the record.
    pub name: u32,
    /// Their state.
    pub state: SampledState,
    /// The lock that they wait for.
    pub waits: Option<RecordedWait>,
}

/// The lock that threads wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedWait {
    /// How they wait.
    pub kind: SampledWaitKind,
    /// The class of the lock, in the texts of the record.
    pub lock: u32,
    /// The position in the dump of the thread that holds the lock, if it is known.
    pub owner: Option<u32>,
}

/// The threads of a process at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedDump {
    /// The time, in ns since the start of the run.
    pub time_ns: u64,
    /// The name of the source, in the texts of the record.
    pub source: u32,
    /// Time from the request of the dump to its end, in ns.
    pub took_ns: u64,
    /// Time that the application was stopped meanwhile, in ns; `None` if the process does not count it.
    pub stopped_ns: Option<u64>,
    /// The threads.
    pub threads: Vec<RecordedThreads>,
}

impl RecordedDump {
    /// Number of threads.
    #[must_use]
    pub fn thread_count(&self) -> u64 {
        self.threads.iter().map(|threads| u64::from(threads.count)).sum()
    }
}

/// The stacks of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackRecord {
    pub(crate) texts: Vec<String>,
    pub(crate) nodes: Vec<StackNode>,
    /// The dumps, in the order of the file.
    pub dumps: Vec<RecordedDump>,
    /// Dumps that were not stored, because the file had reached its limit.
    pub lost: u64,
    /// The first line that could not be read, from 1; `None` if the whole file was read.
    pub damaged_line: Option<u64>,
}

impl StackRecord {
    /// A text; empty if there is none with this number.
    #[must_use]
    pub fn text(&self, number: u32) -> &str {
        self.texts.get(number as usize).map_or("", String::as_str)
    }

    /// The frames of a stack, from the top, as numbers of texts.
    pub fn frames(&self, stack: u32) -> impl Iterator<Item = u32> + '_ {
        let mut next = Some(stack);
        std::iter::from_fn(move || {
            let node = self.nodes.get(next? as usize)?;
            next = node.parent;
            Some(node.frame)
        })
    }

    /// The names of the sources, in the order of their first dumps.
    #[must_use]
    pub fn sources(&self) -> Vec<u32> {
        let mut sources: Vec<u32> = Vec::new();
        for dump in &self.dumps {
            if !sources.contains(&dump.source) {
                sources.push(dump.source);
            }
        }
        sources
    }
}
