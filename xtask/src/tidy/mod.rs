//! `cargo xtask tidy`: what the house asks of its code, as a test.

mod dependencies;
pub mod differences;
mod layers;
mod licences;
mod metadata;
mod source_rules;
mod text;
mod tree;

use std::fmt;

use anyhow::{Result, bail};

/// One thing that is out of order.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    /// The file and line, or the package.
    place: String,
    /// What is out of order, why it matters, and what to do.
    what: String,
}

impl Finding {
    fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// Checks the whole tree and prints what it finds.
pub fn run(arguments: &[String]) -> Result<()> {
    if let Some(unknown) = arguments.first() {
        bail!("tidy takes no arguments, but {unknown:?} was given");
    }
    let root = crate::workspace_root();
    let packages = metadata::load(&root)?;
    let files = tree::load(&root)?;

    let mut findings = layers::check(&packages);
    let map = files.iter().find(|file| file.path == "ARCHITECTURE.md").map_or("", |file| file.text.as_str());
    findings.extend(layers::check_map(&packages, map));
    findings.extend(dependencies::check(&packages));
    findings.extend(differences::check(&files));
    findings.extend(source_rules::check(&files));
    findings.extend(tree::check(&files, &tree::private_directories(&root)));
    for finding in &findings {
        println!("{finding}");
    }
    for note in dependencies::notes(&packages) {
        println!("note: {note}");
    }
    if findings.is_empty() {
        println!("tidy: {} files, {} packages, nothing out of order", files.len(), packages.len());
        Ok(())
    } else {
        bail!("tidy: {} findings", findings.len())
    }
}
