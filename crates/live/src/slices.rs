//! A run over time, in slices of equal length. If there are too many slices, their length is doubled.

use busyhour_sample::Snapshot;

/// Maximum number of slices: a plot cannot show more.
pub const SLICES_MAX: usize = 480;

/// Number of bands of the heat map per decade, as in the report.
const BANDS_PER_DECADE: f64 = busyhour_sample::HEAT_BANDS_PER_DECADE as f64;

/// The figures of one slice of the run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Slice {
    /// Number of seconds of this slice that have passed.
    pub seconds: u64,
    /// Number of arrivals scheduled.
    pub offered: u64,
    /// Number of sessions started.
    pub begun: u64,
    /// Number of requests that ended.
    pub ended: u64,
    /// Number of these requests that failed.
    pub errors: u64,
    /// The number of active users at the end of a second: the maximum over the seconds of the slice. `None` if unknown.
    pub users: Option<u32>,
    /// The 50th, 95th and 99th percentile of the response time in ms: for each, the maximum over the seconds of the
    /// slice. `None` if no request ended.
    pub percentiles: [Option<f64>; 3],
    /// Bytes received.
    pub bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Bands of the response time with the number of requests that ended in them, ascending. Band `b` begins at 10^(b/16) µs.
    pub heat: Vec<(u16, u64)>,
}

impl Slice {
    /// A slice that consists of one second.
    fn of(snapshot: &Snapshot) -> Slice {
        let total = snapshot.total();
        let response = total.response.all();
        let arrivals = snapshot.arrivals.unwrap_or_default();
        let mut slice = Slice {
            seconds: 1,
            offered: arrivals.scheduled,
            begun: arrivals.begun,
            ended: total.samples,
            errors: total.errors,
            users: snapshot.users.map(|users| users.at_end),
            percentiles: [0.5, 0.95, 0.99].map(|q| response.quantile_ms(q)),
            bytes: total.bytes,
            sent_bytes: total.sent_bytes,
            heat: Vec::new(),
        };
        for (us, count) in response.bands() {
            let band = ((*us).max(1) as f64).log10() * BANDS_PER_DECADE;
            add_band(&mut slice.heat, band.floor() as u16, *count);
        }
        slice
    }

    fn merge(&mut self, other: &Slice) {
        self.seconds += other.seconds;
        self.offered += other.offered;
        self.begun += other.begun;
        self.ended += other.ended;
        self.errors += other.errors;
        self.users = self.users.max(other.users);
        for (own, others) in self.percentiles.iter_mut().zip(other.percentiles) {
            *own = match (*own, others) {
                (Some(a), Some(b)) => Some(a.max(b)),
                (a, b) => a.or(b),
            };
        }
        self.bytes += other.bytes;
        self.sent_bytes += other.sent_bytes;
        other.heat.iter().for_each(|(band, count)| add_band(&mut self.heat, *band, *count));
    }

    /// Converts a count of the slice to a rate per second.
    #[must_use]
    pub fn per_s(&self, count: u64) -> f64 {
        count as f64 / self.seconds.max(1) as f64
    }
}

fn add_band(heat: &mut Vec<(u16, u64)>, band: u16, count: u64) {
    let at = heat.partition_point(|(known, _)| *known < band);
    match heat.get_mut(at) {
        Some((known, sum)) if *known == band => *sum += count,
        _ => heat.insert(at, (band, count)),
    }
}

/// The slices of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Slices {
    step_s: u64,
    all: Vec<Slice>,
    /// Lowest and highest band of all slices.
    bands: Option<(u16, u16)>,
}

/// How a new second changed the slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SliceChange {
    /// The last slice has changed or was added; the others are the same.
    Last,
    /// Earlier slices or the range of bands have changed, too.
    All,
}

impl Slices {
    /// Length of a slice in seconds.
    #[must_use]
    pub fn step_s(&self) -> u64 {
        self.step_s.max(1)
    }

    /// The slices, from the start of the run.
    #[must_use]
    pub fn all(&self) -> &[Slice] {
        &self.all
    }

