//! The searched part of a run in slices: counts and times of all requests and of each label.

use std::ops::Range;

use busyhour_sample::{LabelSlice, LabelSlices};

/// Minimum number of slices for a search.
pub(super) const SLICES_MIN: usize = 18;

/// Changes of the 95th percentile are searched only if three of four slices have at least this number of requests.
const REQUESTS_MIN: u64 = 20;

/// Minimum difference between the number of requests above a time and the number expected by chance, in standard
/// deviations.
const DEVIATIONS_ABOVE_MIN: f64 = 4.0;

/// Slices of equal length, of all requests or of one label.
#[derive(Debug, Clone, Default)]
pub(super) struct Track {
    /// Start of the first slice, in seconds from the start of the run.
    pub(super) from_s: u64,
    pub(super) step_s: u64,
    pub(super) slices: Vec<LabelSlice>,
}

impl Track {
    /// The slices of `all` that are completely within the searched seconds.
    pub(super) fn of(all: &LabelSlices, searched: &Range<u64>) -> Track {
        let first = searched.start.saturating_sub(all.from_second).div_ceil(all.step_s);
        let end = searched.end.saturating_sub(all.from_second) / all.step_s;
        let slice =
            |at: u64| usize::try_from(at).ok().and_then(|at| all.slices.get(at)).cloned().unwrap_or_default();
        Track {
            from_s: all.from_second + first * all.step_s,
            step_s: all.step_s,
            slices: (first..end).map(slice).collect(),
        }
    }

    /// Adds the counts and times of another track of the same slices.
    pub(super) fn add(&mut self, other: &Track) {
        if self.slices.len() < other.slices.len() {
            *self = Track { slices: vec![LabelSlice::default(); other.slices.len()], ..*other };
        }
        for (mine, theirs) in self.slices.iter_mut().zip(&other.slices) {
            add(mine, theirs);
        }
    }

    pub(super) fn requests(&self) -> u64 {
        self.slices.iter().map(|slice| slice.samples).sum()
    }

    /// The number of adjacent slices that must be joined to get enough requests for percentiles; `None` if there are too few
    /// requests.
    fn slices_of_percentile(&self) -> Option<usize> {
        let mut by = 1;
        loop {
            let of = |slices: &[LabelSlice]| slices.iter().map(|slice| slice.samples).sum();
            let mut counts: Vec<u64> = self.slices.chunks_exact(by).map(of).collect();
            if counts.len() < SLICES_MIN {
                return None;
            }
            // Slices without requests are ignored: during an outage, even long slices contain no requests.
            counts.retain(|count| *count > 0);
            counts.sort_unstable();
            if counts.get(counts.len() / 4).is_some_and(|count| *count >= REQUESTS_MIN) {
                return Some(by);
            }
            by += by.div_ceil(3);
        }
    }

    /// Whether there are enough requests to search this track.
    pub(super) fn has_enough_requests(&self) -> bool {
        self.slices_of_percentile().is_some()
    }

    /// The track with slices that are joined until they have enough requests for percentiles; `None` if there are too few
    /// requests.
    pub(super) fn for_percentiles(&self) -> Option<Track> {
        let by = self.slices_of_percentile()?;
        let slices = self.slices.chunks_exact(by).map(sum).collect();
        Some(Track { from_s: self.from_s, step_s: self.step_s * by as u64, slices })
    }

    /// The seconds that a range of slices covers.
    pub(super) fn seconds(&self, slices: &Range<usize>) -> Range<u64> {
        let at = |slice: usize| self.from_s + slice as u64 * self.step_s;
        at(slices.start)..at(slices.end)
    }

    /// The sum of a range of slices.
    pub(super) fn sum(&self, slices: Range<usize>) -> LabelSlice {
        sum(&self.slices[slices])
    }

    /// The sum of the slices whose middle is within one of the ranges of seconds, or, unless `inside` is set, of all other
    /// slices.
    pub(super) fn sum_of(&self, ranges: &[Range<u64>], inside: bool) -> LabelSlice {
        let mut total = LabelSlice::default();
        for (at, slice) in self.slices.iter().enumerate() {
            let middle = self.from_s + at as u64 * self.step_s + self.step_s / 2;
            if ranges.iter().any(|range| range.contains(&middle)) == inside {
                add(&mut total, slice);
            }
        }
        total
    }
}

fn sum(slices: &[LabelSlice]) -> LabelSlice {
    let mut total = LabelSlice::default();
    slices.iter().for_each(|slice| add(&mut total, slice));
    total
}

