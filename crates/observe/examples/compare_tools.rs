//! Compares the probes of the operating system with the usual tools, and prints both figures and their difference.
//!
//! ```text
//! cargo run -p busyhour-observe --example compare_tools
//! ```
//!
//! Needs `/usr/bin/time`, stress-ng, iostat, ss, nstat, nsenter, python3 and root; comparisons whose tools are missing are left out
//! with a note. Both sides are read at the same moments or over the whole life of a process, so that other load does not matter.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints what it measured")]

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() {
    println!("| quantity | tool | tool's figure | probe's figure | difference |\n|---|---|---:|---:|---:|");
    for compare in [live::processor_time, live::disk_writes, live::sockets] {
        if let Err(error) = compare() {
            eprintln!("note: not compared: {error}");
        }
    }
}

#[cfg(target_os = "linux")]
mod live {
    use std::error::Error;
    use std::io::{BufRead as _, BufReader};
    use std::process::{Child, Command, Stdio};
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::time::Duration;

    use busyhour_observe::{NetworkProbe, OsProbe, Probe, ProbeRunner, ProcRoot, ProcessProbe, SeriesStore};
    use busyhour_program::clock::Clock;

    type Compared = Result<(), Box<dyn Error>>;

    /// Interval of the readings of a process: what it does after the last one is missed.
    const INTERVAL: Duration = Duration::from_millis(10);

    struct Probed {
        store: SeriesStore,
        runner: ProbeRunner,
        clock: Clock,
    }

    impl Probed {
        fn new(probe: Box<dyn Probe>) -> Probed {
            let store = SeriesStore::in_memory();
            let runner = ProbeRunner::new(&store, probe);
            Probed { store, runner, clock: Clock::start() }
        }

        /// Reads once; the sum of the latest values of a metric whose labels contain all of these.
        fn read(&mut self, metric: &str, labels: &[(&str, &str)]) -> f64 {
            self.runner.read(&self.clock);
            self.latest(metric, labels)
        }

        fn latest(&self, metric: &str, labels: &[(&str, &str)]) -> f64 {
            let has = |own: &[(String, String)]| {
                labels
                    .iter()
                    .all(|label| own.iter().any(|(name, text)| (name.as_str(), text.as_str()) == *label))
            };
            let values = self.store.latest();
            values
                .iter()
                .filter(|value| &*value.name == metric && has(&value.labels))
                .map(|value| value.value)
                .sum()
        }
    }

    fn print(quantity: &str, tool: &str, unit: &str, expected: f64, found: f64) {
        let difference = if expected == 0.0 { found - expected } else { (found / expected - 1.0) * 100.0 };
        println!("| {quantity} | {tool} | {expected:.2} {unit} | {found:.2} {unit} | {difference:+.2} % |");
    }

