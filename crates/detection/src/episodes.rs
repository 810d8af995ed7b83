//! Times in which the system was slow for any cause. If a system is often slow by itself, a detection needs stronger
//! evidence.

/// Maximum number of episodes that are kept.
const EPISODES_MAX: usize = 64;

/// The time for which episodes of a system are remembered, in s.
pub(crate) const REMEMBERED_S: f64 = 3.0 * 3_600.0;

/// An episode begins if the mean score of the last readings reaches this value.
const BEGIN: f64 = 1.2;

/// An episode ends if the mean score falls below this value.
const END: f64 = 0.5;

/// The starts of episodes of one kind of harm, as numbers of readings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Episodes {
    pub(crate) starts: Vec<usize>,
    /// Times, in s, of episodes that are older than the history and that no neighbour explains.
    earlier_s: Vec<f64>,
    is_open: bool,
}

impl Episodes {
    /// Processes the mean score of the last readings. The newest of them has the number `at`.
    pub(crate) fn add(&mut self, mean: f64, at: usize) {
        if self.is_open {
            self.is_open = mean > END;
        } else if mean >= BEGIN {
            self.is_open = true;
            if self.starts.len() == EPISODES_MAX {
                self.starts.remove(0);
            }
            self.starts.push(at);
        }
    }

    /// Adapts to the removal of the first `count` readings. The episodes at the times `own_s` were among them and were
    /// not caused by a neighbour.
    pub(crate) fn discard(&mut self, count: usize, own_s: impl IntoIterator<Item = f64>) {
        self.earlier_s.extend(own_s);
        let excess = self.earlier_s.len().saturating_sub(EPISODES_MAX);
        self.earlier_s.drain(..excess);
        self.starts.retain(|start| *start >= count);
        self.starts.iter_mut().for_each(|start| *start -= count);
    }

    /// The number of episodes that are older than the history, but not older than `since_s`.
    pub(crate) fn earlier(&self, since_s: f64) -> usize {
        self.earlier_s.iter().filter(|at| **at >= since_s).count()
    }
}
