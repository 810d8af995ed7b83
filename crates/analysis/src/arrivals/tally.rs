//! Accumulates the statistics of arrivals in bounded memory.

use busyhour_stats::WindowCounter;

use super::blocks::Blocks;
use super::retained::RetainedStarts;
use super::settings::{SCALES_MAX, TallySettings};
use super::slices::{GAP_LIMITS_NS, Slices};
use super::stalls::StallWatch;

/// Accumulates sorted start times of arrivals. The statistics are available at any time, during a run and at its end.
///
/// It needs one MiB for any number of arrivals. All statistics are exact, except that the tests of exponentiality and the
/// serial correlation use a subsample of up to 32,768 gaps, in blocks spread evenly over the run, and that repetition is searched
/// in up to 32,768 consecutive arrivals.
#[derive(Debug, Clone)]
pub struct ArrivalTally {
    pub(super) settings: TallySettings,
    pub(super) stamps: Option<Stamps>,
}

/// The statistics from the first start time on. Times are rescaled by the known rate, if there is one.
#[derive(Debug, Clone)]
pub(super) struct Stamps {
    pub(super) arrivals: u64,
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
    /// First and last start time before rescaling.
    pub(super) given_ns: (u64, u64),
    /// The first gap, in ns. Sums are relative to it, which avoids cancellation for nearly equal gaps.
    pub(super) pivot_ns: f64,
    /// Number of gaps of length 0.
    pub(super) equal: u64,
    /// Number of start times that were earlier than the preceding one.
    pub(super) disordered: u64,
    pub(super) slices: Slices,
    pub(super) blocks: Blocks,
    pub(super) stalls: StallWatch,
    /// Start times before rescaling.
    pub(super) retained: RetainedStarts,
    windows: Vec<WindowCounter>,
}

impl ArrivalTally {
    /// Creates an empty tally. Scales beyond the sixth are ignored.
    #[must_use]
    pub fn new(mut settings: TallySettings) -> ArrivalTally {
        settings.scales_ns.truncate(SCALES_MAX);
        ArrivalTally { settings, stamps: None }
    }

    /// Adds one arrival, in ns since an arbitrary origin, or since that of the known rate. Arrivals must be added in order of time.
    /// A start time that is earlier than the preceding one counts as equal to it, and is reported.
    pub fn add(&mut self, stamp_ns: u64) {
        self.add_many(stamp_ns, 1);
    }

    /// Adds several arrivals with the same start time, faster than by repeated [`Self::add`].
    pub fn add_many(&mut self, stamp_ns: u64, arrivals: u64) {
        if arrivals == 0 {
            return;
        }
        let at_ns = self.settings.known_rate.as_ref().map_or(stamp_ns, |rate| rate.rescale(stamp_ns));
        let scales_ns = &self.settings.scales_ns;
        let mut more = arrivals;
        let stamps = self.stamps.get_or_insert_with(|| {
            more -= 1;
            Stamps::new(stamp_ns, at_ns, scales_ns)
        });
        if more > 0 {
            stamps.add(stamp_ns, at_ns, more, scales_ns);
        }
    }

    /// Number of arrivals so far.
    #[must_use]
    pub fn arrivals(&self) -> u64 {
        self.stamps.as_ref().map_or(0, |stamps| stamps.arrivals)
    }
}

impl Stamps {
    fn new(given_ns: u64, at_ns: u64, scales_ns: &[u64]) -> Stamps {
        let mut retained = RetainedStarts::default();
        retained.add(given_ns, 1);
        Stamps {
            retained,
            arrivals: 1,
            first_ns: at_ns,
            last_ns: at_ns,
            given_ns: (given_ns, given_ns),
            pivot_ns: 0.0,
            equal: 0,
            disordered: 0,
            slices: Slices::new(at_ns),
            blocks: Blocks::new(),
            stalls: StallWatch::new(at_ns),
            windows: scales_ns.iter().map(|&width| WindowCounter::new(at_ns, width)).collect(),
        }
    }

    /// Adds one or more arrivals with the same start time: one gap before the first, and gaps of length 0 between the others.
    fn add(&mut self, given_ns: u64, at_ns: u64, arrivals: u64, scales_ns: &[u64]) {
        // All of these arrivals have the same start time, so either all or none are out of order.
        self.disordered += if given_ns < self.given_ns.1 { arrivals } else { 0 };
        let before_given_ns = self.given_ns.1;
        self.given_ns.1 = before_given_ns.max(given_ns);
        self.retained.add(self.given_ns.1, arrivals);
        let at_ns = at_ns.max(self.last_ns);
        let gap_whole_ns = at_ns - self.last_ns;
        let gap_ns = gap_whole_ns as f64;
        if self.arrivals == 1 {
            self.pivot_ns = gap_ns;
        }
        let more = arrivals - 1;
        self.stalls.add(at_ns, gap_whole_ns, (before_given_ns, self.given_ns.1));
        (0..more).for_each(|_| self.stalls.add(at_ns, 0, (self.given_ns.1, self.given_ns.1)));
        self.arrivals += arrivals;
        self.last_ns = at_ns;
        self.equal += u64::from(gap_whole_ns == 0) + more;
        self.blocks.add(at_ns, gap_ns);
        self.blocks.add_many(at_ns, 0.0, more);
        let slice = self.slices.at(at_ns);
        slice.gaps.add(gap_ns - self.pivot_ns);
        // Added one by one, because adding a multiple would round differently.
        (0..more).for_each(|_| slice.gaps.add(0.0 - self.pivot_ns));
        let limit = GAP_LIMITS_NS.partition_point(|&length| length <= gap_whole_ns);
        for (limit, count) in [(limit, 1), (0, more)] {
            if let Some(counted) = slice.by_limit.get_mut(limit) {
                *counted = counted.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
            }
        }
        for (scale, (counter, &width)) in self.windows.iter_mut().zip(scales_ns).enumerate() {
            let slices = &mut self.slices;
            counter.add_many(at_ns, arrivals, |ended| slices.add_windows(scale, width.max(1), ended));
        }
    }
}
