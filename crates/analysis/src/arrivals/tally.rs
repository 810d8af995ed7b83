//! Adds up arrivals as they come, in bounded memory.

use busyhour_stats::WindowCounter;

use super::blocks::Blocks;
use super::settings::{SCALES_MAX, TallySettings};
use super::slices::{RUNGS_NS, Slices};
use super::stalls::StallWatch;

/// Takes sorted stamps of arrivals and says at any time what was observed: live during a run, and at its end.
///
/// Its memory does not grow: half a MiB for any number of stamps. Nothing is lost by that but the tests of
/// exponentiality and of serial correlation, which look at up to 32,768 gaps in blocks spread evenly over the run.
#[derive(Debug, Clone)]
pub struct ArrivalTally {
    pub(super) settings: TallySettings,
    pub(super) stamps: Option<Stamps>,
}

/// What is kept from the first stamp on; times are on the judging clock.
#[derive(Debug, Clone)]
pub(super) struct Stamps {
    pub(super) arrivals: u64,
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
    /// First and last stamp as they were given.
    pub(super) given_ns: (u64, u64),
    /// The first gap, in ns: sums are relative to it, so that nearly equal gaps keep their digits.
    pub(super) pivot_ns: f64,
    /// Gaps of 0.
    pub(super) equal: u64,
    /// Stamps that came before the one before them.
    pub(super) disordered: u64,
    pub(super) slices: Slices,
    pub(super) blocks: Blocks,
    pub(super) stalls: StallWatch,
    windows: Vec<WindowCounter>,
}

impl ArrivalTally {
    /// Nothing yet. Scales beyond the sixth are not counted.
    #[must_use]
    pub fn new(mut settings: TallySettings) -> ArrivalTally {
        settings.scales_ns.truncate(SCALES_MAX);
        ArrivalTally { settings, stamps: None }
    }

    /// Adds one arrival, in ns since any origin (that of the known rate, if there is one), not before the one before
    /// it. A stamp that is earlier counts as equal to the one before it, and is reported.
    pub fn add(&mut self, stamp_ns: u64) {
        self.add_many(stamp_ns, 1);
    }

    /// Adds so many arrivals at the same time: the same as adding one so often, and quicker.
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

    /// Arrivals so far.
    #[must_use]
    pub fn arrivals(&self) -> u64 {
        self.stamps.as_ref().map_or(0, |stamps| stamps.arrivals)
    }
}

impl Stamps {
    fn new(given_ns: u64, at_ns: u64, scales_ns: &[u64]) -> Stamps {
        Stamps {
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

    /// Adds so many arrivals, at least one: the gap before the first, and between the others gaps of 0.
    fn add(&mut self, given_ns: u64, at_ns: u64, arrivals: u64, scales_ns: &[u64]) {
        // A stamp that is too early is so every time.
        self.disordered += if given_ns < self.given_ns.1 { arrivals } else { 0 };
        let before_given_ns = self.given_ns.1;
        self.given_ns.1 = before_given_ns.max(given_ns);
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
        // One by one, because sums of many would be rounded elsewhere.
        (0..more).for_each(|_| slice.gaps.add(0.0 - self.pivot_ns));
        let rung = RUNGS_NS.partition_point(|&length| length <= gap_whole_ns);
        for (rung, count) in [(rung, 1), (0, more)] {
            if let Some(counted) = slice.by_rung.get_mut(rung) {
                *counted = counted.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
            }
        }
        for (scale, (counter, &width)) in self.windows.iter_mut().zip(scales_ns).enumerate() {
            let slices = &mut self.slices;
            counter.add_many(at_ns, arrivals, |ended| slices.add_windows(scale, width.max(1), ended));
        }
    }
}
