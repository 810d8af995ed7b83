//! The list of sources of `--observe`.

use std::path::PathBuf;

/// A source that the user names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceSpec {
    /// All sources that are found behind the targets of the run.
    Auto,
    /// The operating system of this machine, and its stalls.
    Os,
    /// A process and its descendants.
    Process(ProcessName),
    /// The performance counters of a Java virtual machine; `None` selects all that are visible.
    Jvm(Option<ProcessName>),
    /// A garbage-collection log.
    GcLog(PathBuf),
    /// An application or access log.
    Log(PathBuf),
    /// The journal of systemd, of one unit if it is named.
    Journal(Option<String>),
    /// Metrics in Prometheus' text format.
    Prometheus(String),
    /// A PostgreSQL server, with credentials.
    Postgres(String),
    /// A MySQL or MariaDB server, with credentials.
    MySql(String),
    /// Occupancy of caches and memory bandwidth (resctrl).
    Rdt,
    /// Counters of the processor for a process; `None` selects the processes that are watched so far.
    Perf(Option<ProcessName>),
    /// Stacks of the threads of a Java virtual machine, by thread dumps; `None` selects all that are visible.
    Stacks(Option<ProcessName>),
}

/// How the user names a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessName {
    /// By its process ID.
    Pid(u32),
    /// By a part of its name or command line.
    Matching(String),
}

/// Why a list of sources cannot be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SourceSpecError {
    /// A source that does not exist.
    #[error("{name:?} is not a source; sources: {KINDS}")]
    Unknown {
        /// The name.
        name: String,
    },
    /// The value after the colon is missing.
    #[error("{name} needs a value, such as {example}")]
    NoValue {
        /// The kind of source.
        name: &'static str,
        /// An example.
        example: &'static str,
    },
    /// The list has an empty entry.
    #[error("the list of sources has an empty entry")]
    Empty,
}

const KINDS: &str = "auto, none, os, process:PID, jvm[:NAME], gc:FILE, log:FILE, journal[:UNIT], prometheus:URL, \
     postgres://USER:PASSWORD@HOST/DATABASE, mysql://USER:PASSWORD@HOST/DATABASE, rdt, perf[:PID], stacks:jvm[:NAME]";

/// Reads a list of sources, separated by commas. `none` is the empty list. A comma within the value of a source is written `\,`.
///
/// # Errors
/// A source is unknown or incomplete.
pub fn parse_sources(text: &str) -> Result<Vec<SourceSpec>, SourceSpecError> {
    if text.trim() == "none" {
        return Ok(Vec::new());
    }
    split(text).iter().map(|entry| parse_source(entry.trim())).collect()
}

/// Splits at commas that do not follow a backslash.
fn split(text: &str) -> Vec<String> {
    let mut entries = vec![String::new()];
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            ',' => entries.push(String::new()),
            '\\' if characters.peek() == Some(&',') => {
                characters.next();
                push(&mut entries, ',');
            }
            other => push(&mut entries, other),
        }
    }
    entries
}

fn push(entries: &mut [String], character: char) {
    if let Some(last) = entries.last_mut() {
        last.push(character);
    }
}

