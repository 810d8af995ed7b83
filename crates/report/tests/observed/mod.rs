//! Generates series files of observed systems from formulas: one with all kinds of sources, and others with hostile
//! texts.

use busyhour_sample::Nanos;
use busyhour_series::{FileStart, Mark, MarkKind, Metric, SERIES_FILE_NAME, SeriesEncoder, SourceState};
use std::path::Path;

/// A file that is written one reading at a time.
pub struct ObservedFile {
    encoder: SeriesEncoder,
    pub bytes: Vec<u8>,
    series: Vec<Formula>,
}

/// A value as a function of the time in s. For a counter, it is the rate per s.
type Value = Box<dyn Fn(f64) -> f64>;

struct Formula {
    number: u32,
    is_counter: bool,
    total: f64,
    value: Value,
}

impl ObservedFile {
    pub fn new() -> ObservedFile {
        let (mut encoder, mut bytes) = (SeriesEncoder::default(), Vec::new());
        let start = FileStart {
            wall_anchor_ms: 1_700_000_000_000,
            hostname: "shop-1".into(),
            program: "busyhour".into(),
        };
        encoder.start(&mut bytes, &start);
        ObservedFile { encoder, bytes, series: Vec::new() }
    }

    pub fn source(&mut self, name: &str) -> u32 {
        self.encoder.source(&mut self.bytes, name)
    }

    pub fn gauge(
        &mut self,
        source: u32,
        name: &str,
        labels: &[(&str, &str)],
        value: impl Fn(f64) -> f64 + 'static,
    ) {
        self.add(source, Metric::gauge("", ""), name, labels, Box::new(value));
    }

    /// A counter with this rate per second.
    pub fn rate(
        &mut self,
        source: u32,
        name: &str,
        labels: &[(&str, &str)],
        value: impl Fn(f64) -> f64 + 'static,
    ) {
        self.add(source, Metric::counter("", ""), name, labels, Box::new(value));
    }

    fn add(&mut self, source: u32, kind: Metric, name: &str, labels: &[(&str, &str)], value: Value) {
        let is_counter = kind.kind == busyhour_series::MetricKind::Counter;
        let metric = Metric { name: name.to_owned().into(), help: "A value of a test.".into(), ..kind };
        let number = self.encoder.series(&mut self.bytes, source, &metric, labels);
        self.series.push(Formula { number, is_counter, total: 1_000.0, value });
    }

    /// Writes a reading per second.
    pub fn readings(&mut self, seconds: u64) {
        for second in 0..=seconds {
            let time = Nanos(second * 1_000_000_000 + 4_000_000);
            let values: Vec<(Nanos, u32, f64)> = self
                .series
                .iter_mut()
                .map(|formula| {
                    let value = (formula.value)(second as f64);
                    formula.total += value.max(0.0);
                    (time, formula.number, if formula.is_counter { formula.total } else { value })
                })
                .collect();
            self.encoder.values(&mut self.bytes, &values);
        }
    }

    pub fn mark(&mut self, source: u32, kind: MarkKind, from_s: f64, length_s: f64, text: &str) {
        let ns = |seconds: f64| Nanos((seconds * 1e9) as u64);
        let mark = Mark { kind, from: ns(from_s), to: ns(from_s + length_s), text: text.to_owned() };
        self.encoder.mark(&mut self.bytes, source, &mark);
    }

    pub fn unavailable(&mut self, source: u32, metric: &str, reason: &str) {
        self.encoder.unavailable(&mut self.bytes, source, Nanos(1_000_000), metric, reason);
    }

    pub fn state(&mut self, source: u32, second: u64, state: &SourceState) {
        self.encoder.state(&mut self.bytes, source, Nanos(second * 1_000_000_000), state);
    }

    pub fn write(&self, dir: &Path) {
        std::fs::write(dir.join(SERIES_FILE_NAME), &self.bytes).unwrap();
    }
}

fn wave(period_s: f64, low: f64, high: f64) -> impl Fn(f64) -> f64 {
    move |second| low + (high - low) * (0.5 + 0.5 * (second * std::f64::consts::TAU / period_s).sin())
}

fn saw(period_s: f64, high: f64) -> impl Fn(f64) -> f64 {
    move |second| high * (second % period_s) / period_s
}

const MIB: f64 = 1_048_576.0;

