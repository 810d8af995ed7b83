//! Figures of the system under test, computed from series files that the tests write.

use std::io::Cursor;

use busyhour_analysis::system::{FigureKind, SubjectKind, SystemFigures, SystemSubject};
use busyhour_results::{SystemWindow, system_figures};
use busyhour_sample::Nanos;
use busyhour_series::{FileStart, Mark, MarkKind, Metric, SeriesEncoder, SourceState};

/// Writes a series file.
struct Written {
    encoder: SeriesEncoder,
    bytes: Vec<u8>,
}

fn seconds(seconds: f64) -> Nanos {
    Nanos((seconds * 1e9).round() as u64)
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

    fn counter(&mut self, source: u32, name: &'static str, labels: &[(&str, &str)]) -> u32 {
        self.encoder.series(&mut self.bytes, source, &Metric::counter(name, ""), labels)
    }

    fn gauge(&mut self, source: u32, name: &'static str, labels: &[(&str, &str)]) -> u32 {
        self.encoder.series(&mut self.bytes, source, &Metric::gauge(name, ""), labels)
    }

    fn read(&mut self, at_s: f64, values: &[(u32, f64)]) {
        let values: Vec<_> = values.iter().map(|(series, value)| (seconds(at_s), *series, *value)).collect();
        self.encoder.values(&mut self.bytes, &values);
    }

    /// The figures from `from_s` to `to_s`, with ten requests per second.
    fn figures(&self, from_s: f64, to_s: f64) -> SystemFigures {
        let requests_between = |from_s: f64, to_s: f64| (to_s - from_s) * 10.0;
        let window = SystemWindow { from_s, to_s, requests_between: &requests_between };
        system_figures(Cursor::new(&self.bytes), window)
    }
}

fn only(figures: &SystemFigures, kind: SubjectKind) -> &SystemSubject {
    let mut subjects = figures.of_kind(kind);
    let first = subjects.next().unwrap();
    assert!(subjects.next().is_none(), "{figures:?}");
    first
}

fn reason(subject: &SystemSubject, kind: FigureKind) -> &str {
    subject.figures[&kind].reason().unwrap_or_else(|| panic!("{kind:?} is known: {subject:?}"))
}

#[test]
fn a_machine_has_utilization_memory_and_its_busiest_disk() {
    let mut file = Written::new();
    let os = file.source("os");
    let cpu = |file: &mut Written, mode| {
        file.counter(os, "node_cpu_seconds_total", &[("cpu", "0"), ("mode", mode)])
    };
    let [user, idle, steal] = ["user", "idle", "steal"].map(|mode| cpu(&mut file, mode));
    let total = file.gauge(os, "node_memory_MemTotal_bytes", &[]);
    let available = file.gauge(os, "node_memory_MemAvailable_bytes", &[]);
    let disk = |file: &mut Written, name, device| file.counter(os, name, &[("device", device)]);
    let sda = disk(&mut file, "node_disk_io_time_seconds_total", "sda");
    let sdb = disk(&mut file, "node_disk_io_time_seconds_total", "sdb");
    let reads = disk(&mut file, "node_disk_reads_completed_total", "sdb");
    let writes = disk(&mut file, "node_disk_writes_completed_total", "sdb");
    let read_time = disk(&mut file, "node_disk_read_time_seconds_total", "sdb");
    let write_time = disk(&mut file, "node_disk_write_time_seconds_total", "sdb");
    let eth0 = disk(&mut file, "node_network_receive_bytes_total", "eth0");
    let lo = disk(&mut file, "node_network_receive_bytes_total", "lo");
    let stall = file.source("stall");
    let stall_max = file.gauge(stall, "busyhour_stall_max_seconds", &[]);
    let mut busy = 0.0;
    for second in 0..=10 {
        let at = f64::from(second);
        file.read(
            at,
            &[
                (user, busy),
                (idle, at - busy),
                (steal, 0.0),
                (total, 1000.0),
                (available, 800.0 - at),
                (sda, at * 0.1),
                (sdb, at * 0.4),
                (reads, at * 6.0),
                (writes, at * 4.0),
                (read_time, at * 0.2),
                (write_time, at * 0.3),
                (eth0, at * 100.0),
                (lo, at * 1e6),
            ],
        );
        file.read(at, &[(stall_max, if second == 5 { 0.04 } else { 0.001 })]);
        busy += if second == 4 { 0.9 } else { 0.2 };
    }
    let figures = file.figures(0.0, 10.0);
    assert_eq!((figures.requests, figures.incomplete.as_deref()), (100, None));
    let machine = only(&figures, SubjectKind::Machine);
    assert_eq!((machine.name.as_deref(), machine.observed_s), (Some("sut"), 10.0));
    let value = |kind| machine.value(kind).unwrap();
    assert_eq!(value(FigureKind::CpuUtilizationMean), 0.27);
    assert_eq!(value(FigureKind::CpuUtilizationMax), 0.9);
    assert_eq!(value(FigureKind::CpuSteal), 0.0);
    assert_eq!(value(FigureKind::MachineCpuPerRequest), 0.027);
    assert_eq!(value(FigureKind::MemoryUsedMax), 210.0);
    assert_eq!(machine.disk.as_deref(), Some("sdb"));
    assert_eq!(value(FigureKind::DiskBusy), 0.4);
    assert_eq!(value(FigureKind::DiskAwait), 0.05);
    assert_eq!(value(FigureKind::NetworkReceivedBytes), 1000.0, "without the loopback interface");
    assert_eq!(value(FigureKind::StallMax), 0.04);
    assert_eq!(reason(machine, FigureKind::SwapInPages), "node_vmstat_pswpin was not recorded");
}

