//! Sums up the readings of one quantity in the measured part.

/// A part of the run, in ns since its start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) from: u64,
    pub(super) to: u64,
}

impl Part {
    pub(super) fn overlap(self, from: u64, to: u64) -> u64 {
        self.to.min(to).saturating_sub(self.from.max(from))
    }

    pub(super) fn contains(self, time: u64) -> bool {
        self.from <= time && time <= self.to
    }

    /// Whether at least half of an interval is in the part.
    fn has_most_of(self, from: u64, to: u64) -> bool {
        to > from && self.overlap(from, to) * 2 >= to - from
    }
}

/// The values of one reading, over all series of a quantity.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReadingSum {
    /// The sum: of increases for counters, of values for gauges.
    sum: f64,
    /// Number of series in the sum.
    series: u32,
    /// The time of the earliest previous reading of a counter.
    from: u64,
}

impl ReadingSum {
    pub(super) fn add_value(&mut self, value: f64) {
        self.sum += value;
        self.series += 1;
    }

    pub(super) fn add_increase(&mut self, from: u64, amount: f64) {
        self.from = if self.series == 0 { from } else { self.from.min(from) };
        self.sum += amount;
        self.series += 1;
    }
}

/// Increases of a counter in the measured part. If only a part of the time between two readings is inside, the increase
/// counts in proportion.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Increases {
    pub(super) amount: f64,
    /// Start and end of the time that the readings cover, in ns; equal without readings.
    pub(super) from: u64,
    pub(super) to: u64,
    /// The largest increase per second between two readings.
    pub(super) rate_max: Option<f64>,
    /// The largest ratio of an increase to that of the partner.
    pub(super) ratio_max: Option<f64>,
    /// The largest increase between two readings in which the partner increased by at most 1; `several_max` is for
    /// larger increases of the partner.
    pub(super) single_max: Option<f64>,
    pub(super) several_max: Option<f64>,
    pub(super) steps: Steps,
}

/// The readings at which a counter increased, for counters that do not change between events.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Steps {
    pub(super) count: u64,
    /// Times of the first and the last increase, in ns.
    pub(super) first: u64,
    pub(super) last: u64,
    /// The sum of all increases except the first. They occurred between `first` and `last`.
    pub(super) after_first: f64,
}

impl Steps {
    fn add(&mut self, time: u64, amount: f64) {
        if self.count == 0 {
            self.first = time;
        } else {
            self.after_first += amount;
        }
        self.last = time;
        self.count += 1;
    }
}

impl Increases {
    pub(super) fn seconds(&self) -> f64 {
        self.to.saturating_sub(self.from) as f64 / 1e9
    }

    pub(super) fn add(&mut self, part: Part, time: u64, reading: ReadingSum, partner: Option<ReadingSum>) {
        let overlap = part.overlap(reading.from, time);
        if reading.series == 0 || overlap == 0 {
            return;
        }
        let length = time - reading.from;
        self.amount += reading.sum * (overlap as f64 / length as f64);
        if self.from == self.to {
            self.from = part.from.max(reading.from);
        }
        self.to = part.to.min(time);
        if reading.sum > 0.0 && part.contains(time) {
            self.steps.add(time, reading.sum);
        }
        if !part.has_most_of(reading.from, time) {
            return;
        }
        raise(&mut self.rate_max, reading.sum / (length as f64 / 1e9));
        let Some(of) = partner.filter(|partner| partner.sum > 0.0) else { return };
        raise(&mut self.ratio_max, reading.sum / of.sum);
        raise(if of.sum > 1.0 { &mut self.several_max } else { &mut self.single_max }, reading.sum);
    }
}

/// Values of a gauge in the measured part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Values {
    pub(super) max: Option<f64>,
    /// Number of readings in which a series is missing that the partner has. Their sums would be too small.
    pub(super) incomplete: u64,
}

impl Values {
    pub(super) fn add(&mut self, part: Part, time: u64, reading: ReadingSum, series_needed: Option<u32>) {
        if reading.series == 0 || !part.contains(time) {
            return;
        }
        if series_needed.is_some_and(|needed| reading.series != needed) {
            self.incomplete += 1;
            return;
        }
        raise(&mut self.max, reading.sum);
    }
}

impl ReadingSum {
    /// The number of series in the sum, if there is one.
    pub(super) fn series(&self) -> Option<u32> {
        (self.series > 0).then_some(self.series)
    }
}

fn raise(max: &mut Option<f64>, value: f64) {
    *max = Some(max.map_or(value, |max| max.max(value)));
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: Part = Part { from: 1_000_000_000, to: 3_000_000_000 };

    fn reading(from_s: f64, amount: f64) -> ReadingSum {
        let mut reading = ReadingSum::default();
        reading.add_increase((from_s * 1e9) as u64, amount);
        reading
    }

    #[test]
    fn increases_that_are_partly_inside_count_in_proportion() {
        let mut increases = Increases::default();
        for (from_s, to_s, amount) in
            [(0.0, 0.5, 100.0), (0.5, 1.5, 10.0), (1.5, 2.5, 20.0), (2.5, 4.5, 40.0), (4.5, 5.5, 100.0)]
        {
            increases.add(PART, (to_s * 1e9) as u64, reading(from_s, amount), None);
        }
        assert_eq!(increases.amount, 5.0 + 20.0 + 10.0);
        assert_eq!((increases.from, increases.to), (PART.from, PART.to));
        assert_eq!(
            increases.rate_max,
            Some(20.0),
            "only intervals with at least half of their length inside count"
        );
        assert_eq!((increases.steps.count, increases.steps.after_first), (2, 20.0));
    }

    #[test]
    fn readings_with_a_missing_series_are_ignored() {
        let mut values = Values::default();
        let mut both = ReadingSum::default();
        both.add_value(5.0);
        values.add(PART, 2_000_000_000, both, Some(2));
        assert_eq!((values.max, values.incomplete), (None, 1));
        both.add_value(-2.0);
        values.add(PART, 2_000_000_000, both, Some(2));
        values.add(PART, 4_000_000_000, both, None);
        assert_eq!(values.max, Some(3.0));
    }
}
