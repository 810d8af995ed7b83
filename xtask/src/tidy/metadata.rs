//! The packages in the output of `cargo metadata`, with the fields that the checks need.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

/// The kind of a dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// A dependency of the package or its build script.
    Normal,
    /// A dependency of its tests only.
    Tests,
}

/// A package of the dependency graph.
#[derive(Debug, Clone, Default)]
pub struct Package {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
    /// The licence expression, if there is one.
    pub licence: Option<String>,
    /// The source; `None` for a member of the workspace.
    pub source: Option<String>,
    /// The dependencies.
    pub dependencies: BTreeSet<(String, Use)>,
    /// The text of its manifest, for members of the workspace.
    pub manifest: String,
}

/// The source of packages in `vendor`: copies of published packages, with changes.
pub const VENDORED: &str = "vendor";

impl Package {
    /// Whether it is a member of the workspace.
    pub fn is_member(&self) -> bool {
        self.source.is_none()
    }
}

/// Runs `cargo metadata` for the platform of this machine.
pub fn load(root: &Path) -> Result<Vec<Package>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--filter-platform", &host()?])
        .current_dir(root)
        .output()?;
    ensure!(output.status.success(), "cargo metadata failed:\n{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    // The list of packages contains those of all platforms; the resolved graph only those of this platform.
    let used: BTreeSet<&str> = metadata["resolve"]["nodes"]
        .as_array()
        .context("the output of cargo metadata has no resolved graph")?
        .iter()
        .filter_map(|node| node["id"].as_str())
        .collect();
    let packages = metadata["packages"].as_array().context("the output of cargo metadata has no packages")?;
    packages
        .iter()
        .filter(|package| used.contains(package["id"].as_str().unwrap_or_default()))
        .map(read)
        .collect()
}

fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output().context("rustc cannot be started")?;
    let text = String::from_utf8(output.stdout)?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc did not print its host")?.to_owned())
}

fn read(package: &Value) -> Result<Package> {
    let text = |key: &str| package[key].as_str().map(str::to_owned);
    let is_vendored = text("manifest_path").is_some_and(|path| path.contains("/vendor/"));
    let source = text("source").or_else(|| is_vendored.then(|| VENDORED.to_owned()));
    let manifest = match &source {
        Some(_) => String::new(),
        None => fs::read_to_string(text("manifest_path").context("the package has no manifest")?)?,
    };
    let dependencies = package["dependencies"].as_array().into_iter().flatten().filter_map(|dependency| {
        let used = if dependency["kind"].as_str() == Some("dev") { Use::Tests } else { Use::Normal };
        Some((dependency["name"].as_str()?.to_owned(), used))
    });
    Ok(Package {
        name: text("name").context("the package has no name")?,
        version: text("version").context("the package has no version")?,
        licence: text("license"),
        source,
        dependencies: dependencies.collect(),
        manifest,
    })
}
