//! Matches copied out of the texts they were found in.

use std::cell::RefCell;
use std::ops::Range;

use busyhour_limits::{Limit, exceeded};

/// Matches with the same number of groups each, in buffers that are used again.
#[derive(Debug, Default)]
pub(crate) struct Matches {
    text: String,
    /// Places in `text`, so many per match.
    places: Vec<Option<Range<usize>>>,
    groups: usize,
}

/// Buffers beyond this many bytes are given back.
const KEPT_BYTES_MAX: usize = 64 * 1024;

/// Bytes that all matches of an extractor may have together; one may contain others.
const MATCH_BYTES_MAX: usize = 64 << 20;
/// What a match takes besides its text: it becomes a variable with a name.
const MATCH_OVERHEAD_BYTES: usize = 100;

/// The matches of an extractor take too much memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("all matches together take more than {} MiB", MATCH_BYTES_MAX >> 20)]
pub(crate) struct TooLong;

/// Bytes that are left for the matches of an extractor.
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
    /// When it is used up.
    pub(crate) fn spend(&mut self, bytes: usize) -> Result<(), TooLong> {
        match self.0.checked_sub(bytes + MATCH_OVERHEAD_BYTES) {
            Some(left) => {
                self.0 = left;
                Ok(())
            }
            None => {
                exceeded(Limit::MatchBytes);
                Err(TooLong)
            }
        }
    }
}

thread_local! {
    static MATCHES: RefCell<Matches> = RefCell::default();
}

/// Lends the thread's matches.
pub(crate) fn with_matches<R>(run: impl FnOnce(&mut Matches) -> R) -> R {
    // Taken out: the search may be suspended, and another user may need matches meanwhile.
    let mut matches = MATCHES.take();
    let result = run(&mut matches);
    if matches.text.capacity() > KEPT_BYTES_MAX {
        matches.text = String::new();
    }
    if matches.places.capacity() * size_of::<Option<Range<usize>>>() > KEPT_BYTES_MAX {
        matches.places = Vec::new();
    }
    MATCHES.set(matches);
    result
}

impl Matches {
    /// Forgets all; matches to come have so many groups, the whole counted.
    pub(crate) fn clear(&mut self, groups: usize) {
        self.text.clear();
        self.places.clear();
        self.groups = groups;
    }

    /// Number of groups of each match, the whole counted.
    pub(crate) fn groups(&self) -> usize {
        self.groups
    }

    /// Number of whole matches.
    pub(crate) fn len(&self) -> usize {
        self.places.len() / self.groups.max(1)
    }

    /// Whether the match number `wanted`, from 1, is there; never for 0 or less, which mean all.
    pub(crate) fn enough(&self, wanted: i32) -> bool {
        usize::try_from(wanted).is_ok_and(|wanted| wanted > 0 && self.len() >= wanted)
    }

    /// Adds the next group.
    pub(crate) fn push(&mut self, group: Option<&str>) {
        let place = group.map(|text| {
            let start = self.text.len();
            self.text.push_str(text);
            start..self.text.len()
        });
        self.places.push(place);
    }

    /// The text of a group of the match at `index`, from 0.
    pub(crate) fn group(&self, index: usize, group: usize) -> Option<&str> {
        if group >= self.groups {
            return None;
        }
        let place = self.places.get(index * self.groups + group)?.clone()?;
        Some(&self.text[place])
    }
}
