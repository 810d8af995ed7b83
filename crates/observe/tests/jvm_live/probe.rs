//! The probe of running JVMs.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use busyhour_observe::jvm::{CounterFileLocateError, JvmProbe, find_jvms};
use busyhour_observe::{MarkKind, ProbeRunner, ProcRoot, SeriesStore, SourceState};
use busyhour_program::clock::Clock;

use crate::java::{Jdk, Load, classes, run};

const COLLECTORS: [&[&str]; 7] = [
    &["-XX:+UseSerialGC"],
    &["-XX:+UseParallelGC"],
    &["-XX:+UseG1GC"],
    &["-XX:+UseConcMarkSweepGC"],
    &["-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC"],
    &["-XX:+UseZGC", "-XX:+ZGenerational"],
    &["-XX:+UnlockExperimentalVMOptions", "-XX:+UseShenandoahGC"],
];

fn watch(pid: u32) -> (SeriesStore, ProbeRunner) {
    let store = SeriesStore::in_memory();
    let probe = JvmProbe::open(&ProcRoot::live(), pid).unwrap_or_else(|error| panic!("{error}"));
    let runner = ProbeRunner::new(&store, Box::new(probe.with_pause_mark_min(Duration::ZERO)));
    (store, runner)
}

/// The sum of a metric over series whose labels contain this text; `None` without such a series.
fn metric(store: &SeriesStore, name: &str, label: &str) -> Option<f64> {
    let latest = store.latest();
    let matching = latest
        .iter()
        .filter(|value| &*value.name == name)
        .filter(|value| label.is_empty() || value.labels.iter().any(|(_, value)| value.contains(label)));
    let values: Vec<f64> = matching.map(|value| value.value).collect();
    (!values.is_empty()).then(|| values.iter().sum())
}

fn jstat(jdk: &Jdk, pid: u32) -> BTreeMap<String, f64> {
    let mut columns = BTreeMap::new();
    for option in ["-gc", "-class", "-compiler"] {
        let text = run(jdk.tool("jstat").as_os_str(), &[option, &pid.to_string()]);
        let mut lines = text.lines();
        let (header, row) = (lines.next().expect("a header"), lines.next().expect("a row"));
        for (column, value) in header.split_whitespace().zip(row.split_whitespace()) {
            if let Ok(value) = value.parse() {
                columns.insert(format!("{option} {column}"), value);
            }
        }
    }
    columns
}

/// Metric, text of a label, columns of `jstat`, factor from the columns' unit to the metric's, largest rounding error in the columns.
const ROWS: [(&str, &str, &[&str], f64, f64); 18] = [
    ("jvm_memory_used_bytes", "Survivor", &["-gc S0U", "-gc S1U"], 1024.0, 0.11),
    ("jvm_memory_used_bytes", "Eden", &["-gc EU"], 1024.0, 0.051),
    ("jvm_memory_used_bytes", "old", &["-gc OU"], 1024.0, 0.051),
    ("jvm_memory_used_bytes", "all", &["-gc OU"], 1024.0, 0.051),
    ("jvm_memory_used_bytes", "Metaspace", &["-gc MU"], 1024.0, 0.051),
    ("jvm_gc_pauses_total", "young", &["-gc YGC"], 1.0, 0.0),
    ("jvm_gc_pause_seconds_total", "young", &["-gc YGCT"], 1.0, 0.00051),
    ("jvm_gc_pauses_total", "full", &["-gc FGC"], 1.0, 0.0),
    ("jvm_gc_pause_seconds_total", "full", &["-gc FGCT"], 1.0, 0.00051),
    ("jvm_gc_pauses_total", "concurrent", &["-gc CGC"], 1.0, 0.0),
    ("jvm_gc_pause_seconds_total", "concurrent", &["-gc CGCT"], 1.0, 0.00051),
    ("jvm_gc_pauses_total", "minor", &["-gc YGC"], 1.0, 0.0),
    ("jvm_gc_pause_seconds_total", "minor", &["-gc YGCT"], 1.0, 0.00051),
    ("jvm_gc_pauses_total", "major", &["-gc CGC"], 1.0, 0.0),
    ("jvm_gc_pause_seconds_total", "major", &["-gc CGCT"], 1.0, 0.00051),
    ("jvm_classes_loaded_total", "", &["-class Loaded"], 1.0, 0.0),
    ("jvm_compilations_total", "", &["-compiler Compiled"], 1.0, 0.0),
    ("jvm_compilation_seconds_total", "", &["-compiler Time"], 1.0, 0.0051),
];

