//! Checks the allowed dependencies between crates (the layers).
//!
//! To add a crate, add one entry to the table and run `cargo xtask layers`.

use super::finding::Finding;
use super::metadata::{Package, Use};

/// The allowed dependencies of a crate and of its tests. Its level follows from them.
pub(super) struct CrateRule {
    pub(super) name: &'static str,
    pub(super) purpose: &'static str,
    pub(super) may_use: &'static [&'static str],
    tests_may_use: &'static [&'static str],
    pub(super) is_layered: bool,
}

impl CrateRule {
    const fn in_tests(mut self, tests_may_use: &'static [&'static str]) -> Self {
        self.tests_may_use = tests_may_use;
        self
    }
}

/// A crate of the program.
const fn layered(name: &'static str, purpose: &'static str, may_use: &'static [&'static str]) -> CrateRule {
    CrateRule { name, purpose, may_use, tests_may_use: &[], is_layered: true }
}

/// A crate that is not a layer of the program: a system under test, or a tool.
const fn beside(name: &'static str, purpose: &'static str, may_use: &'static [&'static str]) -> CrateRule {
    CrateRule { is_layered: false, ..layered(name, purpose, may_use) }
}

/// The rules; a crate comes after those that it uses. Names are without the prefix `busyhour-`.
pub(super) const LAYERS: &[CrateRule] = &[
    // Data types and pure functions.
    layered("diagnostic", "errors and warnings with their position in a file", &[]),
    layered("limits", "limits on the work that a plan or a response can cause", &[]),
    layered("redaction", "recognizes secrets and removes them from stored texts", &[]),
    layered("slices", "long evaluations in slices of a millisecond", &[]),
    layered("sample", "samples: times, labels, batches, aggregation, snapshots", &[]),
    layered("record", "the recorder, its files and the run directory", &["sample"]),
    layered("series", "series of measured values, and their file", &["sample"]),
    layered("server", "the HTTP server of the live page and of scrapes", &[]),
    layered("stats", "statistics of times and counts", &[]),
    layered("stacks", "stacks of threads over time, and the difference of slow windows", &[]),
    layered("gclog", "garbage-collection logs: figures, rates, a verdict on leaks", &["stats"]),
    layered(
        "leak",
        "memory leaks: trends of class histograms and memory sizes over rounds of load",
        &["stats"],
    ),
    layered("detection", "detects neighbours that harm the system under test while it is observed", &[]),
    layered("search", "the search for the largest load that meets the thresholds", &["stats"]),
    layered(
        "experiment",
        "experiments: their file, the design of their trials, effects with intervals",
        &["diagnostic", "stats"],
    ),
    layered("java", "numbers, texts and dates as in Java's library", &["diagnostic"]),
    layered("jsonpath", "JSON paths as in Jayway's library", &["java", "limits", "slices"]),
    layered("arrivals", "arrival processes and their schedules", &[]).in_tests(&["stats"]),
    layered("logs", "application logs: entries, templates, counts, comparison", &["redaction", "stats"]),
    layered(
        "serverlog",
        "access logs of web servers, and how their lines match the requests of a run",
        &["logs"],
    ),
    // The plan format, the execution of programs, expression languages, models.
    layered("plan", "the JMX format", &["diagnostic"]).in_tests(&["limits"]),
    layered(
        "program",
        "the compiled plan and the interfaces of its elements",
        &["diagnostic", "sample", "arrivals", "limits", "slices"],
    ),
    layered(
        "observe",
        "probes of the system under test, and their series",
        &["detection", "program", "record", "redaction", "sample", "series", "server"],
    ),
    layered("controls", "treatments of a machine that are undone in every case", &["diagnostic", "limits"])
        .in_tests(&["observe"]),
    layered(
        "engine",
        "executes programs: users, cores, timers, arrivals",
        &["program", "sample", "arrivals", "limits", "slices"],
    )
    .in_tests(&["record"]),
    layered("request", "the parts of a request that scripts read and change", &["program"]),
    layered("oro", "regular expressions as in Jakarta ORO", &["limits", "slices"]),
    layered("xml", "XML, XPath 1.0 and XML Schema", &["limits", "slices"]),
    layered(
        "script",
        "Groovy, BeanShell, JEXL and JavaScript",
        &["java", "jsonpath", "limits", "program", "request", "oro", "xml", "sample", "slices"],
    ),
    layered(
        "analysis",
        "summaries, caveats, thresholds, verdicts and comparisons",
        &["sample", "record", "detection", "serverlog", "stacks", "stats", "arrivals"],
    ),
    layered("queueing", "queueing networks, their solution and their fit to runs", &["diagnostic", "stats"]),
    layered("simulation", "simulation of queueing networks", &["queueing", "stats"]),
    // Elements of plans, and the compiler.
    layered(
        "functions",
        "JMeter's variables and functions",
        &["java", "program", "request", "script", "oro", "xml", "sample", "limits", "slices", "diagnostic"],
    ),
    layered(
        "processors",
        "extractors, assertions, timers and other elements around samplers",
        &[
            "java",
            "program",
            "request",
            "script",
            "functions",
            "jsonpath",
            "oro",
            "xml",
            "sample",
            "limits",
            "slices",
            "diagnostic",
        ],
    ),
    layered(
        "http",
        "the HTTP sampler",
        &["program", "request", "limits", "slices", "oro", "sample", "diagnostic"],
    ),
    layered("samplers", "the other samplers", &["java", "program", "http", "limits", "sample", "diagnostic"]),
    layered(
        "websocket",
        "the WebSocket samplers",
        &["java", "program", "http", "limits", "samplers", "oro", "sample", "diagnostic"],
    ),
    layered(
        "compile",
        "JMX trees to programs",
        &[
            "plan",
            "program",
            "request",
            "engine",
            "arrivals",
            "functions",
            "java",
            "processors",
            "http",
            "samplers",
            "websocket",
            "script",
            "sample",
            "record",
            "limits",
            "diagnostic",
        ],
    ),
    layered("jmt", "files of Java Modelling Tools", &["queueing", "xml", "diagnostic"])
        .in_tests(&["simulation"]),
    // A server for tests.
    beside("standin", "the recording server of the conformance tests", &[]),
    // Results, and runs as a whole.
    layered("explain", "finds the observed cause of slow requests", &["analysis", "sample", "series"]),
    layered("imports", "reads the result files of other load generators", &[]),
    layered(
        "results",
        "reads and measures finished runs",
        &[
            "detection",
            "diagnostic",
            "sample",
            "series",
            "record",
            "analysis",
            "arrivals",
            "explain",
            "imports",
            "stats",
            "queueing",
            "logs",
            "gclog",
            "serverlog",
            "stacks",
        ],
    )
    .in_tests(&["limits"]),
    layered(
        "capacity",
        "models and measurements in files, varied parameters",
        &["analysis", "diagnostic", "jmt", "limits", "queueing", "results", "simulation", "stats"],
    ),
    layered(
        "report",
        "tables, pages and other forms of results",
        &[
            "diagnostic",
            "sample",
            "series",
            "record",
            "imports",
            "results",
            "analysis",
            "stats",
            "queueing",
            "gclog",
            "leak",
            "experiment",
            "logs",
            "search",
            "serverlog",
            "stacks",
        ],
    )
    .in_tests(&["arrivals"]),
    layered(
        "export",
        "metrics and samples for other programs",
        &["diagnostic", "sample", "series", "results", "server"],
    )
    .in_tests(&["record"]),
    layered(
        "launch",
        "a run as a library call",
        &[
            "analysis",
            "arrivals",
            "compile",
            "diagnostic",
            "engine",
            "export",
            "http",
            "java",
            "limits",
            "plan",
            "program",
            "redaction",
            "sample",
            "record",
            "results",
            "report",
            "samplers",
        ],
    )
    .in_tests(&["standin"]),
    layered(
        "trials",
        "executes the trials of an experiment: processes, treatments, journal, verdicts",
        &[
            "analysis",
            "arrivals",
            "controls",
            "diagnostic",
            "experiment",
            "limits",
            "record",
            "results",
            "sample",
            "series",
        ],
    ),
    layered(
        "loadsearch",
        "executes a search for the largest load: trials, journal, first guess, evidence",
        &["analysis", "queueing", "record", "results", "search", "trials"],
    ),
    layered("kubernetes", "renders the Kubernetes objects of a distributed run", &[]),
    layered(
        "cluster",
        "runs one load on several machines, coordinated over NATS",
        &["analysis", "arrivals", "diagnostic", "engine", "launch", "plan", "program", "record", "sample"],
    )
    .in_tests(&["results", "standin"]),
    layered(
        "live",
        "shows and controls a run in progress",
        &["diagnostic", "sample", "series", "analysis", "launch", "report", "server"],
    )
    .in_tests(&["standin"]),
    layered(
        "observation",
        "the sources of a run, logs that are followed, and the observer that records them",
        &[
            "detection",
            "diagnostic",
            "gclog",
            "launch",
            "logs",
            "observe",
            "program",
            "record",
            "redaction",
            "sample",
            "series",
            "stacks",
        ],
    ),
    // A system under test, and tasks of the project.
    beside(
        "demo",
        "systems under test: the ticket shop, the probe, the cells emulator and the broker",
        &["server"],
    ),
    beside("neighbour", "noisy neighbours: load on one resource of chosen cores", &[]),
    beside("xtask-common", "shared code of the project's tasks", &[]),
    beside("xtask-conformance", "records JMeter and runs public plans", &["standin", "plan", "xtask-common"]),
    beside("xtask-bench", "measures Busyhour and other generators", &["stats", "arrivals", "xtask-common"]),
    beside("xtask", "checks of the code base", &["xtask-common"]),
    // The program.
    layered(
        "terminal",
        "what all verbs share: messages, exit codes, tables, output files, quantities, signals",
        &["analysis", "arrivals", "diagnostic", "queueing", "record", "report"],
    ),
    layered(
        "verb-inputs",
        "what several verbs read: results, properties, thresholds",
        &["analysis", "diagnostic", "launch", "limits", "record", "report", "results", "sample", "terminal"],
    ),
    layered(
        "verb-capacity",
        "the verb capacity: models, measurements, plans of loads, the largest load",
        &[
            "analysis",
            "capacity",
            "diagnostic",
            "jmt",
            "launch",
            "limits",
            "loadsearch",
            "queueing",
            "report",
            "results",
            "search",
            "simulation",
            "stats",
            "terminal",
            "trials",
            "verb-inputs",
        ],
    ),
    layered(
        "verb-observe",
        "the verbs observe and doctor: watching a system, its logs, leaks",
        &[
            "analysis",
            "diagnostic",
            "gclog",
            "leak",
            "limits",
            "logs",
            "observation",
            "observe",
            "program",
            "record",
            "report",
            "series",
            "terminal",
            "verb-inputs",
        ],
    ),
    layered(
        "verb-experiment",
        "the verb experiment: execution, confirmation and reports of experiments",
        &[
            "analysis",
            "arrivals",
            "diagnostic",
            "experiment",
            "limits",
            "record",
            "report",
            "terminal",
            "trials",
        ],
    ),
    layered(
        "cli",
        "the binary: command line, runs and their results, signals",
        &[
            "analysis",
            "arrivals",
            "cluster",
            "compile",
            "demo",
            "diagnostic",
            "export",
            "http",
            "kubernetes",
            "launch",
            "limits",
            "live",
            "neighbour",
            "observation",
            "plan",
            "program",
            "queueing",
            "record",
            "report",
            "results",
            "sample",
            "series",
            "serverlog",
            "slices",
            "stacks",
            "stats",
            "terminal",
            "verb-capacity",
            "verb-experiment",
            "verb-inputs",
            "verb-observe",
        ],
    )
    .in_tests(&["standin"]),
];

