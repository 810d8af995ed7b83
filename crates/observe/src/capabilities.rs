//! The capabilities of this machine for watching sources: facts for `busyhour doctor`.

use std::io::ErrorKind;

use crate::proc_root::ProcRoot;
use crate::sock_diag::DiagSocket;

/// A capability that probes need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capability {
    /// A short name.
    pub name: &'static str,
    /// The purpose of the capability.
    pub purpose: &'static str,
    /// Whether it is available.
    pub state: CapabilityState,
}

/// Whether a capability is available.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CapabilityState {
    /// It is available.
    Available {
        /// Details, such as a version.
        detail: String,
    },
    /// It is available with restrictions.
    Limited {
        /// What is missing, and why.
        reason: String,
        /// Advice to the user.
        advice: String,
    },
    /// It is not available.
    Unavailable {
        /// The reason.
        reason: String,
        /// Advice to the user.
        advice: String,
    },
}

fn available(detail: impl Into<String>) -> CapabilityState {
    CapabilityState::Available { detail: detail.into() }
}

fn limited(reason: impl Into<String>, advice: impl Into<String>) -> CapabilityState {
    CapabilityState::Limited { reason: reason.into(), advice: advice.into() }
}

fn unavailable(reason: impl Into<String>, advice: impl Into<String>) -> CapabilityState {
    CapabilityState::Unavailable { reason: reason.into(), advice: advice.into() }
}

/// Examines the capabilities that probes need on this machine. Reads a few files, starts nothing and changes nothing.
#[must_use]
pub fn capabilities(root: &ProcRoot) -> Vec<Capability> {
    let is_root = root.is_live() && rustix::process::geteuid().is_root();
    let entry = |name, purpose, state| Capability { name, purpose, state };
    vec![
        entry("pressure", "how long work waited for CPU, memory and disks (PSI)", pressure(root)),
        entry("cgroup", "CPU quota, memory limit and pressure of containers and services", cgroup(root)),
        entry("processes", "processes of other users, their sockets and disks", processes(is_root)),
        entry("run-queue", "how long threads waited for a CPU", run_queue(root)),
        entry("sockets", "queues of listening sockets and states of connections (sock_diag)", sockets(root)),
        entry("namespaces", "sockets in network namespaces of containers", namespaces(is_root)),
        entry("perf", "cycles, instructions and cache misses (perf_event_open)", perf(root, is_root)),
        entry("resctrl", "occupancy of caches and memory bandwidth", resctrl(root)),
        entry("hsperfdata", "counters of running JVMs", hsperfdata(root)),
        entry(
            "attach",
            "class histograms, thread dumps and recordings of JVMs; file descriptors of processes",
            ptrace(root, is_root),
        ),
        entry(
            "databases",
            "sessions, locks and transactions of PostgreSQL and MySQL",
            available("with credentials: --observe postgres://USER:PASSWORD@HOST/DATABASE or mysql://…"),
        ),
    ]
}

fn pressure(root: &ProcRoot) -> CapabilityState {
    match root.read_text("/proc/pressure/cpu") {
        Ok(_) => available("/proc/pressure"),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            unavailable("the kernel has no /proc/pressure", "use Linux 4.20 or later, started with psi=1")
        }
        Err(error) => unavailable(format!("/proc/pressure/cpu: {error}"), "start the kernel with psi=1"),
    }
}

fn cgroup(root: &ProcRoot) -> CapabilityState {
    if let Ok(controllers) = root.read_text("/sys/fs/cgroup/cgroup.controllers") {
        let missing: Vec<&str> = ["cpu", "memory", "io", "pids"]
            .into_iter()
            .filter(|name| !controllers.split_whitespace().any(|controller| controller == *name))
            .collect();
        if missing.is_empty() {
            return available(format!("version 2: {controllers}"));
        }
        let advice = "write +cpu +memory +io +pids to cgroup.subtree_control of the parents";
        return limited(format!("version 2 without {}", missing.join(", ")), advice);
    }
    let mounts = root.read("/proc/self/mountinfo", 1 << 20).unwrap_or_default();
    let mounts = String::from_utf8_lossy(&mounts);
    let has = |kind: &str| mounts.lines().any(|line| line.contains(&format!(" - {kind} ")));
    match (has("cgroup"), has("cgroup2")) {
        (true, true) => limited(
            "version 1 with a hierarchy of version 2 beside it: pressure only for processes in the latter",
            "start the kernel with cgroup_no_v1=all",
        ),
        (true, false) => {
            limited("version 1: no pressure", "start the kernel with systemd.unified_cgroup_hierarchy=1")
        }
        (false, true) => available("version 2, not mounted at /sys/fs/cgroup"),
        (false, false) => {
            unavailable("no cgroup file system is mounted", "mount -t cgroup2 none /sys/fs/cgroup")
        }
    }
}

