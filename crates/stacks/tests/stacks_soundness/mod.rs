//! The guarantees of the reader of stacks and of the comparison for arbitrary bytes.

use busyhour_stacks::{
    StackOutcome, StackRecord, StackWindowRule, StackWindows, collapsed_stacks, compare_stacks, java_frame,
    thread_group_name,
};

/// Checks the guarantees for a file.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for line in text.lines().take(100) {
        assert!(java_frame(line).len() <= line.len());
        assert!(thread_group_name(line).len() <= line.len().max(1));
    }
    let Ok(record) = StackRecord::read(bytes) else { return };
    let end = record.dumps.iter().map(|dump| dump.time_ns).max().unwrap_or(0).saturating_add(1);
    for dump in &record.dumps {
        for threads in &dump.threads {
            assert!(threads.count > 0 && record.frames(threads.stack).count() > 0);
            let owner = threads.waits.and_then(|waits| waits.owner);
            assert!(owner.is_none_or(|owner| (owner as usize) < dump.threads.len()));
        }
    }
    let windows =
        (0..end).step_by((end / 16).max(2) as usize).map(|from| (from, from + end / 64 + 1)).collect();
    let choice = StackWindows { rule: StackWindowRule::SlowSeconds, windows };
    for source in record.sources() {
        let found = compare_stacks(&record, source, (0, end), std::slice::from_ref(&choice));
        assert!(found.frames.len() <= 3 && !found.sentence.is_empty());
        assert_eq!(found.frames.is_empty(), found.outcome != StackOutcome::Differs);
        for frame in &found.frames {
            assert!((0.0..=1.0).contains(&frame.share_slow) && (0.0..=1.0).contains(&frame.share_fast));
            assert!((0.0..=1.0).contains(&frame.p_adjusted));
        }
        for is_slow in [true, false] {
            let text = collapsed_stacks(&found.flame, is_slow);
            let threads: u64 =
                text.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum();
            let all = found.flame.root().map_or(0, |root| if is_slow { root.slow } else { root.fast });
            assert_eq!(threads, all);
        }
    }
}
