//! Matches of an extractor, copied from the texts in which they were found.

use std::cell::RefCell;
use std::ops::Range;

use busyhour_limits::{Limit, count_exceeded};

/// Matches with the same number of groups, in reusable buffers.
#[derive(Debug, Default)]
pub(crate) struct Matches {
    text: String,
    /// Range of each group in `text`; `groups` entries per match.
    ranges: Vec<Option<Range<usize>>>,
    /// Number of groups per match, including the whole match.
    groups: usize,
}

/// Maximum size in bytes of a buffer that is retained. Larger buffers are freed after use.
const RETAINED_BYTES_MAX: usize = 64 * 1024;

/// Limit of the bytes of all matches of an extractor. It is needed because matches may overlap.
const MATCH_BYTES_MAX: usize = 64 << 20;
/// Memory of a match in addition to its text. Each match becomes a variable, which has a name.
const MATCH_OVERHEAD_BYTES: usize = 100;

/// The matches of an extractor exceed the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("all matches together take more than {} MiB", MATCH_BYTES_MAX >> 20)]
pub(crate) struct TooLong;

/// The remaining bytes for the matches of an extractor.
#[derive(Debug)]
pub(crate) struct MatchBudget(usize);

impl Default for MatchBudget {
    fn default() -> Self {
        Self(MATCH_BYTES_MAX)
    }
}

impl MatchBudget {
    /// Takes the bytes of one match from the budget.
    ///
    /// # Errors
    /// The budget is exhausted.
    pub(crate) fn spend(&mut self, bytes: usize) -> Result<(), TooLong> {
        match self.0.checked_sub(bytes + MATCH_OVERHEAD_BYTES) {
            Some(remaining) => {
                self.0 = remaining;
                Ok(())
            }
            None => {
                count_exceeded(Limit::MatchBytes);
                Err(TooLong)
            }
        }
    }
}

thread_local! {
    static MATCHES: RefCell<Matches> = RefCell::default();
}

/// Calls `work` with the buffers of this thread.
pub(crate) fn with_matches<R>(work: impl FnOnce(&mut Matches) -> R) -> R {
    // Take the buffers out of the thread-local: the search may be suspended, and another user may search meanwhile.
    let mut matches = MATCHES.take();
    let result = work(&mut matches);
    if matches.text.capacity() > RETAINED_BYTES_MAX {
        matches.text = String::new();
    }
    if matches.ranges.capacity() * size_of::<Option<Range<usize>>>() > RETAINED_BYTES_MAX {
        matches.ranges = Vec::new();
    }
    MATCHES.set(matches);
    result
}

impl Matches {
    /// Removes all matches and sets the number of groups per match, including the whole match.
    pub(crate) fn clear(&mut self, groups: usize) {
        self.text.clear();
        self.ranges.clear();
        self.groups = groups;
    }

    /// Number of groups per match, including the whole match.
    pub(crate) fn groups(&self) -> usize {
        self.groups
    }

    /// Number of matches.
    pub(crate) fn len(&self) -> usize {
        self.ranges.len() / self.groups.max(1)
    }

    /// Whether the match with the number `wanted`, counted from 1, was found. Always false if `wanted` is 0 or less, because
    /// all matches are needed then.
    pub(crate) fn has_match(&self, wanted: i32) -> bool {
        usize::try_from(wanted).is_ok_and(|wanted| wanted > 0 && self.len() >= wanted)
    }

    /// Appends the next group.
    pub(crate) fn push(&mut self, group: Option<&str>) {
        let range = group.map(|text| {
            let start = self.text.len();
            self.text.push_str(text);
            start..self.text.len()
        });
        self.ranges.push(range);
    }

    /// The text of a group of the match at `index`, counted from 0.
    pub(crate) fn group(&self, index: usize, group: usize) -> Option<&str> {
        if group >= self.groups {
            return None;
        }
        let range = self.ranges.get(index * self.groups + group)?.clone()?;
        Some(&self.text[range])
    }
}
