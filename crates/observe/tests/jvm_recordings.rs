//! Reads counter files of JDK 11 to 25 with every collector, and compares all counters and metrics with the output of `jstat` of
//! the same moment. `tests/data/jvm/README.md` describes how they were recorded.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use busyhour_observe::jvm::counters::{CounterIndex, CounterValue};
use busyhour_observe::jvm::{JvmCollector, JvmIdentity, JvmMetrics};
use flate2::read::GzDecoder;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/jvm")
}

fn gunzip(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    GzDecoder::new(file).read_to_end(&mut bytes).expect("a valid archive");
    bytes
}

/// A recorded JVM.
struct Recording {
    name: String,
    bytes: Vec<u8>,
    index: CounterIndex,
    /// Counters as `jstat -snap` printed them twice, before and after the file was copied.
    snap: BTreeMap<String, String>,
    /// The tables of `jstat` by option and column.
    tables: BTreeMap<(String, String), String>,
}

impl Recording {
    fn load(name: &str) -> Recording {
        let bytes = gunzip(&data().join(format!("{name}.hsperfdata.gz")));
        let snap = String::from_utf8(gunzip(&data().join(format!("{name}.snap.gz")))).expect("text");
        let jstat = fs::read_to_string(data().join(format!("{name}.jstat"))).expect("the tables of jstat");
        Recording {
            name: name.to_owned(),
            index: CounterIndex::parse(&bytes).unwrap_or_else(|error| panic!("{name}: {error}")),
            bytes,
            // jstat also prints six fields of the header as if they were counters.
            snap: snap
                .lines()
                .filter_map(|line| line.split_once('='))
                .filter(|(name, _)| !name.starts_with("sun.perfdata."))
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            tables: tables(&jstat),
        }
    }

    fn all() -> Vec<Recording> {
        let mut names: Vec<String> = fs::read_dir(data())
            .expect("the recordings")
            .filter_map(|entry| {
                entry.expect("a file").file_name().to_str()?.strip_suffix(".jstat").map(str::to_owned)
            })
            .collect();
        names.sort();
        assert_eq!(names.len(), 27);
        names.iter().map(|name| Recording::load(name)).collect()
    }

    fn identity(&self) -> JvmIdentity {
        JvmIdentity::read(&self.index, &self.bytes)
    }

    fn metrics(&self) -> JvmMetrics {
        JvmMetrics::plan(&self.index, &self.bytes, &self.identity())
    }

    /// The sum of a metric over series whose labels contain this text; `None` without such a series.
    fn metric(&self, name: &str, label: &str) -> Option<f64> {
        let metrics = self.metrics();
        let values = metrics.values(&self.index, &self.bytes);
        let matching = values
            .iter()
            .filter(|value| value.metric.name == name)
            .filter(|value| label.is_empty() || value.labels.iter().any(|(_, value)| value.contains(label)));
        let values: Vec<f64> = matching.map(|value| value.value).collect();
        (!values.is_empty()).then(|| values.iter().sum())
    }

    /// The sum of columns of `jstat`; `None` if one of them is `-`.
    fn jstat(&self, option: &str, columns: &[&str]) -> Option<f64> {
        columns
            .iter()
            .map(|column| self.tables[&(option.to_owned(), (*column).to_owned())].parse::<f64>().ok())
            .sum()
    }

    fn reason(&self, name: &str) -> Option<String> {
        let metrics = self.metrics();
        metrics.unavailable().iter().find(|(metric, _)| metric.name == name).map(|(_, reason)| reason.clone())
    }
}

fn tables(text: &str) -> BTreeMap<(String, String), String> {
    let mut tables = BTreeMap::new();
    let mut lines = text.lines();
    while let (Some(option), Some(header), Some(row)) = (lines.next(), lines.next(), lines.next()) {
        for (column, value) in header.split_whitespace().zip(row.split_whitespace()) {
            tables.insert((option.to_owned(), column.to_owned()), value.to_owned());
        }
    }
    tables
}

