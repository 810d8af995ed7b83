//! Recordings of the Java Flight Recorder.

use std::path::{Path, PathBuf};

/// The settings of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordingSettings {
    /// `default.jfc` of the JDK: about 1 % of overhead.
    #[default]
    Default,
    /// `profile.jfc` of the JDK: about 2 % of overhead; records more stack traces, and also shorter events.
    Profile,
}

impl RecordingSettings {
    fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Profile => "profile",
        }
    }
}

/// Why a command for a recording cannot be written, or why the JVM did not execute it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// The name contains characters that are not permitted.
    #[error("the name {0:?} of a recording may only contain letters, digits, '-' and '_'")]
    Name(
        /// The name.
        String,
    ),
    /// The path is relative or contains characters that a command cannot contain.
    #[error("the path {} must be absolute, without quotes, line ends and bytes that are not UTF-8", .0.display())]
    Path(
        /// The path.
        PathBuf,
    ),
    /// The JVM did not start, dump or stop the recording.
    #[error("the JVM answered: {0}")]
    Failed(
        /// Its answer, shortened.
        String,
    ),
}

/// The command that starts a recording.
pub(super) fn start(name: &str, settings: RecordingSettings) -> Result<String, RecordingError> {
    Ok(format!("JFR.start name={} settings={}", checked_name(name)?, settings.name()))
}

/// The command that writes a recording. With `with_roots`, paths from garbage collection roots to old objects are included.
pub(super) fn dump(name: &str, file: &Path, with_roots: bool) -> Result<String, RecordingError> {
    let text = file.to_str().filter(|text| !text.contains(['"', '\'', '\n', '\r', '\0']));
    let text = text.filter(|_| file.is_absolute()).ok_or_else(|| RecordingError::Path(file.to_owned()))?;
    Ok(format!("JFR.dump name={} filename=\"{text}\" path-to-gc-roots={with_roots}", checked_name(name)?))
}

/// The command that ends a recording.
pub(super) fn stop(name: &str) -> Result<String, RecordingError> {
    Ok(format!("JFR.stop name={}", checked_name(name)?))
}

fn checked_name(name: &str) -> Result<&str, RecordingError> {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || char == '-' || char == '_';
    if !name.is_empty() && name.chars().all(is_plain) {
        Ok(name)
    } else {
        Err(RecordingError::Name(name.to_owned()))
    }
}

/// Checks that a command succeeded. The JVM reports success for failed commands too; only the text differs.
pub(super) fn check(answer: &str, expected: &str) -> Result<(), RecordingError> {
    if answer.trim_start().starts_with(expected) {
        Ok(())
    } else {
        Err(RecordingError::Failed(answer.trim().chars().take(500).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_contain_name_and_settings() {
        assert_eq!(
            start("busyhour", RecordingSettings::Profile).unwrap(),
            "JFR.start name=busyhour settings=profile"
        );
        assert_eq!(
            dump("a-1", Path::new("/var/my run.jfr"), true).unwrap(),
            "JFR.dump name=a-1 filename=\"/var/my run.jfr\" path-to-gc-roots=true"
        );
        assert_eq!(stop("a_1").unwrap(), "JFR.stop name=a_1");
    }

    #[test]
    fn names_and_paths_cannot_add_options() {
        for name in ["", "a b", "a\nb", "a,settings=x", "ä"] {
            assert_eq!(start(name, RecordingSettings::Default), Err(RecordingError::Name(name.to_owned())));
        }
        for path in ["relative.jfr", "/a\" delay=1", "/a\nb"] {
            assert_eq!(dump("a", Path::new(path), false), Err(RecordingError::Path(path.into())));
        }
    }

    #[test]
    fn failures_are_recognized_by_the_text() {
        assert_eq!(check("\nStarted recording 1. No limit specified\n", "Started recording"), Ok(()));
        let answer = "No recordings to dump from. Use JFR.start to start a recording.";
        assert_eq!(check(answer, "Dumped recording"), Err(RecordingError::Failed(answer.to_owned())));
    }
}
