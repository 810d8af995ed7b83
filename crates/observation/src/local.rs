//! Sources on this machine: the operating system, processes, Java virtual machines, and the counters of caches and cores.

use std::collections::BTreeSet;
use std::net::{SocketAddr, ToSocketAddrs as _};

use busyhour_observe::jvm::{FoundJvm, JvmProbe, find_jvms};
use busyhour_observe::perf::{PerfProbe, PerfTarget};
use busyhour_observe::rdt::{MountedFiles, RdtProbe, Resctrl};
use busyhour_observe::{
    DiscoveredEntry, DiscoveryStart, EntryOrigin, FoundNeighbours, FoundProcess, Location, NeighbourProbe,
    ObservableSource, OsProbe, ProcRoot, SourceAvailability, StallProbe, discover_from, find_processes,
};
use busyhour_program::clock::Clock;

use crate::jvm_stacks::JvmStacks;
use crate::log_redaction::log_redactor;
use crate::neighbours_file::{NeighbourSink, NeighboursSoFar};
use crate::request::ObservationRequest;
use crate::selected::Selected;
use crate::source_line::{LineState, SourceLine};
use crate::source_spec::{ProcessName, SourceSpec};

/// Maximum number of processes that one name selects.
const MATCHES_MAX: usize = 64;

/// Maximum number of JVMs of an observation that searches for new ones. A JVM that ended counts, too.
const JVMS_MAX: usize = 64;

/// The directory in which the counters of caches are mounted.
const RESCTRL: &str = "/sys/fs/resctrl";

/// Adds the probes of a source if it is on this machine.
pub(crate) fn select(
    source: &SourceSpec,
    request: &ObservationRequest,
    clock: &Clock,
    selected: &mut Selected,
) {
    let root = ProcRoot::live();
    match source {
        SourceSpec::Auto => add_targets(&root, request, clock, selected),
        SourceSpec::Os => add_machine(&root, clock, selected),
        SourceSpec::Process(name) => {
            for pid in pids(&root, "process", name, selected) {
                add_found(&root, &discover_from(&root, &[DiscoveryStart::Process(pid)]), selected);
                if !selected.has(&format!("process:{pid}")) {
                    let reason = format!("there is no process {pid}");
                    selected.refuse(SourceLine::not_watched("process", reason, ""));
                }
            }
        }
        SourceSpec::Jvm(name) => add_jvms(&root, name.as_ref(), request.finds_new_jvms, selected),
        SourceSpec::Rdt => add_rdt(selected),
        SourceSpec::Perf(name) => add_perf(&root, name.as_ref(), selected),
        SourceSpec::Stacks(name) => add_stacks(&root, name.as_ref(), request, selected),
        SourceSpec::Prometheus(_)
        | SourceSpec::Postgres(_)
        | SourceSpec::MySql(_)
        | SourceSpec::GcLog(_)
        | SourceSpec::Log(_)
        | SourceSpec::Journal(_) => {}
    }
}

/// Adds the probe of neighbours, if this machine or one of its processes is watched. Returns what it finds.
pub(crate) fn add_neighbours(
    selected: &mut Selected,
    sink: Option<NeighbourSink>,
) -> Option<NeighboursSoFar> {
    if !selected.has("os") && selected.watched_pids().is_empty() {
        return None;
    }
    let found = FoundNeighbours::default();
    let probe = NeighbourProbe::new(&ProcRoot::live(), &found, sink);
    selected.probes.push(Box::new(probe));
    Some(Box::new(move || found.get()))
}

/// Adds the processes behind the targets, and this machine if one of the targets is on it.
fn add_targets(root: &ProcRoot, request: &ObservationRequest, clock: &Clock, selected: &mut Selected) {
    let starts: Vec<_> =
        request.targets.iter().map(|(host, port)| DiscoveryStart::Target { host, port: *port }).collect();
    let found = discover_from(root, &starts);
    if found.iter().any(|entry| is_on_this_machine(&entry.location)) {
        add_machine(root, clock, selected);
    }
    add_found(root, &found, selected);
}