/// A machine with a shop in Java, a proxy, a database and an exporter. The machine is short of CPU from second 30 to 40.
pub fn shop(seconds: u64) -> ObservedFile {
    let mut file = ObservedFile::new();
    machine(&mut file);
    processes(&mut file);
    java(&mut file);
    others(&mut file);
    file.readings(seconds);
    file
}

fn short_of_cpu(second: f64) -> bool {
    (30.0..40.0).contains(&second)
}

fn machine(file: &mut ObservedFile) {
    let os = file.source("os");
    for cpu in 0..4_u32 {
        let name = cpu.to_string();
        let share = move |base: f64, peak: f64| {
            move |second: f64| {
                if short_of_cpu(second) {
                    peak
                } else {
                    base + f64::from(cpu) * 0.03 + 0.02 * (second * 1.7).sin()
                }
            }
        };
        let modes: [(&str, Value); 6] = [
            ("user", Box::new(share(0.30, 0.72))),
            ("system", Box::new(share(0.08, 0.18))),
            ("softirq", Box::new(share(0.02, 0.06))),
            ("steal", Box::new(share(0.0, 0.02))),
            ("iowait", Box::new(share(0.03, 0.0))),
            ("idle", Box::new(share(0.45, 0.02))),
        ];
        for (mode, value) in modes {
            file.rate(os, "node_cpu_seconds_total", &[("cpu", &name), ("mode", mode)], value);
        }
    }
    file.gauge(os, "node_procs_running", &[], |second| if short_of_cpu(second) { 11.0 } else { 2.0 });
    file.rate(os, "node_pressure_cpu_waiting_seconds_total", &[], |second| {
        if short_of_cpu(second) { 0.6 } else { 0.05 }
    });
    file.rate(os, "node_context_switches_total", &[], wave(20.0, 8_000.0, 14_000.0));
    file.rate(os, "node_forks_total", &[], |_| 3.0);
    file.gauge(os, "node_memory_MemTotal_bytes", &[], |_| 16_384.0 * MIB);
    file.gauge(os, "node_memory_MemAvailable_bytes", &[], |second| (9_000.0 - second * 12.0) * MIB);
    file.gauge(os, "node_memory_Cached_bytes", &[], |second| (4_200.0 + second * 8.0) * MIB);
    file.gauge(os, "node_memory_Dirty_bytes", &[], saw(15.0, 90.0 * MIB));
    file.gauge(os, "node_memory_Buffers_bytes", &[], |_| 200.0 * MIB);
    file.rate(os, "node_vmstat_pswpin", &[], |_| 0.0);
    file.rate(os, "node_vmstat_pswpout", &[], |_| 0.0);
    file.rate(os, "node_vmstat_oom_kill", &[], |_| 0.0);
    for (device, busy) in [("nvme0n1", 0.35), ("sda", 0.02)] {
        let of = &[("device", device)];
        file.rate(os, "node_disk_io_time_seconds_total", of, wave(15.0, 0.0, busy));
        file.gauge(os, "busyhour_disk_await_seconds", of, wave(15.0, 0.000_2, busy / 100.0));
        file.rate(os, "node_disk_io_time_weighted_seconds_total", of, wave(15.0, 0.0, busy * 4.0));
        file.rate(os, "node_disk_read_bytes_total", of, wave(15.0, 0.0, busy * 40.0 * MIB));
        file.rate(os, "node_disk_written_bytes_total", of, wave(12.0, 0.0, busy * 90.0 * MIB));
    }
    network(file, os);
    file.unavailable(
        os,
        "node_schedstat_waiting_seconds_total",
        "the kernel was built without CONFIG_SCHEDSTATS",
    );
    file.state(os, 0, &SourceState::Watching);
    let stall = file.source("stall");
    file.gauge(
        stall,
        "busyhour_stall_max_seconds",
        &[],
        |second| if second == 33.0 { 0.12 } else { 0.000_9 },
    );
    file.gauge(stall, "busyhour_stall_p99_seconds", &[], |_| 0.000_12);
    file.mark(stall, MarkKind::Stall, 32.4, 0.12, "a thread that was due to run was delayed by 120 ms");
}

