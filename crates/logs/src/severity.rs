//! The severity of an entry.

use serde::{Deserialize, Serialize};

/// The severity of an entry, from the least to the most severe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
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
const NAMES: &[(&str, Severity)] = &[
    ("INFO", Severity::Info),
    ("WARN", Severity::Warn),
    ("ERROR", Severity::Error),
    ("DEBUG", Severity::Debug),
    ("WARNING", Severity::Warn),
    ("SEVERE", Severity::Error),
    ("TRACE", Severity::Trace),
    ("FATAL", Severity::Fatal),
    ("CRITICAL", Severity::Fatal),
    ("NOTICE", Severity::Info),
    ("INFORMATION", Severity::Info),
    ("FINE", Severity::Debug),
    ("FINER", Severity::Trace),
    ("FINEST", Severity::Trace),
    ("CONFIG", Severity::Debug),
    ("VERBOSE", Severity::Trace),
    ("CRIT", Severity::Fatal),
    ("ALERT", Severity::Fatal),
    ("EMERG", Severity::Fatal),
    ("EMERGENCY", Severity::Fatal),
    ("PANIC", Severity::Fatal),
    ("ERR", Severity::Error),
    ("FAIL", Severity::Error),
    ("INF", Severity::Info),
    ("WRN", Severity::Warn),
    ("DBG", Severity::Debug),
    ("VRB", Severity::Trace),
    ("FTL", Severity::Fatal),
    ("DBUG", Severity::Debug),
    ("TRCE", Severity::Trace),
];

/// Length of the longest name.
const LONGEST: usize = 11;

impl Severity {
    /// The severity with this name, in upper or lower case.
    #[must_use]
    pub fn named(word: &str) -> Option<Severity> {
        if !(3..=LONGEST).contains(&word.len()) {
            return None;
        }
        NAMES.iter().find(|(name, _)| word.eq_ignore_ascii_case(name)).map(|(_, severity)| *severity)
    }

    /// The severity with this letter: `I` of klog, logcat and glog.
    #[must_use]
    pub fn lettered(letter: u8) -> Option<Severity> {
        match letter {
            b'V' => Some(Severity::Trace),
            b'D' => Some(Severity::Debug),
            b'I' => Some(Severity::Info),
            b'W' => Some(Severity::Warn),
            b'E' => Some(Severity::Error),
            b'F' => Some(Severity::Fatal),
            _ => None,
        }
    }

    /// The severity of a priority of syslog (RFC 5424, section 6.2.1): the facility times 8, plus 0 (emergency) to 7 (debug).
    #[must_use]
    pub fn of_priority(priority: u32) -> Severity {
        match priority & 7 {
            0..=2 => Severity::Fatal,
            3 => Severity::Error,
            4 => Severity::Warn,
            5 | 6 => Severity::Info,
            _ => Severity::Debug,
        }
    }
}

impl std::fmt::Display for Severity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Severity::Trace => "trace",
            Severity::Debug => "debug",
            Severity::Info => "info",
            Severity::Warn => "warn",
            Severity::Error => "error",
            Severity::Fatal => "fatal",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case_and_parts_of_words_are_not() {
        assert_eq!(Severity::named("Warning"), Some(Severity::Warn));
        assert_eq!(Severity::named("SEVERE"), Some(Severity::Error));
        assert_eq!(Severity::named("errors"), None);
        assert_eq!(Severity::named("I"), None);
        for (name, severity) in NAMES {
            assert!(name.len() <= LONGEST, "{name}");
            assert_eq!(Severity::named(name), Some(*severity));
        }
    }

    #[test]
    fn the_facility_of_a_priority_is_ignored() {
        // RFC 5424, section 6.5: <34> is facility 4, severity 2; <165> is facility 20, severity 5.
        assert_eq!(Severity::of_priority(34), Severity::Fatal);
        assert_eq!(Severity::of_priority(165), Severity::Info);
    }
}
