//! Marks on the time axis, in a bounded number.

use busyhour_series::MarkKind;

use super::model::{MarkCount, SystemMark};
use super::survey::Survey;

/// Marks of a kind that are kept: the longest ones, or the first ones of those without a duration.
const MARKS_OF_KIND_MAX: usize = 300;

/// Counts the marks of each kind, and keeps the longest ones, in the order of time.
pub(super) fn marks(survey: &mut Survey, name: &dyn Fn(&str) -> String) -> (Vec<SystemMark>, Vec<MarkCount>) {
    let all = std::mem::take(&mut survey.marks);
    let (mut kept, mut counts) = (Vec::new(), Vec::new());
    for (kind, _) in MarkKind::ALL {
        let mut of_kind: Vec<_> = all.iter().filter(|(_, mark)| mark.kind == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        // Sorting is stable, so instants remain in their order.
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
