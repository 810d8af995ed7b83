//! How `cargo xtask bench capacity` is called.

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};

use crate::options::Given;

/// How to call it.
pub const USAGE: &str = "\
usage: cargo xtask bench capacity [OPTION…]

  --busyhour PATH     the program to measure with, which is the shop, too (default: builds the release profile)
  --profile NAME      the profile to build with (default release; dev shows only that the bench works)
  --fitted-with PATH  the program that fits and judges (default: the one that measures)
  --backend LAW       what each answer of the shop waits for, as `busyhour demo-server --backend` has it (default
                      \"2 x exponential(4ms)\"); none leaves the shop to its processor, whose speed must then keep still
  --request PATH      what is asked of the shop (default /ticket-monster/rest/shows?maxResults=10; without a backend
                      /ticket-monster/rest/forge/bookings?max=200: about 1 ms of CPU)
  --seconds N         length of a run (default 12)
  --rounds N          runs at each number of users (default 1)
  --keep DIR          keep the runs and the fit there: the fit can be made again with `busyhour model fit DIR/fitted-*-users-?`";

/// What each answer waits for: two connections that make 500 answers per second at most, on any machine.
const BACKEND: &str = "2 x exponential(4ms)";

/// What is asked for: little work for the shop, beside the backend's.
const REQUEST: &str = "/ticket-monster/rest/shows?maxResults=10";

/// And without a backend: an answer of 120 kB that takes the shop about a millisecond, beside which waking up is short.
const REQUEST_OF_CPU: &str = "/ticket-monster/rest/forge/bookings?max=200";

#[derive(Debug)]
pub struct Options {
    pub busyhour: Option<PathBuf>,
    pub profile: String,
    pub fitted_with: Option<PathBuf>,
    /// `None` without one.
    pub backend: Option<String>,
    pub request: String,
    pub seconds: u64,
    pub rounds: u64,
    pub keep: Option<PathBuf>,
}

impl Options {
    pub fn read(words: &[String]) -> Result<Options> {
        let mut options = Options {
            busyhour: None,
            profile: "release".into(),
            fitted_with: None,
            backend: Some(BACKEND.into()),
            request: String::new(),
            seconds: 12,
            rounds: 1,
            keep: None,
        };
        let mut given = Given::new(words, USAGE);
        while let Some(name) = given.next() {
            match name {
                "--busyhour" => options.busyhour = Some(given.path()?),
                "--profile" => options.profile = given.text()?.into(),
                "--fitted-with" => options.fitted_with = Some(given.path()?),
                "--backend" => {
                    let law = given.text()?;
                    options.backend = (law != "none").then(|| law.into());
                }
                "--request" => {
                    let request = given.text()?;
                    ensure!(request.starts_with('/'), "--request {request}: a path begins with /");
                    options.request = request.into();
                }
                "--seconds" => options.seconds = given.number(4)?,
                "--rounds" => options.rounds = given.number(1)?,
                "--keep" => options.keep = Some(given.path()?),
                _ => bail!(given.unknown()),
            }
        }
        if options.request.is_empty() {
            options.request = if options.backend.is_some() { REQUEST } else { REQUEST_OF_CPU }.into();
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_mistakes_named() {
        let read = |words: &str| Options::read(&crate::options::words(words));
        let options = read("--seconds 8 --rounds 2 --profile dev --keep runs --request /a").unwrap();
        assert_eq!((options.seconds, options.rounds, options.profile.as_str()), (8, 2, "dev"));
        assert_eq!((options.keep, options.request.as_str()), (Some(PathBuf::from("runs")), "/a"));
        let (plain, of_cpu) = (read("").unwrap(), read("--backend none").unwrap());
        assert_eq!((plain.backend.as_deref(), plain.request.as_str()), (Some(BACKEND), REQUEST));
        assert_eq!((of_cpu.backend, of_cpu.request.as_str()), (None, REQUEST_OF_CPU));
        for wrong in ["--seconds", "--rounds 0", "--fast yes", "--request a"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