/// Adds processes that were not found before: those that receive the load, and those behind the targets.
pub(crate) fn add_new_processes(request: &ObservationRequest, clock: &Clock, selected: &mut Selected) {
    let root = ProcRoot::live();
    let mut starts: Vec<_> =
        request.targets.iter().map(|(host, port)| DiscoveryStart::Target { host, port: *port }).collect();
    if request.is_generator {
        starts.push(DiscoveryStart::PeersOf(std::process::id()));
    }
    let found = discover_from(&root, &starts);
    // Only processes are added. Other entries were reported before, or are not under test, such as a server that receives
    // metrics.
    let own_servers = addresses(&request.own_servers);
    let processes: Vec<DiscoveredEntry> = found
        .into_iter()
        .filter(|entry| entry.process().is_some() && !is_own_server(entry, &own_servers))
        .collect();
    if !processes.is_empty() {
        add_machine(&root, clock, selected);
    }
    add_found(&root, &processes, selected);
}

/// The addresses of servers. A name that cannot be resolved has none.
fn addresses(servers: &[(String, u16)]) -> BTreeSet<SocketAddr> {
    let resolved = servers.iter().filter_map(|(host, port)| (host.as_str(), *port).to_socket_addrs().ok());
    resolved.flatten().collect()
}

/// Whether an entry is one of these servers, and was only found because this process is connected to it.
fn is_own_server(entry: &DiscoveredEntry, servers: &BTreeSet<SocketAddr>) -> bool {
    let own = std::process::id();
    let is_own =
        |origin: &EntryOrigin| matches!(origin, EntryOrigin::ConnectionOf { pid, .. } if *pid == own);
    entry.origins.iter().all(is_own) && entry.address.is_some_and(|address| servers.contains(&address))
}

/// Adds JVMs that started during the observation; returns whether to search again. `seen` are the unknown JVMs of the previous search.
/// A JVM is added when it is seen for the second time: if it is the successor of one that ended, its probe has recognized it until then.
pub(crate) fn look_for_jvms(
    request: &ObservationRequest,
    seen: &mut BTreeSet<u32>,
    selected: &mut Selected,
) -> bool {
    let root = ProcRoot::live();
    let names: Vec<Option<&ProcessName>> = request.sources.iter().filter_map(named_jvm).collect();
    let is_new = |jvm: &&FoundJvm| {
        !selected.watched_jvms.contains(jvm.pid)
            && !selected.has(&format!("jvm:{}", jvm.pid))
            && names.iter().any(|name| jvm_matches(jvm, *name))
    };
    let found = find_jvms(&root).unwrap_or_default();
    let new: BTreeSet<u32> = found.jvms.iter().filter(is_new).map(|jvm| jvm.pid).collect();
    for pid in new.intersection(seen) {
        if selected.jvms() >= JVMS_MAX {
            let reason = format!("{JVMS_MAX} JVMs have been watched");
            selected.refuse(SourceLine::not_watched("further JVMs", reason, "restart the observation"));
            return false;
        }
        add_jvm(&root, *pid, selected);
    }
    *seen = new;
    true
}

fn named_jvm(source: &SourceSpec) -> Option<Option<&ProcessName>> {
    match source {
        SourceSpec::Jvm(name) => Some(name.as_ref()),
        SourceSpec::Auto
        | SourceSpec::Os
        | SourceSpec::Process(_)
        | SourceSpec::Prometheus(_)
        | SourceSpec::Postgres(_)
        | SourceSpec::MySql(_)
        | SourceSpec::GcLog(_)
        | SourceSpec::Log(_)
        | SourceSpec::Journal(_)
        | SourceSpec::Rdt
        | SourceSpec::Perf(_)
        | SourceSpec::Stacks(_) => None,
    }
}

fn is_on_this_machine(location: &Location) -> bool {
    match location {
        Location::Process(_) | Location::Hidden { .. } | Location::NothingListens => true,
        Location::Remote | Location::Unresolved { .. } => false,
    }
}

fn add_machine(root: &ProcRoot, clock: &Clock, selected: &mut Selected) {
    if selected.has("os") {
        return;
    }
    selected.add_watched(Box::new(OsProbe::new(root)), "this machine");
    match StallProbe::start(clock) {
        Ok(probe) => selected.add_watched(Box::new(probe), "stalls of this machine"),
        Err(error) => selected.refuse(SourceLine::not_watched(
            "stall",
            format!("the thread that measures stalls cannot be started: {error}"),
            "",
        )),
    }
}

fn add_found(root: &ProcRoot, found: &[DiscoveredEntry], selected: &mut Selected) {
    for entry in found {
        let Some(process) = entry.process() else {
            let about = origins(entry);
            for source in &entry.sources {
                let name = entry.address.map_or_else(|| source.name.clone(), |address| address.to_string());
                selected.refuse(SourceLine { name, ..line(source, &about) });
            }
            continue;
        };
        let name = format!("process:{}", process.pid);
        let is_watched = selected.has(&name) || selected.watched_processes.contains(root, process.pid);
        if process.pid == std::process::id() || is_watched {
            continue;
        }
        add_process(root, entry, process, selected);
    }
}

