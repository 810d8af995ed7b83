use std::sync::Mutex;

use busyhour_series::MetricKind;

use super::*;

#[derive(Default)]
struct Fake {
    values: Mutex<Vec<LatestValue>>,
    marks: Vec<(String, Mark)>,
}

impl LiveSystem for Fake {
    fn values(&self) -> Vec<LatestValue> {
        self.values.lock().unwrap().clone()
    }

    fn marks_since(&self, seen: u64) -> (Vec<(String, Mark)>, u64) {
        let seen = usize::try_from(seen).unwrap();
        (self.marks[seen..].to_vec(), self.marks.len() as u64)
    }
}

fn value(source: &str, name: &str, labels: &[(&str, &str)], at_s: u64, value: f64) -> LatestValue {
    LatestValue {
        source: source.into(),
        name: name.into(),
        kind: MetricKind::Gauge,
        help: "".into(),
        labels: labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        time: Nanos(at_s * 1_000_000_000),
        value,
    }
}

/// A machine, two processes, a JVM and a database after `second` seconds.
fn system(second: u64) -> Vec<LatestValue> {
    let at = second as f64;
    let cpu =
        |mode, total| value("os", "node_cpu_seconds_total", &[("cpu", "0"), ("mode", mode)], second, total);
    let gauge = |source, name, now| value(source, name, &[], second, now);
    vec![
        cpu("user", at * 0.75),
        cpu("idle", at * 0.25),
        gauge("os", "node_memory_MemTotal_bytes", 1_000.0),
        gauge("os", "node_memory_MemAvailable_bytes", 600.0),
        gauge("process:7", "process_cpu_seconds_total", at * 0.5),
        gauge("process:8", "process_cpu_seconds_total", at * 0.1),
        value("jvm:7", "jvm_info", &[("name", "shop.jar")], second, 1.0),
        gauge("jvm:7", "jvm_gc_pause_seconds_total", at * 0.02),
        gauge("postgres://db/shop", "busyhour_postgres_sessions_max", 100.0),
        gauge("postgres://db/shop", "busyhour_postgres_sessions", 90.0),
    ]
}

#[test]
fn the_most_relevant_series_are_shown() {
    let fake = Fake::default();
    let mut history = SystemHistory::default();
    history.update(&fake);
    assert!(!history.is_observed() && history.shown().is_empty());
    for second in 0..200 {
        *fake.values.lock().unwrap() = system(second);
        history.update(&fake);
        if second == 0 {
            let names: Vec<String> = history.shown().into_iter().map(|one| one.name).collect();
            // Counters have no rate yet.
            assert_eq!(names, ["sessions, postgres://db/shop", "memory used, os"]);
        }
    }
    let shown = history.shown();
    let texts: Vec<(&str, &str)> = shown.iter().map(|one| (one.name.as_str(), one.now.as_str())).collect();
    assert_eq!(
        texts,
        [
            ("CPU utilization, os", "75.00 %"),
            ("CPU of shop.jar (process:7)", "0.50 cores"),
            ("GC pauses of shop.jar (jvm:7)", "2.00 %"),
            ("sessions, postgres://db/shop", "90.00 %"),
        ]
    );
    assert!(shown.iter().all(|one| one.points.len() > POINTS_MAX / 3 && one.points.len() <= POINTS_MAX));
    assert!(shown[1].points.iter().all(|(_, cores)| (cores - 0.5).abs() < 1e-9), "{shown:?}");
    assert_eq!((shown[0].top, shown[2].top), (1.0, 0.05));
}

#[test]
fn a_reading_counts_once_and_a_restart_causes_no_peak() {
    let fake = Fake::default();
    let mut history = SystemHistory::default();
    for (second, total) in [(0, 100.0), (1, 101.0), (1, 101.0), (2, 102.0), (3, 0.5), (4, 1.5)] {
        *fake.values.lock().unwrap() = vec![
            value("process:7", "process_cpu_seconds_total", &[], second, total),
            value("process:7", "process_info", &[("name", "nginx")], second, 1.0),
        ];
        history.update(&fake);
    }
    let shown = history.shown();
    assert_eq!(shown[0].name, "CPU of nginx (process:7)");
    let cores: Vec<f64> = shown[0].points.iter().map(|(_, cores)| *cores).collect();
    assert_eq!(cores, [1.0, 1.0, 0.5, 1.0]);
}

#[test]
fn only_the_latest_marks_are_kept_and_quantities_are_bounded() {
    let mark = |n: u64| {
        let mark = Mark { kind: MarkKind::User, from: Nanos(n), to: Nanos(n), text: n.to_string() };
        ("user".to_owned(), mark)
    };
    let fake = Fake { marks: (0..50).map(mark).collect(), ..Fake::default() };
    let mut history = SystemHistory::default();
    for second in 0..2 {
        let many = (0..1_000).map(|pid| {
            value(&format!("process:{pid}"), "process_cpu_seconds_total", &[], second, second as f64)
        });
        *fake.values.lock().unwrap() = many.collect();
        history.update(&fake);
    }
    assert_eq!(history.marks().count(), MARKS_MAX);
    assert_eq!(history.marks().last().map(|(_, mark)| mark.text.as_str()), Some("49"));
    assert_eq!(history.followed.len(), QUANTITIES_MAX);
}

#[test]
fn stalls_do_not_displace_marks_of_the_user() {
    let mark =
        |kind, n: u64| ("x".to_owned(), Mark { kind, from: Nanos(n), to: Nanos(n), text: n.to_string() });
    let stalls = (1..100).map(|n| mark(MarkKind::Stall, n));
    let fake =
        Fake { marks: [mark(MarkKind::User, 0)].into_iter().chain(stalls).collect(), ..Fake::default() };
    let mut history = SystemHistory::default();
    history.update(&fake);
    let texts: Vec<&str> = history.marks().map(|(_, mark)| mark.text.as_str()).collect();
    assert_eq!((texts.first(), texts.last()), (Some(&"0"), Some(&"99")));
}
