//! Finds the objects for which the threads at a frame wait, and the threads that wait for the locks of those threads.

use rustc_hash::FxHashMap;

use crate::frame_name::is_jdk_frame;
use crate::record::{RecordedDump, RecordedThreads, StackRecord};
use crate::sampled_thread::{SampledState, SampledWaitKind};
use crate::stack_finding::WaitingNote;

/// Minimum share of the threads at a frame that wait for the same object.
const SHARE_MIN: f64 = 0.5;

/// Counts of the threads at a frame by their state.
#[derive(Default)]
struct Waiting {
    threads: u64,
    kinds: FxHashMap<(SampledState, Option<(SampledWaitKind, u32)>), u64>,
    owners: FxHashMap<(u32, u32), u64>,
    held_up: u64,
}

/// The object for which most of the threads with these stacks wait, and the mean number of threads per dump that wait
/// for a lock that one of these threads holds.
pub(crate) fn waiting(
    record: &StackRecord,
    dumps: &[&RecordedDump],
    is_of_frame: impl Fn(u32) -> bool,
) -> (Option<WaitingNote>, f64) {
    let mut found = Waiting::default();
    for dump in dumps {
        for threads in &dump.threads {
            let count = u64::from(threads.count);
            let owner = threads.waits.and_then(|waits| dump.threads.get(waits.owner? as usize));
            if owner.is_some_and(|owner| is_of_frame(owner.stack)) {
                found.held_up += count;
            }
            if is_of_frame(threads.stack) {
                found.threads += count;
                let lock = threads.waits.map(|waits| (waits.kind, waits.lock));
                *found.kinds.entry((threads.state, lock)).or_default() += count;
                if let Some(owner) = owner {
                    *found.owners.entry((owner.name, place(record, owner))).or_default() += count;
                }
            }
        }
    }
    let held_up = found.held_up as f64 / dumps.len().max(1) as f64;
    (note(record, &found), held_up)
}

/// The frame that best describes the work of a thread: the topmost frame of the application; without one, the topmost
/// frame.
fn place(record: &StackRecord, threads: &RecordedThreads) -> u32 {
    let own = record.frames(threads.stack).find(|frame| !is_jdk_frame(record.text(*frame)));
    own.or_else(|| record.frames(threads.stack).next()).unwrap_or(u32::MAX)
}

fn note(record: &StackRecord, found: &Waiting) -> Option<WaitingNote> {
    let ((state, lock), count) = found.kinds.iter().max_by_key(|(kind, count)| (**count, **kind))?;
    let share = *count as f64 / found.threads as f64;
    if share < SHARE_MIN || *state == SampledState::Runnable {
        return None;
    }
    let what = match lock {
        Some((SampledWaitKind::Enter, lock)) => format!("BLOCKED on a monitor of {}", record.text(*lock)),
        Some((SampledWaitKind::Notification, lock)) => {
            format!("waiting for a notification of {}", record.text(*lock))
        }
        Some((SampledWaitKind::Park, lock)) => format!("parked on {}", record.text(*lock)),
        None => "sleeping or waiting".to_owned(),
    };
    let owner = found.owners.iter().max_by_key(|(owner, count)| (**count, **owner)).map(|(owner, _)| *owner);
    Some(WaitingNote {
        share,
        what,
        owner_thread: owner.map(|(name, _)| record.text(name).to_owned()),
        owner_frame: owner.map(|(_, frame)| record.text(frame).to_owned()),
    })
}
