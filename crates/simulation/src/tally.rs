//! Sums observations in batches of equal simulated time.

use crate::histogram::Histogram;

/// Sums over one batch, for a class at a station or in the whole system.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct BatchSums {
    /// Integral of the number of customers over time, in seconds.
    pub(crate) present_s: f64,
    /// Integral of the number of busy servers over time, in seconds.
    pub(crate) busy_s: f64,
    /// Number of completed visits; for the system, of completed passes.
    pub(crate) done: f64,
    /// Sum of the response times of these visits or passes, in seconds.
    pub(crate) response_s: f64,
    /// Number of customers that were lost because the station was full; for the system, number of passes that ended with a
    /// loss.
    pub(crate) lost: f64,
}

impl BatchSums {
    pub(crate) fn add(&mut self, other: &Self) {
        self.present_s += other.present_s;
        self.busy_s += other.busy_s;
        self.done += other.done;
        self.response_s += other.response_s;
        self.lost += other.lost;
    }
}

/// The current state and batch of a class at a station or in the whole system.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observed {
    sums: BatchSums,
    /// Number of customers.
    pub(crate) present: u32,
    /// Number of servers that serve these customers.
    busy: f64,
    /// The last response time and the last service time, for routing strategies.
    pub(crate) last_response_s: f64,
    pub(crate) last_service_s: f64,
    responses: Histogram,
}

/// All observations of a replication.
///
/// Time integrals are updated only when the number of customers changes. A customer that arrives at time t after the start of
/// the batch and stays contributes T − t to a batch of length T. Therefore each change adds its size times −t, and the end of
/// the batch adds the number of customers times T.
#[derive(Clone, Debug)]
pub(crate) struct ObservationTally {
    observed: Vec<Observed>,
    /// The sums of all observations, batch by batch.
    batches: Vec<BatchSums>,
    batches_max: usize,
    length_s: f64,
    /// Start and end of the current batch.
    start_s: f64,
    end_s: f64,
    /// Time since the start of the batch.
    passed_s: f64,
    /// The time since which response times are counted in the histograms.
    histograms_from_s: f64,
}

impl ObservationTally {
    /// Creates a tally for `count` pairs of a station (or the system) and a class. Batches start with [`ObservationTally::begin_batches`].
    pub(crate) fn new(count: usize) -> Self {
        Self {
            observed: vec![Observed::default(); count],
            batches: Vec::new(),
            // With 512 batches, enough values for the spectrum remain after half of the batches are removed as transient.
            batches_max: if count <= 4_096 { 512 } else { 256 },
            length_s: 0.0,
            start_s: 0.0,
            end_s: f64::INFINITY,
            passed_s: 0.0,
            histograms_from_s: 0.0,
        }
    }

    /// Advances the time to `now_s`. It must be called before an event changes a number of customers or busy servers.
    #[inline]
    pub(crate) fn advance(&mut self, now_s: f64) {
        if now_s >= self.end_s {
            self.close_until(now_s);
        }
        self.passed_s = now_s - self.start_s;
    }

    #[inline]
    pub(crate) fn observed(&self, index: usize) -> &Observed {
        &self.observed[index]
    }

    /// Records the arrival of a customer.
    #[inline]
    pub(crate) fn arrive(&mut self, observed: usize) {
        let state = &mut self.observed[observed];
        state.present += 1;
        state.sums.present_s -= self.passed_s;
    }

    /// Records the departure of a customer after `response_s`.
    #[inline]
    pub(crate) fn depart(&mut self, observed: usize, response_s: f64) {
        let state = &mut self.observed[observed];
        state.present -= 1;
        state.sums.present_s += self.passed_s;
        state.sums.done += 1.0;
        state.sums.response_s += response_s;
        state.last_response_s = response_s;
        state.responses.add(response_s);
    }

    /// Records that a pass ended with a loss.
    pub(crate) fn abort(&mut self, observed: usize) {
        let state = &mut self.observed[observed];
        state.present -= 1;
        state.sums.present_s += self.passed_s;
        state.sums.lost += 1.0;
    }

    /// Records the rejection of a customer at a full station.
    pub(crate) fn reject(&mut self, observed: usize) {
        self.observed[observed].sums.lost += 1.0;
    }

    /// Changes the number of servers that serve a class.
    #[inline]
    pub(crate) fn add_busy(&mut self, observed: usize, change: f64) {
        let state = &mut self.observed[observed];
        state.busy += change;
        state.sums.busy_s -= change * self.passed_s;
    }

