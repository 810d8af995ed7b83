//! `cargo xtask tidy`: checks the rules of the code base.

mod circles;
mod dependencies;
pub mod differences;
mod finding;
mod imports;
mod layers;
pub mod layers_page;
mod licences;
mod metadata;
mod pages;
mod source_rules;
mod text;
mod tree;

use anyhow::{Result, bail};
use xtask_common::project;

const EXAMPLES: &str = "\
Examples:
  cargo xtask tidy
  cargo xtask tidy --circles crates/http";

/// The options of `tidy`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Print the import cycles between the files and modules of the crate in this directory, with their imports, instead of
    /// checking
    #[arg(long, value_name = "DIRECTORY")]
    circles: Option<String>,
}

/// Checks the whole tree and prints the findings.
///
/// # Errors
/// A rule is violated, or the tree cannot be read.
pub fn run(options: &Options) -> Result<()> {
    let root = project::root();
    let files = tree::load(&root)?;
    if let Some(name) = &options.circles {
        return circles::print(&files, name);
    }
    let packages = metadata::load(&root)?;

    let mut findings = layers::check(&packages);
    let map = files.iter().find(|file| file.path == "ARCHITECTURE.md").map_or("", |file| file.text.as_str());
    findings.extend(layers_page::check_map(&packages, map));
    findings.extend(layers_page::check_drawing(map));
    findings.extend(dependencies::check(&packages));
    findings.extend(differences::check(&files));
    findings.extend(pages::check(&files));
    findings.extend(source_rules::check(&files));
    findings.extend(circles::check(&files)?);
    findings.extend(tree::check(&files, &tree::private_directories(&root)));
    for finding in &findings {
        println!("{finding}");
    }
    for note in dependencies::notes(&packages) {
        println!("note: {note}");
    }
    if findings.is_empty() {
        println!("tidy: {} files, {} packages, no findings", files.len(), packages.len());
        Ok(())
    } else {
        bail!("tidy: {} findings", findings.len())
    }
}
