//! What is observed, in batches of equal simulated time.

use crate::histogram::Histogram;

/// Sums over a batch, of one class at one station, or of one class in the whole system.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sums {
    /// ∫ customers present dt, in seconds.
    pub(crate) present_s: f64,
    /// ∫ busy servers dt, in seconds.
    pub(crate) busy_s: f64,
    /// Visits that ended; of the system: passes that ended.
    pub(crate) done: f64,
    /// How long these took together, in seconds.
    pub(crate) response_s: f64,
    /// Customers that were lost because a station was full; of the system: passes that ended by a loss.
    pub(crate) lost: f64,
}

impl Sums {
    pub(crate) fn add(&mut self, other: &Self) {
        self.present_s += other.present_s;
        self.busy_s += other.busy_s;
        self.done += other.done;
        self.response_s += other.response_s;
        self.lost += other.lost;
    }
}

/// One class at one station, or in the system, as it is now.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observed {
    sums: Sums,
    /// Customers present.
    pub(crate) present: u32,
    /// Servers that work for them.
    busy: f64,
    /// The last response and service time, for strategies that go by them.
    pub(crate) last_response_s: f64,
    pub(crate) last_service_s: f64,
    responses: Histogram,
}

/// All observations of a replication.
///
/// The time integral of a number is updated only at changes: a customer that arrives at time t after the start of the
/// batch and stays contributes T − t at its end T. Each change therefore adds its size times −t, and the end adds the
/// number present times T.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    observed: Vec<Observed>,
    /// Batch after batch, the sums of all that is observed.
    batches: Vec<Sums>,
    batches_max: usize,
    length_s: f64,
    begun_s: f64,
    ends_s: f64,
    /// Time since the batch began.
    passed_s: f64,
    /// From when on responses are in the histograms.
    histograms_from_s: f64,
}

impl Tally {
    /// `count` things are observed. Nothing is cut into batches before [`Tally::begin_batches`].
    pub(crate) fn new(count: usize) -> Self {
        Self {
            observed: vec![Observed::default(); count],
            batches: Vec::new(),
            // Few observed things: enough batches for the spectrum after half of them were cut as transient.
            batches_max: if count <= 4_096 { 512 } else { 256 },
            length_s: 0.0,
            begun_s: 0.0,
            ends_s: f64::INFINITY,
            passed_s: 0.0,
            histograms_from_s: 0.0,
        }
    }

    /// It is `now_s`, and nothing has changed since the last event.
    #[inline]
    pub(crate) fn advance(&mut self, now_s: f64) {
        if now_s >= self.ends_s {
            self.close_until(now_s);
        }
        self.passed_s = now_s - self.begun_s;
    }

    #[inline]
    pub(crate) fn at(&self, observed: usize) -> &Observed {
        &self.observed[observed]
    }

    /// A customer arrives.
    #[inline]
    pub(crate) fn comes(&mut self, observed: usize) {
        let seen = &mut self.observed[observed];
        seen.present += 1;
        seen.sums.present_s -= self.passed_s;
    }

    /// A customer leaves after `response_s`.
    #[inline]
    pub(crate) fn leaves(&mut self, observed: usize, response_s: f64) {
        let seen = &mut self.observed[observed];
        seen.present -= 1;
        seen.sums.present_s += self.passed_s;
        seen.sums.done += 1.0;
        seen.sums.response_s += response_s;
        seen.last_response_s = response_s;
        seen.responses.add(response_s);
    }

    /// A customer leaves without success.
    pub(crate) fn gives_up(&mut self, observed: usize) {
        let seen = &mut self.observed[observed];
        seen.present -= 1;
        seen.sums.present_s += self.passed_s;
        seen.sums.lost += 1.0;
    }

    /// A customer is lost because there is no room.
    pub(crate) fn is_refused(&mut self, observed: usize) {
        self.observed[observed].sums.lost += 1.0;
    }

    /// So many servers more (or less) work for a class.
    #[inline]
    pub(crate) fn works(&mut self, observed: usize, more: f64) {
        let seen = &mut self.observed[observed];
        seen.busy += more;
        seen.sums.busy_s -= more * self.passed_s;
    }

