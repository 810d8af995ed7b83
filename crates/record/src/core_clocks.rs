//! Records up to which time each core has reported, and which cores have stopped reporting.

use busyhour_sample::Nanos;

/// Minimum time between two beats, in ns. Cores report at least ten times a second.
const BEAT_NS: u64 = 100_000_000;

/// A core that has not reported for this many beats (about two seconds) is unresponsive.
const UNRESPONSIVE_BEATS: u64 = 20;

/// The clocks of all cores.
#[derive(Debug)]
pub(crate) struct CoreClocks {
    cores: Vec<CoreClock>,
    /// Number of beats. A beat is a report at least [`BEAT_NS`] after the previous beat. If the whole process stops, this
    /// is counted as one beat, however long it takes, so that it does not make any core unresponsive.
    beats: u64,
    beat_at: Nanos,
}

#[derive(Debug, Clone, Default)]
struct CoreClock {
    /// The time up to which the core has reported; `None` when it has finished.
    reported: Option<Nanos>,
    /// The number of beats at the core's last report.
    beat: u64,
}

impl CoreClocks {
    /// Clocks of `cores` cores, at the start of a run.
    pub(crate) fn new(cores: usize) -> Self {
        let clock = CoreClock { reported: Some(Nanos::ZERO), beat: 0 };
        Self { cores: vec![clock; cores], beats: 0, beat_at: Nanos::ZERO }
    }

    /// Records that a core has reported up to `now`, or, if `now` is `None`, that it has finished.
    pub(crate) fn report(&mut self, core: usize, now: Option<Nanos>) {
        if let Some(now) = now.filter(|now| now.since(self.beat_at) >= BEAT_NS) {
            self.beats += 1;
            self.beat_at = now;
        }
        if let Some(clock) = self.cores.get_mut(core) {
            clock.reported = now.map(|now| clock.reported.unwrap_or(Nanos::ZERO).max(now));
            clock.beat = self.beats;
        }
    }

    /// The time up to which all cores have reported.
    pub(crate) fn all_reported_until(&self) -> Option<Nanos> {
        self.cores.iter().filter_map(|clock| clock.reported).min()
    }

    /// The time up to which all responsive cores have reported.
    pub(crate) fn responsive_reported_until(&self) -> Option<Nanos> {
        let responsive = self.cores.iter().filter(|clock| self.beats - clock.beat < UNRESPONSIVE_BEATS);
        responsive.filter_map(|clock| clock.reported).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Nanos {
        Nanos::from_millis(ms)
    }

    #[test]
    fn an_unresponsive_core_is_ignored_after_twenty_beats() {
        let mut clocks = CoreClocks::new(2);
        clocks.report(1, Some(at(50)));
        for beat in 1..20 {
            clocks.report(0, Some(at(beat * 100)));
            assert_eq!(clocks.responsive_reported_until(), Some(at(50)), "{beat}");
        }
        clocks.report(0, Some(at(2_000)));
        assert_eq!(
            (clocks.responsive_reported_until(), clocks.all_reported_until()),
            (Some(at(2_000)), Some(at(50)))
        );
        // The core reports again.
        clocks.report(1, Some(at(2_050)));
        clocks.report(0, Some(at(2_100)));
        assert_eq!(
            (clocks.responsive_reported_until(), clocks.all_reported_until()),
            (Some(at(2_050)), Some(at(2_050)))
        );
    }

    #[test]
    fn a_stop_of_the_whole_process_makes_no_core_unresponsive() {
        let mut clocks = CoreClocks::new(2);
        clocks.report(0, Some(at(100)));
        clocks.report(1, Some(at(100)));
        clocks.report(0, Some(at(60_000)));
        assert_eq!(clocks.responsive_reported_until(), Some(at(100)));
    }

    #[test]
    fn finished_cores_are_ignored() {
        let mut clocks = CoreClocks::new(2);
        clocks.report(0, Some(at(500)));
        clocks.report(1, None);
        assert_eq!(
            (clocks.responsive_reported_until(), clocks.all_reported_until()),
            (Some(at(500)), Some(at(500)))
        );
        clocks.report(0, None);
        assert_eq!((clocks.responsive_reported_until(), clocks.all_reported_until()), (None, None));
    }
}
