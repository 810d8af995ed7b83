//! Metrics of a recorded system.

use std::fs;
use std::time::Duration;

use super::*;
use crate::perfmon::measure::CounterDifference;
use crate::proc_root::ProcRoot;

/// A directory with files of `/proc` and `/sys`.
struct Recorded {
    _dir: tempfile::TempDir,
    root: ProcRoot,
}

impl Recorded {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let recorded = Recorded { root: ProcRoot::recorded(dir.path()), _dir: dir };
        for (path, text) in files {
            recorded.write(path, text);
        }
        recorded
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.path("/").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn measure(&self, metric: &str, seconds: u64) -> Result<PerfMonMeasure, MetricError> {
        SystemCounters::new(&self.root, Duration::from_secs(seconds)).measure(&metric.parse().unwrap())
    }

    fn value(&self, metric: &str) -> f64 {
        match self.measure(metric, 0) {
            Ok(PerfMonMeasure::Value(value)) => value,
            other => panic!("{metric}: {other:?}"),
        }
    }
}

/// The value of a metric over 2 s, during which `change` changes the files.
fn over_two_seconds(recorded: &Recorded, metric: &str, change: impl FnOnce()) -> Option<f64> {
    let mut difference = CounterDifference::default();
    assert_eq!(difference.next(Duration::ZERO, recorded.measure(metric, 0).unwrap()), None, "{metric}");
    change();
    difference.next(Duration::from_secs(2), recorded.measure(metric, 2).unwrap())
}

const STAT: &str = "cpu  100 10 50 800 20 5 5 10 7 0\ncpu0 50 5 25 400 10 5 5 0 0 0\ncpu1 50 5 25 400 10 0 0 10 7 0\nintr 1\n";
const STAT_LATER: &str = "cpu  160 20 80 860 40 5 15 10 7 0\ncpu0 50 5 25 500 10 5 5 0 0 0\ncpu1 110 15 55 360 30 0 10 10 7 0\nintr 1\n";

#[test]
fn cpu_shares_are_percent_of_the_interval() {
    for (metric, expected) in [
        // 190 ticks: 60 user, 10 nice, 30 system, 60 idle, 20 iowait, 10 softirq.
        ("cpu", 100.0 * 120.0 / 190.0),
        ("cpu:user", 100.0 * 60.0 / 190.0),
        ("cpu:idle", 100.0 * 60.0 / 190.0),
        ("cpu:softirq", 100.0 * 10.0 / 190.0),
        ("cpu:stolen", 0.0),
        ("cpu:core=0:idle", 100.0),
    ] {
        let recorded = Recorded::new(&[("proc/stat", STAT)]);
        let value = over_two_seconds(&recorded, metric, || recorded.write("proc/stat", STAT_LATER));
        assert!((value.unwrap() - expected).abs() < 1e-9, "{metric}: {value:?}");
    }
    let recorded = Recorded::new(&[("proc/stat", STAT)]);
    let error = recorded.measure("cpu:core=7", 0).unwrap_err();
    assert_eq!(error.to_string(), "there is no core 7");
    let error = Recorded::new(&[]).measure("cpu", 0).unwrap_err().to_string();
    assert!(error.starts_with("cannot read ") && error.contains("proc/stat: "), "{error}");
}

