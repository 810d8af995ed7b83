//! What can be watched of an entry, and what would enable the rest.

use std::io::ErrorKind;

use crate::cgroup::CgroupError;
use crate::fields::{fields, lines, number};
use crate::proc_root::{ProcRoot, read_bounded};

use super::found::{FoundProcess, Location, NetworkNamespace, ObservableSource, SourceAvailability};
use super::kind::ServerKind;

/// Entries of a directory for temporary files that are looked at.
const TEMPORARY_FILES_MAX: usize = 10_000;

fn available(name: impl Into<String>) -> ObservableSource {
    ObservableSource { name: name.into(), availability: SourceAvailability::Available }
}

fn partly(name: impl Into<String>, missing: &str, advice: &str) -> ObservableSource {
    let availability = SourceAvailability::Partly { missing: missing.to_owned(), advice: advice.to_owned() };
    ObservableSource { name: name.into(), availability }
}

fn unavailable(
    name: impl Into<String>,
    reason: impl Into<String>,
    advice: impl Into<String>,
) -> ObservableSource {
    let availability = SourceAvailability::Unavailable { reason: reason.into(), advice: advice.into() };
    ObservableSource { name: name.into(), availability }
}

/// Sources of an entry without a visible process.
pub(super) fn sources_elsewhere(location: &Location) -> Vec<ObservableSource> {
    let (reason, advice) = match location {
        Location::Process(_) => return Vec::new(),
        Location::Hidden { uid } => (
            format!("it belongs to the user {uid}, whose processes are not visible"),
            format!("run as root or as the user {uid}, or name the process with --pid"),
        ),
        Location::NothingListens => {
            (String::from("nothing listens at this address"), String::from("start the system before the run"))
        }
        Location::Remote => (
            String::from(
                "the address belongs to another machine or to a network namespace that is not visible",
            ),
            String::from(
                "run `busyhour observe --serve` there and add --observe http://HOST:PORT/metrics; for a container of this machine, run as root",
            ),
        ),
        Location::Unresolved { reason } => {
            (format!("its name cannot be resolved: {reason}"), String::from("check the name"))
        }
    };
    vec![unavailable("process", reason, advice)]
}

/// Sources of a visible process.
pub(super) fn sources_of_process(
    root: &ProcRoot,
    process: &FoundProcess,
    cgroup_error: Option<&CgroupError>,
) -> Vec<ObservableSource> {
    vec_of([
        Some(process_source(root, process.pid)),
        Some(cgroup_source(process, cgroup_error)),
        network_source(root, process),
        server_source(root, process),
    ])
}

fn vec_of<const N: usize>(sources: [Option<ObservableSource>; N]) -> Vec<ObservableSource> {
    sources.into_iter().flatten().collect()
}

fn process_source(root: &ProcRoot, pid: u32) -> ObservableSource {
    let name = format!("process:{pid}");
    // Input and output need the permission that the other parts need, too.
    let io = read_bounded(&root.process(pid, "io"), 1);
    if io.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied) {
        return partly(
            name,
            "input and output, descriptors and proportional memory",
            "run as its user or as root",
        );
    }
    available(name)
}

fn cgroup_source(process: &FoundProcess, error: Option<&CgroupError>) -> ObservableSource {
    let advice = "start it in one: systemd-run --scope COMMAND, or in a container";
    match &process.cgroup {
        Some(cgroup) if cgroup.is_root() => {
            unavailable("cgroup", "the process has no cgroup of its own", advice)
        }
        Some(cgroup) => available(format!("cgroup:{}", cgroup.name())),
        None => unavailable("cgroup", error.map_or_else(String::new, ToString::to_string), advice),
    }
}

fn network_source(root: &ProcRoot, process: &FoundProcess) -> Option<ObservableSource> {
    if process.namespace == NetworkNamespace::Own {
        return None;
    }
    let name = format!("network:{}", process.pid);
    if root.is_live() && !rustix::process::geteuid().is_root() {
        return Some(partly(
            name,
            "limits of queues and states of connections",
            "run as root to enter its namespace",
        ));
    }
    Some(available(name))
}

fn server_source(root: &ProcRoot, process: &FoundProcess) -> Option<ObservableSource> {
    let port = process.listens_on.first().map_or(0, std::net::SocketAddr::port);
    let credentials = |scheme: &str| {
        unavailable(
            scheme,
            "it needs credentials",
            format!("add --observe {scheme}://USER:PASSWORD@127.0.0.1:{port}/DATABASE"),
        )
    };
    let log = |what: &str| {
        unavailable("log", format!("the place of its {what} is not known"), "add --observe log:FILE")
    };
    match process.kind {
        ServerKind::Jvm => Some(jvm_source(root, process.pid)),
        ServerKind::PostgreSql => Some(credentials("postgres")),
        ServerKind::MySql => Some(credentials("mysql")),
        ServerKind::Nginx | ServerKind::Httpd => Some(log("access log")),
        ServerKind::Node | ServerKind::Python | ServerKind::Other => Some(log("log")),
    }
}

/// Whether a JVM has a file of performance counters: `tmp/hsperfdata_USER/NUMBER` in its own file system, with the number that the
/// process has in its own process namespace.
fn jvm_source(root: &ProcRoot, pid: u32) -> ObservableSource {
    let name = format!("jvm:{pid}");
    let status = read_bounded(&root.process(pid, "status"), 8192).unwrap_or_default();
    let inner = lines(&status).find_map(|line| fields(line.strip_prefix(b"NSpid:")?).last().and_then(number));
    let inner = inner.unwrap_or(u64::from(pid));
    let temporary = root.process(pid, "root/tmp");
    let entries = match std::fs::read_dir(&temporary) {
        Ok(entries) => entries,
        Err(error) => {
            let reason = format!("its directory of temporary files cannot be read: {error}");
            return unavailable(name, reason, "run as its user or as root");
        }
    };
    let mut denied = false;
    for entry in entries.flatten().take(TEMPORARY_FILES_MAX) {
        if entry.file_name().to_str().is_some_and(|name| name.starts_with("hsperfdata_")) {
            match std::fs::File::open(entry.path().join(inner.to_string())) {
                Ok(_) => return available(name),
                Err(error) => denied |= error.kind() == ErrorKind::PermissionDenied,
            }
        }
    }
    if denied {
        return unavailable(
            name,
            "its performance counters belong to another user",
            "run as its user or as root",
        );
    }
    unavailable(
        name,
        "it writes no performance counters (-XX:-UsePerfData, -XX:+PerfDisableSharedMem, OpenJ9 or a native image)",
        "remove the option",
    )
}
