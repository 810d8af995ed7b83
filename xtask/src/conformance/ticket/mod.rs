//! `cargo xtask conformance ticket`: the ticket workload in JMeter and in Busyhour, each against a fresh ticket shop.
//!
//! Twice each: once only to fill the shop, which is then read back, and once whole. The filling is one thread without
//! chance, so its rows and what it leaves in the shop must be the same to the byte. The load after it draws orders
//! and ids by chance; what is fixed in it is compared user by user and iteration by iteration, the rest by its shares.

mod contender;
mod iterations;
mod rows;
mod samples;
mod shop;
mod verdict;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::jmeter::JMeter;
use crate::options::{Given, told_usage};
use contender::Contender;
use rows::Row;
use shop::{Booking, Shop};

const USAGE: &str = "\
usage: cargo xtask conformance ticket [OPTION…]

  --seconds N      length of the load, ramp-up included (default 60)
  --users N        users of the load (default 10)
  --rate N         requests per second of all users together (default 500)
  --busyhour PATH  the program to compare (default: builds the dev profile of this checkout)";

/// Venues and events: enough that ids have one, two and three digits.
const VENUES: u64 = 10;
const EVENTS: u64 = 10;

/// Seconds in which the users start, at most.
const RAMPUP_S_MAX: u64 = 5;

#[derive(Debug, PartialEq, Eq)]
struct Options {
    seconds: u64,
    users: u64,
    rate: u64,
    busyhour: Option<PathBuf>,
}

impl Options {
    fn read(words: &[String]) -> Result<Self> {
        let mut options = Self { seconds: 60, users: 10, rate: 500, busyhour: None };
        let mut given = Given::new(words, USAGE);
        while let Some(name) = given.next() {
            match name {
                "--seconds" => options.seconds = given.number(2)?,
                "--users" => options.users = given.number(1)?,
                "--rate" => options.rate = given.number(1)?,
                "--busyhour" => options.busyhour = Some(given.path()?),
                _ => bail!(given.unknown()),
            }
        }
        Ok(options)
    }

    /// Properties that fill the shop and send no load after it.
    fn filling(&self, port: u16) -> Vec<(&'static str, String)> {
        self.properties(port, 0, 1, 1)
    }

    /// Properties of the whole plan.
    fn whole(&self, port: u16) -> Vec<(&'static str, String)> {
        let rampup_s = (self.seconds / 4).clamp(1, RAMPUP_S_MAX);
        self.properties(port, self.users, rampup_s, self.seconds - rampup_s)
    }

    fn properties(&self, port: u16, users: u64, rampup_s: u64, steady_s: u64) -> Vec<(&'static str, String)> {
        vec![
            ("HOST", "127.0.0.1".to_owned()),
            ("PORT", port.to_string()),
            ("VENUES", VENUES.to_string()),
            ("EVENTS", EVENTS.to_string()),
            ("USERS", users.to_string()),
            ("IR", self.rate.to_string()),
            ("RAMPUP", rampup_s.to_string()),
            ("STEADYSTATE", steady_s.to_string()),
            // Which iteration of its user a row belongs to.
            ("sample_variables", rows::ITERATION.to_owned()),
        ]
    }
}

/// What one contender did.
#[derive(Debug)]
struct Done {
    /// Rows of the run that only fills the shop.
    filling: Vec<Row>,
    /// What the shop held after it, by the path of each list.
    lists: BTreeMap<&'static str, serde_json::Value>,
    /// Rows of the whole run.
    whole: Vec<Row>,
    /// The bookings that the shop held after it.
    left: Vec<Booking>,
    /// Lines of its logs that speak of errors.
    errors: Vec<String>,
}

/// Runs both and compares.
///
/// # Errors
/// Fails when JMeter cannot be had, a run fails, or anything differs that must not.
pub fn run(words: &[String]) -> Result<()> {
    if told_usage(words, USAGE) {
        return Ok(());
    }
    let options = Options::read(words)?;
    let jmeter = Contender::JMeter(JMeter::obtain()?);
    let busyhour = crate::bench::busyhour(options.busyhour.as_deref(), "dev")?;
    let work = tempfile::tempdir()?;
    // One port for all shops, so that URLs and the sizes of requests can be compared as they are.
    let port = crate::bench::process::free_port()?;
    println!(
        "ticket workload: {} users at {} requests/s for {} s, {VENUES} venues, {EVENTS} events",
        options.users, options.rate, options.seconds
    );
    let theirs = both_runs(&jmeter, &busyhour, &options, port, &work.path().join("jmeter"))?;
    let ours = both_runs(
        &Contender::Busyhour(busyhour.clone()),
        &busyhour,
        &options,
        port,
        &work.path().join("busyhour"),
    )?;
    verdict::compare(&theirs, &ours)
}

fn both_runs(
    contender: &Contender,
    busyhour: &Path,
    options: &Options,
    port: u16,
    folder: &Path,
) -> Result<Done> {
    let plan = crate::workspace_root().join("plans/monsterdr.jmx");
    let (first, second) = (folder.join("filling"), folder.join("whole"));
    println!("  {} fills a shop", contender.name());
    let shop = Shop::start(busyhour, port, &first)?;
    let mut filling = contender.run(&plan, &options.filling(port), &first, options.seconds)?;
    let lists = shop.lists()?;
    drop(shop);
    println!("  {} runs the whole plan", contender.name());
    let shop = Shop::start(busyhour, port, &second)?;
    let mut whole = contender.run(&plan, &options.whole(port), &second, options.seconds)?;
    let left = shop.bookings()?;
    drop(shop);
    filling.errors.append(&mut whole.errors);
    Ok(Done { filling: filling.rows, lists, whole: whole.rows, left, errors: filling.errors })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &str) -> Result<Options> {
        Options::read(&crate::options::words(words))
    }

    #[test]
    fn options_are_read_and_mistakes_named() {
        let options = read("--seconds 10 --users 4 --rate 100").unwrap();
        assert_eq!(options, Options { seconds: 10, users: 4, rate: 100, busyhour: None });
        assert!(read("--seconds").unwrap_err().to_string().contains("needs a value"));
        assert!(read("--rate 0").unwrap_err().to_string().contains("at least 1"));
        assert!(read("--wat 0").unwrap_err().to_string().contains("usage"));
    }

    #[test]
    fn the_load_lasts_as_long_as_asked() {
        let value = |properties: &[(&str, String)], name: &str| -> u64 {
            properties.iter().find(|(known, _)| *known == name).unwrap().1.parse().unwrap()
        };
        for seconds in ["2", "10", "60"] {
            let whole = read(&format!("--seconds {seconds}")).unwrap().whole(1);
            assert_eq!((value(&whole, "RAMPUP") + value(&whole, "STEADYSTATE")).to_string(), seconds);
        }
    }
}