#[test]
fn memory_and_swap_have_the_requested_unit() {
    let meminfo = "MemTotal:  1048576 kB\nMemFree:  131072 kB\nMemAvailable:  262144 kB\nBuffers: 1 kB\nCached: 2 kB\n\
                   SwapTotal: 2048 kB\nSwapFree: 1024 kB\n";
    let recorded = Recorded::new(&[("proc/meminfo", meminfo), ("proc/vmstat", "pswpin 5\npswpout 7\n")]);
    for (metric, expected) in [
        ("memory", 75.0),
        ("memory:freeperc", 25.0),
        ("memory:total", 1_073_741_824.0),
        ("memory:total:unit=kb", 1_048_576.0),
        ("memory:ram", 1024.0),
        ("memory:free:unit=mb", 128.0),
        ("memory:used:unit=mb", 896.0),
        ("memory:actualused:unit=mb", 768.0),
        ("memory:actualfree:unit=mb", 256.0),
        ("swap", 1_048_576.0),
        ("swap:free:unit=kb", 1024.0),
    ] {
        assert_eq!(recorded.value(metric), expected, "{metric}");
    }
    assert_eq!(recorded.measure("swap:pageout", 0).unwrap(), PerfMonMeasure::Counter(7.0));
    recorded.write("proc/meminfo", "MemTotal: 100 kB\nMemFree: 10 kB\nBuffers: 10 kB\nCached: 5 kB\n");
    assert_eq!(recorded.value("memory"), 75.0, "before Linux 3.14");
    assert!(recorded.measure("swap", 0).unwrap_err().to_string().ends_with("meminfo has no SwapTotal"));
}

#[test]
fn network_interfaces_are_measured() {
    let dev = "Inter-|   Receive\n face |bytes\n    lo: 10 1 0 0 0 0 0 0 10 1 0 0 0 0 0 0\n\
               eth0:1000 20 3 4 5 6 0 0 2000 40 7 8 9 10 11 0\n";
    let recorded = Recorded::new(&[("proc/net/dev", dev), ("sys/class/net/eth0/speed", "1000\n")]);
    let counter = |metric: &str| recorded.measure(metric, 0).unwrap();
    for (metric, expected) in [
        ("network i/o", 1010.0),
        ("network i/o:iface=eth0:bytessent", 2000.0),
        ("network i/o:iface=eth0:bytesrecv:unit=kb", 1000.0 / 1024.0),
        ("network i/o:iface=eth0:rxdrops", 4.0),
        ("network i/o:iface=eth0:rxoverruns", 5.0),
        ("network i/o:iface=eth0:rxframe", 6.0),
        ("network i/o:iface=eth0:txcollisions", 10.0),
        ("network i/o:tx", 41.0),
    ] {
        assert_eq!(counter(metric), PerfMonMeasure::Counter(expected), "{metric}");
    }
    assert_eq!(recorded.value("network:speed"), 1e9);
    assert_eq!(recorded.value("network:used"), 41.0);
    let error = recorded.measure("network:iface=eth1", 0).unwrap_err();
    assert_eq!(error.to_string(), "there is no network interface `eth1`");
    let error = recorded.measure("network:iface=lo:speed", 0).unwrap_err();
    assert!(error.to_string().contains("lo/speed: "), "{error}");
}

#[test]
fn tcp_sockets_are_counted_by_state() {
    let header = "  sl  local_address rem_address   st tx_queue\n";
    let line = |port: &str, state: &str| {
        format!("   0: 0100007F:{port} 0100007F:C000 {state} 00000000:00000000 00:00000000 00000000 0 0 7\n")
    };
    let v4 =
        [header.to_owned(), line("1F90", "0A"), line("1F90", "01"), line("1F90", "06"), line("C001", "01")]
            .concat();
    let v6 = [header.to_owned(), line("1F90", "0C"), "damaged\n".to_owned()].concat();
    let recorded = Recorded::new(&[("proc/net/tcp", &v4), ("proc/net/tcp6", &v6)]);
    for (metric, expected) in [
        ("tcp", 2.0),
        ("tcp:listen", 1.0),
        ("tcp:time_wait", 1.0),
        ("tcp:syn_recv", 1.0),
        ("tcp:inbound", 3.0),
        ("tcp:outbound", 1.0),
        ("tcp:closing", 0.0),
    ] {
        assert_eq!(recorded.value(metric), expected, "{metric}");
    }
}

