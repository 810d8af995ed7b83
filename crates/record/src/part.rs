//! The parts of a run directory: files of several crates that are listed in the manifest.

use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

/// A file of a run directory, for readers that look for a kind of data.
///
/// The list of kinds is open: a crate that stores data other than samples adds a part with its own kind, and no other crate
/// needs to be changed. Readers ignore unknown kinds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPart {
    /// Kind of the contents in kebab case, such as `samples` or `histograms`. It is unique within a run.
    pub kind: String,
    /// Name of the file, relative to the run directory.
    pub file: String,
    /// Version of the file's format.
    pub version: u32,
}

impl RunPart {
    /// A part with this kind, file name and version.
    #[must_use]
    pub fn new(kind: &str, file: &str, version: u32) -> RunPart {
        RunPart { kind: kind.to_owned(), file: file.to_owned(), version }
    }

    /// Whether the path of the file is relative and without `..`, so that the file is within the run directory.
    #[must_use]
    pub fn is_inside(&self) -> bool {
        let mut components = Path::new(&self.file).components();
        !self.file.is_empty() && components.all(|component| matches!(component, Component::Normal(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_directory_are_parts() {
        for (file, is_inside) in [
            ("resources.bhs", true),
            ("watch/os.bhs", true),
            ("../x", false),
            ("/etc/passwd", false),
            ("", false),
        ] {
            assert_eq!(RunPart::new("resources", file, 1).is_inside(), is_inside, "{file}");
        }
    }
}