    /// So many servers work for a class.
    #[inline]
    pub(crate) fn works_now(&mut self, observed: usize, busy: f64) {
        let more = busy - self.observed[observed].busy;
        self.works(observed, more);
        // Without the rounding of the difference.
        self.observed[observed].busy = busy;
    }

    #[inline]
    pub(crate) fn was_served(&mut self, observed: usize, service_s: f64) {
        self.observed[observed].last_service_s = service_s;
    }

    /// All before now is the first batch, and the others are as long. False when no time has passed yet.
    pub(crate) fn begin_batches(&mut self, now_s: f64) -> bool {
        if now_s <= 0.0 {
            return false;
        }
        self.length_s = now_s;
        self.ends_s = now_s;
        true
    }

    #[cold]
    fn close_until(&mut self, now_s: f64) {
        while now_s >= self.ends_s {
            let length_s = self.ends_s - self.begun_s;
            for seen in &mut self.observed {
                seen.sums.present_s += f64::from(seen.present) * length_s;
                seen.sums.busy_s += seen.busy * length_s;
                self.batches.push(std::mem::take(&mut seen.sums));
            }
            self.begun_s = self.ends_s;
            if self.count() >= self.batches_max {
                self.join();
            }
            self.ends_s = self.begun_s + self.length_s;
        }
    }

    /// Merges adjacent pairs.
    fn join(&mut self) {
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

    /// How many batches there are.
    pub(crate) fn count(&self) -> usize {
        self.batches.len() / self.observed.len().max(1)
    }

    /// How long each is, in seconds.
    pub(crate) fn length_s(&self) -> f64 {
        self.length_s
    }

    /// The sums of one batch.
    pub(crate) fn batch(&self, batch: usize) -> &[Sums] {
        let width = self.observed.len();
        &self.batches[batch * width..(batch + 1) * width]
    }

    /// The response times seen since [`Tally::histograms_from_s`].
    pub(crate) fn responses(&self, observed: usize) -> &Histogram {
        &self.observed[observed].responses
    }

    /// From when on the histograms count.
    pub(crate) fn histograms_from_s(&self) -> f64 {
        self.histograms_from_s
    }

    /// Clears the histograms.
    pub(crate) fn clear_histograms(&mut self, now_s: f64) {
        self.histograms_from_s = now_s;
        for seen in &mut self.observed {
            seen.responses.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrals_are_those_of_the_steps() {
        let mut tally = Tally::new(1);
        tally.advance(1.0);
        tally.comes(0);
        tally.works(0, 1.0);
        tally.advance(4.0);
        tally.begin_batches(4.0);
        tally.advance(6.0);
        tally.comes(0);
        tally.advance(9.0);
        tally.leaves(0, 8.0);
        tally.works_now(0, 0.5);
        tally.advance(12.0);
        let batches: Vec<Sums> = (0..tally.count()).map(|at| tally.batch(at)[0]).collect();
        // Present: 1 from 1 to 6, 2 from 6 to 9, 1 after; busy 1 from 1 to 9, a half after.
        let present: Vec<f64> = batches.iter().map(|sums| sums.present_s).collect();
        assert_eq!(present, [3.0, 2.0 + 4.0, 2.0 + 3.0]);
        let busy: Vec<f64> = batches.iter().map(|sums| sums.busy_s).collect();
        assert_eq!(busy, [3.0, 4.0, 1.0 + 1.5]);
        assert_eq!((batches[2].done, batches[2].response_s), (1.0, 8.0));
    }

    #[test]
    fn batches_stay_few_and_keep_their_sums() {
        let mut tally = Tally::new(2);
        tally.begin_batches(1.0);
        for second in 1..=10_000_u32 {
            tally.advance(f64::from(second));
            tally.comes(1);
            tally.leaves(1, 0.5);
        }
        assert!((256..512).contains(&tally.count()), "{}", tally.count());
        assert_eq!(tally.length_s(), 32.0);
        let done: f64 = (0..tally.count()).map(|at| tally.batch(at)[1].done).sum();
        // The one at second 1 came after the first batch; what follows the last batch is not in one yet.
        assert_eq!(done, f64::from((10_000_u32 / 32) * 32 - 1));
    }
}