#[test]
fn metrics_equal_jstat_for_every_collector() {
    let clock = Clock::start();
    for jdk in Jdk::installed() {
        for options in COLLECTORS {
            if !jdk.supports(options) {
                continue;
            }
            let mut load = Load::start(&jdk, options);
            let (store, mut runner) = watch(load.pid());
            runner.read(&clock);
            load.say("work");
            load.say("gc");
            load.say("gc");
            load.say("quiet");
            // Compares when jstat prints the same before and after the reading. A concurrent cycle may still run.
            let mut compared = 0;
            for _ in 0..20 {
                let before = jstat(&jdk, load.pid());
                runner.read(&clock);
                if before == jstat(&jdk, load.pid()) {
                    compared = compare(&store, &before, &format!("{} {options:?}", jdk.home.display()));
                    break;
                }
            }
            assert!(compared >= 5, "{options:?}: {compared} columns");
            let allocated = metric(&store, "jvm_memory_allocated_bytes_total", "");
            let is_known =
                !options.iter().any(|option| option.contains("UseZGC") || option.contains("Shenandoah"));
            assert_eq!(allocated.is_some_and(|bytes| bytes > 0.0), is_known, "{options:?}: {allocated:?}");
            eprintln!("{} {options:?}: {compared} columns of jstat are equal", jdk.home.display());
            load.stop();
        }
    }
}

fn compare(store: &SeriesStore, jstat: &BTreeMap<String, f64>, what: &str) -> usize {
    let mut compared = 0;
    for (name, label, columns, factor, error) in ROWS {
        let expected: Option<f64> = columns.iter().map(|column| jstat.get(*column).copied()).sum();
        if let (Some(value), Some(expected)) = (metric(store, name, label), expected) {
            assert!(
                (value / factor - expected).abs() <= error,
                "{what}: {name} {label}: {value}, jstat {expected}"
            );
            compared += 1;
        }
    }
    compared
}

#[test]
fn a_collection_is_marked_within_the_interval() {
    let clock = Clock::start();
    for jdk in Jdk::installed() {
        let mut load = Load::start(&jdk, &["-XX:+UseSerialGC"]);
        let (store, mut runner) = watch(load.pid());
        runner.read(&clock);
        let before = clock.now();
        load.say("gc");
        let after = clock.now();
        runner.read(&clock);
        let marks = store.marks_since(0).0;
        let mark = marks.iter().map(|mark| &mark.mark).find(|mark| mark.kind == MarkKind::GcPause);
        let mark = mark.unwrap_or_else(|| panic!("no pause in {marks:?}"));
        assert!(mark.text.contains("MarkSweepCompact"), "{}", mark.text);
        // The JVM states its creation in whole milliseconds.
        let slack = 2_000_000;
        assert!(
            mark.to.0 + slack >= before.0 && mark.to.0 <= after.0 + slack,
            "{mark:?} {before:?} {after:?}"
        );
        assert!(mark.from <= mark.to);
    }
}

/// Compares the allocation between two collections with the counters of the JVM's threads.
#[test]
fn allocation_equals_that_of_the_threads() {
    let clock = Clock::start();
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("allocated");
    for jdk in Jdk::installed() {
        for options in &COLLECTORS[..3] {
            let mut load = Load::start(&jdk, options);
            let (store, mut runner) = watch(load.pid());
            let allocated = |load: &mut Load| {
                load.say(&format!("allocated {}", file.display()));
                std::fs::read_to_string(&file).expect("the file").parse::<f64>().expect("a number")
            };
            // The first call loads the classes that the command needs, which allocates memory.
            allocated(&mut load);
            load.say("gc");
            runner.read(&clock);
            let before = allocated(&mut load);
            let pauses =
                |store: &SeriesStore| metric(store, "jvm_gc_pauses_total", "young").expect("published");
            let first = pauses(&store);
            load.say("work");
            while pauses(&store) < first + 30.0 {
                runner.read(&clock);
                assert_eq!(store.status().sources[0].state, SourceState::Watching);
            }
            load.say("quiet");
            let threads = allocated(&mut load) - before;
            load.say("gc");
            runner.read(&clock);
            let probe = metric(&store, "jvm_memory_allocated_bytes_total", "").expect("published");
            eprintln!(
                "{} {options:?}: {probe} bytes, {:+.2} %",
                jdk.home.display(),
                100.0 * (probe / threads - 1.0)
            );
            // The estimate is coarser if the machine is busy and readings are rare.
            assert!((probe / threads - 1.0).abs() < 0.25, "{options:?}: {probe} bytes, threads {threads}");
            load.stop();
        }
    }
}

/// The number of safepoints in a safepoint log and the seconds that they took.
fn safepoint_log(text: &str) -> (f64, f64) {
    let (mut count, mut seconds) = (0.0, 0.0);
    for line in text.lines() {
        // `Total` is in logs of JDK 13 and later, `stopped` in earlier ones.
        let first = |text: &str| text.split_whitespace().next()?.parse::<f64>().ok();
        let ns = line.rsplit_once("Total: ").and_then(|(_, rest)| first(rest));
        let stopped = line.split_once("application threads were stopped: ").and_then(|(_, rest)| first(rest));
        let total = ns.map(|ns| ns / 1e9).or(stopped);
        if let Some(total) = total {
            count += 1.0;
            seconds += total;
        }
    }
    (count, seconds)
}