#[test]
fn only_readings_and_requests_of_the_measured_part_count() {
    let mut file = Written::new();
    let source = file.source("process:7");
    let cpu = file.counter(source, "process_cpu_seconds_total", &[]);
    let resident = file.gauge(source, "process_resident_memory_bytes", &[]);
    // Readings are between whole seconds: 0.5 s of CPU time per second, 5 s during a warm-up.
    let mut total = 0.0;
    for second in 0..40 {
        file.read(f64::from(second) + 0.5, &[(cpu, total), (resident, if second < 10 { 9e9 } else { 1e9 })]);
        total += if second < 10 { 5.0 } else { 0.5 };
    }
    let figures = file.figures(12.0, 30.0);
    let process = only(&figures, SubjectKind::Process);
    let value = |kind| process.value(kind).unwrap();
    assert_eq!((process.observed_s, figures.requests), (18.0, 180));
    assert_eq!(value(FigureKind::CpuSeconds), 9.0);
    assert_eq!(value(FigureKind::CoresMean), 0.5);
    assert_eq!(value(FigureKind::CoresMax), 0.5);
    assert_eq!(value(FigureKind::CpuPerRequest), 0.05);
    assert_eq!(value(FigureKind::ResidentMax), 1e9);
    // The part ends after the last reading, so figures per request use only the observed time.
    let process = file.figures(35.5, 60.0);
    let process = only(&process, SubjectKind::Process);
    assert_eq!(process.observed_s, 4.0);
    assert_eq!(process.value(FigureKind::CpuPerRequest), Some(0.05));
    let none = file.figures(50.0, 60.0);
    let process = only(&none, SubjectKind::Process);
    assert_eq!(reason(process, FigureKind::CpuSeconds), "too few readings in the measured part");
}

#[test]
fn a_restart_resets_counters_and_is_counted() {
    let mut file = Written::new();
    let source = file.source("process:7");
    let cpu = file.counter(source, "process_cpu_seconds_total", &[]);
    for (at, total) in [(0.0, 100.0), (1.0, 101.0), (2.0, 102.0), (5.0, 0.5), (6.0, 1.5)] {
        file.read(at, &[(cpu, total)]);
    }
    let mark = Mark { kind: MarkKind::Restart, from: seconds(4.0), to: seconds(4.0), text: String::new() };
    file.encoder.mark(&mut file.bytes, source, &mark);
    let figures = file.figures(0.0, 6.0);
    let process = only(&figures, SubjectKind::Process);
    assert_eq!(process.value(FigureKind::CpuSeconds), Some(3.5));
    assert_eq!(process.restarts, 1);
}

