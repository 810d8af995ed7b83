//! The machine of the bench: its cores, limits and programs.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::{Resource, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The assignment of cores.
#[derive(Debug, Clone, Copy)]
pub struct Cores {
    /// The core of the server, and of the bench itself.
    pub server: usize,
    /// The core of the measured generator.
    pub generator: usize,
}

impl Cores {
    /// Chooses the first and the last core that this process may use. If numbers of siblings are adjacent, these are
    /// the least likely to share a physical core.
    pub fn choose() -> Result<Self> {
        let allowed = sched_getaffinity(None)?;
        let mut cores = (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core));
        let server = cores.next().context("no core to run on")?;
        let generator = cores
            .next_back()
            .context("the bench needs two cores: one for the server, one for the generator")?;
        Ok(Self { server, generator })
    }
}

/// Binds this thread, and everything that it starts afterwards, to a core.
pub fn pin(core: usize) -> Result<()> {
    let mut set = CpuSet::new();
    set.set(core);
    sched_setaffinity(None, &set).with_context(|| format!("cannot run on core {core}"))
}

/// Raises the limit of open files of this process and its children to the system's maximum.
pub fn raise_open_files() -> Result<()> {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).context("cannot raise the limit of open files")
}

/// Describes the machine in one line.
pub fn describe(cores: &Cores) -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    format!(
        "machine: {}, kernel {}, server on core {}, generator on core {}",
        model.map_or("unknown processor", |(_, name)| name),
        read("/proc/sys/kernel/osrelease").trim(),
        cores.server,
        cores.generator,
    )
}

/// Finds a program, or installs its Debian package if possible.
pub fn program(name: &str, package: &str) -> Result<PathBuf> {
    if let Some(path) = find(name) {
        return Ok(path);
    }
    if find("apt-get").is_none() || !rustix::process::geteuid().is_root() {
        bail!("not found; install the package {package}");
    }
    eprintln!("installing {package}");
    for arguments in
        [["update", "-qq"].as_slice(), &["install", "-y", "-qq", "--no-install-recommends", package]]
    {
        let status = Command::new("apt-get").args(arguments).stdout(Stdio::null()).status()?;
        ensure!(status.success(), "apt-get {} failed", arguments.join(" "));
    }
    find(name).with_context(|| format!("the package {package} does not contain {name}"))
}

/// Searches for a program.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // The folder in which Go installs programs.
    let go = std::env::var_os("HOME").map(|home| PathBuf::from(home).join("go/bin"));
    // Servers are installed in sbin, which is not in every user's PATH.
    let folders =
        std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]).chain(go);
    folders.map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// The kernel's memory for sockets, for both ends of each connection, in KiB.
#[derive(Debug, Clone, Copy, Default)]
pub struct KernelMemory {
    /// The size of TCP buffers (`mem` in `/proc/net/sockstat`).
    pub tcp_buffers_kib: u64,
    /// The size of all small kernel objects, including sockets (`Slab` in `/proc/meminfo`).
    pub slab_kib: u64,
}

impl KernelMemory {
    /// The current value; zero if the kernel does not report it.
    pub fn read() -> Self {
        let sockstat = fs::read_to_string("/proc/net/sockstat").unwrap_or_default();
        let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        Self {
            tcp_buffers_kib: tcp_pages(&sockstat).unwrap_or(0) * (rustix::param::page_size() as u64 / 1024),
            slab_kib: field_kib(&meminfo, "Slab:").unwrap_or(0),
        }
    }
}

/// A field in kB of `/proc/PID/status` or `/proc/meminfo`.
pub fn field_kib(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The CPU seconds for which all cores were busy since the machine started, including steal; `None` if the kernel does
/// not report them.
pub fn busy_s() -> Option<f64> {
    let ticks = busy_ticks(&fs::read_to_string("/proc/stat").ok()?)?;
    Some(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// The CPU seconds that the hypervisor stole from all cores since the machine started; `None` if the kernel does not
/// report them.
pub fn steal_s() -> Option<f64> {
    let [.., steal] = ticks(&fs::read_to_string("/proc/stat").ok()?)?;
    Some(steal as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// The first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal.
fn ticks(stat: &str) -> Option<[u64; 8]> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let fields: Vec<u64> = line.split_whitespace().map_while(|field| field.parse().ok()).take(8).collect();
    fields.try_into().ok()
}

fn busy_ticks(stat: &str) -> Option<u64> {
    let [user, nice, system, _idle, _wait, irq, softirq, steal] = ticks(stat)?;
    Some(user + nice + system + irq + softirq + steal)
}

fn tcp_pages(sockstat: &str) -> Option<u64> {
    let line = sockstat.lines().find_map(|line| line.strip_prefix("TCP:"))?;
    let mut words = line.split_whitespace();
    words.find(|word| *word == "mem")?;
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_time_is_not_busy() {
        let stat = "cpu  100 1 20 9000 50 3 4 5 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        assert_eq!(busy_ticks(stat), Some(133));
        assert_eq!(ticks(stat).map(|ticks| ticks[7]), Some(5));
        assert_eq!(busy_ticks("cpu  1 2\n"), None);
    }

    #[test]
    fn status_fields_are_parsed() {
        let status = "Name:\tx\nVmHWM:\t    5120 kB\nVmRSS:\t    4096 kB\n";
        assert_eq!(field_kib(status, "VmHWM:"), Some(5120));
        assert_eq!(field_kib(status, "VmSwap:"), None);
    }

    #[test]
    fn tcp_pages_are_parsed() {
        let text = "sockets: used 231\nTCP: inuse 16 orphan 0 tw 4 alloc 18 mem 7\nUDP: inuse 2 mem 3\n";
        assert_eq!(tcp_pages(text), Some(7));
        assert_eq!(tcp_pages("TCP: inuse 1\n"), None);
    }
}