    fn output(program: &str, arguments: &[&str]) -> Result<String, Box<dyn Error>> {
        let output =
            Command::new(program).args(arguments).output().map_err(|error| format!("{program}: {error}"))?;
        if !output.status.success() {
            return Err(format!("{program} ended with {}", output.status).into());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// A program that is killed if a comparison fails.
    struct Running(Child);

    impl Drop for Running {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// The CPU time of stress-ng, against what the kernel states when it has ended.
    pub(super) fn processor_time() -> Compared {
        let stress = ["stress-ng", "--cpu", "1", "--cpu-load", "60", "-t", "10s", "--quiet"];
        let mut command = Command::new("/usr/bin/time");
        command.args(["-f", "%U %S"]).args(stress).stderr(Stdio::piped());
        let mut time = Running(command.spawn().map_err(|error| format!("/usr/bin/time: {error}"))?);
        let probe = ProcessProbe::new(&ProcRoot::live(), time.0.id(), &[])?;
        let mut probed = Probed::new(Box::new(probe));
        let (printed, received) = channel();
        let mut errors = BufReader::new(time.0.stderr.take().ok_or("no pipe")?);
        std::thread::spawn(move || {
            let mut line = String::new();
            let read = errors.read_line(&mut line).map(|_| line);
            // Nobody receives it if the comparison has failed.
            let _ = printed.send(read);
        });
        let line = loop {
            probed.runner.read(&probed.clock);
            match received.recv_timeout(INTERVAL) {
                Ok(line) => break line?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(error @ RecvTimeoutError::Disconnected) => return Err(error.into()),
            }
        };
        let times: Vec<f64> = line.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        let [user, system] = times[..] else { return Err(format!("/usr/bin/time printed {line:?}").into()) };
        let cpu = probed.latest("process_cpu_seconds_total", &[]);
        print("CPU time of a process with descendants", "`/usr/bin/time`", "s", user + system, cpu);
        print(
            "of which in user mode",
            "`/usr/bin/time`",
            "s",
            user,
            probed.latest("process_cpu_user_seconds_total", &[]),
        );
        Ok(())
    }

    /// Completed writes and written bytes of a disk, before and after a program that writes 256 MiB past the page cache.
    pub(super) fn disk_writes() -> Compared {
        let path = std::env::current_dir()?.join(format!("compare-tools-{}", std::process::id()));
        let result = compare_disk_writes(&path.display().to_string());
        let _ = std::fs::remove_file(&path);
        result
    }

    fn compare_disk_writes(path: &str) -> Compared {
        let mut probed = Probed::new(Box::new(OsProbe::new(&ProcRoot::live())));
        let mut read = || -> Result<(f64, String, f64), Box<dyn Error>> {
            let text = output("iostat", &["-d", "-k", "-o", "JSON"])?;
            probed.runner.read(&probed.clock);
            let (device, kilobytes) = busiest(&text).ok_or("iostat printed no disk")?;
            let bytes = probed.latest("node_disk_written_bytes_total", &[("device", device.as_str())]);
            Ok((kilobytes * 1024.0, device, bytes))
        };
        let before = read()?;
        output("dd", &["if=/dev/zero", &format!("of={path}"), "bs=1M", "count=256", "oflag=direct"])?;
        let after = read()?;
        if before.1 != after.1 {
            return Err("another disk became the busiest one".into());
        }
        let (expected, found) = (after.0 - before.0, after.2 - before.2);
        const MIB: f64 = 1_048_576.0;
        print("bytes written to a disk", "`iostat -d -k`", "MiB", expected / MIB, found / MIB);
        Ok(())
    }

    /// The disk with the most written KiB since the start of the machine, in the JSON of iostat.
    fn busiest(text: &str) -> Option<(String, f64)> {
        let disks = text.split("{\"disk_device\":").skip(1).filter_map(|part| {
            let device = part.split('"').nth(1)?.to_owned();
            let written = part.split("\"kB_wrtn\":").nth(1)?.split([',', '}']).next()?.trim().parse().ok()?;
            Some((device, written))
        });
        disks.max_by(|one: &(String, f64), other| one.1.total_cmp(&other.1))
    }

    /// Opens a network namespace with 200 connections, 50 of them half closed, and 20 that nobody accepts.
    const CONNECTIONS: &str = "
import socket, sys
s = socket.create_server(('127.0.0.1', 0), backlog=64)
waiting = socket.create_server(('127.0.0.1', 0), backlog=64)
open_ = [(socket.create_connection(s.getsockname()), s.accept()[0]) for _ in range(200)]
for client, _ in open_[:50]: client.shutdown(socket.SHUT_WR)
queued = [socket.create_connection(waiting.getsockname()) for _ in range(20)]
for client, server in open_[50:]: client.sendall(b'x' * 1000)
print('ready', flush=True)
sys.stdin.read()
";

    /// States of connections, the queue of a listening socket, and TCP counters in a network namespace of its own.
    pub(super) fn sockets() -> Compared {
        let script = format!("ip link set lo up && exec python3 -c \"{CONNECTIONS}\"");
        let mut command = Command::new("unshare");
        command.args(["-n", "sh", "-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut python = Running(command.spawn().map_err(|error| format!("unshare: {error}"))?);
        let mut line = String::new();
        BufReader::new(python.0.stdout.take().ok_or("no pipe")?).read_line(&mut line)?;
        if line.trim() != "ready" {
            return Err("no network namespace with connections can be created; run as root".into());
        }
        let pid = python.0.id();
        let mut probed = Probed::new(Box::new(NetworkProbe::new(&ProcRoot::live(), pid)));
        let target = pid.to_string();
        let inside = |arguments: &[&str]| output("nsenter", &[&["-t", &target, "-n"], arguments].concat());
        let table = inside(&["ss", "-tanH"])?;
        for (state, of_ss) in
            [("established", "ESTAB"), ("close_wait", "CLOSE-WAIT"), ("fin_wait2", "FIN-WAIT-2")]
        {
            let expected = table.lines().filter(|line| line.starts_with(of_ss)).count() as f64;
            let found = probed.read("node_tcp_connection_states", &[("state", state)]);
            print(&format!("connections in state {state}"), "`ss -tan`", "", expected, found);
        }
        let listening = inside(&["ss", "-tlnH"])?;
        let column = |number: usize| -> f64 {
            listening
                .lines()
                .filter_map(|line| line.split_whitespace().nth(number)?.parse::<f64>().ok())
                .sum()
        };
        let queues = probed.latest("busyhour_tcp_listen_queue_length", &[]);
        print("connections that wait to be accepted", "`ss -tln`", "", column(1), queues);
        let limits = probed.latest("busyhour_tcp_listen_queue_limit", &[]);
        print("limits of these queues", "`ss -tln`", "", column(2), limits);
        let counters = inside(&["nstat", "-asz"])?;
        for name in ["PassiveOpens", "ActiveOpens", "InSegs", "OutSegs"] {
            let expected = counters.lines().find_map(|line| {
                line.strip_prefix(&format!("Tcp{name}"))?.split_whitespace().next()?.parse().ok()
            });
            let found = probed.read(&format!("node_netstat_Tcp_{name}"), &[]);
            print(&format!("TCP {name}"), "`nstat -as`", "", expected.unwrap_or(f64::NAN), found);
        }
        Ok(())
    }
}
