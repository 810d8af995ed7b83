//! Runs a process on a core and measures its resource usage from outside.

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

/// The interval between readings of a running process.
const READ_INTERVAL: Duration = Duration::from_millis(50);

/// The interval for a process that must not be disturbed.
const UNDISTURBED_INTERVAL: Duration = Duration::from_millis(250);

/// The time that a generator may take after its steady part.
const PATIENCE: Duration = Duration::from_secs(90);

/// A reading of a running process.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading {
    /// Seconds since its start.
    pub at_s: f64,
    /// The CPU seconds, user and system.
    pub cpu_s: f64,
    /// The requests that the server had counted.
    pub requests: u64,
    /// The resident memory in KiB.
    pub resident_kib: u64,
    /// The kernel's memory for sockets.
    pub kernel: KernelMemory,
}

/// The resource usage of a run.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    /// The start in milliseconds since 1970, as in result files.
    pub started_ms: u64,
    /// The whole run, including its start.
    pub whole: Reading,
    /// The peak resident memory in KiB.
    pub peak_kib: u64,
    /// The first and the last reading within the requested window.
    pub window: (Reading, Reading),
}

impl Usage {
    /// CPU seconds per 100,000 requests over the whole run.
    pub fn cpu_s_per_100k(&self) -> f64 {
        per_100k(self.whole.cpu_s, self.whole.requests)
    }

    /// CPU seconds per 100,000 requests within the window.
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