fn network(file: &mut ObservedFile, os: u32) {
    for device in ["eth0", "lo"] {
        file.rate(
            os,
            "node_network_receive_bytes_total",
            &[("device", device)],
            wave(30.0, 2.0 * MIB, 3.0 * MIB),
        );
        file.rate(
            os,
            "node_network_transmit_bytes_total",
            &[("device", device)],
            wave(30.0, 8.0 * MIB, 12.0 * MIB),
        );
        file.rate(os, "node_network_receive_drop_total", &[("device", device)], |_| 0.0);
    }
    file.rate(
        os,
        "node_netstat_Tcp_RetransSegs",
        &[],
        |second| if short_of_cpu(second) { 14.0 } else { 0.0 },
    );
    file.rate(os, "node_netstat_TcpExt_TCPTimeouts", &[], |_| 0.0);
    for (address, limit) in [("0.0.0.0:8080", 128.0), ("127.0.0.1:5432", 200.0)] {
        let of = &[("address", address)];
        let is_shop = limit < 150.0;
        file.gauge(os, "busyhour_tcp_listen_queue_length", of, move |second| {
            if is_shop && short_of_cpu(second) { 128.0 } else { 0.0 }
        });
        file.gauge(os, "busyhour_tcp_listen_queue_limit", of, move |_| limit);
    }
    file.rate(
        os,
        "node_netstat_TcpExt_ListenOverflows",
        &[],
        |second| if short_of_cpu(second) { 25.0 } else { 0.0 },
    );
    file.rate(
        os,
        "node_netstat_TcpExt_ListenDrops",
        &[],
        |second| if short_of_cpu(second) { 25.0 } else { 0.0 },
    );
    for (state, count) in
        [("ESTABLISHED", 210.0), ("TIME_WAIT", 900.0), ("CLOSE_WAIT", 3.0), ("SYN_RECV", 1.0)]
    {
        file.gauge(os, "node_tcp_connection_states", &[("state", state)], wave(25.0, count * 0.8, count));
    }
    file.rate(os, "node_netstat_Tcp_PassiveOpens", &[], wave(20.0, 80.0, 120.0));
    file.rate(os, "node_netstat_Tcp_ActiveOpens", &[], |_| 4.0);
}

fn processes(file: &mut ObservedFile) {
    for (pid, cores, mib) in [(4711, 1.4, 900.0), (812, 0.2, 48.0), (990, 0.35, 380.0)] {
        let source = file.source(&format!("process:{pid}"));
        file.rate(source, "process_cpu_seconds_total", &[], wave(20.0, cores * 0.8, cores * 1.2));
        file.rate(source, "process_run_queue_wait_seconds_total", &[], move |second| {
            if short_of_cpu(second) { cores * 2.0 } else { 0.02 }
        });
        file.gauge(source, "process_resident_memory_bytes", &[], move |second| (mib + second) * MIB);
        file.gauge(source, "process_threads", &[], move |second| 20.0 + (second / 9.0).floor());
        file.gauge(source, "process_open_fds", &[], wave(30.0, 100.0, 140.0));
        file.rate(source, "process_io_read_bytes_total", &[], move |_| cores * 3.0 * MIB);
        file.rate(source, "process_io_written_bytes_total", &[], move |_| cores * 9.0 * MIB);
        file.rate(source, "process_context_switches_total", &[("kind", "voluntary")], |_| 2_400.0);
        file.rate(source, "process_context_switches_total", &[("kind", "involuntary")], |second| {
            if short_of_cpu(second) { 700.0 } else { 12.0 }
        });
        file.unavailable(
            source,
            "process_proportional_memory_bytes",
            "no permission to read /proc/PID/smaps_rollup: run as the user of the process or as root",
        );
        if pid == 812 {
            file.mark(source, MarkKind::End, 44.0, 0.0, "nginx (812) ended");
            file.mark(source, MarkKind::Restart, 45.5, 0.0, "nginx (1313) took the place of nginx (812)");
        }
    }
    let cgroup = file.source("cgroup:/system.slice/shop.service");
    file.rate(cgroup, "container_cpu_usage_seconds_total", &[], wave(20.0, 1.2, 1.6));
    file.gauge(cgroup, "busyhour_cgroup_cpu_limit_cores", &[], |_| 2.0);
    file.rate(cgroup, "container_cpu_cfs_throttled_seconds_total", &[], |second| {
        if short_of_cpu(second) { 0.4 } else { 0.0 }
    });
    file.gauge(cgroup, "container_memory_working_set_bytes", &[], |second| (950.0 + second) * MIB);
    file.gauge(cgroup, "container_spec_memory_limit_bytes", &[], |_| 2_048.0 * MIB);
}