#[test]
fn a_successor_that_exceeds_the_last_total_is_counted_from_zero() {
    let mut file = Written::new();
    let source = file.source("process:7");
    let start = file.gauge(source, "process_start_after_boot_seconds", &[]);
    let cpu = file.counter(source, "process_cpu_seconds_total", &[]);
    for (at, started, total) in [(0.0, 10.0, 0.25), (1.0, 10.0, 0.5), (3.0, 12.0, 0.875), (4.0, 12.0, 1.0)] {
        file.read(at, &[(start, started), (cpu, total)]);
    }
    let figures = file.figures(0.0, 4.0);
    assert_eq!(only(&figures, SubjectKind::Process).value(FigureKind::CpuSeconds), Some(1.25));
}

#[test]
fn reasons_and_failures_of_sources_are_reported() {
    let mut file = Written::new();
    let process = file.source("process:7");
    let cpu = file.counter(process, "process_cpu_seconds_total", &[]);
    file.encoder.unavailable(
        &mut file.bytes,
        process,
        seconds(0.0),
        "process_io_storage_read_bytes_total",
        "no permission",
    );
    file.read(0.0, &[(cpu, 1.0)]);
    let ended = SourceState::Ended("process 7 has ended".to_owned());
    file.encoder.state(&mut file.bytes, process, seconds(1.0), &ended);
    let figures = file.figures(0.0, 10.0);
    let process = only(&figures, SubjectKind::Process);
    assert_eq!(reason(process, FigureKind::StorageReadBytes), "no permission");
    assert_eq!(reason(process, FigureKind::CpuSeconds), "process 7 has ended");
    assert!(process.figures.values().all(|figure| figure.value().is_none()), "{process:?}");
}

#[test]
fn allocations_count_from_collection_to_collection() {
    let mut file = Written::new();
    let source = file.source("jvm:7");
    file.gauge(source, "jvm_info", &[("name", "shop.jar")]);
    let allocated = file.counter(source, "jvm_memory_allocated_bytes_total", &[]);
    let young =
        |file: &mut Written, name| file.counter(source, name, &[("collector", "g1"), ("kind", "young")]);
    let pauses = young(&mut file, "jvm_gc_pauses_total");
    let pause_time = young(&mut file, "jvm_gc_pause_seconds_total");
    let process = file.source("process:7");
    let cpu = file.counter(process, "process_cpu_seconds_total", &[]);
    // A collection occurs every 4 s and adds 400 bytes to the counter. Its pause takes 10 ms, the last one 50 ms.
    for second in 0..=14 {
        let collections = f64::from(second / 4);
        let long = if second >= 12 { 0.04 } else { 0.0 };
        file.read(
            f64::from(second),
            &[
                (allocated, collections * 400.0),
                (pauses, collections),
                (pause_time, collections * 0.01 + long),
            ],
        );
        file.read(f64::from(second), &[(cpu, f64::from(second))]);
    }
    let figures = file.figures(0.0, 14.0);
    let jvm = only(&figures, SubjectKind::Jvm);
    assert_eq!(jvm.name.as_deref(), Some("shop.jar"));
    assert_eq!(only(&figures, SubjectKind::Process).name.as_deref(), Some("shop.jar"));
    assert_eq!(jvm.value(FigureKind::AllocationRate), Some(100.0));
    assert_eq!(jvm.value(FigureKind::AllocatedPerRequest), Some(10.0));
    assert_eq!(jvm.value(FigureKind::GcPauses), Some(3.0));
    assert_eq!(jvm.value(FigureKind::GcPauseSeconds), Some(0.07));
    assert_eq!(jvm.value(FigureKind::GcShare), Some(0.005));
    assert_eq!(jvm.value(FigureKind::GcPauseMax), Some(0.05));
    let short = file.figures(3.5, 5.5);
    let jvm = only(&short, SubjectKind::Jvm);
    assert!(reason(jvm, FigureKind::AllocatedPerRequest).contains("fewer than two"), "{jvm:?}");
}