    /// Sets the request counts from the end times of samples in a result file, for servers that do not count.
    pub fn count_requests(&mut self, ends_ms: &[u64]) {
        let until = |look: &Reading| {
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

/// A child process that is killed when dropped.
#[derive(Debug)]
pub struct Running(Child);

impl Running {
    /// The process ID.
    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Waits for the end of the process, but not longer than until `limit`; `None` if it still runs then.
    pub fn wait(&mut self, limit: Instant) -> Result<Option<std::process::ExitStatus>> {
        loop {
            let status = self.0.try_wait()?;
            if status.is_some() || Instant::now() >= limit {
                return Ok(status);
            }
            thread::sleep(READ_INTERVAL);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Errors are ignored, because the process may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a process on a core; its output is written to `log`.
pub fn start(mut command: Command, core: usize, cores: &Cores, log: &Path) -> Result<Running> {
    let output = File::create(log)?;
    command.stdin(std::process::Stdio::null()).stdout(output.try_clone()?).stderr(output);
    // A child inherits the affinity of the thread that starts it.
    machine::pin(core)?;
    let child = command.spawn();
    machine::pin(cores.server)?;
    let child =
        child.with_context(|| format!("{} cannot be started", command.get_program().to_string_lossy()))?;
    Ok(Running(child))
}

/// Runs a generator to its end. `requests` returns the server's count (a constant if the server does not count);
/// `window` is the steady part of the run, relative to its start.
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
    let mut reading = |child_usage: (f64, u64)| -> Result<Reading> {
        Ok(Reading {
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
        ensure!(
            started.elapsed() < window.end + PATIENCE,
            "the generator did not end in time:\n{}",
            tail(log)
        );
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        peak_kib = field_kib(&status, "VmHWM:").unwrap_or(0).max(peak_kib);
        let resident_kib = field_kib(&status, "VmRSS:").unwrap_or(0);
        if first.is_none() && started.elapsed() >= window.start {
            first = Some(reading((cpu_s(pid)?, resident_kib))?);
        }
        if last.is_none() && started.elapsed() >= window.end {
            last = Some(reading((cpu_s(pid)?, resident_kib))?);
        }
        thread::sleep(READ_INTERVAL);
    }
    let started_ms = u64::try_from(since_1970.as_millis())?;
    // The numbers of a process can be read until it is waited for.
    let whole = reading((cpu_s(pid)?, 0))?;
    let status = child.0.wait()?;
    ensure!(status.success(), "the generator failed ({status}):\n{}", tail(log));
    let last = last.unwrap_or(whole);
    let first = first.filter(|first: &Reading| first.at_s < last.at_s).with_context(|| {
        format!("the generator ended after {:.1} s, before its steady part:\n{}", whole.at_s, tail(log))
    })?;
    Ok(Usage { started_ms, whole, peak_kib, window: (first, last) })
}

/// Runs a generator to its end with few readings, because the bench shares its core with the server. Returns the CPU
/// seconds of the generator.
pub fn run_to_end(command: Command, cores: &Cores, log: &Path, limit: Duration) -> Result<f64> {
    let mut child = start(command, cores.generator, cores, log)?;
    let started = Instant::now();
    while !has_ended(child.0.id())? {
        ensure!(started.elapsed() < limit, "the generator did not end in time:\n{}", tail(log));
        thread::sleep(UNDISTURBED_INTERVAL);
    }
    let cpu_s = cpu_s(child.0.id())?;
    let status = child.0.wait()?;
    ensure!(status.success(), "the generator failed ({status}):\n{}", tail(log));
    Ok(cpu_s)
}

/// The resource usage of a process.
#[derive(Debug, Clone, Copy)]
pub struct ProcessUsage {
    /// The duration in seconds.
    pub at_s: f64,
    /// The CPU seconds, user and system.
    pub cpu_s: f64,
    /// The peak resident memory in KiB, read from the kernel up to 50 ms before the end.
    pub peak_kib: u64,
}

/// Runs a process to its end on the generator's core.
pub fn run_and_measure(command: Command, cores: &Cores, log: &Path, limit: Duration) -> Result<ProcessUsage> {
    let started = Instant::now();
    let mut child = start(command, cores.generator, cores, log)?;
    let pid = child.0.id();
    let mut peak_kib = 0;
    while !has_ended(pid)? {
        ensure!(started.elapsed() < limit, "the program did not end in time:\n{}", tail(log));
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        peak_kib = field_kib(&status, "VmHWM:").unwrap_or(0).max(peak_kib);
        thread::sleep(READ_INTERVAL);
    }
    let (at_s, cpu_s) = (started.elapsed().as_secs_f64(), cpu_s(pid)?);
    let status = child.0.wait()?;
    ensure!(status.success(), "the program failed ({status}):\n{}", tail(log));
    Ok(ProcessUsage { at_s, cpu_s, peak_kib })
}

/// Whether a child has ended; does not wait for it, so that its numbers can still be read.
fn has_ended(pid: u32) -> Result<bool> {
    let pid = Pid::from_raw(i32::try_from(pid)?).context("the child has no process ID")?;
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    Ok(waitid(WaitId::Pid(pid), options)?.is_some())
}

/// The CPU seconds of all threads of a process; the kernel reports them in ticks.
pub fn cpu_s(pid: u32) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let ticks = cpu_ticks(&stat).context("the process has no CPU times")?;
    Ok(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// The sum of `utime` and `stime` in `/proc/PID/stat`, fields 14 and 15; the name, field 2, may contain any characters
/// and ends at the last parenthesis.
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
        ensure!(ended.is_none() && started.elapsed() < PATIENCE, "the server did not start:\n{}", tail(log));
        thread::sleep(READ_INTERVAL);
    }
    Ok(server)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_counted_by_their_end_times() {
        let reading = |at_s| Reading { at_s, ..Reading::default() };
        let mut usage = Usage {
            started_ms: 1_000,
            whole: reading(3.0),
            peak_kib: 0,
            window: (reading(1.0), reading(2.0)),
        };
        usage.count_requests(&[1_500, 2_000, 2_999, 3_000, 3_500]);
        assert_eq!((usage.window.0.requests, usage.window.1.requests, usage.whole.requests), (1, 3, 5));
        assert_eq!(usage.window_rate(), 2.0);
    }

    #[test]
    fn ticks_are_found_after_an_unusual_name() {
        let stat = "42 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 250 31 0 0 20 0 1 0 100";
        assert_eq!(cpu_ticks(stat), Some(281));
    }

    #[test]
    fn rates_refer_to_the_window_and_costs_to_the_whole_run() {
        let reading = |at_s, cpu_s, requests| Reading { at_s, cpu_s, requests, ..Reading::default() };
        let usage = Usage {
            started_ms: 0,
            whole: reading(4.0, 3.0, 300_000),
            peak_kib: 0,
            window: (reading(1.0, 1.0, 50_000), reading(3.0, 2.0, 250_000)),
        };
        assert_eq!(usage.cpu_s_per_100k(), 1.0);
        assert_eq!(usage.window_cpu_s_per_100k(), 0.5);
        assert_eq!(usage.window_rate(), 100_000.0);
        assert_eq!(usage.window_load(), 0.5);
    }
}