fn java(file: &mut ObservedFile) {
    let jvm = file.source("jvm:4711");
    let about = [("name", "shop.jar"), ("version", "21.0.5"), ("collector", "G1")];
    file.gauge(jvm, "jvm_info", &about, |_| 1.0);
    let pools: [(&str, &str, Value); 3] = [
        ("G1 Eden Space", "young", Box::new(saw(6.0, 300.0 * MIB))),
        ("G1 Survivor Space", "young", Box::new(|_| 18.0 * MIB)),
        ("G1 Old Gen", "old", Box::new(|second| (180.0 + second * 3.0) * MIB)),
    ];
    for (pool, generation, value) in pools {
        let labels = [("area", "heap"), ("pool", pool), ("generation", generation)];
        file.gauge(jvm, "jvm_memory_used_bytes", &labels, value);
    }
    file.gauge(jvm, "jvm_memory_max_bytes", &[("area", "heap")], |_| 1_024.0 * MIB);
    file.rate(jvm, "jvm_memory_allocated_bytes_total", &[], wave(20.0, 40.0 * MIB, 60.0 * MIB));
    for (kind, share) in [("young", 0.012), ("full", 0.0)] {
        let labels = [("collector", "G1"), ("kind", kind)];
        file.rate(jvm, "jvm_gc_pauses_total", &labels, move |_| share * 14.0);
        file.rate(jvm, "jvm_gc_pause_seconds_total", &labels, move |second| share * (1.0 + second / 40.0));
    }
    file.rate(jvm, "jvm_safepoint_seconds_total", &[], |second| 0.013 * (1.0 + second / 40.0));
    file.rate(jvm, "jvm_safepoint_sync_seconds_total", &[], |_| 0.000_4);
    file.gauge(jvm, "jvm_threads_current", &[], |second| 60.0 + (second / 6.0).floor());
    file.gauge(jvm, "jvm_threads_daemon", &[], |_| 22.0);
    file.rate(jvm, "jvm_monitor_contended_attempts_total", &[], wave(20.0, 0.0, 40.0));
    for pause in 0..10_u32 {
        let (at, length) = (5.8 + f64::from(pause) * 6.0, 0.02 + f64::from(pause) * 0.008);
        file.mark(jvm, MarkKind::GcPause, at, length, &format!("young collection of {:.0} ms", length * 1e3));
    }
}

fn others(file: &mut ObservedFile) {
    let database = file.source("postgres://127.0.0.1/shop");
    for (state, wait, count) in [("active", "", 4.0), ("active", "Lock", 2.0), ("idle", "Client", 12.0)] {
        let labels = [("state", state), ("wait_event_type", wait), ("wait_event", "")];
        file.gauge(database, "busyhour_postgres_sessions", &labels, move |second| {
            if short_of_cpu(second) { count * 2.0 } else { count }
        });
    }
    file.gauge(database, "busyhour_postgres_sessions_max", &[], |_| 100.0);
    file.gauge(database, "busyhour_postgres_blocked_sessions", &[], |second| {
        if short_of_cpu(second) { 5.0 } else { 0.0 }
    });
    file.gauge(database, "busyhour_postgres_blocking_sessions", &[], |second| {
        if short_of_cpu(second) { 1.0 } else { 0.0 }
    });
    for (outcome, rate) in [("commit", 180.0), ("rollback", 2.0)] {
        let labels = [("database", "shop"), ("outcome", outcome)];
        file.rate(database, "busyhour_postgres_transactions_total", &labels, wave(20.0, rate * 0.7, rate));
    }
    file.rate(database, "busyhour_postgres_deadlocks_total", &[("database", "shop")], |_| 0.0);
    let exporter = file.source("prometheus:http://127.0.0.1:8081/actuator/prometheus");
    file.gauge(exporter, "hikaricp_connections_active", &[("pool", "shop")], wave(20.0, 1.0, 10.0));
    file.gauge(exporter, "hikaricp_connections_max", &[("pool", "shop")], |_| 10.0);
    file.gauge(
        exporter,
        "http_server_requests_seconds",
        &[("uri", "/buy"), ("quantile", "0.99")],
        wave(20.0, 0.02, 0.3),
    );
    file.mark(exporter, MarkKind::User, 20.0, 0.0, "deployed 1.4");
    file.mark(
        exporter,
        MarkKind::LogBurst,
        31.0,
        6.0,
        "log:server.log: 212 lines like \"Connection <*> refused\" instead of 3",
    );
    let resctrl = file.source("resctrl");
    file.state(
        resctrl,
        1,
        &SourceState::Failed(
            "the file system resctrl is not mounted: mount -t resctrl resctrl /sys/fs/resctrl".into(),
        ),
    );
    let gone = file.source("perf:990");
    file.gauge(gone, "busyhour_perf_cycles_per_instruction", &[("scope", "user")], wave(9.0, 0.8, 1.9));
    file.state(gone, 50, &SourceState::Ended("process 990 has ended".into()));
    let observe = file.source("observe");
    for (source, cores) in
        [("os", 0.001_1), ("process:4711", 0.000_8), ("jvm:4711", 0.000_2), ("stall", 0.000_1)]
    {
        file.rate(observe, "busyhour_observe_cpu_seconds_total", &[("source", source)], move |_| cores);
        file.rate(observe, "busyhour_observe_readings_skipped_total", &[("source", source)], |_| 0.0);
    }
    file.rate(observe, "busyhour_stall_cpu_seconds_total", &[], |_| 0.002);
}

