//! The names of the programs that sources observe.

use std::collections::BTreeMap;

/// The origin of a name. If there are several, the first one in this order is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NameOrigin {
    /// A JVM reports its main class or archive.
    Jvm,
    /// The process has a name.
    Process,
    /// The list of sources of a run describes it.
    List,
}

/// The names of the programs of a run. All sources of a process (`process:4711`, `jvm:4711`, `perf:4711`, `network:4711`) have the
/// same name: the program that the JVM reports, otherwise the name of the process, otherwise the program in the list of sources.
#[derive(Debug, Clone, Default)]
pub struct ProgramNames {
    /// The latest name of each origin, by observer and process.
    names: BTreeMap<(String, String), BTreeMap<NameOrigin, String>>,
}

impl ProgramNames {
    /// Whether the label `name` of a metric is the name of a program.
    #[must_use]
    pub fn is_naming(metric: &str) -> bool {
        origin(metric).is_some()
    }

    /// Takes the name from the label `name` of a metric. `observer` is the exporter that a remote observer's series were scraped
    /// from, and empty for sources of this machine. Other metrics are ignored.
    pub fn take(&mut self, observer: &str, source: &str, metric: &str, name: &str) {
        if let Some(origin) = origin(metric) {
            self.insert(observer, source, origin, name);
        }
    }

    /// Takes the name of a program from the list of sources of a run.
    pub fn take_listed(&mut self, source: &str, name: &str) {
        if process(source).is_some() {
            self.insert("", source, NameOrigin::List, name);
        }
    }

    fn insert(&mut self, observer: &str, source: &str, origin: NameOrigin, name: &str) {
        if !name.is_empty() {
            let names = self.names.entry(key(observer, source)).or_default();
            names.insert(origin, name.to_owned());
        }
    }

    /// The name of the program that a source observes.
    #[must_use]
    pub fn of(&self, observer: &str, source: &str) -> Option<&str> {
        self.names.get(&key(observer, source))?.values().next().map(String::as_str)
    }
}

fn origin(metric: &str) -> Option<NameOrigin> {
    match metric {
        "jvm_info" => Some(NameOrigin::Jvm),
        "process_info" => Some(NameOrigin::Process),
        _ => None,
    }
}

/// The number of the process that a source observes.
fn process(source: &str) -> Option<&str> {
    let (kind, process) = source.split_once(':')?;
    matches!(kind, "process" | "jvm" | "perf" | "network").then_some(process)
}

/// Other sources, such as exporters, have names of their own.
fn key(observer: &str, source: &str) -> (String, String) {
    (observer.to_owned(), process(source).unwrap_or(source).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sources_of_a_process_have_the_same_name() {
        let mut names = ProgramNames::default();
        names.take_listed("process:7", "java");
        assert_eq!(names.of("", "perf:7"), Some("java"));
        names.take("", "process:7", "process_info", "java-launcher");
        assert_eq!(names.of("", "process:7"), Some("java-launcher"));
        names.take("", "jvm:7", "jvm_info", "shop.jar");
        names.take("", "jvm:7", "jvm_info", "");
        names.take("", "process:7", "process_info", "java");
        for source in ["process:7", "jvm:7", "perf:7", "network:7"] {
            assert_eq!(names.of("", source), Some("shop.jar"), "{source}");
        }
        assert_eq!(names.of("prometheus:http://a", "process:7"), None, "another machine");
        assert_eq!(names.of("", "process:8"), None);
    }

    #[test]
    fn other_metrics_and_sources_have_no_program() {
        let mut names = ProgramNames::default();
        names.take("", "process:7", "process_threads", "x");
        names.take_listed("os", "Linux");
        assert_eq!((names.of("", "process:7"), names.of("", "os")), (None, None));
        assert!(ProgramNames::is_naming("process_info") && !ProgramNames::is_naming("process_threads"));
    }
}
