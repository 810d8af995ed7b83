//! Checks the dependencies: their source, licence, and the number of versions of each package.

use std::collections::BTreeMap;

use super::finding::Finding;
use super::licences;
use super::metadata::{Package, VENDORED};

/// The maximum number of versions of a package; more increase the time of clean builds and hide stale dependencies.
const VERSIONS_MAX: usize = 2;

/// The maximum number of packages with several versions; beyond this number, the dependencies need a review. Five of
/// them are the hashes of RustCrypto: the WebSocket handshake and the key stores use different generations of them;
/// Parquet uses another version of big integers. The client of PostgreSQL uses other versions of four small packages.
/// The client of NATS and its signatures use other generations of hashes, key formats and random numbers (eight
/// packages).
const DUPLICATES_MAX: usize = 27;

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Packages with more versions, with the reason.
const MANY_VERSIONS: &[(&str, &str)] = &[
    ("getrandom", "ring is on 0.2, rand 0.9 on 0.3, and the rand 0.10 of proptest on 0.4"),
    ("rand", "the signatures of NATS are on 0.8, its client on 0.10"),
    ("rand_core", "the signatures of NATS are on 0.6, its client on 0.10"),
];

/// Packages without a complete licence field: the name, and the licence in their files.
const MANUAL_LICENCES: &[(&str, &str)] = &[("webpki", "ISC AND BSD-3-Clause")];

/// Checks all packages of the dependency graph.
pub fn check(packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages {
        let place = format!("{} {}", package.name, package.version);
        match &package.source {
            None => findings.extend(check_member(package)),
            Some(source) if source != CRATES_IO && source != VENDORED => {
                findings
                    .push(Finding::new(&place, format!("comes from {source}; only crates.io is allowed")));
            }
            Some(_) => {}
        }
        let manual =
            MANUAL_LICENCES.iter().find(|(name, _)| *name == package.name).map(|(_, licence)| *licence);
        match package.licence.as_deref().or(manual) {
            None => findings
                .push(Finding::new(&place, "has no licence field; add its licence to MANUAL_LICENCES")),
            Some(expression) if !licences::is_allowed(expression) => {
                findings.push(Finding::new(&place, format!("its licence {expression:?} is not allowed")));
            }
            Some(_) => {}
        }
    }
    let duplicates = duplicates(packages);
    for (name, versions) in duplicates.iter().filter(|(_, versions)| versions.len() > VERSIONS_MAX) {
        if MANY_VERSIONS.iter().any(|(known, _)| known == name) {
            continue;
        }
        findings.push(Finding::new(
            *name,
            format!("is built in {} versions: {}", versions.len(), versions.join(", ")),
        ));
    }
    if duplicates.len() > DUPLICATES_MAX {
        let names: Vec<&str> = duplicates.keys().copied().collect();
        findings.push(Finding::new(
            "Cargo.lock",
            format!("{} packages are built more than once: {}", names.len(), names.join(", ")),
        ));
    }
    findings
}

/// Notes that are not violations of a rule.
pub fn notes(packages: &[Package]) -> Vec<String> {
    let duplicates = duplicates(packages);
    let list: Vec<String> =
        duplicates.iter().map(|(name, versions)| format!("{name} ({})", versions.join(", "))).collect();
    if list.is_empty() { Vec::new() } else { vec![format!("built more than once: {}", list.join(", "))] }
}

fn duplicates(packages: &[Package]) -> BTreeMap<&str, Vec<&str>> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages {
        versions.entry(&package.name).or_default().push(&package.version);
    }
    versions.retain(|_, versions| versions.len() > 1);
    versions
}

fn check_member(package: &Package) -> Vec<Finding> {
    let mut findings = Vec::new();
    let required = [
        ("lints", "workspace = true", "the workspace's lints apply to all crates"),
        ("package", "license.workspace = true", "all crates have the same licence"),
        ("package", "rust-version.workspace = true", "all crates have the same minimum Rust version"),
    ];
    for (section, line, why) in required {
        if !section_contains(&package.manifest, section, line) {
            findings.push(Finding::new(
                &package.name,
                format!("its Cargo.toml lacks `{line}` under [{section}]: {why}"),
            ));
        }
    }
    findings
}

fn section_contains(manifest: &str, section: &str, line: &str) -> bool {
    let header = format!("[{section}]");
    let mut inside = false;
    for text in manifest.lines().map(str::trim) {
        if text.starts_with('[') {
            inside = text == header;
        } else if inside && text == line {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[package]\nname = \"x\"\nlicense.workspace = true\nrust-version.workspace = true\n\n\
                            [lints]\nworkspace = true\n";

    fn external(name: &str, version: &str, licence: Option<&str>) -> Package {
        Package {
            name: name.to_owned(),
            version: version.to_owned(),
            licence: licence.map(str::to_owned),
            source: Some(CRATES_IO.to_owned()),
            ..Package::default()
        }
    }

    #[test]
    fn members_inherit_from_the_workspace() {
        let licence = Some("MIT OR Apache-2.0".to_owned());
        let good = Package { manifest: MANIFEST.to_owned(), licence: licence.clone(), ..Package::default() };
        assert_eq!(check(&[good]), []);
        let loose = MANIFEST.replace("[lints]", "[features]");
        let bad = Package { manifest: loose, licence, ..Package::default() };
        assert!(check(&[bad])[0].what.contains("under [lints]"));
    }

    #[test]
    fn licences_and_sources_are_checked() {
        let fork = Package {
            source: Some("git+https://example.org/x".to_owned()),
            ..external("x", "1.0.0", Some("MIT"))
        };
        let findings =
            check(&[external("a", "1.0.0", None), external("b", "1.0.0", Some("GPL-3.0-only")), fork]);
        assert_eq!(findings.len(), 3, "{findings:?}");
    }

    #[test]
    fn two_versions_are_a_note_and_three_are_a_finding() {
        let mut packages = vec![external("a", "1.0.0", Some("MIT")), external("a", "2.0.0", Some("MIT"))];
        assert_eq!(check(&packages), []);
        assert_eq!(notes(&packages), ["built more than once: a (1.0.0, 2.0.0)"]);
        packages.push(external("a", "3.0.0", Some("MIT")));
        assert_eq!(check(&packages).len(), 1);
    }
}
