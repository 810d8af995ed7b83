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
  --request PATH      what is asked of the shop (default /ticket-monster/rest/forge/bookings?max=200: about 1 ms of CPU)
  --seconds N         length of a run (default 12)
  --rounds N          runs at each number of users (default 1)
  --keep DIR          keep the runs and the fit there: the fit can be made again with `busyhour model fit DIR/fitted-*-users-?`";

/// What is asked for: an answer of 120 kB that takes the shop about a millisecond, beside which waking up is short.
const REQUEST: &str = "/ticket-monster/rest/forge/bookings?max=200";

#[derive(Debug)]
pub struct Options {
    pub busyhour: Option<PathBuf>,
    pub profile: String,
    pub fitted_with: Option<PathBuf>,
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
            request: REQUEST.into(),
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
        assert_eq!(read("").unwrap().request, REQUEST);
        for wrong in ["--seconds", "--rounds 0", "--fast yes", "--request a"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
