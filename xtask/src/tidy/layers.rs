//! Checks the allowed dependencies between crates (the layers).

use super::finding::Finding;
use super::metadata::{Package, Use};

/// The allowed dependencies of a crate and of its tests.
struct CrateRule {
    name: &'static str,
    may_use: &'static [&'static str],
    tests_may_use: &'static [&'static str],
}

const fn crate_rule(name: &'static str, may_use: &'static [&'static str]) -> CrateRule {
    CrateRule { name, may_use, tests_may_use: &[] }
}

/// The rules from the lowest layer to the highest; names without the prefix `busyhour-`.
const LAYERS: &[CrateRule] = &[
    // Layer 0: data types that all crates use.
    crate_rule("diagnostic", &[]),
    crate_rule("limits", &[]),
    crate_rule("slices", &[]),
    CrateRule { name: "record", may_use: &["diagnostic"], tests_may_use: &["limits"] },
    crate_rule("stats", &[]),
    crate_rule("java", &["diagnostic"]),
    crate_rule("jsonpath", &["java", "limits", "slices"]),
    CrateRule { name: "arrivals", may_use: &[], tests_may_use: &["stats"] },
    // Layer 1: the plan format, the execution of programs, the expression languages.
    CrateRule { name: "plan", may_use: &["diagnostic"], tests_may_use: &["limits"] },
    crate_rule("program", &["diagnostic", "record", "arrivals", "limits", "slices"]),
    crate_rule("engine", &["program", "record", "arrivals", "limits", "slices"]),
    crate_rule("oro", &["limits", "slices"]),
    crate_rule("xml", &["diagnostic", "limits", "slices"]),
    crate_rule("script", &["java", "jsonpath", "limits", "program", "oro", "xml", "slices"]),
    crate_rule("analysis", &["record", "stats", "arrivals"]),
    crate_rule("queueing", &["diagnostic", "stats"]),
    crate_rule("simulation", &["queueing", "stats"]),
    // Layer 2: adapters, and the compiler that uses them for plans.
    crate_rule(
        "functions",
        &["java", "program", "script", "oro", "xml", "record", "limits", "slices", "diagnostic"],
    ),
    crate_rule(
        "processors",
        &[
            "java",
            "program",
            "script",
            "functions",
            "jsonpath",
            "oro",
            "xml",
            "record",
            "limits",
            "slices",
            "diagnostic",
        ],
    ),
    crate_rule("http", &["program", "limits", "slices", "oro", "record", "diagnostic"]),
    crate_rule("samplers", &["java", "program", "http", "limits", "record", "diagnostic"]),
    crate_rule(
        "websocket",
        &["java", "program", "http", "limits", "samplers", "oro", "record", "diagnostic"],
    ),
    crate_rule(
        "compile",
        &[
            "plan",
            "program",
            "engine",
            "arrivals",
            "functions",
            "java",
            "processors",
            "http",
            "samplers",
            "websocket",
            "script",
            "record",
            "limits",
            "diagnostic",
        ],
    ),
    CrateRule { name: "jmt", may_use: &["queueing", "xml", "diagnostic"], tests_may_use: &["simulation"] },
    // Outside of the layers: servers for tests of the layers above.
    crate_rule("standin", &[]),
    // Layer 4.
    crate_rule("runs", &["record", "analysis", "arrivals", "stats", "queueing"]),
    crate_rule(
        "capacity",
        &["analysis", "diagnostic", "jmt", "limits", "queueing", "record", "runs", "simulation", "stats"],
    ),
    CrateRule {
        name: "report",
        may_use: &["diagnostic", "record", "analysis", "runs", "stats", "queueing"],
        tests_may_use: &["arrivals"],
    },
    crate_rule("server", &[]),
    crate_rule("export", &["diagnostic", "record", "server"]),
    CrateRule {
        name: "launch",
        may_use: &[
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
            "record",
            "report",
            "runs",
            "samplers",
        ],
        tests_may_use: &["standin"],
    },
    CrateRule {
        name: "live",
        may_use: &["diagnostic", "record", "analysis", "launch", "report", "server"],
        tests_may_use: &["standin"],
    },
    // Outside of the layers.
    crate_rule("demo", &[]),
    crate_rule("xtask-common", &[]),
    crate_rule("xtask-conformance", &["standin", "plan", "xtask-common"]),
    crate_rule("xtask-bench", &["stats", "arrivals", "xtask-common"]),
    crate_rule("xtask", &["xtask-common"]),
    // Layer 5.
    CrateRule {
        name: "cli",
        may_use: &[
            "analysis",
            "arrivals",
            "capacity",
            "compile",
            "demo",
            "diagnostic",
            "engine",
            "export",
            "functions",
            "http",
            "java",
            "jmt",
            "launch",
            "limits",
            "live",
            "plan",
            "processors",
            "program",
            "queueing",
            "record",
            "report",
            "runs",
            "samplers",
            "script",
            "simulation",
            "slices",
            "stats",
        ],
        tests_may_use: &["standin"],
    },
];

/// Checks the dependencies between the packages of the workspace against the table.
pub fn check(packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages.iter().filter(|package| package.is_member()) {
        let name = short(&package.name);
        let Some(rule) = LAYERS.iter().find(|rule| rule.name == name) else {
            findings.push(Finding::new(
                &package.name,
                "is missing in the table of layers; add it to the table and to ARCHITECTURE.md",
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

/// Checks that the code map has a heading for each crate.
pub fn check_map(packages: &[Package], map: &str) -> Vec<Finding> {
    let headings = || map.lines().filter_map(|line| line.strip_prefix("### "));
    let named = |name: &str| {
        let code = format!("`crates/{name}`");
        headings().any(|heading| heading.split(", ").any(|part| part == code))
    };
    let ours = packages.iter().filter(|package| package.is_member() && !package.name.starts_with("xtask"));
    ours.filter(|package| !named(short(&package.name)))
        .map(|package| {
            Finding::new("ARCHITECTURE.md", format!("the code map does not contain {}", short(&package.name)))
        })
        .collect()
}

fn short(name: &str) -> &str {
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
    fn crates_missing_in_the_map_are_found() {
        let packages = [ours("busyhour-http", &[]), ours("busyhour-engine", &[]), ours("xtask", &[])];
        let findings = check_map(&packages, "# Map\n\n### `crates/http`\nSee crates/engine.\n");
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].what.ends_with("does not contain engine"));
    }

    #[test]
    fn crates_without_a_rule_are_found() {
        let findings = check(&[ours("busyhour-attic", &[])]);
        assert!(findings[0].what.contains("missing in the table"), "{findings:?}");
    }
}
