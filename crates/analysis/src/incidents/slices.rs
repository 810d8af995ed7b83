//! The run in slices of equal length, as input of the search for incidents.

use crate::series::Series;

/// Most slices of a run.
const SLICES_MAX: u64 = 240;

/// Fewest requests in the median slice; slices are lengthened until they have so many.
const REQUESTS_MIN: u64 = 20;

/// Counts and times of one slice.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Slice {
    pub(super) requests: u64,
    pub(super) errors: u64,
    /// Logarithm of the 95th percentile in ms: the mean of its seconds, weighted by their requests. `None` if no request
    /// ended.
    pub(super) ln_p95: Option<f64>,
    /// Arrivals of open workloads, or active users: the load that the run requested. `None` if neither is known.
    pub(super) load: Option<f64>,
}

/// The slices of a run, without its first and last second, which are incomplete.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Slices {
    pub(super) from_s: u64,
    pub(super) step_s: u64,
    pub(super) all: Vec<Slice>,
}

impl Slices {
    /// The slices of a run; `None` if it is too short for a comparison of its parts.
    pub(super) fn of(series: &Series) -> Option<Slices> {
        let (first, last) = (series.second.first()? + 1, series.second.last()?.checked_sub(1)?);
        let seconds = (last + 1).checked_sub(first).filter(|seconds| *seconds >= 20)?;
        let mut step_s = seconds.div_ceil(SLICES_MAX);
        loop {
            let slices = Slices::with_step(series, first, last, step_s);
            let mut counts: Vec<u64> = slices.all.iter().map(|slice| slice.requests).collect();
            counts.sort_unstable();
            if counts[counts.len() / 2] >= REQUESTS_MIN {
                return Some(slices);
            }
            if slices.all.len() < 20 {
                return None;
            }
            step_s = (step_s + 1).max(step_s * 3 / 2);
        }
    }

    fn with_step(series: &Series, first: u64, last: u64, step_s: u64) -> Slices {
        // The last slice is left out if it is shorter.
        let count = usize::try_from(((last + 1 - first) / step_s).max(1)).unwrap_or(usize::MAX);
        let mut all = vec![Slice::default(); count];
        let mut logarithms = vec![0.0; count];
        let mut loads = vec![(0.0, 0_u32); count];
        for (at, &second) in series.second.iter().enumerate() {
            let Some(since) = second.checked_sub(first) else { continue };
            let Some(index) = usize::try_from(since / step_s).ok().filter(|index| *index < count) else {
                continue;
            };
            let slice = &mut all[index];
            slice.requests += series.requests[at];
            slice.errors += series.errors[at];
            if let Some(p95) = series.response_p95[at].filter(|p95| *p95 > 0.0) {
                logarithms[index] += p95.ln() * series.requests[at] as f64;
            }
            let load = match series.offered.get(at) {
                Some(offered) => Some(*offered as f64),
                None => series.users[at].map(f64::from),
            };
            if let Some(load) = load {
                loads[index].0 += load;
                loads[index].1 += 1;
            }
        }
        for ((slice, logarithm), (load, known)) in all.iter_mut().zip(logarithms).zip(loads) {
            slice.ln_p95 = (slice.requests > 0).then(|| logarithm / slice.requests as f64);
            slice.load = (known > 0).then(|| load / f64::from(known));
        }
        Slices { from_s: first, step_s, all }
    }

    /// Start of a slice, in seconds from the start of the run.
    pub(super) fn begin_s(&self, slice: usize) -> f64 {
        (self.from_s + slice as u64 * self.step_s) as f64
    }
}