/// Writes `logs.json` with a log whose errors are frequent while the machine is short of CPU.
pub fn write_logs(dir: &Path) {
    let over_time = |from: u32, to: u32, count: u32| serde_json::json!({ "counts": (from..to).map(|second| (second, count)).collect::<Vec<_>>() });
    let group = |text: &str, severity: Option<&str>, example: &str, (from, to, count): (u32, u32, u32)| {
        serde_json::json!({
            "text": text, "severity": severity, "logger": "shop.Shop", "count": (to - from) * count, "example": example,
            "over_time": over_time(from, to, count),
        })
    };
    let templates = [
        group(
            "Connection to <*> refused",
            Some("error"),
            "2024-02-03 04:05:37,120 ERROR shop.Shop - Connection to 10.0.0.7:5432 refused",
            (31, 40, 24),
        ),
        group("payment <*> took <*> ms", Some("warn"), "WARN shop.Pay - payment 17 took 2044 ms", (5, 58, 1)),
        group("<script>alert(1)</script> <*>", None, "<script>alert(1)</script> 7", (12, 13, 2)),
    ];
    let trace = group(
        "java.net.ConnectException at shop.Db.open(Db.java:<*>) at shop.Shop.buy(Shop.java:<*>)",
        Some("error"),
        "java.net.ConnectException: Connection refused",
        (31, 40, 20),
    );
    let counts = serde_json::json!({
        "format": 1, "query": "error, exception", "start_unix_ns": 1_700_000_000_000_000_000_i64, "length_s": 60.0,
        "lines": 12_400, "entries": 11_800, "matching": 271, "outside": 0, "without_time": {}, "ungrouped": 0,
        "truncated_lines": 0, "unreadable_lines": 0, "interval_s": { "totals": 1, "templates": 1, "traces": 1 },
        "entries_over_time": over_time(0, 60, 197), "matching_over_time": over_time(31, 40, 25),
        "templates": templates, "traces": [trace],
    });
    let source = serde_json::json!({ "name": "log:server.log", "assumed_offset": null, "counts": counts });
    let file = serde_json::json!({ "version": 1, "sources": [source] });
    std::fs::write(dir.join("logs.json"), file.to_string()).unwrap();
}

/// Writes `sources.json` with what was found before the run.
pub fn write_sources(dir: &Path) {
    let source = |name: &str, about: &str, state: &str, reason: &str, advice: &str| serde_json::json!({ "name": name, "about": about, "state": state, "reason": reason, "advice": advice });
    let sources = [
        source("process:4711", "java (JVM), target 127.0.0.1:8080", "watched", "", ""),
        source(
            "process:812",
            "nginx (web server), target 127.0.0.1:80",
            "limited",
            "input and output",
            "run as its user or as root",
        ),
        source("process:990", "postgres (database), behind java", "watched", "", ""),
        source(
            "perf",
            "",
            "not-watched",
            "the processor's counters are not visible in this virtual machine",
            "",
        ),
        source("jvm:812", "", "not-watched", "nginx is not a Java virtual machine", ""),
    ];
    let file = serde_json::json!({ "version": 1, "sources": sources });
    std::fs::write(dir.join("sources.json"), file.to_string()).unwrap();
}
