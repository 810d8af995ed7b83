//! `cargo xtask conformance ticket`: runs the ticket workload in JMeter and in Busyhour, each with a new ticket shop.
//!
//! Each program runs it twice: once only to fill the shop, whose data are then read, and once completely. One thread
//! fills the shop without random values, so that the rows and the data in the shop must be identical. The subsequent
//! load draws orders and ids at random; its fixed parts are compared by user and iteration, the rest by shares.

mod contender;
mod iterations;
mod rows;
mod run_results;
mod samples;
mod shop;
mod verdict;

use std::path::{Path, PathBuf};

use anyhow::Result;

use contender::ComparedProgram;
use run_results::{EVENTS, RunResults, VENUES};
use shop::Shop;
use xtask_common::jmeter::JMeter;
use xtask_common::{process, project};

/// The maximum ramp-up time in seconds.
const RAMPUP_S_MAX: u64 = 5;

/// The options of `ticket`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Length of the load in seconds, ramp-up included
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u64).range(2..))]
    seconds: u64,
    /// Users of the load
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    users: u64,
    /// Requests per second of all users together
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..))]
    rate: u64,
    /// Program to compare; by default the dev profile of this checkout is built
    #[arg(long, value_name = "PATH")]
    busyhour: Option<PathBuf>,
}

impl Options {
    /// The properties for filling the shop without a load.
    fn filling(&self, port: u16) -> Vec<(&'static str, String)> {
        self.properties(port, 0, 1, 1)
    }

    /// The properties for the whole plan.
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
            // Writes the number of the iteration into each row.
            ("sample_variables", rows::ITERATION.to_owned()),
        ]
    }
}

/// Runs both programs and compares the results.
///
/// # Errors
/// JMeter cannot be installed, a run fails, or there is an unexpected difference.
pub fn run(options: &Options) -> Result<()> {
    let jmeter = ComparedProgram::JMeter(JMeter::obtain()?);
    let busyhour = project::busyhour(options.busyhour.as_deref(), "dev")?;
    let work = tempfile::tempdir()?;
    // One port for all shops, so that URLs and request sizes are comparable.
    let port = process::free_port()?;
    println!(
        "ticket workload: {} users at {} requests/s for {} s, {VENUES} venues, {EVENTS} events",
        options.users, options.rate, options.seconds
    );
    let theirs = both_runs(&jmeter, &busyhour, options, port, &work.path().join("jmeter"))?;
    let ours = both_runs(
        &ComparedProgram::Busyhour(busyhour.clone()),
        &busyhour,
        options,
        port,
        &work.path().join("busyhour"),
    )?;
    verdict::compare(&theirs, &ours)
}

fn both_runs(
    contender: &ComparedProgram,
    busyhour: &Path,
    options: &Options,
    port: u16,
    folder: &Path,
) -> Result<RunResults> {
    let plan = project::root().join("plans/monsterdr.jmx");
    let (first, second) = (folder.join("filling"), folder.join("whole"));
    println!("  {} fills the shop", contender.name());
    let shop = Shop::start(busyhour, port, &first)?;
    let mut filling = contender.run(&plan, &options.filling(port), &first, options.seconds)?;
    let lists = shop.lists()?;
    drop(shop);
    println!("  {} runs the whole plan", contender.name());
    let shop = Shop::start(busyhour, port, &second)?;
    let mut whole = contender.run(&plan, &options.whole(port), &second, options.seconds)?;
    let bookings = shop.bookings()?;
    drop(shop);
    filling.errors.append(&mut whole.errors);
    Ok(RunResults { filling: filling.rows, lists, whole: whole.rows, bookings, errors: filling.errors })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_lasts_as_long_as_requested() {
        let value = |properties: &[(&str, String)], name: &str| -> u64 {
            properties.iter().find(|(known, _)| *known == name).unwrap().1.parse().unwrap()
        };
        for seconds in [2, 10, 60] {
            let whole = Options { seconds, users: 4, rate: 100, busyhour: None }.whole(1);
            assert_eq!(value(&whole, "RAMPUP") + value(&whole, "STEADYSTATE"), seconds);
        }
    }
}
