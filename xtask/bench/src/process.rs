//! Runs one process on a core and watches what it uses, from outside.

use std::fs::{self, File};
use std::ops::Range;
use std::path::Path;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, ensure};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use xtask_common::process::tail;

use crate::machine::{self, Cores, KernelMemory, field_kib};

/// How often a running process is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// The same for one that must not be disturbed.
const SELDOM: Duration = Duration::from_millis(250);

/// How long a generator may continue after its steady part.
const PATIENCE: Duration = Duration::from_secs(90);

/// A look at a running process.
#[derive(Debug, Clone, Copy, Default)]
pub struct Look {
    /// Seconds since its start.
    pub at_s: f64,
    /// CPU seconds it has used, user and system together.
    pub cpu_s: f64,
    /// Requests that the server had counted.
    pub requests: u64,
    /// Its resident memory in KiB.
    pub resident_kib: u64,
    /// What the kernel held for sockets.
    pub kernel: KernelMemory,
}

/// What a run used from its start to its end.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    /// When it started: milliseconds since 1970, as in result files.
    pub started_ms: u64,
    /// The whole run, start-up included.
    pub whole: Look,
    /// Its largest resident memory in KiB.
    pub peak_kib: u64,
    /// The first and the last reading within the requested window.
    pub window: (Look, Look),
}

impl Usage {
    /// CPU seconds per 100,000 requests over the whole run.
    pub fn cpu_s_per_100k(&self) -> f64 {
        per_100k(self.whole.cpu_s, self.whole.requests)
    }

    /// The same within the window.
    pub fn window_cpu_s_per_100k(&self) -> f64 {
        per_100k(self.window.1.cpu_s - self.window.0.cpu_s, self.window_requests())
    }

    /// Requests per second within the window.
    pub fn window_rate(&self) -> f64 {
        self.window_requests() as f64 / (self.window.1.at_s - self.window.0.at_s)
    }

    /// CPU seconds per second within the window.
    pub fn window_load(&self) -> f64 {
        (self.window.1.cpu_s - self.window.0.cpu_s) / (self.window.1.at_s - self.window.0.at_s)
    }

    /// Counts the ends of samples in a result file, for servers that do not count.
    pub fn count(&mut self, ends_ms: &[u64]) {
        let until = |look: &Look| {
            let end_ms = self.started_ms + (look.at_s * 1_000.0) as u64;
            ends_ms.iter().filter(|&&end| end < end_ms).count() as u64
        };
        let counts = (until(&self.window.0), until(&self.window.1));
        self.window.0.requests = counts.0;
        self.window.1.requests = counts.1;
        self.whole.requests = ends_ms.len() as u64;
    }

    fn window_requests(&self) -> u64 {
        self.window.1.requests.saturating_sub(self.window.0.requests)
    }
}

fn per_100k(cpu_s: f64, requests: u64) -> f64 {
    cpu_s * 100_000.0 / requests as f64
}

/// A process of ours; it ends with its owner.
#[derive(Debug)]
pub struct Running(Child);

