//! What can be asked of the bench.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::options::Given;

/// How to call it.
pub const USAGE: &str = "\
usage: cargo xtask bench pacing [OPTION…]

  --only SECTION     poisson, even or stall; may be given more than once (default: all)
  --without PEER     leave out bare, busyhour, jmeter, k6, vegeta or wrk2; may be given more than once
  --busyhour PATH    the program to measure, and the probe (default: builds the release profile of this checkout)
  --profile NAME     the profile to build with (default release; dev shows only that the bench works)
  --rate N           requests per second (default 1000)
  --rounds N         interleaved rounds of each comparison (default 3)
  --seconds N        length of a run (default 20)
  --jmeter-seconds N length of a run of JMeter in poisson and even, the first half of which warms it up (default 40)";

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// Loads that are to be a Poisson process.
    Poisson,
    /// Loads that are to be even.
    Even,
    /// Even loads on a server that stalls for a tenth of the run.
    Stall,
}

const SECTIONS: [(&str, Section); 3] =
    [("poisson", Section::Poisson), ("even", Section::Even), ("stall", Section::Stall)];

/// Names for `--without`.
const PEERS: [&str; 6] = ["bare", "busyhour", "jmeter", "k6", "vegeta", "wrk2"];

/// What was asked.
#[derive(Debug)]
pub struct Options {
    only: Vec<Section>,
    without: Vec<&'static str>,
    /// The program to measure.
    pub busyhour: Option<PathBuf>,
    /// Profile to build it with.
    pub profile: String,
    /// Requests per second.
    pub rate_per_s: u32,
    /// How often.
    pub rounds: usize,
    /// How long a run is.
    pub run: Duration,
    /// The same for JMeter.
    pub jmeter_run: Duration,
}

impl Options {
    /// Reads the words.
    pub fn read(words: &[String]) -> Result<Self> {
        let mut options = Self {
            only: Vec::new(),
            without: Vec::new(),
            busyhour: None,
            profile: "release".to_owned(),
            rate_per_s: 1_000,
            rounds: 3,
            run: Duration::from_secs(20),
            jmeter_run: Duration::from_secs(40),
        };
        let mut given = Given::new(words, USAGE);
        while let Some(name) = given.next() {
            match name {
                "--only" => options.only.push(given.one_of(&SECTIONS)?),
                "--without" => options.without.push(given.name_of(&PEERS)?),
                "--busyhour" => options.busyhour = Some(given.path()?),
                "--profile" => options.profile = given.text()?.into(),
                "--rate" => options.rate_per_s = given.number(10)?,
                "--rounds" => options.rounds = given.number(1)?,
                "--seconds" => options.run = given.seconds(4)?,
                "--jmeter-seconds" => options.jmeter_run = given.seconds(4)?,
                _ => bail!(given.unknown()),
            }
        }
        Ok(options)
    }

    /// Whether a section is to be measured.
    pub fn wants(&self, section: Section) -> bool {
        self.only.is_empty() || self.only.contains(&section)
    }

    /// Whether a peer may be used.
    pub fn allows(&self, peer: &str) -> bool {
        !self.without.contains(&peer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &str) -> Result<Options> {
        Options::read(&crate::options::words(words))
    }

    #[test]
    fn options_are_read_and_mistakes_named() {
        let options = read("--only stall --without jmeter --rate 500 --seconds 5").unwrap();
        assert!(options.wants(Section::Stall) && !options.wants(Section::Even));
        assert!(!options.allows("jmeter") && options.allows("k6"));
        assert_eq!((options.rate_per_s, options.run), (500, Duration::from_secs(5)));
        assert!(read("").unwrap().wants(Section::Poisson));
        for wrong in ["--only beer", "--rounds", "--rounds 0", "--rate 1", "--without nginx", "--fast yes"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
