//! Care for dependencies: where they come from, under which licence, and how often the same one is built.

use std::collections::BTreeMap;

use super::finding::Finding;
use super::licences;
use super::metadata::{Package, VENDORED};

/// A name that is built in more versions than this costs every clean build and hides a stale dependency.
const VERSIONS_MAX: usize = 2;

/// Names that are built twice, at most; beyond that the dependencies need a review. Five of them are the hashes of RustCrypto, of
/// which the WebSocket handshake uses one generation and the key stores another; big integers are one of Parquet's.
const DUPLICATES_MAX: usize = 15;

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Names with more versions than that, with the reason.
const MANY_VERSIONS: &[(&str, &str)] =
    &[("getrandom", "ring is on 0.2, rand 0.9 on 0.3, and the rand 0.10 of proptest on 0.4")];

/// Packages whose licence field is incomplete: name, and the licence that their files state.
const READ_BY_HAND: &[(&str, &str)] = &[];

/// Checks every package of the graph.
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
        let by_hand =
            READ_BY_HAND.iter().find(|(name, _)| *name == package.name).map(|(_, licence)| *licence);
        match package.licence.as_deref().or(by_hand) {
            None => {
                findings.push(Finding::new(&place, "states no licence; read it and note it in READ_BY_HAND"))
            }
            Some(expression) if !licences::is_allowed(expression) => {
                findings.push(Finding::new(&place, format!("its licence {expression:?} is not on the list")));
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

/// What is worth knowing, but in order.
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
    let wanted = [
        ("lints", "workspace = true", "the lints of the workspace bind every crate"),
        ("package", "license.workspace = true", "one licence for the whole"),
        ("package", "rust-version.workspace = true", "one oldest compiler for the whole"),
    ];
    for (section, line, why) in wanted {
        if !section_holds(&package.manifest, section, line) {
            findings.push(Finding::new(
                &package.name,
                format!("its Cargo.toml lacks `{line}` under [{section}]: {why}"),
            ));
        }
    }
    findings
}

fn section_holds(manifest: &str, section: &str, line: &str) -> bool {
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

    fn foreign(name: &str, version: &str, licence: Option<&str>) -> Package {
        Package {
            name: name.to_owned(),
            version: version.to_owned(),
            licence: licence.map(str::to_owned),
            source: Some(CRATES_IO.to_owned()),
            ..Package::default()
        }
    }

    #[test]
    fn a_member_binds_itself_to_the_workspace() {
        let licence = Some("MIT OR Apache-2.0".to_owned());
        let good = Package { manifest: MANIFEST.to_owned(), licence: licence.clone(), ..Package::default() };
        assert_eq!(check(&[good]), []);
        let loose = MANIFEST.replace("[lints]", "[features]");
        let bad = Package { manifest: loose, licence, ..Package::default() };
        assert!(check(&[bad])[0].what.contains("under [lints]"));
    }

    #[test]
    fn licences_and_sources_are_looked_at() {
        let fork = Package {
            source: Some("git+https://example.org/x".to_owned()),
            ..foreign("x", "1.0.0", Some("MIT"))
        };
        let findings =
            check(&[foreign("a", "1.0.0", None), foreign("b", "1.0.0", Some("GPL-3.0-only")), fork]);
        assert_eq!(findings.len(), 3, "{findings:?}");
    }

    #[test]
    fn two_versions_are_a_note_and_three_a_finding() {
        let mut packages = vec![foreign("a", "1.0.0", Some("MIT")), foreign("a", "2.0.0", Some("MIT"))];
        assert_eq!(check(&packages), []);
        assert_eq!(notes(&packages), ["built more than once: a (1.0.0, 2.0.0)"]);
        packages.push(foreign("a", "3.0.0", Some("MIT")));
        assert_eq!(check(&packages).len(), 1);
    }
}
