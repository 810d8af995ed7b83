//! JMeter's properties: files and flags, in the order in which they override one another.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use busyhour_limits::files::{INPUT_BYTES, read_input};
use busyhour_program::run::Properties;

use crate::command_error::CommandError;
use crate::exit::say;

/// Properties from the command line, in the order in which they override one another.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlagSettings {
    /// `-p`
    pub(crate) base: Option<PathBuf>,
    /// `-q`
    pub(crate) additional: Vec<PathBuf>,
    /// `-S`
    pub(crate) system_files: Vec<PathBuf>,
    /// The command line is JMeter's: missing files of `-q` and `-S` are a warning.
    pub(crate) as_jmeter: bool,
    /// `-J`
    pub(crate) jmeter: Vec<(String, String)>,
    /// `-D`
    pub(crate) system: Vec<(String, String)>,
}

/// Parses `name=value` after a flag; `name` alone sets the empty value, as in JMeter.
pub(crate) fn assignment(flag: &str, text: &str) -> Result<(String, String), CommandError> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    if name.is_empty() {
        return Err(format!("{flag}{text} sets a property without a name; write {flag}name=value").into());
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// Properties set by files and flags.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// JMeter properties.
    pub(crate) jmeter: HashMap<String, String>,
    /// JMeter properties set by files and flags, for the manifest.
    pub(crate) given: BTreeMap<String, String>,
    /// System properties.
    pub(crate) system: BTreeMap<String, String>,
}

/// Reads the files and applies the flags.
pub(crate) fn load(flags: &FlagSettings, started_ms: u64) -> Result<Settings, CommandError> {
    let mut settings = Settings::default();
    if let Some(file) = &flags.base {
        settings.given.extend(read(file)?);
    }
    for file in &flags.additional {
        settings.given.extend(read_additional(file, flags)?);
    }
    for (name, value) in &flags.jmeter {
        // A flag without a value removes the property, as in JMeter.
        if value.is_empty() {
            settings.given.remove(name);
        } else {
            settings.given.insert(name.clone(), value.clone());
        }
    }
    for file in &flags.system_files {
        settings.system.extend(read_additional(file, flags)?);
    }
    settings.system.extend(flags.system.iter().cloned());
    // JMeter's functions find system properties among its own.
    settings.jmeter.extend(settings.system.clone());
    settings.jmeter.extend(settings.given.clone());
    for (name, value) in start_times(started_ms) {
        settings.jmeter.insert(name.to_owned(), value);
    }
    Ok(settings)
}

/// A JMeter property that the program itself uses. Marks it as read, so that it does not count as misspelt.
pub(crate) fn used<'s>(settings: &'s Settings, properties: &Properties, name: &str) -> Option<&'s str> {
    properties.with(name, |_| ());
    settings.jmeter.get(name).map(String::as_str)
}

/// Reads a file of `-q` or `-S`. If it is missing, JMeter logs a warning and starts the test anyway.
fn read_additional(file: &Path, flags: &FlagSettings) -> Result<Vec<(String, String)>, CommandError> {
    if flags.as_jmeter && !file.exists() {
        say(&format!(
            "warning: the properties file {} does not exist; like JMeter, the run starts without it",
            file.display()
        ));
        return Ok(Vec::new());
    }
    read(file)
}

fn read(file: &Path) -> Result<Vec<(String, String)>, CommandError> {
    match read_input(file, INPUT_BYTES) {
        Ok(bytes) => {
            // Java reads these files as ISO-8859-1; most are ASCII, and many that are not are UTF-8.
            let text = String::from_utf8(bytes)
                .unwrap_or_else(|error| error.into_bytes().iter().map(|byte| char::from(*byte)).collect());
            Ok(busyhour_java::parse_properties(&text))
        }
        Err(error) => {
            let why = crate::io_hints::with_hint(&error);
            Err(format!("cannot read the properties file {}: {why}", file.display()).into())
        }
    }
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
        let flags = FlagSettings {
            additional: vec![file],
            jmeter: vec![("HOST".into(), "b".into())],
            ..FlagSettings::default()
        };
        let settings = load(&flags, 1_700_000_000_123).unwrap();
        assert_eq!(settings.jmeter["USERS"], "5");
        assert_eq!(settings.jmeter["HOST"], "b");
        assert_eq!(settings.jmeter["START.MS"], "1700000000123");
        assert_eq!(settings.given.len(), 2);
        let missing = FlagSettings { base: Some("no such file".into()), ..FlagSettings::default() };
        assert!(load(&missing, 0).unwrap_err().contains("no such file"));
        assert!(assignment("-J", "=x").is_err());
    }
}
