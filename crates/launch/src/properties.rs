//! JMeter's properties from files and flags, in the order in which they override one another.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use busyhour_limits::files::{INPUT_BYTES, read_input};
use busyhour_program::run::JmeterProperties;
use serde::{Deserialize, Serialize};

/// Files and values that set properties, in the order in which they override one another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PropertySources {
    /// The file that is read first (`-p`).
    pub base: Option<PathBuf>,
    /// Further files (`-q`).
    pub additional: Vec<PathBuf>,
    /// Files of system properties (`-S`).
    pub system_files: Vec<PathBuf>,
    /// Whether missing files of `additional` and `system_files` cause a warning, as in JMeter, rather than an error.
    pub missing_files_are_warnings: bool,
    /// JMeter properties (`-J`). An empty value removes the property, as in JMeter.
    pub jmeter: Vec<(String, String)>,
    /// System properties (`-D`).
    pub system: Vec<(String, String)>,
}

/// A properties file that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the properties file {path}")]
pub struct PropertiesError {
    /// The file.
    pub path: PathBuf,
    /// The system's error.
    #[source]
    pub source: io::Error,
}

/// A property without a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{flag}{text} sets a property without a name; write {flag}name=value")]
pub struct AssignmentError {
    flag: String,
    text: String,
}

/// Parses `name=value` after a flag; `name` alone sets an empty value, as in JMeter.
///
/// # Errors
/// The name is empty.
pub fn assignment(flag: &str, text: &str) -> Result<(String, String), AssignmentError> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    if name.is_empty() {
        return Err(AssignmentError { flag: flag.to_owned(), text: text.to_owned() });
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// Properties set by files and flags.
#[derive(Debug, Default)]
pub struct LoadedProperties {
    /// All properties that JMeter's functions can read, including system properties.
    pub all: HashMap<String, String>,
    /// JMeter properties that files and flags have set, for the manifest.
    pub given: BTreeMap<String, String>,
    /// Files of the request that do not exist.
    pub missing: Vec<PathBuf>,
}

impl PropertySources {
    /// Reads the files and applies the values. `started_ms` is the start of the run in ms since 1970, for `START.MS` and
    /// similar properties.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn load(&self, started_ms: u64) -> Result<LoadedProperties, PropertiesError> {
        let mut loaded = LoadedProperties::default();
        if let Some(file) = &self.base {
            loaded.given.extend(read(file)?);
        }
        for file in &self.additional {
            let properties = self.read_additional(file, &mut loaded.missing)?;
            loaded.given.extend(properties);
        }
        for (name, value) in &self.jmeter {
            if value.is_empty() {
                loaded.given.remove(name);
            } else {
                loaded.given.insert(name.clone(), value.clone());
            }
        }
        // JMeter's functions read system properties like its own properties.
        for file in &self.system_files {
            let properties = self.read_additional(file, &mut loaded.missing)?;
            loaded.all.extend(properties);
        }
        loaded.all.extend(self.system.iter().cloned());
        loaded.all.extend(loaded.given.clone());
        for (name, value) in start_times(started_ms) {
            loaded.all.insert(name.to_owned(), value);
        }
        Ok(loaded)
    }

    /// Reads a file of `additional` or `system_files`. If it does not exist, JMeter logs a warning and starts the test
    /// anyway.
    fn read_additional(
        &self,
        file: &Path,
        missing: &mut Vec<PathBuf>,
    ) -> Result<Vec<(String, String)>, PropertiesError> {
        if self.missing_files_are_warnings && !file.exists() {
            missing.push(file.to_owned());
            return Ok(Vec::new());
        }
        read(file)
    }
}

impl LoadedProperties {
    /// Sources that set the same properties without files. Start times belong to a run and are left out.
    pub(crate) fn resolved(&self) -> PropertySources {
        let starts = start_times(0).map(|(name, _)| name);
        let is_system = |name: &str| !self.given.contains_key(name) && !starts.contains(&name);
        let system = self.all.iter().filter(|(name, _)| is_system(name));
        PropertySources {
            jmeter: self.given.clone().into_iter().collect(),
            system: system.map(|(name, value)| (name.clone(), value.clone())).collect(),
            ..PropertySources::default()
        }
    }

    /// The value of a JMeter property that the program itself uses. Marks the property as read, so that it is not reported
    /// as unread.
    pub fn used(&self, properties: &JmeterProperties, name: &str) -> Option<&str> {
        properties.with(name, |_| ());
        self.all.get(name).map(String::as_str)
    }
}

fn read(file: &Path) -> Result<Vec<(String, String)>, PropertiesError> {
    let bytes =
        read_input(file, INPUT_BYTES).map_err(|source| PropertiesError { path: file.to_owned(), source })?;
    // Java reads these files as ISO-8859-1. Most files are ASCII, and many others are UTF-8.
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| error.into_bytes().iter().map(|byte| char::from(*byte)).collect());
    Ok(busyhour_java::parse_properties(&text))
}

/// The properties with the start times of the program and the test.
fn start_times(started_ms: u64) -> [(&'static str, String); 4] {
    let at = jiff::Timestamp::from_millisecond(i64::try_from(started_ms).unwrap_or(0)).unwrap_or_default();
    let local = at.to_zoned(jiff::tz::TimeZone::system());
    [
        ("START.MS", started_ms.to_string()),
        ("START.YMD", local.strftime("%Y%m%d").to_string()),
        ("START.HMS", local.strftime("%H%M%S").to_string()),
        ("TESTSTART.MS", started_ms.to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_override_files() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("user.properties");
        std::fs::write(&file, "USERS=5\nHOST=a\n").unwrap();
        let sources = PropertySources {
            additional: vec![file],
            jmeter: vec![("HOST".into(), "b".into())],
            ..PropertySources::default()
        };
        let loaded = sources.load(1_700_000_000_123).unwrap();
        assert_eq!(loaded.all["USERS"], "5");
        assert_eq!(loaded.all["HOST"], "b");
        assert_eq!(loaded.all["START.MS"], "1700000000123");
        assert_eq!(loaded.given.len(), 2);
        let missing = PropertySources { base: Some("no such file".into()), ..PropertySources::default() };
        assert!(missing.load(0).unwrap_err().to_string().contains("no such file"));
        assert!(assignment("-J", "=x").is_err());
    }

    #[test]
    fn missing_files_are_warnings_where_jmeter_warns() {
        let sources = PropertySources {
            system_files: vec!["no such file".into()],
            missing_files_are_warnings: true,
            ..PropertySources::default()
        };
        assert_eq!(sources.load(0).unwrap().missing, [PathBuf::from("no such file")]);
        let strict = PropertySources { missing_files_are_warnings: false, ..sources };
        assert!(strict.load(0).is_err());
    }
}
