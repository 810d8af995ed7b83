//! Joins parts that describe the same incident.

use std::ops::Range;

use super::find::{Change, Part};

/// Maximum distance, in seconds, between a pause and the slow responses after it.
const AFTER_PAUSE_S: u64 = 2;

/// A part, and the index of the label in which it was found; `None` if it was found in all requests.
pub(super) type Shown = (Option<usize>, Part);

/// Parts that describe the same incident.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Group {
    pub(super) range: Range<u64>,
    pub(super) is_last: bool,
    pub(super) parts: Vec<Shown>,
}

impl Group {
    /// The first part with this change. A part that was found in all requests precedes those of labels.
    pub(super) fn first(&self, change: Change) -> Option<&Shown> {
        self.parts.iter().find(|(_, part)| part.change == change)
    }

    fn is_same_incident(&self, part: &Part) -> bool {
        let overlap =
            self.range.end.min(part.range.end).saturating_sub(self.range.start.max(part.range.start));
        let (mine, theirs) = (self.range.end - self.range.start, part.range.end - part.range.start);
        let is_same = self.first(part.change).is_some();
        let has_pause = part.change == Change::Pause || self.first(Change::Pause).is_some();
        if has_pause {
            return self.range.start <= part.range.end + AFTER_PAUSE_S
                && part.range.start <= self.range.end + AFTER_PAUSE_S;
        }
        // The description of an incident applies to its whole range, so parts with different changes are joined only if their
        // ranges are about the same.
        if is_same { 2 * overlap >= mine.min(theirs) } else { 2 * overlap >= mine + theirs - overlap }
    }

    fn add(&mut self, shown: Shown) {
        let (label, part) = &shown;
        // A part that was found in one label does not extend the range of a part that was found in all requests.
        let is_known = label.is_some() && self.parts.iter().any(|(label, _)| label.is_none());
        if !is_known {
            self.range = self.range.start.min(part.range.start)..self.range.end.max(part.range.end);
            self.is_last |= part.is_last;
        }
        self.parts.push(shown);
    }
}

/// Joins parts to incidents, in order of time. In `parts`, those that were found in all requests must come first.
pub(super) fn join(parts: Vec<Shown>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for shown in parts {
        match groups.iter_mut().find(|group| group.is_same_incident(&shown.1)) {
            Some(group) => group.add(shown),
            None => groups.push(Group {
                range: shown.1.range.clone(),
                is_last: shown.1.is_last,
                parts: vec![shown],
            }),
        }
    }
    groups.sort_by_key(|group| group.range.start);
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(change: Change, range: Range<u64>) -> Part {
        Part { change, range, is_last: false }
    }

    #[test]
    fn parts_of_about_the_same_time_are_one_incident() {
        let groups = join(vec![
            (None, part(Change::Times, 100..160)),
            (None, part(Change::Errors, 104..160)),
            (Some(0), part(Change::Times, 90..150)),
            (Some(1), part(Change::Errors, 110..115)),
            (None, part(Change::Rate, 300..320)),
        ]);
        assert_eq!(groups.iter().map(|group| group.range.clone()).collect::<Vec<_>>(), [100..160, 300..320]);
        assert_eq!(groups[0].parts.len(), 4);
    }

    #[test]
    fn a_short_change_within_a_long_one_is_an_incident_of_its_own() {
        let groups =
            join(vec![(None, part(Change::Times, 100..260)), (None, part(Change::Errors, 120..140))]);
        assert_eq!(groups.len(), 2);
    }

    #[test]
    fn slow_responses_after_a_pause_belong_to_it() {
        let groups = join(vec![(None, part(Change::Pause, 18..20)), (None, part(Change::Times, 21..24))]);
        assert_eq!((groups.len(), groups[0].range.clone()), (1, 18..24));
    }
}
