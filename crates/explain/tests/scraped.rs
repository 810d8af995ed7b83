//! A system can also be observed from another machine, by `busyhour observe --serve`.

use busyhour_explain::{RESOURCE_METRICS, Requests, signal_metrics, signals};
use busyhour_sample::Nanos;
use busyhour_series::{EXPLAINED_METRICS, MetricKind, SeriesData, SeriesInfo, SeriesPoint, SeriesSet};

const SECOND: u64 = 1_000_000_000;

#[test]
fn every_metric_of_an_explanation_is_selected_by_default() {
    let is_selected = |metric: &&str| metric.starts_with("busyhour_") || EXPLAINED_METRICS.contains(metric);
    let missing: Vec<&str> =
        signal_metrics().chain(RESOURCE_METRICS).filter(|metric| !is_selected(metric)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// CPU time of other processes on the machine of a remote observer: 2 cores are in use, of which the watched process uses 0.5.
#[test]
fn other_processes_on_the_machine_of_a_remote_observer_are_a_signal() {
    let series = |name: &str, labels: &[(&str, &str)], rate: f64| SeriesData {
        info: SeriesInfo {
            source: 0,
            name: name.to_owned(),
            labels: labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            kind: MetricKind::Counter,
            help: String::new(),
        },
        points: (0..5)
            .map(|at| SeriesPoint {
                from: Nanos(at * SECOND),
                to: Nanos((at + 1) * SECOND),
                mean: rate,
                min: rate,
                max: rate,
            })
            .collect(),
        last: None,
        increase: 0.0,
        resets: 0,
    };
    let set = SeriesSet {
        sources: vec!["prometheus:http://sut:9464/metrics".to_owned()],
        series: vec![
            series("node_cpu_seconds_total", &[("mode", "user"), ("source", "os")], 2.0),
            series("node_cpu_seconds_total", &[("mode", "idle"), ("source", "os")], 2.0),
            series("process_cpu_seconds_total", &[("source", "process:7")], 0.5),
        ],
        ..SeriesSet::default()
    };
    let found = signals(&set, &Requests::default(), 0, 1.0, (0, 5 * SECOND));
    let cpu = found.cpu.unwrap();
    assert_eq!((cpu.own_cores, cpu.utilization), (0.5, 0.5));
    let others = found.signals.iter().find(|signal| signal.name.contains("other processes")).unwrap();
    assert_eq!(others.source, "prometheus:http://sut:9464/metrics");
    assert_eq!(others.mean(), Some(1.5), "the generator runs on another machine");
}