fn parse_source(entry: &str) -> Result<SourceSpec, SourceSpecError> {
    if entry.is_empty() {
        return Err(SourceSpecError::Empty);
    }
    if entry.starts_with("http://") || entry.starts_with("https://") {
        return Ok(SourceSpec::Prometheus(entry.to_owned()));
    }
    if entry.starts_with("postgres://") || entry.starts_with("postgresql://") {
        return Ok(SourceSpec::Postgres(entry.to_owned()));
    }
    if entry.starts_with("mysql://") || entry.starts_with("mariadb://") {
        return Ok(SourceSpec::MySql(entry.to_owned()));
    }
    let (kind, value) = match entry.split_once(':') {
        Some((kind, value)) => (kind, Some(value.trim()).filter(|value| !value.is_empty())),
        None => (entry, None),
    };
    let needed = |name, example| value.ok_or(SourceSpecError::NoValue { name, example });
    match kind {
        "auto" => Ok(SourceSpec::Auto),
        "os" => Ok(SourceSpec::Os),
        "process" | "pid" => Ok(SourceSpec::Process(process_name(needed("process", "process:4711")?))),
        "jvm" => Ok(SourceSpec::Jvm(value.map(process_name))),
        "gc" => Ok(SourceSpec::GcLog(needed("gc", "gc:/var/log/shop/gc.log")?.into())),
        "log" => Ok(SourceSpec::Log(needed("log", "log:/var/log/shop/server.log")?.into())),
        "journal" => Ok(SourceSpec::Journal(value.map(str::to_owned))),
        "prometheus" => {
            Ok(SourceSpec::Prometheus(needed("prometheus", "prometheus:http://sut:9100/metrics")?.to_owned()))
        }
        "rdt" => Ok(SourceSpec::Rdt),
        "perf" => Ok(SourceSpec::Perf(value.map(process_name))),
        "stacks" => stacks(needed("stacks", "stacks:jvm:4711")?),
        other => Err(SourceSpecError::Unknown { name: other.to_owned() }),
    }
}

/// Reads what follows `stacks:`.
fn stacks(value: &str) -> Result<SourceSpec, SourceSpecError> {
    match value.split_once(':').unwrap_or((value, "")) {
        ("jvm", "") => Ok(SourceSpec::Stacks(None)),
        ("jvm", name) => Ok(SourceSpec::Stacks(Some(process_name(name.trim())))),
        _ => Err(SourceSpecError::Unknown { name: format!("stacks:{value}") }),
    }
}

fn process_name(text: &str) -> ProcessName {
    match text.parse() {
        Ok(pid) => ProcessName::Pid(pid),
        Err(_) => ProcessName::Matching(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_sources_is_read() {
        let text = "os, jvm:shop,jvm,gc:/var/log/gc.log,log:a\\,b.log,http://sut:9100/metrics,prometheus:https://sut/m,\
                    postgres://me:secret@db/shop,mysql://me:secret@db/shop,process:12,perf,rdt,journal:shop.service,stacks:jvm:shop,stacks:jvm,auto";
        let sources = parse_sources(text).unwrap();
        let shop = || ProcessName::Matching("shop".into());
        assert_eq!(
            sources,
            [
                SourceSpec::Os,
                SourceSpec::Jvm(Some(shop())),
                SourceSpec::Jvm(None),
                SourceSpec::GcLog("/var/log/gc.log".into()),
                SourceSpec::Log("a,b.log".into()),
                SourceSpec::Prometheus("http://sut:9100/metrics".into()),
                SourceSpec::Prometheus("https://sut/m".into()),
                SourceSpec::Postgres("postgres://me:secret@db/shop".into()),
                SourceSpec::MySql("mysql://me:secret@db/shop".into()),
                SourceSpec::Process(ProcessName::Pid(12)),
                SourceSpec::Perf(None),
                SourceSpec::Rdt,
                SourceSpec::Journal(Some("shop.service".into())),
                SourceSpec::Stacks(Some(shop())),
                SourceSpec::Stacks(None),
                SourceSpec::Auto,
            ]
        );
        assert_eq!(parse_sources("none"), Ok(Vec::new()));
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(parse_sources("os,,jvm"), Err(SourceSpecError::Empty));
        assert_eq!(
            parse_sources("vm:shop").unwrap_err().to_string().split(';').next(),
            Some("\"vm\" is not a source")
        );
        assert!(parse_sources("stacks:python").unwrap_err().to_string().contains("stacks:jvm[:NAME]"));
        assert_eq!(
            parse_sources("gc:").unwrap_err().to_string(),
            "gc needs a value, such as gc:/var/log/shop/gc.log"
        );
    }
}