#[test]
fn every_counter_equals_that_of_jstat() {
    for recording in Recording::all() {
        let Recording { name, bytes, index, snap, .. } = &recording;
        let mut compared = 0;
        for (id, counter) in index.counters() {
            let Some(expected) = snap.get(counter.name()) else { continue };
            let value = match index.value(bytes, id).expect("inside the file") {
                CounterValue::Long(long) => long.to_string(),
                CounterValue::Text(text) => format!("\"{text}\""),
            };
            assert_eq!(&value, expected, "{name}: {}", counter.name());
            compared += 1;
        }
        assert_eq!(compared, snap.len(), "{name}: all counters of jstat are in the index");
        assert!(snap.len() >= 120, "{name}: {} counters", snap.len());
        assert_eq!((index.unsupported(), index.overflow_bytes()), (0, 0), "{name}");
    }
}

#[test]
fn metrics_equal_the_columns_of_jstat() {
    // Metric, text of a label, table, columns, factor from the columns' unit to the metric's, largest rounding error in the columns.
    let rows: [(&str, &str, &str, &[&str], f64, f64); 23] = [
        ("jvm_memory_used_bytes", "Eden", "-gc", &["EU"], 1024.0, 0.051),
        ("jvm_memory_used_bytes", "Survivor", "-gc", &["S0U", "S1U"], 1024.0, 0.11),
        ("jvm_memory_used_bytes", "old", "-gc", &["OU"], 1024.0, 0.051),
        ("jvm_memory_used_bytes", "all", "-gc", &["OU"], 1024.0, 0.051),
        ("jvm_memory_used_bytes", "Metaspace", "-gc", &["MU"], 1024.0, 0.051),
        ("jvm_memory_used_bytes", "Compressed Class Space", "-gc", &["CCSU"], 1024.0, 0.051),
        ("jvm_memory_committed_bytes", "Eden", "-gc", &["EC"], 1024.0, 0.051),
        ("jvm_memory_committed_bytes", "old", "-gc", &["OC"], 1024.0, 0.051),
        ("jvm_memory_committed_bytes", "Metaspace", "-gc", &["MC"], 1024.0, 0.051),
        ("jvm_gc_pauses_total", "young", "-gc", &["YGC"], 1.0, 0.0),
        ("jvm_gc_pause_seconds_total", "young", "-gc", &["YGCT"], 1.0, 0.00051),
        ("jvm_gc_pauses_total", "full", "-gc", &["FGC"], 1.0, 0.0),
        ("jvm_gc_pause_seconds_total", "full", "-gc", &["FGCT"], 1.0, 0.00051),
        ("jvm_gc_pauses_total", "concurrent", "-gc", &["CGC"], 1.0, 0.0),
        ("jvm_gc_pause_seconds_total", "concurrent", "-gc", &["CGCT"], 1.0, 0.00051),
        ("jvm_gc_pauses_total", "minor", "-gc", &["YGC"], 1.0, 0.0),
        ("jvm_gc_pause_seconds_total", "minor", "-gc", &["YGCT"], 1.0, 0.00051),
        ("jvm_gc_pauses_total", "major", "-gc", &["CGC"], 1.0, 0.0),
        ("jvm_gc_pause_seconds_total", "major", "-gc", &["CGCT"], 1.0, 0.00051),
        ("jvm_classes_loaded_total", "", "-class", &["Loaded"], 1.0, 0.0),
        ("jvm_class_loading_seconds_total", "", "-class", &["Time"], 1.0, 0.0051),
        ("jvm_compilations_total", "", "-compiler", &["Compiled"], 1.0, 0.0),
        ("jvm_compilation_seconds_total", "", "-compiler", &["Time"], 1.0, 0.0051),
    ];
    let mut compared = BTreeMap::new();
    for recording in Recording::all() {
        for (metric, label, table, columns, factor, error) in rows {
            if let (Some(value), Some(expected)) =
                (recording.metric(metric, label), recording.jstat(table, columns))
            {
                let difference = (value / factor - expected).abs();
                assert!(
                    difference <= error,
                    "{}: {metric} {label}: {value}, jstat {columns:?} {expected}",
                    recording.name
                );
                *compared.entry((metric, label)).or_insert(0) += 1;
            }
        }
        assert_eq!(
            recording.metric("jvm_classes_unloaded_total", ""),
            recording.jstat("-class", &["Unloaded"])
        );
    }
    // How many recordings each comparison covers, so that none is lost silently.
    let counts: Vec<usize> = rows.iter().map(|(metric, label, ..)| compared[&(*metric, *label)]).collect();
    assert_eq!(
        counts,
        [11, 13, 15, 10, 24, 23, 13, 15, 24, 13, 13, 13, 13, 7, 7, 2, 2, 2, 2, 27, 27, 27, 27]
    );
}

