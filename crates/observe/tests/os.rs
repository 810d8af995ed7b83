//! The operating system: recorded trees, and the machine on which the tests run.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stderr, reason = "a test that is skipped prints why")]

mod support;

use std::path::Path;
use std::time::Duration;

use busyhour_observe::{OsProbe, ProbeRunner, ProcRoot, SeriesStore, SourceState};
use busyhour_program::clock::Clock;

use support::{latest, sum};

fn tree(name: &str) -> ProcRoot {
    ProcRoot::recorded(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trees").join(name))
}

fn read_once(root: &ProcRoot) -> SeriesStore {
    let store = SeriesStore::in_memory();
    ProbeRunner::new(&store, Box::new(OsProbe::new(root))).read(&Clock::manual(0));
    store
}

fn reason(store: &SeriesStore, metric: &str) -> Option<String> {
    store.status().unavailable.into_iter().find(|entry| entry.metric == metric).map(|entry| entry.reason)
}

#[test]
fn a_tree_of_linux_6_18_is_read() {
    let store = read_once(&tree("linux-6.18"));
    let value = |name: &str, labels: &[(&str, &str)]| latest(&store, "os", name, labels);
    let cpu = |cpu, mode| value("node_cpu_seconds_total", &[("cpu", cpu), ("mode", mode)]);
    assert_eq!(cpu("0", "user"), Some(2470.89));
    assert_eq!(cpu("1", "system"), Some(337.45));
    assert_eq!(cpu("1", "iowait"), Some(5.18));
    assert_eq!(cpu("1", "steal"), Some(4.21));
    assert_eq!(cpu("all", "user"), None, "the sum of two CPUs can be computed");
    assert_eq!(value("node_procs_running", &[]), Some(9.0));
    assert_eq!(value("node_context_switches_total", &[]), Some(10_764_845.0));
    assert_eq!(value("node_memory_MemTotal_bytes", &[]), Some(24_684_092.0 * 1024.0));
    assert_eq!(value("node_memory_MemAvailable_bytes", &[]), Some(22_734_604.0 * 1024.0));
    assert_eq!(value("node_vmstat_pgfault", &[]), Some(105_814_573.0));
    let disk = |name| value(name, &[("device", "vda")]);
    assert_eq!(disk("node_disk_reads_completed_total"), Some(486_998.0));
    assert_eq!(disk("node_disk_read_bytes_total"), Some(20_320_114.0 * 512.0));
    assert_eq!(disk("node_disk_io_time_weighted_seconds_total"), Some(1_086.948));
    assert_eq!(disk("busyhour_disk_await_seconds"), None, "nothing to compare with yet");
    for device in ["loop0", "zram0"] {
        assert_eq!(value("node_disk_reads_completed_total", &[("device", device)]), None, "{device}");
    }
    assert_eq!(value("node_network_receive_bytes_total", &[("device", "eth0")]), Some(507_386_651.0));
    assert_eq!(value("node_network_transmit_bytes_total", &[("device", "eth0")]), Some(1_580_447.0));
    assert_eq!(value("node_netstat_Tcp_RetransSegs", &[]), Some(61.0));
    assert_eq!(value("node_netstat_TcpExt_TCPTimeouts", &[]), Some(2.0));
    assert_eq!(value("node_netstat_TcpExt_ListenOverflows", &[]), Some(0.0));
    assert_eq!(value("node_sockstat_TCP_alloc", &[]), Some(1.0));
    assert_eq!(value("node_pressure_cpu_waiting_seconds_total", &[]), Some(2_191.056037));
    assert_eq!(value("node_pressure_io_stalled_seconds_total", &[]), Some(5.129873));
    assert_eq!(value("busyhour_tcp_listen_queue_length", &[("address", "0.0.0.0:2024")]), Some(0.0));
    assert_eq!(value("busyhour_tcp_listen_queue_limit", &[("address", "0.0.0.0:2024")]), None);
    assert!(reason(&store, "busyhour_tcp_listen_queue_limit").is_some());
    assert!(reason(&store, "node_schedstat_waiting_seconds_total").unwrap().contains("CONFIG_SCHEDSTATS"));
}

#[test]
fn missing_files_and_rows_are_stated_and_never_zero() {
    let store = read_once(&tree("linux-4.14"));
    let value = |name: &str, labels: &[(&str, &str)]| latest(&store, "os", name, labels);
    assert_eq!(value("node_cpu_seconds_total", &[("cpu", "0"), ("mode", "idle")]), Some(300.0));
    assert_eq!(value("node_disk_writes_completed_total", &[("device", "sda")]), Some(50.0));
    assert_eq!(value("node_pressure_cpu_waiting_seconds_total", &[]), None);
    let pressure = reason(&store, "node_pressure_cpu_waiting_seconds_total").unwrap();
    assert!(pressure.contains("Linux 4.20 or later"), "{pressure}");
    assert_eq!(value("node_memory_MemAvailable_bytes", &[]), None);
    let memory = reason(&store, "node_memory_MemAvailable_bytes").unwrap();
    assert_eq!(memory, "/proc/meminfo of this kernel has no MemAvailable");
    assert!(reason(&store, "node_netstat_Tcp_RetransSegs").unwrap().contains("net/snmp"));
    assert_eq!(store.status().sources[0].state, SourceState::Watching);
}

#[test]
fn an_empty_or_odd_tree_fails_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let root = ProcRoot::recorded(dir.path());
    let state = |store: SeriesStore| store.status().sources[0].state.clone();
    let SourceState::Failed(reason) = state(read_once(&root)) else { panic!("not failed") };
    assert!(reason.contains("proc/stat"), "{reason}");
    std::fs::create_dir_all(dir.path().join("proc")).unwrap();
    for text in [
        "",
        "cpu\n",
        "cpu0 1 2 3\n",
        "cpu0 a b c d e f g h\n",
        "\0\0\0",
        "cpu0 99999999999999999999 1 1 1 1 1 1 1\n",
    ] {
        std::fs::write(dir.path().join("proc/stat"), text).unwrap();
        let SourceState::Failed(reason) = state(read_once(&root)) else { panic!("{text:?}") };
        assert!(reason.contains("no line of a CPU with eight numbers"), "{reason}");
    }
}

