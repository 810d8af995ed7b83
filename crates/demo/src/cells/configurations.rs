//! The configurations of the cells: their notation in TOML, and the lines that the Java program reads.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fmt::Write as _;

use serde::Deserialize;

/// The notation of the built-in configurations.
const BUILT_IN: &str = include_str!("../../java/cells.toml");

/// Maximum number of configurations.
const CONFIGURATIONS_MAX: usize = 1_000;

/// Maximum size of an array, in bytes.
const ARRAY_BYTES_MAX: u32 = 1 << 30;

/// Maximum number of draws of random numbers of one cell; they take about a minute.
const DRAWS_MAX: u64 = 2_000_000_000;

/// Maximum number of cells that a cell calls.
const CALLS_MAX: usize = 2;

/// A mistake in the configurations of the cells.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigurationsError {
    /// The text is not TOML, or contains an unknown key, a value of the wrong type or an unknown cell.
    #[error(transparent)]
    Toml(#[from] toml::de::Error),
    /// There is no configuration.
    #[error("there is no [[configuration]]")]
    Empty,
    /// There are more configurations than supported.
    #[error("there are {count} configurations; at most {CONFIGURATIONS_MAX} are supported")]
    TooMany {
        /// Number of configurations.
        count: usize,
    },
    /// Two configurations have the same number.
    #[error("there are two configurations with the number {number}")]
    RepeatedNumber {
        /// The repeated number.
        number: u32,
    },
    /// A configuration does not contain the cell TB1, at which requests arrive.
    #[error("configuration {number} has no cells.TB1, where each request enters")]
    NoEntry {
        /// The configuration.
        number: u32,
    },
    /// A cell calls itself or a cell with a lower number.
    #[error(
        "configuration {number}: {cell} calls {target}; a cell can only call cells with higher numbers, so that no \
         requests wait for each other's beans"
    )]
    CallsDown {
        /// The configuration.
        number: u32,
        /// The calling cell.
        cell: CellName,
        /// The called cell.
        target: CellName,
    },
    /// A cell calls too many cells.
    #[error("configuration {number}: {cell} calls {count} cells; it can call at most {CALLS_MAX}")]
    TooManyCalls {
        /// The configuration.
        number: u32,
        /// The calling cell.
        cell: CellName,
        /// The number of calls.
        count: usize,
    },
    /// A cell has settings, but no request reaches it.
    #[error("configuration {number}: {cell} is not called by any cell that a request reaches")]
    Unreached {
        /// The configuration.
        number: u32,
        /// The cell.
        cell: CellName,
    },
    /// An array is too large for Java.
    #[error(
        "configuration {number}: {cell} has {setting} = {bytes}; at most {ARRAY_BYTES_MAX} bytes are possible"
    )]
    TooLarge {
        /// The configuration.
        number: u32,
        /// The cell.
        cell: CellName,
        /// The key, `memory` or `leak`.
        setting: &'static str,
        /// Its value.
        bytes: u32,
    },
    /// A cell draws too many random numbers.
    #[error("configuration {number}: {cell} has cpu = {draws}; at most {DRAWS_MAX} draws are possible")]
    TooManyDraws {
        /// The configuration.
        number: u32,
        /// The cell.
        cell: CellName,
        /// The number of draws.
        draws: u64,
    },
    /// The name of an exception is not the name of a Java class.
    #[error(
        "configuration {number}: {cell} has exception = {name:?}; write the full name of a class, such as \
         java.lang.RuntimeException"
    )]
    ClassName {
        /// The configuration.
        number: u32,
        /// The cell.
        cell: CellName,
        /// The name.
        name: String,
    },
}

/// One of the cells TB1 to TB6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[allow(missing_docs, reason = "the names need no explanation")]
pub enum CellName {
    TB1,
    TB2,
    TB3,
    TB4,
    TB5,
    TB6,
}

impl CellName {
    /// The number in the name of the cell.
    #[must_use]
    pub fn number(self) -> u8 {
        self as u8 + 1
    }
}

impl fmt::Display for CellName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TB{}", self.number())
    }
}

/// The work of a cell when it is called. The steps have the order of the fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct CellSettings {
    /// Number of draws of random numbers from the standard normal distribution.
    cpu: u64,
    /// Size of an array that is garbage after the call, in bytes.
    memory: u32,
    /// Size of an array that is never released, in bytes.
    leak: u32,
    /// Class of the exception to throw.
    exception: Option<String>,
    /// The cells to call.
    calls: Vec<CellName>,
}

/// The work of the cells for the requests that select this configuration by its number.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellConfiguration {
    number: u32,
    cells: BTreeMap<CellName, CellSettings>,
}