#[test]
fn disks_and_file_systems_are_measured() {
    let mounts = "25 1 8:1 / / rw - ext4 /dev/sda1 rw\n26 25 8:1 /home /home rw - ext4 /dev/sda1 rw\n\
                  27 25 0:5 / /proc rw - proc proc rw\n";
    let stats = |reads, sectors, weighted| {
        format!(
            "   8       0 sda 9 9 9 9 9 9 9 9 9 9 9\n   8       1 sda1 {reads} 0 {sectors} 40 10 0 200 60 0 50 {weighted} 0 0 0 0\n"
        )
    };
    for (metric, expected) in [
        ("disks i/o:reads", 30.0),
        ("disks i/o:readbytes", 1_024_000.0),
        ("disks i/o:readbytes:unit=kb", 1000.0),
        ("disks i/o:fs=/:writes", 0.0),
        ("disks i/o", 1.5),
    ] {
        let recorded =
            Recorded::new(&[("proc/self/mountinfo", mounts), ("proc/diskstats", &stats(10, 100, 1000))]);
        let later = || recorded.write("proc/diskstats", &stats(40, 2100, 4000));
        assert_eq!(over_two_seconds(&recorded, metric, later), Some(expected), "{metric}");
    }
    let recorded = Recorded::new(&[("proc/self/mountinfo", mounts)]);
    let (total, used, free) = (
        recorded.value("disks:fs=/:total"),
        recorded.value("disks:fs=/:used"),
        recorded.value("disks:fs=/:free"),
    );
    assert!(total > 0.0 && (total - used - free).abs() < total * 0.01, "{total} {used} {free}");
    let mb = recorded.value("disks:fs=/:total:unit=mb");
    assert!((mb - total / 1024.0).abs() < 1.0, "{mb} {total}");
    let percent = recorded.value("disks:useperc");
    assert!((0.0..=100.0).contains(&percent));
    let error = recorded.measure("disks:fs=/mnt:total", 0).unwrap_err();
    assert_eq!(error.to_string(), "there is no file system mounted at `/mnt`");
}

#[test]
fn processes_are_found_by_id_and_name() {
    let stat = "12 (a) b) c) S 1 12 12 0 -1 4194304 100 0 3 0 250 50 0 0 20 0 1 0 1000 1 1\n";
    let recorded = Recorded::new(&[("proc/12/stat", stat), ("proc/12/statm", "1000 200 50 1 0 1 0\n")]);
    let page = rustix::param::page_size() as f64;
    assert_eq!(recorded.value("memory:pid=12"), 200.0 * page);
    assert_eq!(recorded.value("memory:pid=12:virtual:unit=kb"), 1000.0 * page / 1024.0);
    assert_eq!(recorded.measure("memory:pid=12:pagefaults", 0).unwrap(), PerfMonMeasure::Counter(103.0));
    let ms_per_tick = 1e3 / rustix::param::clock_ticks_per_second() as f64;
    assert_eq!(recorded.measure("cpu:pid=12:user", 0).unwrap(), PerfMonMeasure::Counter(250.0 * ms_per_tick));
    let percent = over_two_seconds(&recorded, "cpu:pid=12", || {
        recorded.write("proc/12/stat", &stat.replace(" 250 50 ", " 300 150 "));
    });
    assert_eq!(percent, Some(150.0 * ms_per_tick / 2000.0 * 100.0));
    std::os::unix::fs::symlink("/usr/bin/Java (deleted)", recorded.root.process(12, "exe")).unwrap();
    assert_eq!(recorded.value("memory:name=java"), 200.0 * page);
    for (metric, expected) in [
        ("memory:name=java#1", "there is no process `java#1`, or its executable file cannot be read"),
        ("memory:pid=13", "there is no process 13"),
        ("cpu:pid=13", "there is no process 13"),
    ] {
        assert_eq!(recorded.measure(metric, 0).unwrap_err().to_string(), expected);
    }
}

#[test]
fn every_metric_can_be_read_here() {
    let root = ProcRoot::default();
    let snapshot = SystemCounters::new(&root, Duration::ZERO);
    let own = std::process::id();
    for metric in ["cpu", "memory", "swap", "swap:pagein", "network i/o", "tcp", &format!("cpu:pid={own}")] {
        snapshot.measure(&metric.parse().unwrap()).unwrap_or_else(|error| panic!("{metric}: {error}"));
    }
}