/// Adds all sources of a process.
fn add_process(root: &ProcRoot, entry: &DiscoveredEntry, process: &FoundProcess, selected: &mut Selected) {
    let about = format!("{} ({}), {}", process.command, process.kind.as_str(), origins(entry));
    let (probes, errors) = entry.probes_listed_in(root, &selected.watched_processes);
    for probe in probes {
        let known = entry.sources.iter().find(|source| source.name == probe.source());
        let of_process = probe.source().starts_with("process:");
        let about = if of_process { about.as_str() } else { process.command.as_str() };
        let line = match known {
            Some(source) => line(source, about),
            None => SourceLine::watched(probe.source(), about),
        };
        selected.add(probe, line);
    }
    for error in errors {
        selected.refuse(SourceLine::not_watched("process", error.to_string(), ""));
    }
    for source in &entry.sources {
        let is_jvm = source.name.starts_with("jvm:");
        match &source.availability {
            SourceAvailability::Available | SourceAvailability::Limited { .. } if is_jvm => {
                add_jvm(root, process.pid, selected);
            }
            SourceAvailability::Available | SourceAvailability::Limited { .. } => {}
            SourceAvailability::Unavailable { .. } => selected.refuse(line(source, &process.command)),
        }
    }
}

fn line(source: &ObservableSource, about: &str) -> SourceLine {
    let state = match &source.availability {
        SourceAvailability::Available => LineState::Observed,
        SourceAvailability::Limited { missing, advice } => {
            LineState::Limited { missing: missing.clone(), advice: advice.clone() }
        }
        SourceAvailability::Unavailable { reason, advice } => {
            LineState::NotObserved { reason: reason.clone(), advice: advice.clone() }
        }
    };
    SourceLine { name: source.name.clone(), about: about.to_owned(), state }
}

/// How an entry was found: `target shop:8080`, `behind java (4711)`.
fn origins(entry: &DiscoveredEntry) -> String {
    let own = std::process::id();
    let texts: Vec<String> = entry
        .origins
        .iter()
        .map(|origin| match origin {
            EntryOrigin::Target { host, port } => format!("target {host}:{port}"),
            EntryOrigin::Named { .. } => "named by the user".to_owned(),
            EntryOrigin::ConnectionOf { pid, .. } if *pid == own => {
                "this process is connected to it".to_owned()
            }
            EntryOrigin::ConnectionOf { pid, command, .. } => format!("behind {command} ({pid})"),
        })
        .collect();
    texts.join(", ")
}

fn add_jvm(root: &ProcRoot, pid: u32, selected: &mut Selected) {
    if selected.has(&format!("jvm:{pid}")) {
        return;
    }
    match JvmProbe::open(root, pid) {
        Ok(probe) => {
            let about = probe.identity().map_or_else(String::new, |identity| {
                let name = identity.name.as_deref().unwrap_or("JVM");
                format!("{name}, {}, {}", identity.jdk(), identity.collector.name())
            });
            let probe = probe.listed_in(&selected.watched_jvms);
            selected.add_watched(Box::new(probe), &about);
        }
        Err(error) => selected.refuse(SourceLine::not_watched(
            format!("jvm:{pid}"),
            busyhour_diagnostic::io_hints::chain(&error),
            error.advice(),
        )),
    }
}

/// Whether a JVM has this process ID, or this text in its name.
fn jvm_matches(jvm: &FoundJvm, name: Option<&ProcessName>) -> bool {
    match name {
        Some(ProcessName::Matching(text)) => {
            let own_name = jvm.identity.name.as_deref().unwrap_or_default();
            own_name.to_lowercase().contains(&text.to_lowercase())
        }
        Some(ProcessName::Pid(pid)) => jvm.pid == *pid,
        None => true,
    }
}

fn add_jvms(root: &ProcRoot, name: Option<&ProcessName>, finds_new: bool, selected: &mut Selected) {
    jvm_pids(root, "jvm", name, finds_new, selected).into_iter().for_each(|pid| add_jvm(root, pid, selected));
}

