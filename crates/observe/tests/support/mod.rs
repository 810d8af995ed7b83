//! Helpers that the tests of probes share.

#[allow(dead_code, reason = "not every test needs it")]
pub mod servers;

use busyhour_observe::{LatestValue, SeriesStore};

fn matching(store: &SeriesStore, source: &str, name: &str, labels: &[(&str, &str)]) -> Vec<LatestValue> {
    let has = |value: &LatestValue| {
        &*value.source == source
            && &*value.name == name
            && labels.iter().all(|(label, text)| {
                value.labels.iter().any(|(own, own_text)| own == label && own_text == text)
            })
    };
    store.latest().into_iter().filter(has).collect()
}

/// The latest value of a series; `None` if there is none.
pub fn latest(store: &SeriesStore, source: &str, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
    matching(store, source, name, labels).first().map(|value| value.value)
}

/// The sum of the latest values of several series.
#[allow(dead_code, reason = "not every test needs it")]
pub fn sum(store: &SeriesStore, source: &str, name: &str, labels: &[(&str, &str)]) -> f64 {
    matching(store, source, name, labels).iter().map(|value| value.value).sum()
}