fn processes(is_root: bool) -> CapabilityState {
    if is_root {
        return available("run as root");
    }
    limited(
        "only processes of the current user can be read completely",
        "run as root, or as the user of the system under test",
    )
}

fn run_queue(root: &ProcRoot) -> CapabilityState {
    match root.read_text("/proc/self/schedstat") {
        Ok(_) => available("/proc/PID/schedstat"),
        Err(_) => unavailable("the kernel was built without CONFIG_SCHED_INFO", "use another kernel"),
    }
}

fn sockets(root: &ProcRoot) -> CapabilityState {
    if !root.is_live() {
        return unavailable("a recorded system contains no sockets", "examine the machine itself");
    }
    match DiagSocket::open() {
        Ok(_) => available("netlink"),
        Err(error) => unavailable(
            format!("netlink: {error}"),
            "modprobe inet_diag tcp_diag, or allow AF_NETLINK in the sandbox",
        ),
    }
}

fn namespaces(is_root: bool) -> CapabilityState {
    if is_root {
        return available("run as root");
    }
    limited("queue limits and connection states are only known in the current namespace", "run as root")
}

fn perf(root: &ProcRoot, is_root: bool) -> CapabilityState {
    let Ok(paranoid) = root.read_text("/proc/sys/kernel/perf_event_paranoid") else {
        return unavailable("the kernel was built without CONFIG_PERF_EVENTS", "use another kernel");
    };
    let Ok(level) = paranoid.parse::<i32>() else {
        return unavailable(
            format!("perf_event_paranoid is {paranoid:?}"),
            "set kernel.perf_event_paranoid=1",
        );
    };
    let devices = root.path("/sys/bus/event_source/devices");
    let entries = std::fs::read_dir(devices).into_iter().flatten().flatten();
    let has_counters = entries.take(1_000).any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name == "cpu" || name.starts_with("cpu_") || name.contains("pmuv3") || name.starts_with("armv")
    });
    if level > 2 && !is_root {
        let advice = "sysctl kernel.perf_event_paranoid=1, or give the program CAP_PERFMON";
        return unavailable(format!("perf_event_paranoid is {level}"), advice);
    }
    if !has_counters {
        let reason =
            "only software events: this machine, like many virtual machines, has no hardware counters";
        return limited(reason, "enable the PMU of the virtual machine");
    }
    if level > 0 && !is_root {
        let reason = format!("perf_event_paranoid is {level}: own processes only");
        return limited(reason, "sysctl kernel.perf_event_paranoid=0 for whole cgroups");
    }
    available(format!("perf_event_paranoid is {level}"))
}

fn resctrl(root: &ProcRoot) -> CapabilityState {
    if root.path("/sys/fs/resctrl/info").exists() {
        return available("/sys/fs/resctrl");
    }
    let filesystems = root.read_text("/proc/filesystems").unwrap_or_default();
    if filesystems.split_whitespace().any(|name| name == "resctrl") {
        return unavailable("it is not mounted", "mount -t resctrl resctrl /sys/fs/resctrl");
    }
    unavailable(
        "the processor or the kernel has no resource control (Intel RDT, AMD QoS, Arm MPAM)",
        "use a physical machine with it, and a kernel with CONFIG_X86_CPU_RESCTRL or CONFIG_ARM64_MPAM",
    )
}

