//! Fetches plugins of JMeter from Maven Central, for the cases that record the behaviour of their elements.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, anyhow, bail, ensure};

use xtask_common::jmeter::cache_directory;

/// The plugin jars of this machine.
#[derive(Debug, Default)]
pub struct JMeterPlugins {
    /// The jars by coordinate.
    jars: BTreeMap<String, PathBuf>,
    /// The error messages by coordinate.
    failed: BTreeMap<String, String>,
}

impl JMeterPlugins {
    /// Returns the jars of these coordinates (`group:artifact:version`); fetches missing ones with Maven. Their
    /// dependencies are not fetched, because most of them are JMeter itself.
    ///
    /// # Errors
    /// A jar cannot be fetched; failed downloads are not repeated.
    pub fn obtain(&mut self, coordinates: &[String]) -> Result<Vec<PathBuf>> {
        let mut jars = Vec::new();
        for coordinate in coordinates {
            if let Some(message) = self.failed.get(coordinate) {
                bail!("{message}");
            }
            let jar = match self.jars.get(coordinate) {
                Some(jar) => jar.clone(),
                None => fetch(coordinate).map_err(|error| {
                    let message = format!("{coordinate} cannot be fetched: {error:#}");
                    self.failed.insert(coordinate.clone(), message.clone());
                    anyhow!(message)
                })?,
            };
            self.jars.insert(coordinate.clone(), jar.clone());
            jars.push(jar);
        }
        Ok(jars)
    }
}

/// The name of the jar with this coordinate.
fn file_name(coordinate: &str) -> Result<String> {
    let parts: Vec<_> = coordinate.split(':').collect();
    let plain = |part: &&str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
    };
    ensure!(
        parts.len() == 3 && parts.iter().all(plain),
        "the coordinate does not have the form group:artifact:version"
    );
    Ok(format!("{}-{}.jar", parts[1], parts[2]))
}

fn fetch(coordinate: &str) -> Result<PathBuf> {
    let name = file_name(coordinate)?;
    let folder = cache_directory()?.join("jmeter-plugins");
    let jar = folder.join(name);
    if jar.is_file() {
        return Ok(jar);
    }
    fs::create_dir_all(&folder)?;
    eprintln!("fetching {coordinate} through Maven into {}", folder.display());
    let output = Command::new("mvn")
        .args(["-q", "-B", "dependency:copy", "-Dmdep.useBaseVersion=true"])
        .arg(format!("-Dartifact={coordinate}:jar"))
        .arg(format!("-DoutputDirectory={}", folder.display()))
        .current_dir(&folder)
        .output()
        .context("mvn cannot be started (apt-get install maven)")?;
    if !output.status.success() || !jar.is_file() {
        let output_text = String::from_utf8_lossy(&output.stdout);
        let first = output_text
            .lines()
            .find(|line| line.contains("ERROR"))
            .unwrap_or("Maven did not deliver the jar");
        let why = first.split_once("ERROR]").map_or(first, |(_, why)| why);
        bail!("{}", why.trim_start_matches("\u{1b}[m").trim());
    }
    Ok(jar)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jar_names_follow_from_coordinates() {
        assert_eq!(file_name("kg.apc:jmeter-plugins-tst:2.5").unwrap(), "jmeter-plugins-tst-2.5.jar");
        for bad in ["", "kg.apc:x", "a:b:c:d", "a::c", "a:../b:c"] {
            assert!(file_name(bad).is_err(), "{bad:?}");
        }
    }
}
