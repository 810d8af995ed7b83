//! The checkout of the project, and programs built from it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// The root of the workspace, independent of the current directory.
#[must_use]
pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).unwrap_or(manifest).to_path_buf()
}

/// The program to measure or compare: `given`, or a build with `profile`.
///
/// # Errors
/// `given` does not exist, or the build fails.
pub fn busyhour(given: Option<&Path>, profile: &str) -> Result<PathBuf> {
    match given {
        Some(path) => std::fs::canonicalize(path).with_context(|| path.display().to_string()),
        None => build(profile, &["--package", "busyhour-cli"], "busyhour"),
    }
}

/// Builds a program of this checkout. `selection` contains the arguments of `cargo build` that select it, `program` is
/// its path below the target directory of the profile.
///
/// # Errors
/// The build fails, or the program does not exist afterwards.
pub fn build(profile: &str, selection: &[&str], program: &str) -> Result<PathBuf> {
    let root = root();
    let status = cargo()
        .args(["build", "--quiet", "--profile", profile])
        .args(selection)
        .current_dir(&root)
        .status()?;
    ensure!(status.success(), "cargo build {} failed", selection.join(" "));
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let folder = if profile == "dev" { "debug" } else { profile };
    let path = target.join(folder).join(program);
    ensure!(path.exists(), "the build did not create {}", path.display());
    Ok(path)
}

/// A command that starts the cargo that started this tool, or else the default cargo.
#[must_use]
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}
