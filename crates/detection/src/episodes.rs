//! Times in which the system was slow, whatever the cause. A system that is often slow by itself needs more proof.

/// Episodes that are kept.
const EPISODES_MAX: usize = 64;

/// The time for which episodes of a system are remembered, in s.
pub(crate) const REMEMBERED_S: f64 = 3.0 * 3_600.0;

/// The mean score of the last readings from which an episode begins.
const BEGIN: f64 = 1.2;

/// The mean score below which it ends.
const END: f64 = 0.5;

/// The starts of episodes of one kind of harm, as numbers of readings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Episodes {
    pub(crate) starts: Vec<usize>,
    /// Times of episodes before the history that no neighbour explains, in s.
    earlier_s: Vec<f64>,
    is_open: bool,
}

impl Episodes {
    /// Takes the mean score of the last readings, of which the newest has the number `at`.
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

    /// The first readings were discarded, in which the episodes at the times `own_s` had no neighbour as their cause.
    pub(crate) fn discard(&mut self, count: usize, own_s: impl IntoIterator<Item = f64>) {
        self.earlier_s.extend(own_s);
        let excess = self.earlier_s.len().saturating_sub(EPISODES_MAX);
        self.earlier_s.drain(..excess);
        self.starts.retain(|start| *start >= count);
        self.starts.iter_mut().for_each(|start| *start -= count);
    }

    /// The number of episodes before the history, and after this time.
    pub(crate) fn earlier(&self, since_s: f64) -> usize {
        self.earlier_s.iter().filter(|at| **at >= since_s).count()
    }
}
