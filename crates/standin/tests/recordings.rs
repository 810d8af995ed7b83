//! The recordings of the project can be read and are not empty.

use std::path::Path;

use busyhour_standin::{cases, differences};

#[test]
fn all_cases_have_recordings_that_equal_themselves() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/cases");
    let cases = cases(&dir).unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        let expected = case.expected().unwrap_or_else(|error| panic!("{}: {error}", case.name));
        assert_eq!(differences(&expected, &expected), None, "{}", case.name);
        assert!(!case.settings.covers.is_empty(), "{} covers nothing", case.name);
        let empty = expected.requests.is_empty() && expected.results.len() < 2;
        assert!(!empty, "{}: the recording is empty", case.name);
    }
}

#[test]
fn recordings_contain_no_paths_of_the_machine() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/cases");
    let here = [dir.canonicalize().unwrap(), std::env::temp_dir()];
    for case in cases(&dir).unwrap() {
        let text = std::fs::read_to_string(case.dir.join("expected.json")).unwrap();
        for folder in &here {
            let folder = folder.display().to_string() + "/";
            assert!(!text.contains(&folder), "{} contains {folder}", case.name);
        }
    }
}

#[test]
fn all_folders_are_cases_and_all_groups_are_documented() {
    let conformance = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let readme = std::fs::read_to_string(conformance.join("README.md")).unwrap();
    let dir = conformance.join("cases");
    for entry in std::fs::read_dir(&dir).unwrap() {
        let folder = entry.unwrap().path();
        for file in ["plan.jmx", "case.json", "expected.json"] {
            assert!(folder.join(file).is_file(), "{} has no {file}", folder.display());
        }
    }
    for case in cases(&dir).unwrap() {
        let group = &case.settings.group;
        let row = format!("\n| `{group}` | ");
        assert!(group.is_empty() || readme.contains(&row), "{}: no group {group} in README.md", case.name);
    }
}
