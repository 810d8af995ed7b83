use busyhour_series::{FileStart, Metric, SERIES_FILE_NAME, SeriesEncoder, SourceState};

use super::*;

/// A file of one source.
struct Written {
    encoder: SeriesEncoder,
    bytes: Vec<u8>,
}

impl Written {
    fn new() -> Written {
        let (mut encoder, mut bytes) = (SeriesEncoder::default(), Vec::new());
        encoder.start(&mut bytes, &FileStart { hostname: "sut".to_owned(), ..FileStart::default() });
        Written { encoder, bytes }
    }

    fn source(&mut self, name: &str) -> u32 {
        self.encoder.source(&mut self.bytes, name)
    }

    fn series(&mut self, source: u32, name: &str, labels: &[(&str, &str)]) -> u32 {
        let is_counter =
            name.ends_with("_total") || name.starts_with("node_netstat") || name.starts_with("node_vmstat");
        let metric = if is_counter { Metric::counter("", "") } else { Metric::gauge("", "") };
        let metric = Metric { name: name.to_owned().into(), ..metric };
        self.encoder.series(&mut self.bytes, source, &metric, labels)
    }

    /// Writes values at this second.
    fn values(&mut self, second: u64, values: &[(u32, f64)]) {
        let values: Vec<_> =
            values.iter().map(|(series, value)| (Nanos(second * 1_000_000_000), *series, *value)).collect();
        self.encoder.values(&mut self.bytes, &values);
    }

    fn read(&self, window_s: Option<(f64, f64)>) -> SystemRecord {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(SERIES_FILE_NAME), &self.bytes).unwrap();
        SystemRecord::read(&RunDir::open(dir.path()), window_s).unwrap()
    }
}

fn titles(record: &SystemRecord) -> Vec<&str> {
    record.panels.iter().map(|panel| panel.title.as_str()).collect()
}

#[test]
fn a_run_that_was_not_observed_has_no_record() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(SystemRecord::read(&RunDir::open(dir.path()), None), None);
}

#[test]
fn panels_about_errors_are_shown_if_something_happened() {
    let mut file = Written::new();
    let os = file.source("os");
    let again = file.series(os, "node_netstat_Tcp_RetransSegs", &[]);
    let overflows = file.series(os, "node_netstat_TcpExt_ListenOverflows", &[]);
    let running = file.series(os, "node_procs_running", &[]);
    for second in 0..10 {
        let sent_again = if second < 5 { 7.0 } else { 9.0 };
        file.values(second, &[(again, sent_again), (overflows, 3.0), (running, 2.0)]);
    }
    let record = file.read(None);
    assert_eq!(titles(&record), ["Run queue", "TCP segments sent again"]);
    let quiet: Vec<&str> = record.quiet.iter().map(|panel| panel.title.as_str()).collect();
    assert_eq!(quiet, ["Connections dropped by listening sockets"]);
    let line = &record.panels[1].lines[0];
    assert_eq!((line.name.as_str(), line.figures.unwrap().max), ("retransmissions", 2.0));
    // In the measured part nothing was sent again.
    let part = file.read(Some((6.0, 10.0)));
    assert_eq!(titles(&part), ["Run queue"]);
    assert_eq!(part.measured, 6..10);
}

#[test]
fn a_panel_has_the_largest_lines_and_counts_the_others() {
    let mut file = Written::new();
    let os = file.source("os");
    let disks: Vec<u32> = (0..20)
        .map(|disk| file.series(os, "busyhour_disk_await_seconds", &[("device", &format!("sd{disk}"))]))
        .collect();
    for second in 0..4 {
        let values: Vec<(u32, f64)> = disks.iter().map(|disk| (*disk, f64::from((disk * 7) % 20))).collect();
        file.values(second, &values);
    }
    let record = file.read(None);
    let panel = &record.panels[0];
    let names: Vec<&str> = panel.lines.iter().map(|line| line.name.as_str()).collect();
    // The largest values are 19, 18, … of the disks 17, 14, 11, 8, 5 and 2.
    assert_eq!(names, ["sd11", "sd14", "sd17", "sd2", "sd5", "sd8"]);
    assert_eq!((panel.further, &panel.zero[..]), (13, &["sd0".to_owned()][..]));
}

