//! Marks on the time axis, in a bounded number.

use busyhour_series::{Mark, MarkKind};

use super::model::{MarkCount, SystemMark};
use super::survey::Survey;

/// Maximum number of marks of a kind that are kept: the longest ones, or the first ones if they have no duration.
const MARKS_OF_KIND_MAX: usize = 300;

/// Counts the marks of each kind, and keeps the longest ones, in the order of time.
pub(super) fn marks(survey: &mut Survey, name: &dyn Fn(&str) -> String) -> (Vec<SystemMark>, Vec<MarkCount>) {
    let mut all = std::mem::take(&mut survey.marks);
    omit_repeated_pauses(&mut all, |source| survey.source(source));
    let (mut kept, mut counts) = (Vec::new(), Vec::new());
    for (kind, _) in MarkKind::ALL {
        let mut of_kind: Vec<_> = all.iter().filter(|(_, mark)| mark.kind == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        // The sort is stable, so marks without a duration remain in their order.
        of_kind.sort_by_key(|(_, mark)| std::cmp::Reverse(mark.to.0.saturating_sub(mark.from.0)));
        let seconds = |ns: u64| ns as f64 / 1e9;
        let length_s =
            |(_, mark): &&(u32, busyhour_series::Mark)| seconds(mark.to.0.saturating_sub(mark.from.0));
        counts.push(MarkCount {
            kind,
            count: of_kind.len(),
            total_s: of_kind.iter().map(length_s).sum(),
            longest_s: of_kind.first().map_or(0.0, length_s),
        });
        kept.extend(of_kind.iter().take(MARKS_OF_KIND_MAX).map(|(source, mark)| SystemMark {
            kind,
            source: name(survey.source(*source)),
            from_s: seconds(mark.from.0),
            to_s: seconds(mark.to.0),
            text: mark.text.clone(),
        }));
    }
    kept.sort_by(|a: &SystemMark, b| a.from_s.total_cmp(&b.from_s));
    (kept, counts)
}

/// Maximum time between a pause in a garbage-collection log and the same pause in the performance counters of the JVM.
/// The counters show only the interval between readings in which the JVM paused.
const PAUSE_UNCERTAINTY_NS: u64 = 1_500_000_000;

/// Omits a pause from a JVM's counters if a garbage-collection log contains it, because the log has the exact time and
/// length.
fn omit_repeated_pauses<'s>(marks: &mut Vec<(u32, Mark)>, source: impl Fn(u32) -> &'s str) {
    let mut logged: Vec<u64> = marks
        .iter()
        .filter(|(from, mark)| mark.kind == MarkKind::GcPause && source(*from).starts_with("gc:"))
        .map(|(_, mark)| mark.from.0)
        .collect();
    logged.sort_unstable();
    marks.retain(|(from, mark)| {
        let is_counted = mark.kind == MarkKind::GcPause && source(*from).starts_with("jvm:");
        let earliest = mark.from.0.saturating_sub(PAUSE_UNCERTAINTY_NS);
        let next = logged.partition_point(|time| *time < earliest);
        let is_logged = logged.get(next).is_some_and(|time| *time <= mark.to.0 + PAUSE_UNCERTAINTY_NS);
        !(is_counted && is_logged)
    });
}

#[cfg(test)]
mod tests {
    use busyhour_sample::Nanos;

    use super::*;

    #[test]
    fn a_pause_in_the_log_is_not_counted_twice() {
        let mark = |from_ms: u64, kind| Mark {
            kind,
            from: Nanos(from_ms * 1_000_000),
            to: Nanos((from_ms + 10) * 1_000_000),
            text: String::new(),
        };
        let mut marks = vec![
            (0, mark(900, MarkKind::GcPause)),
            (1, mark(1_000, MarkKind::GcPause)),
            (0, mark(9_000, MarkKind::GcPause)),
            (0, mark(1_000, MarkKind::Stall)),
        ];
        omit_repeated_pauses(&mut marks, |source| if source == 0 { "jvm:7" } else { "gc:gc.log" });
        let left: Vec<_> = marks.iter().map(|(source, mark)| (*source, mark.from.0 / 1_000_000)).collect();
        assert_eq!(left, [(1, 1_000), (0, 9_000), (0, 1_000)]);
    }
}