/// Writes `proc/stat` for this many CPUs.
fn many_cpus(dir: &Path, cpus: usize, idle: u64) {
    let mut text = String::from("cpu  8 7 6 5 4 3 2 1 0 0\n");
    for cpu in 0..cpus {
        text += &format!("cpu{cpu} 1 2 3 {idle} 5 6 7 8 0 0\n");
    }
    std::fs::create_dir_all(dir.join("proc")).unwrap();
    std::fs::write(dir.join("proc/stat"), text).unwrap();
}

#[test]
fn large_machines_record_less_per_cpu() {
    let dir = tempfile::tempdir().unwrap();
    let root = ProcRoot::recorded(dir.path());
    for (cpus, series) in [(32, 32 * 8), (33, 33 + 8), (200, 200 + 8), (5_000, 256 + 8)] {
        many_cpus(dir.path(), cpus, 4);
        let store = read_once(&root);
        let count = store.latest().iter().filter(|value| &*value.name == "node_cpu_seconds_total").count();
        assert_eq!(count, series, "{cpus} CPUs");
    }
}

#[test]
fn a_cpu_time_that_decreases_keeps_its_largest_value() {
    let dir = tempfile::tempdir().unwrap();
    let store = SeriesStore::in_memory();
    let mut runner = ProbeRunner::new(&store, Box::new(OsProbe::new(&ProcRoot::recorded(dir.path()))));
    for (idle, expected) in [(100, 1.0), (98, 1.0), (101, 1.01)] {
        many_cpus(dir.path(), 1, idle);
        runner.read(&Clock::manual(0));
        let labels = [("cpu", "0"), ("mode", "idle")];
        assert_eq!(latest(&store, "os", "node_cpu_seconds_total", &labels), Some(expected));
    }
}

#[test]
fn queues_are_those_of_ss() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let _waiting: Vec<_> = (0..3).map(|_| std::net::TcpStream::connect(address).unwrap()).collect();
    let output = match std::process::Command::new("ss").args(["-Hltn", "src", &address.to_string()]).output()
    {
        Ok(output) => String::from_utf8(output.stdout).unwrap(),
        Err(error) => return eprintln!("SKIPPED: ss: {error}"),
    };
    let columns: Vec<&str> = output.split_whitespace().collect();
    let ["LISTEN", length, limit, local, ..] = columns[..] else { panic!("{output}") };
    assert_eq!(local, address.to_string());
    let store = read_once(&ProcRoot::live());
    for (name, expected) in
        [("busyhour_tcp_listen_queue_length", length), ("busyhour_tcp_listen_queue_limit", limit)]
    {
        let found = latest(&store, "os", name, &[("address", local)]);
        assert_eq!(found, Some(expected.parse().unwrap()), "{name}");
    }
    assert_eq!(length, "3");
}

#[test]
fn this_machine_is_read() {
    let store = SeriesStore::in_memory();
    let mut runner = ProbeRunner::new(&store, Box::new(OsProbe::new(&ProcRoot::live())));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let _waiting = std::net::TcpStream::connect(address).unwrap();
    let clock = Clock::manual(0);
    runner.read(&clock);
    assert_eq!(store.status().sources[0].state, SourceState::Watching);
    let address = address.to_string();
    let queue = |name| latest(&store, "os", name, &[("address", &address)]);
    assert_eq!(queue("busyhour_tcp_listen_queue_length"), Some(1.0));
    assert!(queue("busyhour_tcp_listen_queue_limit") >= Some(1.0));
    let established = latest(&store, "os", "node_tcp_connection_states", &[("state", "established")]);
    assert!(established >= Some(2.0), "{established:?}");
    let total = latest(&store, "os", "node_memory_MemTotal_bytes", &[]).unwrap();
    let available = latest(&store, "os", "node_memory_MemAvailable_bytes", &[]).unwrap();
    assert!(0.0 < available && available < total);
    let before = sum(&store, "os", "node_cpu_seconds_total", &[]);
    assert!(before > 0.0);
    clock.advance(Duration::from_secs(1));
    runner.read(&clock);
    assert!(sum(&store, "os", "node_cpu_seconds_total", &[]) >= before);
}