impl Running {
    /// Its number.
    pub fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already; either way it is gone after this.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a process on a core; what it prints goes to `log`.
pub fn start(mut command: Command, core: usize, cores: &Cores, log: &Path) -> Result<Running> {
    let output = File::create(log)?;
    command.stdin(std::process::Stdio::null()).stdout(output.try_clone()?).stderr(output);
    // A child inherits the affinity of the thread that starts it.
    machine::pin(core)?;
    let child = command.spawn();
    machine::pin(cores.server)?;
    let child =
        child.with_context(|| format!("{} does not start", command.get_program().to_string_lossy()))?;
    Ok(Running(child))
}

/// Runs a generator to its end. `requests` returns the server's count (a constant if it has none); `window` is the part of the run
/// that counts as steady, from its start.
pub fn measure(
    command: Command,
    cores: &Cores,
    log: &Path,
    window: Range<Duration>,
    requests: &mut dyn FnMut() -> Result<u64>,
) -> Result<Usage> {
    let requests_before = requests()?;
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let started = Instant::now();
    let mut child = start(command, cores.generator, cores, log)?;
    let pid = child.0.id();
    let mut look = |child_usage: (f64, u64)| -> Result<Look> {
        Ok(Look {
            at_s: started.elapsed().as_secs_f64(),
            cpu_s: child_usage.0,
            requests: requests()? - requests_before,
            resident_kib: child_usage.1,
            kernel: KernelMemory::read(),
        })
    };
    let mut peak_kib = 0;
    let (mut first, mut last) = (None, None);
    while !has_ended(pid)? {
        ensure!(started.elapsed() < window.end + PATIENCE, "the generator does not end:\n{}", tail(log));
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        peak_kib = field_kib(&status, "VmHWM:").unwrap_or(0).max(peak_kib);
        let resident_kib = field_kib(&status, "VmRSS:").unwrap_or(0);
        if first.is_none() && started.elapsed() >= window.start {
            first = Some(look((cpu_s(pid)?, resident_kib))?);
        }
        if last.is_none() && started.elapsed() >= window.end {
            last = Some(look((cpu_s(pid)?, resident_kib))?);
        }
        thread::sleep(LOOK);
    }
    let started_ms = u64::try_from(since_1970.as_millis())?;
    // Its numbers stay readable until it is waited for.
    let whole = look((cpu_s(pid)?, 0))?;
    let status = child.0.wait()?;
    ensure!(status.success(), "the generator failed ({status}):\n{}", tail(log));
    let last = last.unwrap_or(whole);
    let first = first.filter(|first: &Look| first.at_s < last.at_s).with_context(|| {
        format!("the generator ended after {:.1} s, before its steady part:\n{}", whole.at_s, tail(log))
    })?;
    Ok(Usage { started_ms, whole, peak_kib, window: (first, last) })
}

/// Runs a generator to its end, looking at it as little as possible: the bench shares its core with the server. Gives the
/// CPU seconds it used.
pub fn run_to_end(command: Command, cores: &Cores, log: &Path, limit: Duration) -> Result<f64> {
    let mut child = start(command, cores.generator, cores, log)?;
    let started = Instant::now();
    while !has_ended(child.0.id())? {
        ensure!(started.elapsed() < limit, "the generator does not end:\n{}", tail(log));
        thread::sleep(SELDOM);
    }
    let cpu_s = cpu_s(child.0.id())?;
    let status = child.0.wait()?;
    ensure!(status.success(), "the generator failed ({status}):\n{}", tail(log));
    Ok(cpu_s)
}

/// What a process used from its start to its end.
#[derive(Debug, Clone, Copy)]
pub struct Whole {
    /// Seconds from its start to its end.
    pub at_s: f64,
    /// CPU seconds, user and system together.
    pub cpu_s: f64,
    /// Its largest resident memory in KiB, read from the kernel up to 50 ms before its end.
    pub peak_kib: u64,
}

/// Runs a process to its end on the generator's core.
pub fn whole(command: Command, cores: &Cores, log: &Path, limit: Duration) -> Result<Whole> {
    let started = Instant::now();
    let mut child = start(command, cores.generator, cores, log)?;
    let pid = child.0.id();
    let mut peak_kib = 0;
    while !has_ended(pid)? {
        ensure!(started.elapsed() < limit, "the program does not end:\n{}", tail(log));
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        peak_kib = field_kib(&status, "VmHWM:").unwrap_or(0).max(peak_kib);
        thread::sleep(LOOK);
    }
    let (at_s, cpu_s) = (started.elapsed().as_secs_f64(), cpu_s(pid)?);
    let status = child.0.wait()?;
    ensure!(status.success(), "the program failed ({status}):\n{}", tail(log));
    Ok(Whole { at_s, cpu_s, peak_kib })
}

/// Whether a child has ended; it is not waited for, so that its numbers can still be read.
fn has_ended(pid: u32) -> Result<bool> {
    let pid = Pid::from_raw(i32::try_from(pid)?).context("a child without a number")?;
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    Ok(waitid(WaitId::Pid(pid), options)?.is_some())
}

/// CPU seconds that a process has used, all its threads together; the kernel reports them in ticks.
pub fn cpu_s(pid: u32) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let ticks = cpu_ticks(&stat).context("a process without CPU times")?;
    Ok(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// `utime` and `stime` of `/proc/PID/stat`, fields 14 and 15; the name, field 2, may hold anything but ends at the
/// last parenthesis.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

/// Starts a server on the server's core and waits until it accepts connections.
pub fn serve(command: Command, cores: &Cores, log: &Path, port: u16) -> Result<Running> {
    let mut server = start(command, cores.server, cores, log)?;
    let started = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        let ended = server.0.try_wait()?;
        ensure!(ended.is_none() && started.elapsed() < PATIENCE, "the server does not start:\n{}", tail(log));
        thread::sleep(LOOK);
    }
    Ok(server)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_counted_by_their_ends() {
        let look = |at_s| Look { at_s, ..Look::default() };
        let mut usage =
            Usage { started_ms: 1_000, whole: look(3.0), peak_kib: 0, window: (look(1.0), look(2.0)) };
        usage.count(&[1_500, 2_000, 2_999, 3_000, 3_500]);
        assert_eq!((usage.window.0.requests, usage.window.1.requests, usage.whole.requests), (1, 3, 5));
        assert_eq!(usage.window_rate(), 2.0);
    }

    #[test]
    fn ticks_are_found_behind_a_strange_name() {
        let stat = "42 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 250 31 0 0 20 0 1 0 100";
        assert_eq!(cpu_ticks(stat), Some(281));
    }

    #[test]
    fn rates_come_from_the_window_and_costs_from_the_whole() {
        let look = |at_s, cpu_s, requests| Look { at_s, cpu_s, requests, ..Look::default() };
        let usage = Usage {
            started_ms: 0,
            whole: look(4.0, 3.0, 300_000),
            peak_kib: 0,
            window: (look(1.0, 1.0, 50_000), look(3.0, 2.0, 250_000)),
        };
        assert_eq!(usage.cpu_s_per_100k(), 1.0);
        assert_eq!(usage.window_cpu_s_per_100k(), 0.5);
        assert_eq!(usage.window_rate(), 100_000.0);
        assert_eq!(usage.window_load(), 0.5);
    }
}
