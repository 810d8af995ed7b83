//! The files of the tree, and what none of them may contain.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::finding::Finding;

/// A file that git keeps or would keep.
#[derive(Debug)]
pub struct File {
    /// From the root, with `/` between folders.
    pub path: String,
    /// Its text; empty for a binary file.
    pub text: String,
}

/// Everything that is in git or would be added by `git add .`, without copies of the packages of others.
pub fn load(root: &Path) -> Result<Vec<File>> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .current_dir(root)
        .output()
        .context("git does not start")?;
    ensure!(output.status.success(), "git ls-files failed:\n{}", String::from_utf8_lossy(&output.stderr));
    let names = String::from_utf8(output.stdout)?;
    let mut files = Vec::new();
    for path in names.split_terminator('\0').filter(|path| !path.starts_with("vendor/")) {
        // A file that was deleted but not yet committed is still listed; a folder is another repository.
        if let Ok(bytes) = fs::read(root.join(path)) {
            files.push(File { path: path.to_owned(), text: String::from_utf8(bytes).unwrap_or_default() });
        }
    }
    Ok(files)
}

/// Directories that only exist on this machine: the checkout, and the user's home.
pub fn private_directories(root: &Path) -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let mut directories: Vec<PathBuf> =
        root.parent().map(Path::to_path_buf).into_iter().chain(home).collect();
    directories.retain(|directory| directory.components().count() > 1);
    directories
}

/// Looks for paths of this machine, and for temporary directories that are written out in sources.
pub fn check(files: &[File], private: &[PathBuf]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        for (number, line) in (1..).zip(file.text.lines()) {
            for directory in private {
                if names_below(line, &directory.to_string_lossy()) {
                    findings.push(Finding::new(
                        format!("{}:{number}", file.path),
                        format!("names {}, a directory of this machine", directory.display()),
                    ));
                }
            }
            if file.path.ends_with(".rs") && names_below(line, TEMPORARY) {
                findings.push(Finding::new(
                    format!("{}:{number}", file.path),
                    "contains the path of the temporary directory; use std::env::temp_dir or tempfile",
                ));
            }
        }
    }
    findings
}

const TEMPORARY: &str = concat!("/", "tmp");

/// Whether the line holds an absolute path below `directory`.
fn names_below(line: &str, directory: &str) -> bool {
    let below = format!("{directory}/");
    line.match_indices(&below).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        // Part of a longer path or of a URL is another place.
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '}' | '~' | '/' | '*'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_this_machine_are_found_and_others_are_not() {
        let text = "see /home/ada/src/x\nsee https://example.org/home/ada/x\nhome/ada/\n";
        let files = [File { path: "README.md".to_owned(), text: text.to_owned() }];
        let findings = check(&files, &[PathBuf::from("/home/ada")]);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!(findings[0].place, "README.md:1");
    }

    #[test]
    fn the_root_of_all_is_not_private() {
        assert!(!private_directories(Path::new("/src")).contains(&PathBuf::from("/")));
        assert!(private_directories(Path::new("/builds/busyhour")).contains(&PathBuf::from("/builds")));
    }
}
