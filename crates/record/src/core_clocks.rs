//! How far each core has reported, and which cores have stopped reporting.

use crate::Nanos;

/// The time of the other cores after which the next report of a core counts as a beat, in nanoseconds. Cores report at
/// least ten times a second.
const BEAT_NS: u64 = 100_000_000;

/// After so many beats without a report, about two seconds, a core is not waited for.
const SILENT_BEATS: u64 = 20;

/// The clocks of all cores.
#[derive(Debug)]
pub(crate) struct CoreClocks {
    cores: Vec<CoreClock>,
    newest: Nanos,
    /// Reports that moved the newest clock by [`BEAT_NS`] or more. A stop of the whole process moves it once, however long
    /// it was, so that no core counts as silent because of that.
    beats: u64,
    beat_at: Nanos,
}

#[derive(Debug, Clone, Default)]
struct CoreClock {
    /// Up to when the core has reported; `None` when it is gone.
    reported: Option<Nanos>,
    /// The number of beats at its last report.
    beat: u64,
}

impl CoreClocks {
    /// Clocks of so many cores, at the start of a run.
    pub(crate) fn new(cores: usize) -> Self {
        let clock = CoreClock { reported: Some(Nanos::ZERO), beat: 0 };
        Self { cores: vec![clock; cores], newest: Nanos::ZERO, beats: 0, beat_at: Nanos::ZERO }
    }

    /// A core has reported everything up to `now`; `None`: it is gone.
    pub(crate) fn report(&mut self, core: usize, now: Option<Nanos>) {
        if let Some(now) = now.filter(|now| now.since(self.beat_at) >= BEAT_NS) {
            self.beats += 1;
            self.beat_at = now;
        }
        self.newest = self.newest.max(now.unwrap_or_default());
        if let Some(clock) = self.cores.get_mut(core) {
            clock.reported = now.map(|now| clock.reported.unwrap_or(Nanos::ZERO).max(now));
            clock.beat = self.beats;
        }
    }

    /// Up to when all cores have reported.
    pub(crate) fn of_all(&self) -> Option<Nanos> {
        self.cores.iter().filter_map(|clock| clock.reported).min()
    }

    /// Up to when those cores have reported that still do.
    pub(crate) fn of_responsive(&self) -> Option<Nanos> {
        let responsive = self.cores.iter().filter(|clock| self.beats - clock.beat < SILENT_BEATS);
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
    fn a_core_that_stops_reporting_is_waited_for_during_twenty_beats() {
        let mut clocks = CoreClocks::new(2);
        clocks.report(1, Some(at(50)));
        for beat in 1..20 {
            clocks.report(0, Some(at(beat * 100)));
            assert_eq!(clocks.of_responsive(), Some(at(50)), "{beat}");
        }
        clocks.report(0, Some(at(2_000)));
        assert_eq!((clocks.of_responsive(), clocks.of_all()), (Some(at(2_000)), Some(at(50))));
        // It reports again.
        clocks.report(1, Some(at(2_050)));
        clocks.report(0, Some(at(2_100)));
        assert_eq!((clocks.of_responsive(), clocks.of_all()), (Some(at(2_050)), Some(at(2_050))));
    }

    #[test]
    fn a_stop_of_the_whole_process_makes_no_core_silent() {
        let mut clocks = CoreClocks::new(2);
        clocks.report(0, Some(at(100)));
        clocks.report(1, Some(at(100)));
        clocks.report(0, Some(at(60_000)));
        assert_eq!(clocks.of_responsive(), Some(at(100)));
    }

    #[test]
    fn cores_that_are_gone_do_not_count() {
        let mut clocks = CoreClocks::new(2);
        clocks.report(0, Some(at(500)));
        clocks.report(1, None);
        assert_eq!((clocks.of_responsive(), clocks.of_all()), (Some(at(500)), Some(at(500))));
        clocks.report(0, None);
        assert_eq!((clocks.of_responsive(), clocks.of_all()), (None, None));
    }
}
