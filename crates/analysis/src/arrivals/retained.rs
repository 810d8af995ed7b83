//! Consecutive start times of a part of the run, in bounded memory.

/// Number of start times in a stretch.
const LENGTH: usize = 32_768;

/// Stretches of consecutive start times. A stretch begins at the first arrival, and again each time the number of arrivals reaches a
/// power of two that is at least [`LENGTH`]. Only the latest two stretches are stored. In a long run, they therefore do not include
/// the start of the run.
#[derive(Debug, Clone, Default)]
pub(super) struct RetainedStarts {
    previous: Vec<u64>,
    latest: Vec<u64>,
    arrivals: u64,
}

impl RetainedStarts {
    /// Adds arrivals with one start time, in ns.
    pub(super) fn add(&mut self, start_ns: u64, arrivals: u64) {
        for _ in 0..arrivals {
            if self.arrivals >= LENGTH as u64 && self.arrivals.is_power_of_two() {
                std::mem::swap(&mut self.previous, &mut self.latest);
                self.latest.clear();
            }
            self.arrivals += 1;
            if self.latest.len() < LENGTH {
                self.latest.push(start_ns);
            }
        }
    }

    /// The longer of the two stretches, or the later one if both are complete.
    pub(super) fn stretch(&self) -> &[u64] {
        if self.latest.len() >= self.previous.len() { &self.latest } else { &self.previous }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_run_is_stored_whole_and_a_long_one_in_part() {
        let mut starts = RetainedStarts::default();
        (0..20_000).for_each(|start| starts.add(start, 1));
        assert_eq!(starts.stretch().len(), 20_000);
        (20_000..70_000).for_each(|start| starts.add(start, 1));
        assert_eq!((starts.stretch()[0], starts.stretch().len()), (32_768, LENGTH));
        starts.add(70_000, 1_000_000);
        assert_eq!(starts.stretch(), [70_000; LENGTH]);
        assert_eq!(starts.previous.len(), LENGTH);
    }
}