#[test]
fn the_longest_of_several_pauses_between_readings_has_only_an_upper_bound() {
    let mut file = Written::new();
    let source = file.source("jvm:7");
    let pauses = file.counter(source, "jvm_gc_pauses_total", &[]);
    let pause_time = file.counter(source, "jvm_gc_pause_seconds_total", &[]);
    for (at, count, time) in [(0.0, 0.0, 0.0), (1.0, 1.0, 0.02), (2.0, 4.0, 0.08)] {
        file.read(at, &[(pauses, count), (pause_time, time)]);
    }
    let figures = file.figures(0.0, 2.0);
    let jvm = only(&figures, SubjectKind::Jvm);
    assert_eq!(
        reason(jvm, FigureKind::GcPauseMax),
        "several pauses are between two readings; the longest is at most 60.0 ms"
    );
}

/// A JVM with ZGC, whose counters have 408 µs of 754 µs of pauses.
fn with_zgc(has_log: bool) -> SystemFigures {
    let mut file = Written::new();
    let jvm = file.source("jvm:7");
    file.gauge(jvm, "jvm_info", &[("name", "cells.jar"), ("collector", "ZGC (generational)")]);
    let pauses = file.counter(jvm, "jvm_gc_pauses_total", &[]);
    let pause_time = file.counter(jvm, "jvm_gc_pause_seconds_total", &[]);
    if has_log {
        let log = file.source("gc:gc.log");
        let logged = file.counter(log, "busyhour_gc_log_pause_seconds_total", &[]);
        file.read(0.0, &[(logged, 0.0)]);
        for (at, length) in [(0.2, 0.000_23), (0.4, 0.000_262), (1.5, 0.000_262), (5.0, 0.1)] {
            let (from, to) = (seconds(at), seconds(at + length));
            let mark = Mark { kind: MarkKind::GcPause, from, to, text: String::new() };
            file.encoder.mark(&mut file.bytes, log, &mark);
        }
    }
    for (at, count, time) in [(0.0, 0.0, 0.0), (1.0, 2.0, 0.000_300), (2.0, 3.0, 0.000_408)] {
        file.read(at, &[(pauses, count), (pause_time, time)]);
    }
    file.figures(0.0, 2.0)
}

#[test]
fn pauses_come_from_the_log_of_the_collector() {
    let figures = with_zgc(true);
    let jvm = only(&figures, SubjectKind::Jvm);
    assert_eq!(jvm.value(FigureKind::GcPauses), Some(3.0));
    let total = jvm.value(FigureKind::GcPauseSeconds).unwrap();
    assert!((total - 0.000_754).abs() < 1e-9, "{total}");
    let longest = jvm.value(FigureKind::GcPauseMax).unwrap();
    assert!((longest - 0.000_262).abs() < 1e-9, "{longest}");
    let share = jvm.value(FigureKind::GcShare).unwrap();
    assert!((share - 0.000_377).abs() < 1e-9, "{share}");
    assert!(!jvm.pauses_at_least);
}

#[test]
fn counters_of_zgc_are_lower_bounds() {
    let figures = with_zgc(false);
    let jvm = only(&figures, SubjectKind::Jvm);
    assert!(jvm.pauses_at_least);
    let total = jvm.value(FigureKind::GcPauseSeconds).unwrap();
    assert!((total - 0.000_408).abs() < 1e-9, "{total}");
    assert_eq!(
        reason(jvm, FigureKind::GcPauseMax),
        "several pauses are between two readings, and the counters of ZGC contain only a part of each pause"
    );
}

#[test]
fn short_pauses_have_three_digits() {
    let mut file = Written::new();
    let source = file.source("jvm:7");
    let pauses = file.counter(source, "jvm_gc_pauses_total", &[]);
    let pause_time = file.counter(source, "jvm_gc_pause_seconds_total", &[]);
    for (at, count, time) in [(0.0, 0.0, 0.0), (1.0, 3.0, 0.000_048)] {
        file.read(at, &[(pauses, count), (pause_time, time)]);
    }
    let figures = file.figures(0.0, 1.0);
    assert_eq!(
        reason(only(&figures, SubjectKind::Jvm), FigureKind::GcPauseMax),
        "several pauses are between two readings; the longest is at most 48.0 µs"
    );
}