    /// Sets the number of servers that serve a class.
    #[inline]
    pub(crate) fn set_busy(&mut self, observed: usize, busy: f64) {
        let change = busy - self.observed[observed].busy;
        self.add_busy(observed, change);
        // The value is assigned, because adding the difference would cause a rounding error.
        self.observed[observed].busy = busy;
    }

    /// Records the last service time.
    #[inline]
    pub(crate) fn record_service(&mut self, observed: usize, service_s: f64) {
        self.observed[observed].last_service_s = service_s;
    }

    /// Ends the first batch at `now_s`. All other batches get the same length. Returns false if no simulated time has passed
    /// yet.
    pub(crate) fn begin_batches(&mut self, now_s: f64) -> bool {
        if now_s <= 0.0 {
            return false;
        }
        self.length_s = now_s;
        self.end_s = now_s;
        true
    }

    #[cold]
    fn close_until(&mut self, now_s: f64) {
        while now_s >= self.end_s {
            let length_s = self.end_s - self.start_s;
            for state in &mut self.observed {
                state.sums.present_s += f64::from(state.present) * length_s;
                state.sums.busy_s += state.busy * length_s;
                self.batches.push(std::mem::take(&mut state.sums));
            }
            self.start_s = self.end_s;
            if self.count() >= self.batches_max {
                self.merge_pairs();
            }
            self.end_s = self.start_s + self.length_s;
        }
    }

    /// Merges adjacent batches in pairs.
    fn merge_pairs(&mut self) {
        let width = self.observed.len();
        let pairs = self.count() / 2;
        for pair in 0..pairs {
            for at in 0..width {
                let mut sums = self.batches[2 * pair * width + at];
                sums.add(&self.batches[(2 * pair + 1) * width + at]);
                self.batches[pair * width + at] = sums;
            }
        }
        self.batches.truncate(pairs * width);
        self.length_s *= 2.0;
    }

    /// Number of complete batches.
    pub(crate) fn count(&self) -> usize {
        self.batches.len() / self.observed.len().max(1)
    }

    /// Length of each batch in seconds.
    pub(crate) fn length_s(&self) -> f64 {
        self.length_s
    }

    /// The sums of one batch.
    pub(crate) fn batch(&self, batch: usize) -> &[BatchSums] {
        let width = self.observed.len();
        &self.batches[batch * width..(batch + 1) * width]
    }

    /// The response times since [`ObservationTally::histograms_from_s`], as a histogram.
    pub(crate) fn responses(&self, observed: usize) -> &Histogram {
        &self.observed[observed].responses
    }

    /// The time since which response times are counted in the histograms.
    pub(crate) fn histograms_from_s(&self) -> f64 {
        self.histograms_from_s
    }

    /// Clears the histograms.
    pub(crate) fn clear_histograms(&mut self, now_s: f64) {
        self.histograms_from_s = now_s;
        for state in &mut self.observed {
            state.responses.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_integrals_are_exact() {
        let mut tally = ObservationTally::new(1);
        tally.advance(1.0);
        tally.arrive(0);
        tally.add_busy(0, 1.0);
        tally.advance(4.0);
        tally.begin_batches(4.0);
        tally.advance(6.0);
        tally.arrive(0);
        tally.advance(9.0);
        tally.depart(0, 8.0);
        tally.set_busy(0, 0.5);
        tally.advance(12.0);
        let batches: Vec<BatchSums> = (0..tally.count()).map(|at| tally.batch(at)[0]).collect();
        // One customer is present from 1 to 6, two from 6 to 9, one after that. One server is busy from 1 to 9, half a server
        // after that.
        let present: Vec<f64> = batches.iter().map(|sums| sums.present_s).collect();
        assert_eq!(present, [3.0, 2.0 + 4.0, 2.0 + 3.0]);
        let busy: Vec<f64> = batches.iter().map(|sums| sums.busy_s).collect();
        assert_eq!(busy, [3.0, 4.0, 1.0 + 1.5]);
        assert_eq!((batches[2].done, batches[2].response_s), (1.0, 8.0));
    }

    #[test]
    fn merged_batches_have_the_same_sums() {
        let mut tally = ObservationTally::new(2);
        tally.begin_batches(1.0);
        for second in 1..=10_000_u32 {
            tally.advance(f64::from(second));
            tally.arrive(1);
            tally.depart(1, 0.5);
        }
        assert!((256..512).contains(&tally.count()), "{}", tally.count());
        assert_eq!(tally.length_s(), 32.0);
        let done: f64 = (0..tally.count()).map(|at| tally.batch(at)[1].done).sum();
        // No customer is done at second 0, and customers after the last complete batch are not counted.
        assert_eq!(done, f64::from((10_000_u32 / 32) * 32 - 1));
    }
}
