//! Options of chores: words of the form `--name value`, read one after the other with the type that each asks for.
//!
//! Every mistake names the option and, where the way to call the chore helps, tells that, too.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, ensure};

/// The words behind a chore's name, while they are read.
#[derive(Debug)]
pub struct Given<'w> {
    words: std::slice::Iter<'w, String>,
    usage: &'static str,
    /// The word whose value is asked for.
    name: &'w str,
}

impl<'w> Given<'w> {
    /// Of a chore that is called as `usage` says.
    pub fn new(words: &'w [String], usage: &'static str) -> Self {
        Self { words: words.iter(), usage, name: "" }
    }

    /// The next word that is not the value of an option before it.
    pub fn next(&mut self) -> Option<&'w str> {
        self.name = self.words.next()?;
        Some(self.name)
    }

    /// The value of this option.
    pub fn text(&mut self) -> Result<&'w str> {
        let value = self.words.next().filter(|value| !value.starts_with("--"));
        Ok(value.with_context(|| format!("{} needs a value\n\n{}", self.name, self.usage))?)
    }

    /// The value as a path.
    pub fn path(&mut self) -> Result<PathBuf> {
        Ok(self.text()?.into())
    }

    /// The value as a whole number of `least` or more.
    pub fn number<N>(&mut self, least: N) -> Result<N>
    where
        N: FromStr + PartialOrd + std::fmt::Display,
    {
        let (name, value) = (self.name, self.text()?);
        let number: N = value.parse().map_err(|_| anyhow!("{name} {value}: not a whole number that fits"))?;
        ensure!(number >= least, "{name} {value}: must be at least {least}");
        Ok(number)
    }

    /// The value as a length of time in whole seconds, of `least` or more.
    pub fn seconds(&mut self, least: u64) -> Result<Duration> {
        Ok(Duration::from_secs(self.number(least)?))
    }

    /// The value as one of the names, and what stands beside it.
    pub fn one_of<T: Copy>(&mut self, choices: &[(&str, T)]) -> Result<T> {
        let (name, value) = (self.name, self.text()?);
        let found = choices.iter().find(|(choice, _)| *choice == value);
        let names = || choices.iter().map(|(choice, _)| *choice).collect::<Vec<_>>().join(", ");
        Ok(found.with_context(|| format!("{name} {value}: there are {}", names()))?.1)
    }

    /// The value as one of the names.
    pub fn name_of(&mut self, names: &[&'static str]) -> Result<&'static str> {
        self.one_of(&names.iter().map(|name| (*name, *name)).collect::<Vec<_>>())
    }

    /// What is said of a word that nobody knows.
    pub fn unknown(&self) -> anyhow::Error {
        anyhow!("unknown option {}\n\n{}", self.name, self.usage)
    }
}

/// Whether somebody wants to know how a chore is called; then this has told it.
pub fn told_usage(words: &[String], usage: &str) -> bool {
    let is_wanted = words.iter().any(|word| word == "--help" || word == "-h");
    if is_wanted {
        println!("{usage}");
    }
    is_wanted
}

/// A line as the shell would hand it over, for tests of those who read options.
#[cfg(test)]
pub fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const USAGE: &str = "usage: chore";

    /// What reading the value of the one option in `line` says, if it says no.
    fn refused<T>(line: &str, read: impl FnOnce(&mut Given<'_>) -> Result<T>) -> Option<String> {
        let words = words(line);
        let mut given = Given::new(&words, USAGE);
        given.next();
        read(&mut given).err().map(|error| error.to_string())
    }

    #[test]
    fn values_have_the_type_that_is_asked_for() {
        let words = words("--rows 5 --peer k6 name --for 20 --program target/busyhour --quick");
        let mut given = Given::new(&words, USAGE);
        assert_eq!((given.next(), given.number(1u64).unwrap()), (Some("--rows"), 5));
        assert_eq!((given.next(), given.name_of(&["wrk", "k6"]).unwrap()), (Some("--peer"), "k6"));
        assert_eq!(given.next(), Some("name"));
        assert_eq!((given.next(), given.seconds(1).unwrap()), (Some("--for"), Duration::from_secs(20)));
        assert_eq!(
            (given.next(), given.path().unwrap()),
            (Some("--program"), PathBuf::from("target/busyhour"))
        );
        assert_eq!([given.next(), given.next()], [Some("--quick"), None]);
    }

    #[test]
    fn mistakes_are_named() {
        let number = |line| refused(line, |given| given.number(2u32));
        assert_eq!(number("--rows"), Some("--rows needs a value\n\nusage: chore".into()));
        assert_eq!(number("--rows --quick"), Some("--rows needs a value\n\nusage: chore".into()));
        assert_eq!(number("--rows 1"), Some("--rows 1: must be at least 2".into()));
        for wrong in ["--rows -3", "--rows x", "--rows 1.5", "--rows 4294967296"] {
            assert_eq!(number(wrong), Some(format!("{wrong}: not a whole number that fits")));
        }
        let peer = refused("--peer beer", |given| given.one_of(&[("wrk", 1), ("k6", 2)]));
        assert_eq!(peer, Some("--peer beer: there are wrk, k6".into()));
        let unknown = refused("--fast", |given| Err::<(), _>(given.unknown()));
        assert_eq!(unknown, Some("unknown option --fast\n\nusage: chore".into()));
    }

    #[test]
    fn help_is_given_wherever_it_is_asked_for() {
        assert!(told_usage(&words("--rows 5 --help"), USAGE) && told_usage(&words("-h"), USAGE));
        assert!(!told_usage(&words("--rows 5"), USAGE));
    }
}