fn hsperfdata(root: &ProcRoot) -> CapabilityState {
    let entries = match std::fs::read_dir(root.path("/tmp")) {
        Ok(entries) => entries,
        Err(error) => return unavailable(format!("/tmp: {error}"), "make /tmp readable"),
    };
    let directories = entries
        .flatten()
        .take(10_000)
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with("hsperfdata_")));
    let mut running = 0;
    let mut denied = 0;
    for directory in directories {
        match std::fs::read_dir(directory.path()) {
            Ok(files) => running += files.take(10_000).count(),
            Err(_) => denied += 1,
        }
    }
    if denied > 0 {
        return limited(
            format!("{denied} directories of other users cannot be read"),
            "run as their user or as root",
        );
    }
    available(format!("{running} JVMs with counters in /tmp"))
}

fn ptrace(root: &ProcRoot, is_root: bool) -> CapabilityState {
    let scope = root.read_text("/proc/sys/kernel/yama/ptrace_scope");
    match scope.as_deref() {
        // Without Yama, only the user IDs of the two processes decide.
        Err(_) | Ok("0") => available("processes of the same user"),
        Ok("1") => available(
            "processes of the same user; ptrace_scope is 1, which does not restrict what probes read",
        ),
        Ok("2") if is_root => available("run as root"),
        Ok(scope) => {
            limited(format!("ptrace_scope is {scope}"), "run as root, or sysctl kernel.yama.ptrace_scope=1")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_capabilities_have_states_with_advice() {
        let dir = tempfile::tempdir().unwrap();
        for root in [ProcRoot::live(), ProcRoot::recorded(dir.path())] {
            let all = capabilities(&root);
            assert_eq!(all.len(), 11);
            for capability in &all {
                if let CapabilityState::Limited { reason, advice }
                | CapabilityState::Unavailable { reason, advice } = &capability.state
                {
                    assert!(!reason.is_empty() && !advice.is_empty(), "{capability:?}");
                }
            }
        }
        let empty = capabilities(&ProcRoot::recorded(dir.path()));
        let state = |name: &str| &empty.iter().find(|capability| capability.name == name).unwrap().state;
        for name in ["pressure", "cgroup", "run-queue", "perf", "resctrl", "hsperfdata"] {
            assert!(matches!(state(name), CapabilityState::Unavailable { .. }), "{name}");
        }
    }

    #[test]
    fn kernel_files_determine_the_states() {
        let dir = tempfile::tempdir().unwrap();
        let root = ProcRoot::recorded(dir.path());
        let write = |file: &str, text: &str| {
            let path = dir.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("proc/sys/kernel/perf_event_paranoid", "3\n");
        assert!(matches!(perf(&root, false), CapabilityState::Unavailable { .. }));
        assert!(matches!(perf(&root, true), CapabilityState::Limited { .. }), "no counters");
        write("sys/bus/event_source/devices/cpu/type", "4");
        assert!(matches!(perf(&root, true), CapabilityState::Available { .. }));
        write("proc/sys/kernel/perf_event_paranoid", "2\n");
        assert!(matches!(perf(&root, false), CapabilityState::Limited { .. }));
        write("proc/sys/kernel/perf_event_paranoid", "many\n");
        assert!(matches!(perf(&root, true), CapabilityState::Unavailable { .. }));
        write("sys/fs/cgroup/cgroup.controllers", "cpuset cpu memory pids\n");
        assert_eq!(
            cgroup(&root),
            limited(
                "version 2 without io",
                "write +cpu +memory +io +pids to cgroup.subtree_control of the parents"
            )
        );
        write("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n");
        assert_eq!(cgroup(&root), available("version 2: cpuset cpu io memory pids"));
        write("proc/filesystems", "nodev\tsysfs\nnodev\tresctrl\n");
        assert_eq!(
            resctrl(&root),
            unavailable("it is not mounted", "mount -t resctrl resctrl /sys/fs/resctrl")
        );
        write("proc/sys/kernel/yama/ptrace_scope", "2");
        assert!(matches!(ptrace(&root, false), CapabilityState::Limited { .. }));
        assert!(matches!(ptrace(&root, true), CapabilityState::Available { .. }));
        write("tmp/hsperfdata_x/7", "");
        assert_eq!(hsperfdata(&root), available("1 JVMs with counters in /tmp"));
    }
}