#[test]
fn collectors_and_versions_are_recognised() {
    for recording in Recording::all() {
        let identity = recording.identity();
        let (jdk, collector) = recording
            .name
            .strip_prefix("jdk")
            .and_then(|name| name.split_once('-'))
            .expect("JDK and collector");
        let expected = match collector {
            "Serial" => JvmCollector::Serial,
            "Parallel" => JvmCollector::Parallel,
            "ConcMarkSweep" => JvmCollector::ConcurrentMarkSweep,
            "G1" => JvmCollector::G1,
            "Z" => JvmCollector::Z,
            "ZGenerational" => JvmCollector::GenerationalZ,
            "Shenandoah" | "ShenandoahGenerational" => JvmCollector::Shenandoah,
            "Epsilon" => JvmCollector::Epsilon,
            other => panic!("a recording of {other}"),
        };
        assert_eq!(identity.collector, expected, "{}", recording.name);
        assert_eq!(identity.version.expect("stated").feature().to_string(), jdk);
        assert_eq!(identity.name.as_deref(), Some("Load"));
        assert!(identity.created_ms.expect("stated") > 1_700_000_000_000);
    }
}

/// A metric that a JVM does not publish has no value, but a reason.
#[test]
fn unknown_is_never_zero() {
    for recording in Recording::all() {
        let name = recording.name.as_str();
        let is_25 = name.starts_with("jdk25");
        let without_pauses = name.contains("Shenandoah") || name.contains("Epsilon") || name == "jdk11-Z";
        for (metric, label, is_missing) in [
            ("jvm_memory_used_bytes", "Eden", name == "jdk25-Serial" || name == "jdk25-Parallel"),
            ("jvm_memory_used_bytes", "Metaspace", name.contains("Epsilon") && name != "jdk11-Epsilon"),
            ("jvm_gc_pauses_total", "", without_pauses),
            ("jvm_gc_pause_seconds_total", "", without_pauses),
            ("jvm_gc_phases_total", "", !name.contains("Shenandoah")),
            ("jvm_monitor_contended_attempts_total", "", is_25),
            ("jvm_monitor_parks_total", "", is_25),
            ("jvm_gc_cpu_seconds_total", "", !["jdk25-Serial", "jdk25-Parallel", "jdk25-G1"].contains(&name)),
            ("jvm_safepoint_seconds_total", "", false),
        ] {
            let has_eden = ["Serial", "Parallel", "G1", "ConcMarkSweep"].iter().any(|gc| name.ends_with(gc));
            if label == "Eden" && !has_eden {
                continue;
            }
            assert_eq!(recording.metric(metric, label).is_none(), is_missing, "{name}: {metric} {label}");
            let is_explained =
                recording.reason(metric).is_some() || label == "Metaspace" || metric == "jvm_gc_phases_total";
            assert!(!is_missing || is_explained, "{name}: {metric} has neither value nor reason");
        }
    }
    let reason = |name: &str, metric: &str| Recording::load(name).reason(metric).expect("a reason");
    assert_eq!(
        reason("jdk25-G1", "jvm_monitor_parks_total"),
        "JDK 25.0.3 does not publish the counter sun.rt._sync_Parks"
    );
    assert_eq!(
        reason("jdk25-Serial", "jvm_memory_used_bytes"),
        "JDK 25.0.3 updates the use of Eden Space only at collections, when it is empty"
    );
    assert_eq!(
        reason("jdk21-Shenandoah", "jvm_gc_pauses_total"),
        "Shenandoah's counters add concurrent phases to pauses; jvm_safepoint_seconds_total has the pauses"
    );
}