#[test]
fn time_of_cpus_is_shared_among_modes_and_cores() {
    let mut file = Written::new();
    let os = file.source("os");
    let mut series = Vec::new();
    for (cpu, idle) in [("0", 0.5), ("1", 0.9)] {
        for (mode, rate) in [("user", 0.9 - idle), ("system", 0.1), ("idle", idle)] {
            let labels = [("cpu", cpu), ("mode", mode)];
            series.push((file.series(os, "node_cpu_seconds_total", &labels), rate));
        }
    }
    for second in 0..6 {
        let values: Vec<_> = series.iter().map(|(number, rate)| (*number, rate * second as f64)).collect();
        file.values(second, &values);
    }
    let record = file.read(None);
    assert_eq!((titles(&record), record.cpus), (vec!["CPU time", "Busy cores"], Some(2)));
    let medians = |panel: &Panel| {
        let of = |line: &PanelLine| (line.name.clone(), (line.figures.unwrap().median * 10.0).round() / 10.0);
        panel.lines.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(medians(&record.panels[0]), [("programs".to_owned(), 20.0), ("kernel".to_owned(), 10.0)]);
    assert_eq!(medians(&record.panels[1]), [("CPU 0".to_owned(), 50.0), ("CPU 1".to_owned(), 10.0)]);
}

#[test]
fn the_exported_metrics_that_changed_most_are_shown() {
    let mut file = Written::new();
    let exporter = file.source("prometheus:http://sut:9100/metrics");
    let series: Vec<u32> =
        (0..40).map(|number| file.series(exporter, &format!("shop_{number:02}"), &[])).collect();
    for second in 0..5 {
        let values: Vec<_> =
            series.iter().map(|number| (*number, 100.0 + f64::from(*number) * (second % 2) as f64)).collect();
        file.values(second, &values);
    }
    let record = file.read(None);
    let mut shown = titles(&record);
    shown.sort_unstable();
    let expected: Vec<String> = (28..40).map(|number| format!("shop_{number}")).collect();
    assert_eq!(shown, expected);
    assert_eq!(record.omitted.len(), 28);
    assert!(record.omitted.iter().any(|omitted| omitted.metric == "shop_00"));
}

#[test]
fn a_torn_file_is_read_up_to_the_damage() {
    let mut file = Written::new();
    let os = file.source("os");
    let running = file.series(os, "node_procs_running", &[]);
    (0..10).for_each(|second| file.values(second, &[(running, 2.5)]));
    file.bytes.truncate(file.bytes.len() - 3);
    let record = file.read(None);
    let [problem] = &record.problems[..] else { panic!("{:?}", record.problems) };
    assert!(
        problem.contains("in the middle of a reading") && problem.ends_with("values after 8.0 s are missing"),
        "{problem}"
    );
    assert_eq!(record.panels[0].lines[0].values.iter().flatten().count(), 9);
    std::mem::take(&mut file.bytes).clear();
    file.bytes = b"something else".to_vec();
    let record = file.read(None);
    assert!(
        record.panels.is_empty() && record.problems[0].contains("cannot be read"),
        "{:?}",
        record.problems
    );
}

#[test]
fn unavailable_metrics_have_reasons_and_sources_have_states() {
    let mut file = Written::new();
    let os = file.source("os");
    let gone = file.source("process:7");
    let back = file.source("prometheus:http://sut/metrics");
    file.encoder.unavailable(&mut file.bytes, os, Nanos(5), "node_procs_running", "no permission");
    file.encoder.unavailable(&mut file.bytes, os, Nanos(5), "node_forks_total", "no permission");
    file.encoder.state(
        &mut file.bytes,
        gone,
        Nanos(3_000_000_000),
        &SourceState::Ended("7 has ended".to_owned()),
    );
    file.encoder.state(&mut file.bytes, back, Nanos(1), &SourceState::Failed("refused".to_owned()));
    file.encoder.state(&mut file.bytes, back, Nanos(9), &SourceState::Watching);
    let record = file.read(None);
    assert!(record.panels.is_empty() && record.problems.is_empty());
    assert_eq!(
        record.unavailable,
        [Unavailable {
            source: "os".to_owned(),
            metrics: vec!["node_procs_running".to_owned(), "node_forks_total".to_owned()],
            reason: "no permission".to_owned(),
        }]
    );
    let missing: Vec<&str> = record.missing.iter().map(|(name, _)| name.title.as_str()).collect();
    assert_eq!(missing, ["Run queue", "Context switches"]);
    let states: Vec<_> =
        record.sources.iter().map(|row| (row.name.as_str(), row.outcome.clone(), row.failures)).collect();
    assert_eq!(
        states,
        [
            ("process:7", SourceOutcome::Ended("7 has ended".to_owned()), 0),
            ("os", SourceOutcome::Observed, 0),
            ("prometheus:http://sut/metrics", SourceOutcome::Observed, 1),
        ]
    );
}
