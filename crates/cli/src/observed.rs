//! Passes the series and marks of a run's observation to its exports and to its live page while the run is in progress.

use busyhour_export::LatestSeries;
use busyhour_launch::Prepared;
use busyhour_live::{LiveSystem, LiveView};
use busyhour_observation::ObservedSeries;
use busyhour_series::{LatestValue, Mark};

/// Passes the observed series of a run on to its exports and to its live view.
pub(crate) fn pass_on(observed: &ObservedSeries, prepared: &mut Prepared, view: Option<&LiveView>) {
    let series = observed.clone();
    // Before the run starts, there are no series.
    let latest = move || series.store().map_or_else(Vec::new, |store| store.latest());
    prepared.export_series(LatestSeries::new(latest));
    if let Some(view) = view {
        view.set_system(Box::new(LiveSeries(observed.clone())));
    }
}

/// The observed series for the live page.
#[derive(Debug)]
struct LiveSeries(ObservedSeries);

impl LiveSystem for LiveSeries {
    fn values(&self) -> Vec<LatestValue> {
        self.0.store().map_or_else(Vec::new, |store| store.latest())
    }

    fn marks_since(&self, seen: u64) -> (Vec<(String, Mark)>, u64) {
        let Some(store) = self.0.store() else { return (Vec::new(), seen) };
        let (marks, seen) = store.marks_since(seen);
        (marks.into_iter().map(|recorded| (recorded.source.to_string(), recorded.mark)).collect(), seen)
    }
}