#[test]
fn a_heap_without_one_of_its_pools_is_unavailable() {
    let mut file = Written::new();
    let source = file.source("jvm:7");
    let pool = |file: &mut Written, name, pool| file.gauge(source, name, &[("area", "heap"), ("pool", pool)]);
    let used = pool(&mut file, "jvm_memory_used_bytes", "old");
    let committed = ["eden", "old"].map(|name| pool(&mut file, "jvm_memory_committed_bytes", name));
    let reason_of_eden = "JDK 25 changes the use of eden at collections only";
    file.encoder.unavailable(&mut file.bytes, source, seconds(0.0), "jvm_memory_used_bytes", reason_of_eden);
    file.read(1.0, &[(used, 100.0), (committed[0], 50.0), (committed[1], 200.0)]);
    let figures = file.figures(0.0, 2.0);
    assert_eq!(reason(only(&figures, SubjectKind::Jvm), FigureKind::HeapUsedMax), reason_of_eden);
}

#[test]
fn a_remote_observer_and_an_exporter_are_separate_machines() {
    let mut file = Written::new();
    let remote = file.source("prometheus:http://sut:9464/metrics");
    let cpu = file.counter(remote, "process_cpu_seconds_total", &[("source", "process:7")]);
    let exporter = file.source("prometheus:http://db:9100/metrics");
    let modes =
        ["user", "idle"].map(|mode| file.counter(exporter, "node_cpu_seconds_total", &[("mode", mode)]));
    let own = file.counter(exporter, "process_cpu_seconds_total", &[]);
    for second in 0..=4 {
        let at = f64::from(second);
        file.read(at, &[(cpu, at * 2.0)]);
        file.read(at, &[(modes[0], at * 3.0), (modes[1], at), (own, at * 0.01)]);
    }
    let figures = file.figures(0.0, 4.0);
    let process = only(&figures, SubjectKind::Process);
    assert_eq!(process.source, "process:7 at http://sut:9464/metrics");
    assert_eq!(process.value(FigureKind::CoresMean), Some(2.0));
    let machine = only(&figures, SubjectKind::Machine);
    assert_eq!(machine.source, "prometheus:http://db:9100/metrics");
    assert_eq!(machine.value(FigureKind::CpuUtilizationMean), Some(0.75));
}

#[test]
fn the_sum_of_many_processors_is_not_counted_twice() {
    let mut file = Written::new();
    let os = file.source("os");
    let cpu = |file: &mut Written, cpu, mode| {
        file.counter(os, "node_cpu_seconds_total", &[("cpu", cpu), ("mode", mode)])
    };
    let (user, idle) = (cpu(&mut file, "all", "user"), cpu(&mut file, "all", "idle"));
    let first = cpu(&mut file, "0", "idle");
    file.read(0.0, &[(user, 0.0), (idle, 0.0), (first, 0.0)]);
    file.read(1.0, &[(user, 32.0), (idle, 32.0), (first, 1.0)]);
    let figures = file.figures(0.0, 1.0);
    assert_eq!(only(&figures, SubjectKind::Machine).value(FigureKind::CpuUtilizationMean), Some(0.5));
}

#[test]
fn a_torn_file_is_used_up_to_its_end() {
    let mut file = Written::new();
    let source = file.source("process:7");
    let cpu = file.counter(source, "process_cpu_seconds_total", &[]);
    file.read(0.0, &[(cpu, 0.0)]);
    file.read(1.0, &[(cpu, 1.0)]);
    file.bytes.extend_from_slice(&[40, 0, 0, 0, 1, 2, 3]);
    let figures = file.figures(0.0, 10.0);
    assert_eq!(only(&figures, SubjectKind::Process).value(FigureKind::CpuSeconds), Some(1.0));
    assert!(figures.incomplete.unwrap().starts_with("the series file is damaged from byte "));
    file.bytes.truncate(5);
    let figures = file.figures(0.0, 10.0);
    assert_eq!((figures.subjects.len(), figures.incomplete.is_some()), (0, true));
}
