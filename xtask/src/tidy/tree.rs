//! The files of the tree, and checks for paths that they must not contain.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::finding::Finding;

/// A file that is tracked by git or would be added.
#[derive(Debug)]
pub struct File {
    /// The path from the root, with `/` as separator.
    pub path: String,
    /// The text; empty for a binary file.
    pub text: String,
}

/// Loads all files that are tracked by git or would be added by `git add .`, except for vendored packages.
pub fn load(root: &Path) -> Result<Vec<File>> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .current_dir(root)
        .output()
        .context("git cannot be started")?;
    ensure!(output.status.success(), "git ls-files failed:\n{}", String::from_utf8_lossy(&output.stderr));
    let names = String::from_utf8(output.stdout)?;
    let mut files = Vec::new();
    for path in names.split_terminator('\0').filter(|path| !path.starts_with("vendor/")) {
        // A deleted file is listed until the deletion is committed; a folder is another repository.
        if let Ok(bytes) = fs::read(root.join(path)) {
            files.push(File { path: path.to_owned(), text: String::from_utf8(bytes).unwrap_or_default() });
        }
    }
    Ok(files)
}

/// Directories that exist only on this machine: the parent of the checkout, and the user's home.
pub fn private_directories(root: &Path) -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let mut directories: Vec<PathBuf> =
        root.parent().map(Path::to_path_buf).into_iter().chain(home).collect();
    directories.retain(|directory| directory.components().count() > 1);
    directories
}

/// Searches for paths of this machine, and for hard-coded temporary directories in sources.
pub fn check(files: &[File], private: &[PathBuf]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        for (number, line) in (1..).zip(file.text.lines()) {
            for directory in private {
                if contains_path_below(line, &directory.to_string_lossy()) {
                    findings.push(Finding::new(
                        format!("{}:{number}", file.path),
                        format!("contains {}, a directory of this machine", directory.display()),
                    ));
                }
            }
            if file.path.ends_with(".rs") && contains_path_below(line, TEMPORARY) {
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

/// Whether the line contains an absolute path below `directory`.
fn contains_path_below(line: &str, directory: &str) -> bool {
    let below = format!("{directory}/");
    line.match_indices(&below).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        // A part of a longer path or of a URL is not a match.
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '}' | '~' | '/' | '*'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_this_machine_are_found() {
        let text = "see /home/ada/src/x\nsee https://example.org/home/ada/x\nhome/ada/\n";
        let files = [File { path: "README.md".to_owned(), text: text.to_owned() }];
        let findings = check(&files, &[PathBuf::from("/home/ada")]);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!(findings[0].place, "README.md:1");
    }

    #[test]
    fn the_root_directory_is_not_private() {
        assert!(!private_directories(Path::new("/src")).contains(&PathBuf::from("/")));
        assert!(private_directories(Path::new("/builds/busyhour")).contains(&PathBuf::from("/builds")));
    }
}