    /// Lowest and highest band of the heat map; `None` before the first request has ended.
    #[must_use]
    pub fn bands(&self) -> Option<(u16, u16)> {
        self.bands
    }

    /// Adds a second. Seconds that were skipped before it count as empty.
    pub(crate) fn add(&mut self, snapshot: &Snapshot) -> SliceChange {
        let slice = Slice::of(snapshot);
        let mut grown = SliceChange::Last;
        let before = self.bands;
        if let (Some((low, _)), Some((high, _))) = (slice.heat.first(), slice.heat.last()) {
            let (least, most) = before.unwrap_or((*low, *high));
            self.bands = Some((least.min(*low), most.max(*high)));
        }
        if self.bands != before {
            grown = SliceChange::All;
        }
        while snapshot.second / self.step_s() >= SLICES_MAX as u64 {
            self.halve();
            grown = SliceChange::All;
        }
        let at = (snapshot.second / self.step_s()) as usize;
        if at > self.all.len() {
            grown = SliceChange::All;
        }
        let step_s = self.step_s();
        while self.all.len() < at {
            self.all.push(Slice { seconds: step_s, ..Slice::default() });
        }
        if self.all.len() == at {
            self.all.push(Slice::default());
        }
        if let Some(last) = self.all.get_mut(at) {
            last.merge(&slice);
            // Skipped seconds of the slice have passed, too.
            last.seconds = last.seconds.max(snapshot.second % step_s + 1);
        }
        grown
    }

    fn halve(&mut self) {
        self.step_s = self.step_s() * 2;
        let merged = self.all.chunks(2).map(|pair| {
            let mut slice = pair[0].clone();
            pair[1..].iter().for_each(|other| slice.merge(other));
            slice
        });
        self.all = merged.collect();
    }
}

#[cfg(test)]
mod tests {
    use busyhour_sample::{ArrivalsInSecond, SecondUsers};

    use super::*;
    use crate::live_run::tests::snapshot;

    #[test]
    fn doubling_the_length_of_slices_keeps_all_counts() {
        let mut slices = Slices::default();
        let seconds = SLICES_MAX as u64 + 21;
        for second in 0..seconds {
            let grown = slices.add(&Snapshot {
                arrivals: Some(ArrivalsInSecond { scheduled: 3, begun: 2, ..ArrivalsInSecond::default() }),
                ..snapshot(second, &[("a", &[2_000_000, 9_000_000], 1)])
            });
            let is_first = second == 0 || second == SLICES_MAX as u64;
            assert_eq!(grown, if is_first { SliceChange::All } else { SliceChange::Last }, "{second}");
        }
        assert_eq!((slices.step_s(), slices.all().len()), (2, seconds.div_ceil(2) as usize));
        let sum = |of: fn(&Slice) -> u64| slices.all().iter().map(of).sum::<u64>();
        assert_eq!(
            (sum(|s| s.ended), sum(|s| s.errors), sum(|s| s.offered)),
            (2 * seconds, seconds, 3 * seconds)
        );
        assert_eq!(sum(|s| s.heat.iter().map(|(_, count)| count).sum()), 2 * seconds);
        assert_eq!(sum(|s| s.seconds), seconds);
        let last = slices.all().last().unwrap();
        assert_eq!((last.seconds, last.per_s(last.ended)), (1, 2.0));
        assert_eq!(slices.bands().map(|(low, high)| high - low), Some(11));
    }

    #[test]
    fn seconds_that_were_skipped_are_empty_slices() {
        let mut slices = Slices::default();
        slices.add(&snapshot(0, &[("a", &[1_000_000], 0)]));
        let users = SecondUsers { at_end: 4, min: 1, max: 4, sum: 5, samples: 2 };
        assert_eq!(slices.add(&Snapshot { users: Some(users), ..snapshot(5, &[]) }), SliceChange::All);
        let ended: Vec<u64> = slices.all().iter().map(|slice| slice.ended).collect();
        assert_eq!(ended, [1, 0, 0, 0, 0, 0]);
        assert_eq!((slices.all()[5].users, slices.all()[3].percentiles), (Some(4), [None; 3]));
    }
}
