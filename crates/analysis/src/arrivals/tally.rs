//! Adds up arrivals as they come, in bounded memory.

use busyhour_stats::{RandomSource, WindowCounter};

use super::blocks::Blocks;
use super::observed::{self, Observed};
use super::settings::{SCALES_MAX, TallySettings};
use super::slices::{RUNGS_NS, Slices};

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
        let at_ns = self.settings.known_rate.as_ref().map_or(stamp_ns, |rate| rate.rescale(stamp_ns));
        match &mut self.stamps {
            Some(stamps) => stamps.add(stamp_ns, at_ns, &self.settings.scales_ns),
            None => self.stamps = Some(Stamps::new(stamp_ns, at_ns, &self.settings.scales_ns)),
        }
    }

    /// Arrivals so far.
    #[must_use]
    pub fn arrivals(&self) -> u64 {
        self.stamps.as_ref().map_or(0, |stamps| stamps.arrivals)
    }

    /// What was observed so far. Randomness is used for the test of stamps in whole milliseconds only.
    #[must_use]
    pub fn finish(&self, random: &mut (impl RandomSource + ?Sized)) -> Observed {
        observed::observe(self, random)
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
            windows: scales_ns.iter().map(|&width| WindowCounter::new(at_ns, width)).collect(),
        }
    }

    fn add(&mut self, given_ns: u64, at_ns: u64, scales_ns: &[u64]) {
        self.disordered += u64::from(given_ns < self.given_ns.1);
        self.given_ns.1 = self.given_ns.1.max(given_ns);
        let at_ns = at_ns.max(self.last_ns);
        let gap_whole_ns = at_ns - self.last_ns;
        let gap_ns = gap_whole_ns as f64;
        if self.arrivals == 1 {
            self.pivot_ns = gap_ns;
        }
        self.arrivals += 1;
        self.last_ns = at_ns;
        self.equal += u64::from(gap_whole_ns == 0);
        self.blocks.add(at_ns, gap_ns);
        let slice = self.slices.at(at_ns);
        slice.gaps.add(gap_ns - self.pivot_ns);
        let rung = RUNGS_NS.partition_point(|&length| length <= gap_whole_ns);
        if let Some(count) = slice.by_rung.get_mut(rung) {
            *count = count.saturating_add(1);
        }
        for (scale, (counter, &width)) in self.windows.iter_mut().zip(scales_ns).enumerate() {
            let slices = &mut self.slices;
            counter.add(at_ns, |ended| slices.add_windows(scale, width.max(1), ended));
        }
    }
}
