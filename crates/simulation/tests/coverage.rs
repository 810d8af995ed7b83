//! Coverage of the intervals of simulations.

mod common;

use busyhour_queueing::network::Station;
use busyhour_simulation::{SimulationSettings, simulate};
use busyhour_stats::Estimate;

use common::{closed, open};

/// With a coverage of 0.95, at least this many of 200 intervals contain the exact value in 999 of 1000 cases.
const COVERED_MIN: u32 = 179;

#[test]
fn intervals_have_their_nominal_coverage() {
    let web = open(0.6, vec![Station::queue("web", 1, 1.0)]);
    let shop = closed(20, 4.0, vec![Station::queue("app", 1, 0.3), Station::queue("db", 1, 0.2)]);
    // Exact mean value analysis.
    let (mut queues, mut rate, mut response_s) = ([0.0; 2], 0.0, 0.0);
    for n in 1..=20 {
        let residence = [0.3 * (1.0 + queues[0]), 0.2 * (1.0 + queues[1])];
        response_s = residence[0] + residence[1];
        rate = f64::from(n) / (4.0 + response_s);
        queues = residence.map(|residence_s| residence_s * rate);
    }
    let mut covered = [0; 8];
    for seed in 0..200 {
        let settings = SimulationSettings {
            seed,
            events_max: 60_000,
            replications: 4,
            threads: Some(1),
            ..SimulationSettings::default()
        };
        let found = simulate(&web, &settings).unwrap();
        let (class, station) = (&found.classes[0], &found.stations[0].total);
        let mut count = |at: usize, found: Option<Estimate>, exact: f64| {
            let found = found.unwrap();
            covered[at] += u32::from(found.low <= exact && exact <= found.high);
        };
        count(0, class.throughput_per_s, 0.6);
        count(1, class.response_s, 2.5);
        count(2, station.customers, 1.5);
        count(3, station.utilization, 0.6);
        let found = simulate(&shop, &settings).unwrap();
        let (class, app) = (&found.classes[0], &found.stations[0].total);
        count(4, class.throughput_per_s, rate);
        count(5, class.response_s, response_s);
        count(6, app.customers, queues[0]);
        count(7, app.utilization, rate * 0.3);
    }
    assert!(covered.iter().all(|&count| count >= COVERED_MIN), "{covered:?} of 200");
}
