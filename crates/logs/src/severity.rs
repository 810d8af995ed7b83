//! The severity of an entry.

use serde::{Deserialize, Serialize};

/// The severity of an entry, from the least to the most severe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntrySeverity {
    /// `TRACE`, `FINER`, `FINEST`.
    Trace,
    /// `DEBUG`, `FINE`, `CONFIG`.
    Debug,
    /// `INFO`, `NOTICE`.
    Info,
    /// `WARN`, `WARNING`.
    Warn,
    /// `ERROR`, `SEVERE`.
    Error,
    /// `FATAL`, `CRITICAL`, `ALERT`, `EMERGENCY`, and panics.
    Fatal,
}

/// The names of severities in the usual logging libraries, in upper case.
const NAMES: &[(&str, EntrySeverity)] = &[
    ("INFO", EntrySeverity::Info),
    ("WARN", EntrySeverity::Warn),
    ("ERROR", EntrySeverity::Error),
    ("DEBUG", EntrySeverity::Debug),
    ("WARNING", EntrySeverity::Warn),
    ("SEVERE", EntrySeverity::Error),
    ("TRACE", EntrySeverity::Trace),
    ("FATAL", EntrySeverity::Fatal),
    ("CRITICAL", EntrySeverity::Fatal),
    ("NOTICE", EntrySeverity::Info),
    ("INFORMATION", EntrySeverity::Info),
    ("FINE", EntrySeverity::Debug),
    ("FINER", EntrySeverity::Trace),
    ("FINEST", EntrySeverity::Trace),
    ("CONFIG", EntrySeverity::Debug),
    ("VERBOSE", EntrySeverity::Trace),
    ("CRIT", EntrySeverity::Fatal),
    ("ALERT", EntrySeverity::Fatal),
    ("EMERG", EntrySeverity::Fatal),
    ("EMERGENCY", EntrySeverity::Fatal),
    ("PANIC", EntrySeverity::Fatal),
    ("ERR", EntrySeverity::Error),
    ("FAIL", EntrySeverity::Error),
    ("INF", EntrySeverity::Info),
    ("WRN", EntrySeverity::Warn),
    ("DBG", EntrySeverity::Debug),
    ("VRB", EntrySeverity::Trace),
    ("FTL", EntrySeverity::Fatal),
    ("DBUG", EntrySeverity::Debug),
    ("TRCE", EntrySeverity::Trace),
];

/// Length of the longest name.
const LONGEST: usize = 11;

impl EntrySeverity {
    /// The severity with this name, in upper or lower case.
    #[must_use]
    pub fn named(word: &str) -> Option<EntrySeverity> {
        if !(3..=LONGEST).contains(&word.len()) {
            return None;
        }
        NAMES.iter().find(|(name, _)| word.eq_ignore_ascii_case(name)).map(|(_, severity)| *severity)
    }

    /// The severity with this letter in klog, logcat and glog, such as `I`.
    #[must_use]
    pub fn from_letter(letter: u8) -> Option<EntrySeverity> {
        match letter {
            b'V' => Some(EntrySeverity::Trace),
            b'D' => Some(EntrySeverity::Debug),
            b'I' => Some(EntrySeverity::Info),
            b'W' => Some(EntrySeverity::Warn),
            b'E' => Some(EntrySeverity::Error),
            b'F' => Some(EntrySeverity::Fatal),
            _ => None,
        }
    }

    /// The severity in a priority of syslog, which is the facility times 8, plus 0 (emergency) to 7 (debug) (RFC 5424, section
    /// 6.2.1).
    #[must_use]
    pub fn of_priority(priority: u32) -> EntrySeverity {
        match priority & 7 {
            0..=2 => EntrySeverity::Fatal,
            3 => EntrySeverity::Error,
            4 => EntrySeverity::Warn,
            5 | 6 => EntrySeverity::Info,
            _ => EntrySeverity::Debug,
        }
    }
}

impl std::fmt::Display for EntrySeverity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            EntrySeverity::Trace => "trace",
            EntrySeverity::Debug => "debug",
            EntrySeverity::Info => "info",
            EntrySeverity::Warn => "warn",
            EntrySeverity::Error => "error",
            EntrySeverity::Fatal => "fatal",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case_and_parts_of_words_are_not() {
        assert_eq!(EntrySeverity::named("Warning"), Some(EntrySeverity::Warn));
        assert_eq!(EntrySeverity::named("SEVERE"), Some(EntrySeverity::Error));
        assert_eq!(EntrySeverity::named("errors"), None);
        assert_eq!(EntrySeverity::named("I"), None);
        for (name, severity) in NAMES {
            assert!(name.len() <= LONGEST, "{name}");
            assert_eq!(EntrySeverity::named(name), Some(*severity));
        }
    }

    #[test]
    fn the_facility_of_a_priority_is_ignored() {
        // RFC 5424, section 6.5: <34> is facility 4, severity 2; <165> is facility 20, severity 5.
        assert_eq!(EntrySeverity::of_priority(34), EntrySeverity::Fatal);
        assert_eq!(EntrySeverity::of_priority(165), EntrySeverity::Info);
    }
}