#[test]
fn stalls_equal_the_safepoint_log() {
    let clock = Clock::start();
    let dir = tempfile::tempdir().expect("a directory");
    for (number, jdk) in Jdk::installed().iter().enumerate() {
        let log = dir.path().join(format!("{number}.log"));
        let mut load = Load::start(
            jdk,
            &["-XX:+UseParallelGC", &format!("-Xlog:safepoint:file={}:none", log.display())],
        );
        let (store, mut runner) = watch(load.pid());
        load.say("work");
        load.say("gc");
        load.say("gc");
        load.say("gc");
        load.say("quiet");
        // The JVM writes the log and the counters one after the other: repeat until both have the same number of safepoints.
        let mut is_compared = false;
        for _ in 0..100 {
            runner.read(&clock);
            let text = std::fs::read_to_string(&log).expect("the log");
            let is_before_13 = text.contains("were stopped: ");
            let (count, seconds) = safepoint_log(&text);
            if metric(&store, "jvm_safepoints_total", "") != Some(count) {
                continue;
            }
            let stalls = metric(&store, "jvm_safepoint_seconds_total", "").expect("published");
            // Before JDK 13, the counters contain the time to write the log.
            let error = if is_before_13 { 0.01 * seconds + 1e-3 } else { 1e-8 };
            assert!((stalls - seconds).abs() <= error, "{}: {stalls} s, log {seconds} s", jdk.home.display());
            eprintln!("{}: {count} safepoints, {stalls} s, log {seconds} s", jdk.home.display());
            is_compared = true;
            break;
        }
        assert!(is_compared, "{}: the log and the counters never had the same number", jdk.home.display());
        load.stop();
    }
}

#[test]
fn a_jvm_that_restarts_is_followed() {
    let clock = Clock::start();
    for jdk in Jdk::installed() {
        // Other tests run the same program at the same time. Only its arguments distinguish it; options of the JVM do not.
        let start = || {
            let mut command = Command::new(jdk.tool("java"));
            command.args(["-XX:+UseSerialGC", "-Xmx64m", "-cp"]).arg(classes().expect("compiled"));
            command.args(["Load", "restart", &jdk.home.display().to_string()]);
            // The arguments that are added after these are arguments of the program, which ignores them.
            Load::start_command(command)
        };
        let load = start();
        let pid = load.pid();
        let (store, mut runner) = watch(pid);
        runner.read(&clock);
        load.stop();
        runner.read(&clock);
        assert!(matches!(store.status().sources[0].state, SourceState::Failed(_)));
        let load = start();
        runner.read(&clock);
        assert_eq!(store.status().sources[0].state, SourceState::Watching);
        let marks = store.marks_since(0).0;
        let kinds: Vec<MarkKind> =
            marks.iter().map(|mark| mark.mark.kind).filter(|kind| *kind != MarkKind::Other).collect();
        assert_eq!(kinds, [MarkKind::End, MarkKind::Restart], "{marks:?}");
        assert!(marks.last().is_some_and(|mark| mark.mark.text.contains(&format!("process {}", load.pid()))));
        load.stop();
    }
}

#[test]
fn a_jvm_in_its_own_namespaces_is_found() {
    for jdk in Jdk::installed() {
        let namespaces = ["--pid", "--mount", "--fork", "--mount-proc", "--kill-child"];
        let is_possible =
            Command::new("unshare").args(namespaces).args(["mount", "-t", "tmpfs", "none", "/tmp"]).output();
        if !is_possible.is_ok_and(|output| output.status.success()) {
            eprintln!("note: namespaces cannot be made here (root is needed); skipped");
            return;
        }
        if jdk.home.starts_with("/tmp") {
            eprintln!("note: {} is hidden by a /tmp of its own; skipped", jdk.home.display());
            continue;
        }
        let mut command = Command::new("unshare");
        command.args(namespaces).args(["sh", "-c", "mount -t tmpfs none /tmp && exec \"$@\"", "sh"]);
        command.arg(jdk.tool("java")).arg("-XX:+UseSerialGC");
        let load = Load::start_command(command);
        let root = ProcRoot::live();
        let found = find_jvms(&root).expect("/proc").jvms;
        let parent = |pid: u32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse::<u32>().ok())
        };
        let inside = found.iter().find(|jvm| parent(jvm.pid) == Some(load.pid())).expect("the JVM inside");
        let status = std::fs::read_to_string(format!("/proc/{}/status", inside.pid)).expect("a process");
        assert!(status.lines().any(|line| line.starts_with("NSpid:") && line.ends_with("\t1")), "{status}");
        let (store, mut runner) = watch(inside.pid);
        runner.read(&Clock::start());
        assert!(metric(&store, "jvm_threads_current", "").is_some_and(|threads| threads >= 5.0));
        crate::attach::check_commands(inside.pid);
        load.stop();
    }
}

#[test]
fn jvms_without_counters_have_a_reason() {
    for jdk in Jdk::installed() {
        for option in ["-XX:-UsePerfData", "-XX:+PerfDisableSharedMem"] {
            let load = Load::start(&jdk, &[option]);
            let error = JvmProbe::open(&ProcRoot::live(), load.pid()).map(drop).expect_err("no counters");
            assert!(
                matches!(error, CounterFileLocateError::TurnedOff { option: found, .. } if found == option),
                "{error}"
            );
            load.stop();
        }
    }
}
