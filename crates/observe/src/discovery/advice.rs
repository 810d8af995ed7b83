//! Determines which sources of an entry can be watched, and what would enable the others.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::cgroup::CgroupError;
use crate::jvm;
use crate::proc_root::{ProcRoot, read_bounded};

use super::found::{FoundProcess, Location, NetworkNamespace, ObservableSource, SourceAvailability};
use super::kind::ServerKind;

fn available(name: impl Into<String>) -> ObservableSource {
    ObservableSource { name: name.into(), availability: SourceAvailability::Available }
}

fn partly(name: impl Into<String>, missing: &str, advice: &str) -> ObservableSource {
    let availability = SourceAvailability::Limited { missing: missing.to_owned(), advice: advice.to_owned() };
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

/// Sources of an entry without a visible process; `limit` is a limit that was reached, which may be the reason.
pub(super) fn sources_elsewhere(location: &Location, limit: Option<&str>) -> Vec<ObservableSource> {
    let (reason, advice) = match location {
        Location::Process(_) => return Vec::new(),
        Location::Hidden { uid } => (
            format!("it belongs to the user {uid}, whose processes are not visible"),
            format!("run as root or as the user {uid}, or name the process with --pid"),
        ),
        Location::NothingListens => {
            (String::from("nothing listens on this address"), String::from("start the system before the run"))
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
    let reason = match limit {
        Some(limit) => format!("{reason} ({limit})"),
        None => reason,
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
    // Reading input and output requires the same permission as the other parts.
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
    let credentials = |scheme: &str, without_port: &str| {
        let address = match address_to_use(process) {
            Some(address) => format!("{address}/DATABASE"),
            None => without_port.to_owned(),
        };
        unavailable(
            scheme,
            "it needs credentials",
            format!("add --observe {scheme}://USER:PASSWORD@{address}"),
        )
    };
    let log = |what: &str| {
        unavailable("log", format!("the location of its {what} is not known"), "add --observe log:FILE")
    };
    match process.kind {
        ServerKind::Jvm => Some(jvm_source(root, process.pid)),
        ServerKind::PostgreSql => Some(credentials("postgres", "%2FDIRECTORY/DATABASE")),
        ServerKind::MySql => Some(credentials("mysql", "localhost/DATABASE?socket=PATH")),
        ServerKind::Nginx | ServerKind::Httpd => Some(log("access log")),
        ServerKind::Node | ServerKind::Python | ServerKind::Other => Some(log("log")),
    }
}

/// The address for connections to a server on this machine; `None` if it listens on Unix sockets only.
fn address_to_use(process: &FoundProcess) -> Option<SocketAddr> {
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    process.listens_on.first().map(|address| match address.ip().is_unspecified() {
        true => SocketAddr::new(loopback, address.port()),
        false => *address,
    })
}

/// Whether the performance counters of a JVM can be read.
fn jvm_source(root: &ProcRoot, pid: u32) -> ObservableSource {
    let name = format!("jvm:{pid}");
    let Err(error) = jvm::check_counters(root, pid) else { return available(name) };
    let advice = error.advice();
    unavailable(name, chain(&error), advice)
}

/// The error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |error| error.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