/// Checks the dependencies between the packages of the workspace against the table.
pub fn check(packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages.iter().filter(|package| package.is_member()) {
        let name = short(&package.name);
        let Some(rule) = LAYERS.iter().find(|rule| rule.name == name) else {
            findings.push(Finding::new(
                &package.name,
                "is missing in the table of layers (xtask/src/tidy/layers.rs)",
            ));
            continue;
        };
        for (dependency, used) in &package.dependencies {
            let ours = packages.iter().any(|other| other.is_member() && other.name == *dependency);
            let dependency = short(dependency);
            // The tests of a crate may depend on the crate itself.
            if !ours || dependency == name && *used == Use::Tests {
                continue;
            }
            let allowed = rule.may_use.contains(&dependency)
                || *used == Use::Tests && rule.tests_may_use.contains(&dependency);
            if !allowed {
                let suffix = if *used == Use::Tests { " in its tests" } else { "" };
                findings.push(Finding::new(
                    &package.name,
                    format!(
                        "must not depend on {dependency}{suffix}; it may use: {}",
                        rule.may_use.join(", ")
                    ),
                ));
            }
        }
    }
    findings
}

/// The name of a crate without the prefix of the project.
pub(super) fn short(name: &str) -> &str {
    name.strip_prefix("busyhour-").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours(name: &str, dependencies: &[(&str, Use)]) -> Package {
        Package {
            name: name.to_owned(),
            dependencies: dependencies.iter().map(|(name, used)| ((*name).to_owned(), *used)).collect(),
            ..Package::default()
        }
    }

    #[test]
    fn dependencies_in_the_table_lead_to_lower_layers() {
        for (level, rule) in LAYERS.iter().enumerate() {
            for used in rule.may_use.iter().chain(rule.tests_may_use) {
                let below = LAYERS[..level].iter().any(|other| other.name == *used);
                assert!(below, "{} uses {used}, which is not below it", rule.name);
            }
        }
    }

    #[test]
    fn dependencies_on_higher_layers_are_found() {
        let packages = [
            ours("busyhour-engine", &[("busyhour-http", Use::Normal), ("tokio", Use::Normal)]),
            ours("busyhour-http", &[("busyhour-program", Use::Normal)]),
        ];
        let findings = check(&packages);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!(findings[0].place, "busyhour-engine");
        assert!(findings[0].what.contains("must not depend on http"), "{}", findings[0]);
    }

    #[test]
    fn the_standin_is_only_for_tests() {
        let standin = ours("busyhour-standin", &[]);
        let in_tests = ours("busyhour-cli", &[("busyhour-standin", Use::Tests)]);
        assert_eq!(check(&[standin.clone(), in_tests]), []);
        let shipped = ours("busyhour-cli", &[("busyhour-standin", Use::Normal)]);
        assert_eq!(check(&[standin, shipped]).len(), 1);
    }

    #[test]
    fn crates_without_a_rule_are_found() {
        let findings = check(&[ours("busyhour-attic", &[])]);
        assert!(findings[0].what.contains("missing in the table"), "{findings:?}");
    }
}