impl CellConfiguration {
    /// The number that selects this configuration in a request.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Whether each request allocates memory that is never released.
    #[must_use]
    pub fn leaks(&self) -> bool {
        self.cells.values().any(|settings| settings.leak > 0)
    }

    /// Whether each request fails.
    #[must_use]
    pub fn throws(&self) -> bool {
        self.cells.values().any(|settings| settings.exception.is_some())
    }

    fn check(&self) -> Result<(), ConfigurationsError> {
        let number = self.number;
        if !self.cells.contains_key(&CellName::TB1) {
            return Err(ConfigurationsError::NoEntry { number });
        }
        let mut reached = BTreeSet::from([CellName::TB1]);
        // Callers precede the cells that they call.
        for (&cell, settings) in &self.cells {
            if !reached.contains(&cell) {
                return Err(ConfigurationsError::Unreached { number, cell });
            }
            settings.check(number, cell)?;
            reached.extend(&settings.calls);
        }
        Ok(())
    }
}

impl CellSettings {
    fn check(&self, number: u32, cell: CellName) -> Result<(), ConfigurationsError> {
        if self.cpu > DRAWS_MAX {
            return Err(ConfigurationsError::TooManyDraws { number, cell, draws: self.cpu });
        }
        for (setting, bytes) in [("memory", self.memory), ("leak", self.leak)] {
            if bytes > ARRAY_BYTES_MAX {
                return Err(ConfigurationsError::TooLarge { number, cell, setting, bytes });
            }
        }
        if let Some(name) = self.exception.as_ref().filter(|name| !is_class_name(name)) {
            return Err(ConfigurationsError::ClassName { number, cell, name: name.clone() });
        }
        if self.calls.len() > CALLS_MAX {
            return Err(ConfigurationsError::TooManyCalls { number, cell, count: self.calls.len() });
        }
        match self.calls.iter().find(|target| **target <= cell) {
            Some(&target) => Err(ConfigurationsError::CallsDown { number, cell, target }),
            None => Ok(()),
        }
    }
}

/// Whether a text can be the full name of a Java class: words of letters, digits, `_` and `$`, joined by dots.
fn is_class_name(name: &str) -> bool {
    let is_word = |word: &str| {
        let of_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        !word.is_empty() && word.chars().all(of_word) && !word.starts_with(|c: char| c.is_numeric())
    };
    name.split('.').all(is_word)
}

/// A set of configurations with different numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellConfigurations {
    text: String,
    configurations: Vec<CellConfiguration>,
}

/// The document.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    configuration: Vec<CellConfiguration>,
}

impl CellConfigurations {
    /// The built-in configurations 1 to 10.
    ///
    /// # Errors
    /// Never, because a test checks the built-in text.
    pub fn built_in() -> Result<Self, ConfigurationsError> {
        Self::parse(BUILT_IN)
    }

    /// Parses configurations in TOML, in the notation of `java/cells.toml`.
    ///
    /// # Errors
    /// The first mistake in the text.
    pub fn parse(text: &str) -> Result<Self, ConfigurationsError> {
        let Document { configuration: configurations } = toml::from_str(text)?;
        if configurations.is_empty() {
            return Err(ConfigurationsError::Empty);
        }
        if configurations.len() > CONFIGURATIONS_MAX {
            return Err(ConfigurationsError::TooMany { count: configurations.len() });
        }
        let mut numbers = BTreeSet::new();
        for configuration in &configurations {
            if !numbers.insert(configuration.number) {
                return Err(ConfigurationsError::RepeatedNumber { number: configuration.number });
            }
            configuration.check()?;
        }
        Ok(Self { text: text.to_owned(), configurations })
    }

    /// The text from which the configurations were parsed.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The configurations, in the order of the text.
    #[must_use]
    pub fn all(&self) -> &[CellConfiguration] {
        &self.configurations
    }

    /// The lines for the Java program, with the number of draws multiplied by `cpu_factor`.
    pub(super) fn lines(&self, cpu_factor: f64) -> String {
        let mut out = String::new();
        for configuration in &self.configurations {
            for (cell, settings) in &configuration.cells {
                let draws = (settings.cpu as f64 * cpu_factor).round() as u64;
                let exception = settings.exception.as_deref().unwrap_or("-");
                let calls: Vec<String> =
                    settings.calls.iter().map(|cell| cell.number().to_string()).collect();
                let calls = if calls.is_empty() { "-".to_owned() } else { calls.join(",") };
                let _ = writeln!(
                    out,
                    "{} {} {draws} {} {} {exception} {calls}",
                    configuration.number,
                    cell.number(),
                    settings.memory,
                    settings.leak
                );
            }
        }
        out + "end\n"
    }
}

#[cfg(test)]
mod tests;
