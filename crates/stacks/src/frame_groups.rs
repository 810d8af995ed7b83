//! Frames of a record, and which stacks contain them.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::column::Column;
use crate::frame_name::is_jdk_frame;
use crate::record::{RecordedDump, StackRecord};

/// Frames that occur in fewer dumps are not compared.
pub(crate) const FRAME_DUMPS_MIN: usize = 5;

/// Frames that are compared; of more, those with the most threads are.
const GROUPS_COMPARED_MAX: usize = 512;

/// A stack of threads, with the number of threads per dump.
#[derive(Debug)]
pub(crate) struct StackColumn {
    /// The number of the stack in the record.
    pub(crate) stack: u32,
    pub(crate) column: Column,
}

/// Frames that occur in the same stacks, so that their shares are equal. They are compared once.
#[derive(Debug)]
pub(crate) struct FrameGroup {
    /// The frame that represents the group: the one nearest to the top among the frames of the application, or otherwise of the JDK.
    pub(crate) frame: u32,
    /// Whether all frames belong to the JDK.
    pub(crate) is_jdk: bool,
    /// Positions of the stacks, ascending.
    pub(crate) stacks: Vec<u32>,
    /// The sum of the columns of the stacks.
    pub(crate) column: Column,
}

/// The stacks of some dumps, in the order of their first occurrence.
pub(crate) fn stack_columns(dumps: &[&RecordedDump]) -> Vec<StackColumn> {
    let mut numbers: FxHashMap<u32, usize> = FxHashMap::default();
    let mut stacks: Vec<StackColumn> = Vec::new();
    for (at, dump) in dumps.iter().enumerate() {
        for threads in &dump.threads {
            let number = *numbers.entry(threads.stack).or_insert_with(|| {
                stacks.push(StackColumn { stack: threads.stack, column: Column::default() });
                stacks.len() - 1
            });
            stacks[number].column.add(at as u32, threads.count);
        }
    }
    stacks
}

/// The frames that occur in enough dumps, as groups.
pub(crate) fn frame_groups(record: &StackRecord, stacks: &[StackColumn]) -> Vec<FrameGroup> {
    let mut stacks_of: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for (at, stack) in stacks.iter().enumerate() {
        // A recursive frame counts once.
        let frames: FxHashSet<u32> = record.frames(stack.stack).collect();
        for frame in frames {
            stacks_of.entry(frame).or_default().push(at as u32);
        }
    }
    let mut frames_of: FxHashMap<Vec<u32>, Vec<u32>> = FxHashMap::default();
    for (frame, stacks) in stacks_of {
        frames_of.entry(stacks).or_default().push(frame);
    }
    let mut scratch = Vec::new();
    let groups = frames_of.into_iter().filter_map(|(of_group, frames)| {
        let column = Column::sum(of_group.iter().map(|at| &stacks[*at as usize].column), &mut scratch);
        if column.counts.len() < FRAME_DUMPS_MIN {
            return None;
        }
        let stack = stacks[*of_group.first()? as usize].stack;
        let nearest = |is_jdk: bool| {
            let mut of_stack = record.frames(stack).filter(|frame| frames.contains(frame));
            of_stack.find(|frame| is_jdk_frame(record.text(*frame)) == is_jdk)
        };
        let (frame, is_jdk) = match nearest(false) {
            Some(frame) => (frame, false),
            None => (nearest(true)?, true),
        };
        Some(FrameGroup { frame, is_jdk, stacks: of_group, column })
    });
    let mut groups: Vec<FrameGroup> = groups.collect();
    let threads =
        |group: &FrameGroup| -> u64 { group.column.counts.iter().map(|(_, count)| u64::from(*count)).sum() };
    groups.sort_by_cached_key(|group| (std::cmp::Reverse(threads(group)), group.frame));
    groups.truncate(GROUPS_COMPARED_MAX);
    groups
}