/// Attaches to JVMs whose stacks are requested.
fn add_stacks(
    root: &ProcRoot,
    name: Option<&ProcessName>,
    request: &ObservationRequest,
    selected: &mut Selected,
) {
    for pid in jvm_pids(root, "stacks:jvm", name, false, selected) {
        let source = format!("stacks:jvm:{pid}");
        if selected.has(&source) {
            continue;
        }
        match JvmStacks::connect(root, pid, log_redactor(request.keep_secrets)) {
            Ok(reader) => selected.add_stacks(Box::new(reader), "thread dumps, which stop the application"),
            Err(error) => {
                let reason = busyhour_diagnostic::io_hints::chain(&error);
                let advice = "thread dumps need a JVM of HotSpot, and its user or root";
                selected.refuse(SourceLine::not_watched(source, reason, advice));
            }
        }
    }
}

/// The JVMs that a name selects.
fn jvm_pids(
    root: &ProcRoot,
    source: &str,
    name: Option<&ProcessName>,
    finds_new: bool,
    selected: &mut Selected,
) -> Vec<u32> {
    if let Some(ProcessName::Pid(pid)) = name {
        return vec![*pid];
    }
    let found = match find_jvms(root) {
        Ok(found) => found,
        Err(error) => {
            selected.refuse(SourceLine::not_watched(source, error.to_string(), ""));
            return Vec::new();
        }
    };
    let matching: Vec<u32> =
        found.jvms.iter().filter(|jvm| jvm_matches(jvm, name)).map(|jvm| jvm.pid).collect();
    if matching.is_empty() {
        let names: Vec<&str> =
            found.jvms.iter().take(8).filter_map(|jvm| jvm.identity.name.as_deref()).collect();
        let others = match (names.as_slice(), found.denied) {
            ([], 0) => "no JVM is visible".to_owned(),
            ([], denied) => format!("{denied} processes of other users cannot be examined"),
            (names, _) => format!("visible: {}", names.join(", ")),
        };
        let reason = match name {
            Some(ProcessName::Matching(text)) => format!("no JVM is named {text:?} ({others})"),
            Some(ProcessName::Pid(_)) | None => format!("no JVM was found ({others})"),
        };
        let advice =
            if finds_new { "one that starts later will be watched" } else { found.advice_if_missing() };
        selected.refuse(SourceLine::not_watched(source, reason, advice));
    }
    matching.into_iter().take(MATCHES_MAX).collect()
}

fn add_rdt(selected: &mut Selected) {
    if !std::path::Path::new(RESCTRL).join("info").is_dir() {
        let advice = "`busyhour doctor` says whether this machine has such counters, and how to mount them";
        return selected.refuse(SourceLine::not_watched("rdt", format!("{RESCTRL} is not mounted"), advice));
    }
    let probe = RdtProbe::new(Resctrl::new(Box::new(MountedFiles::new(RESCTRL))));
    selected.add_watched(Box::new(probe), RESCTRL);
}

fn add_perf(root: &ProcRoot, name: Option<&ProcessName>, selected: &mut Selected) {
    let pids = match name {
        Some(name) => pids(root, "perf", name, selected),
        // Without a name: the processes that are watched so far.
        None => selected.watched_pids(),
    };
    if pids.is_empty() && name.is_none() {
        selected.refuse(SourceLine::not_watched(
            "perf",
            "no process is watched",
            "name one: perf:4711, or put perf after auto or process:4711",
        ));
    }
    for pid in pids {
        if !root.process(pid, "stat").exists() {
            selected.refuse(SourceLine::not_watched("perf", format!("there is no process {pid}"), ""));
            continue;
        }
        selected.add_watched(Box::new(PerfProbe::new(PerfTarget::Process(pid))), "");
    }
}

/// The processes that a name selects.
fn pids(root: &ProcRoot, kind: &str, name: &ProcessName, selected: &mut Selected) -> Vec<u32> {
    match name {
        ProcessName::Pid(pid) => vec![*pid],
        ProcessName::Matching(text) => {
            let mut found = find_processes(root, text);
            if found.is_empty() {
                let reason = format!("no process has {text:?} in its command line");
                selected.refuse(SourceLine::not_watched(kind, reason, "name the process by its ID"));
            } else if found.len() > MATCHES_MAX {
                let reason = format!(
                    "only {MATCHES_MAX} of the {} processes that match {text:?} are watched",
                    found.len()
                );
                selected.refuse(SourceLine::not_watched(
                    kind,
                    reason,
                    "use a longer part of the command line",
                ));
                found.truncate(MATCHES_MAX);
            }
            found
        }
    }
}