/// Time at safepoints contains the time to reach them, which HotSpot adds up separately since JDK 13.
#[test]
fn stalls_contain_the_time_to_reach_safepoints() {
    for recording in Recording::all() {
        let Recording { name, bytes, index, .. } = &recording;
        let counter = |counter: &str| {
            #[expect(clippy::cast_precision_loss, reason = "ns of a few seconds")]
            let value = index.long_of(bytes, counter).expect("published") as f64;
            value / 1e9
        };
        let (time, sync) = (counter("sun.rt.safepointTime"), counter("sun.rt.safepointSyncTime"));
        let expected = if name.starts_with("jdk11") { time } else { time + sync };
        let stalls = recording.metric("jvm_safepoint_seconds_total", "").expect("published");
        assert!((stalls - expected).abs() < 1e-9, "{name}: {stalls} {time} {sync}");
        let pauses = recording.metric("jvm_gc_pause_seconds_total", "").unwrap_or(0.0);
        // The JVM with Epsilon and JDK 25 had no safepoint.
        assert!(stalls > 0.0 || name == "jdk25-Epsilon");
        assert!(pauses <= stalls * 1.25, "{name}: {pauses} s of pauses within {stalls} s of stalls");
    }
}

#[test]
fn the_limit_of_the_heap_is_that_of_the_command_line() {
    for recording in Recording::all() {
        let megabytes = if recording.name.ends_with("-Z") { 256.0 } else { 64.0 };
        let limit = recording.metric("jvm_memory_max_bytes", "heap").expect("published") / 1_048_576.0;
        // One survivor space or an alignment may be missing.
        assert!((limit - megabytes).abs() <= 0.02 * megabytes, "{}: {limit} MiB", recording.name);
    }
}

/// JDK 8 was not available. Its HotSpot calls itself version 25 and has no counters of G1's concurrent pauses. This test changes a file
/// of JDK 11 to look like one of JDK 8.
#[test]
fn the_rules_of_jdk_8_depend_on_its_version() {
    let eleven = Recording::load("jdk11-G1");
    let mut bytes = eleven.bytes.clone();
    let replace = |bytes: &mut Vec<u8>, from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let places: Vec<usize> =
            (0..bytes.len() - from.len()).filter(|at| bytes[*at..].starts_with(from.as_bytes())).collect();
        assert!(!places.is_empty(), "{from}");
        for at in places {
            bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        }
    };
    replace(&mut bytes, "11.0.13\0", "1.8.0_4\0");
    replace(&mut bytes, "sun.gc.collector.2.", "sun.gc.xollector.2.");
    let eight = Recording { index: CounterIndex::parse(&bytes).expect("a file"), bytes, ..eleven };
    let identity = eight.identity();
    assert_eq!((identity.version.expect("stated").feature(), identity.collector), (8, JvmCollector::G1));
    assert_eq!(
        eight.reason("jvm_gc_pauses_total").as_deref(),
        Some("G1 of JDK 1.8.0_4 does not count the pauses of its concurrent cycle (Remark, Cleanup)")
    );
    assert!(eight.metric("jvm_gc_pauses_total", "young").is_some_and(|pauses| pauses > 0.0));
    assert_eq!(eight.metric("jvm_gc_pauses_total", "concurrent"), None);
    assert_eq!(
        eight.metric("jvm_safepoint_seconds_total", ""),
        Recording::load("jdk11-G1").metric("jvm_safepoint_seconds_total", "")
    );
}