fn add(total: &mut LabelSlice, slice: &LabelSlice) {
    total.samples += slice.samples;
    total.errors += slice.errors;
    total.response_us = total.response_us.saturating_add(slice.response_us);
    total.service_us = total.service_us.saturating_add(slice.service_us);
    let mut merged: Vec<(u16, u32)> = Vec::with_capacity(total.bands.len().max(slice.bands.len()));
    let mut mine = total.bands.iter().copied().peekable();
    for &(band, count) in &slice.bands {
        while let Some(lower) = mine.next_if(|(other, _)| *other < band) {
            merged.push(lower);
        }
        let same = mine.next_if(|(other, _)| *other == band).map_or(0, |(_, count)| count);
        merged.push((band, same.saturating_add(count)));
    }
    merged.extend(mine);
    total.bands = merged;
}

/// The 95th percentile of the response times of a slice in ms, interpolated within its band; `None` without times.
pub(super) fn p95_ms(slice: &LabelSlice) -> Option<f64> {
    let times: u64 = slice.bands.iter().map(|(_, count)| u64::from(*count)).sum();
    if times == 0 {
        return None;
    }
    let wanted = times as f64 * 0.95;
    let mut seen = 0.0;
    for &(band, count) in &slice.bands {
        let count = f64::from(count);
        if seen + count >= wanted {
            let (low, high) = (LabelSlices::band_edge_us(band), LabelSlices::band_edge_us(band + 1));
            return Some(low * (high / low).powf((wanted - seen) / count) / 1e3);
        }
        seen += count;
    }
    None
}

/// Whether significantly more than 5 % of the times of a slice exceed `ms`. The 95th percentile does not show this in a
/// slice with few requests, because one slow response determines it.
pub(super) fn has_many_above(slice: &LabelSlice, ms: f64) -> bool {
    let (mut times, mut above) = (0.0, 0.0);
    for &(band, count) in &slice.bands {
        let count = f64::from(count);
        let (low, high) = (LabelSlices::band_edge_us(band), LabelSlices::band_edge_us(band + 1));
        let below = ((ms * 1e3 / low).ln() / (high / low).ln()).clamp(0.0, 1.0);
        times += count;
        above += count * (1.0 - below);
    }
    times > 0.0 && above >= 0.05 * times + DEVIATIONS_ABOVE_MIN * (0.05 * 0.95 * times).sqrt()
}

/// The share of failed samples.
pub(super) fn error_share(slice: &LabelSlice) -> f64 {
    slice.errors as f64 / slice.samples.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(bands: &[(u16, u32)]) -> LabelSlice {
        let samples = bands.iter().map(|(_, count)| u64::from(*count)).sum();
        LabelSlice { samples, bands: bands.to_vec(), ..LabelSlice::default() }
    }

    #[test]
    fn slices_are_added_by_band() {
        let mut total = slice(&[(1, 2), (5, 1), (9, 4)]);
        add(&mut total, &slice(&[(0, 1), (5, 2), (12, 1)]));
        assert_eq!(total, slice(&[(0, 1), (1, 2), (5, 3), (9, 4), (12, 1)]));
    }

    #[test]
    fn a_percentile_is_within_its_band() {
        // Band 128 begins at 100 µs, band 192 at 1 ms.
        let p95 = p95_ms(&slice(&[(128, 90), (192, 10)])).unwrap();
        assert!((1.0..1.04).contains(&p95), "{p95}");
        assert_eq!(p95_ms(&slice(&[])), None);
    }

    #[test]
    fn only_significantly_many_times_above_a_limit_are_many() {
        // Chance explains two of 29 times above the limit, but neither eight of 30 nor half of the times.
        assert!(!has_many_above(&slice(&[(128, 27), (192, 2)]), 0.5));
        assert!(has_many_above(&slice(&[(128, 22), (192, 8)]), 0.5));
        assert!(has_many_above(&slice(&[(128, 500), (192, 500)]), 0.5));
        assert!(!has_many_above(&slice(&[(128, 950), (192, 50)]), 0.5));
        assert!(!has_many_above(&slice(&[]), 0.5));
    }

    #[test]
    fn slices_are_joined_until_they_have_enough_requests() {
        let slices = vec![slice(&[(3, 7)]); 90];
        let track = Track { from_s: 10, step_s: 2, slices };
        let joined = track.for_percentiles().unwrap();
        assert_eq!((joined.step_s, joined.slices.len(), joined.slices[0].samples), (6, 30, 21));
        let few = Track { slices: vec![slice(&[(3, 1)]); 90], ..track };
        assert!(!few.has_enough_requests());
    }
}
