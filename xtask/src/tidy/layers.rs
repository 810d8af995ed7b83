//! The layers: which crate may depend on which.

use super::finding::Finding;
use super::metadata::{Package, Use};

/// What a crate may depend on, and what only its tests may.
struct CrateRule {
    name: &'static str,
    may_use: &'static [&'static str],
    tests_may_use: &'static [&'static str],
}

const fn crate_rule(name: &'static str, may_use: &'static [&'static str]) -> CrateRule {
    CrateRule { name, may_use, tests_may_use: &[] }
}

/// From the lowest layer up; names without the prefix `busyhour-`. `*` allows all crates of the workspace.
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
    // Layer 1: the plan as written, the machine that runs programs, the expression languages.
    CrateRule { name: "plan", may_use: &["diagnostic"], tests_may_use: &["limits"] },
    crate_rule("program", &["diagnostic", "record", "arrivals", "limits", "slices"]),
    crate_rule("engine", &["program", "record", "arrivals", "limits", "slices"]),
    crate_rule("oro", &["limits", "slices"]),
    crate_rule("xml", &["diagnostic", "limits", "slices"]),
    crate_rule("script", &["java", "jsonpath", "limits", "program", "oro", "xml", "slices"]),
    crate_rule("analysis", &["record", "stats", "arrivals"]),
    crate_rule("queueing", &["diagnostic", "stats"]),
    crate_rule("simulation", &["queueing", "stats"]),
    // Layer 2: adapters, and the compiler that joins them to plans.
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

/// Compares the dependencies among our packages with the table.
pub fn check(packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages.iter().filter(|package| package.is_ours()) {
        let name = short(&package.name);
        let Some(place) = LAYERS.iter().find(|place| place.name == name) else {
            findings.push(Finding::new(
                &package.name,
                "is missing in the table of layers; add it there and to ARCHITECTURE.md",
            ));
            continue;
        };
        for (dependency, used) in &package.dependencies {
            let ours = packages.iter().any(|other| other.is_ours() && other.name == *dependency);
            let dependency = short(dependency);
            // A crate may name itself for its own tests.
            if !ours || dependency == name && *used == Use::Tests {
                continue;
            }
            let allowed = place.may_use.contains(&dependency)
                || *used == Use::Tests && place.tests_may_use.contains(&dependency);
            if !allowed {
                let whose = if *used == Use::Tests { " in its tests" } else { "" };
                findings.push(Finding::new(
                    &package.name,
                    format!(
                        "must not depend on {dependency}{whose}; it may use: {}",
                        place.may_use.join(", ")
                    ),
                ));
            }
        }
    }
    findings
}

/// Compares the crates with the code map, which gives each a heading.
pub fn check_map(packages: &[Package], map: &str) -> Vec<Finding> {
    let headings = || map.lines().filter_map(|line| line.strip_prefix("### "));
    let named = |name: &str| {
        let code = format!("`crates/{name}`");
        headings().any(|heading| heading.split(", ").any(|part| part == code))
    };
    let ours = packages.iter().filter(|package| package.is_ours() && !package.name.starts_with("xtask"));
    ours.filter(|package| !named(short(&package.name)))
        .map(|package| {
            Finding::new("ARCHITECTURE.md", format!("its code map lacks {}", short(&package.name)))
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
    fn the_table_is_a_house_and_not_a_knot() {
        for (floor, place) in LAYERS.iter().enumerate() {
            for used in place.may_use.iter().chain(place.tests_may_use) {
                let below = LAYERS[..floor].iter().any(|other| other.name == *used);
                assert!(below, "{} uses {used}, which does not lie below it", place.name);
            }
        }
    }

    #[test]
    fn an_arrow_that_runs_up_is_found() {
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
    fn the_standin_is_for_tests_only() {
        let standin = ours("busyhour-standin", &[]);
        let in_tests = ours("busyhour-cli", &[("busyhour-standin", Use::Tests)]);
        assert_eq!(check(&[standin.clone(), in_tests]), []);
        let shipped = ours("busyhour-cli", &[("busyhour-standin", Use::Normal)]);
        assert_eq!(check(&[standin, shipped]).len(), 1);
    }

    #[test]
    fn a_crate_that_the_map_lacks_is_found() {
        let packages = [ours("busyhour-http", &[]), ours("busyhour-engine", &[]), ours("xtask", &[])];
        let findings = check_map(&packages, "# Map\n\n### `crates/http`\nSee crates/engine.\n");
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].what.ends_with("lacks engine"));
    }

    #[test]
    fn a_crate_without_a_rule_is_found() {
        let findings = check(&[ours("busyhour-attic", &[])]);
        assert!(findings[0].what.contains("missing in the table"), "{findings:?}");
    }
}
